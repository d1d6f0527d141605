#include "io/rewriter_config.h"

#include <algorithm>

#include "graph/passes/auto_jit.h"
#include "graph/passes/passes.h"
#include "wire/proto.h"

namespace weft_engine::io {

using namespace weft_engine::core;
using weft_engine::wire::ProtoReader;

namespace {

// The toggles of RewriterConfig that some pass answers to, and the name by which `optimizers` lists them.
struct Field {
  int number;
  std::string_view option, optimizer;
};
constexpr Field kFields[] = {
    {3, "constant_folding", "constfold"},
    {7, "arithmetic_optimization", "arithmetic"},
    {8, "dependency_optimization", "dependency"},
    {9, "loop_optimization", "loop"},
    {10, "function_optimization", "function"},
    {13, "shape_optimization", "shape"},
    {14, "remapping", "remap"},
    {24, "common_subgraph_elimination", "common_subgraph_elimination"},
};
constexpr int kDisableMetaOptimizer = 19, kOptimizers = 100;
constexpr uint64_t kOff = 2;
constexpr int32_t kL0 = -1, kJitOff = -1;

struct Off {
  bool all = false, jit = false;
  std::vector<std::string_view> options;
  std::vector<std::string> only;  // `optimizers`: nothing but these
};

bool read_rewriter(ProtoReader r, Off& off) {
  while (r.next()) {
    if (r.field() == kDisableMetaOptimizer && r.boolean()) off.all = true;
    if (r.field() == kOptimizers) off.only.push_back(r.string());
    for (const Field& f : kFields) {
      if (r.field() == f.number && r.varint() == kOff) off.options.push_back(f.option);
    }
  }
  return r.ok();
}

bool read_optimizer(ProtoReader r, Off& off) {
  while (r.next()) {
    if (r.field() == 3 && r.int32() == kL0) off.all = true;
    if (r.field() == 5) off.jit = r.int32() == kJitOff;
  }
  return r.ok();
}

bool read_graph_options(ProtoReader r, Off& off) {
  while (r.next()) {
    if (r.field() == 3 && !read_optimizer(r.message(), off)) return false;
    if (r.field() == 10 && !read_rewriter(r.message(), off)) return false;
  }
  return r.ok();
}

}  // namespace

Result<std::vector<std::string>> disabled_passes(std::string_view config_proto) {
  Off off;
  ProtoReader r(config_proto);
  while (r.next()) {
    if (r.field() == 10 && !read_graph_options(r.message(), off)) return invalid_argument("Unparseable ConfigProto");
  }
  if (!r.ok()) return invalid_argument("Unparseable ConfigProto");
  if (!off.only.empty()) {
    for (const Field& f : kFields) {
      if (std::find(off.only.begin(), off.only.end(), f.optimizer) == off.only.end()) off.options.push_back(f.option);
    }
  }
  std::vector<std::string> names;
  for (const graph::Pass& p : graph::all_passes()) {
    // Pruning is no optimisation that may be left out: what nobody needs does not run, in TensorFlow neither.
    if (p.option.empty()) continue;
    if (off.all || std::find(off.options.begin(), off.options.end(), p.option) != off.options.end()) names.emplace_back(p.name);
  }
  if (off.jit) names.emplace_back(graph::kAutoJit);
  return names;
}

bool wants_jit(std::string_view config_proto) {
  int32_t level = 0;
  for (ProtoReader config(config_proto); config.next();) {
    if (config.field() != 10) continue;  // graph_options
    for (ProtoReader graph = config.message(); graph.next();) {
      if (graph.field() != 3) continue;  // optimizer_options
      for (ProtoReader o = graph.message(); o.next();) {
        if (o.field() == 5) level = o.int32();
      }
    }
  }
  return level > 0;
}

}  // namespace weft_engine::io
