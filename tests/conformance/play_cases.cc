// Plays recorded op calls and compares with TensorFlow's answers; then asks each op's shape rule about
// the same call: what it says must hold of the result.
//
//   play_cases [--known FILE] [--fails] [--op NAME] case.bin ...
//
// An op that does not agree wholly must stand in the known file (op, cases that agree, of how many,
// reason), and must not get worse.
#include <algorithm>
#include <cstdio>
#include <map>

#include "eager/op.h"
#include "engine/engine.h"
#include "op/shape_context.h"
#include "tests/support/cases.h"
#include "tests/support/grad_graph.h"

using namespace weft;           // NOLINT
using namespace weft::testing;  // NOLINT

namespace {

struct Tally {
  int agree = 0, total = 0;
  std::string first;
};

// Ops that were removed from TensorFlow run in old graphs alone.
Result<std::vector<Tensor>> run_in_old_graph(const OpCase& c) {
  GradGraph g(engine::Engine::get().registry());
  WEFT_RETURN_IF_ERROR(g.build(c));
  std::vector<graph::Endpoint> fetches;
  for (size_t i = 0; i < c.outputs.size(); ++i) fetches.push_back({g.node, int(i)});
  return g.run(fetches);
}

Result<std::vector<Tensor>> run(eager::Context& context, const OpCase& c) {
  if (const auto* spec = engine::Engine::get().registry().find(c.op); spec && spec->deprecated_since > 0) return run_in_old_graph(c);
  eager::Op op(context);
  WEFT_RETURN_IF_ERROR(op.reset(c.op));
  for (const auto& [k, v] : c.attrs) WEFT_RETURN_IF_ERROR(op.set_attr(k, v));
  for (const auto& t : c.inputs) op.add_input(eager::TensorHandle::make(*t, nullptr));
  std::vector<RefPtr<eager::TensorHandle>> handles;
  WEFT_RETURN_IF_ERROR(op.execute(handles));
  std::vector<Tensor> out;
  for (auto& h : handles) {
    WEFT_RETURN_IF_ERROR(h->wait());
    out.push_back(h->tensor());
  }
  return out;
}

// What the shape rule says with everything known, and with nothing known, must not contradict the result.
std::string check_shapes(const OpCase& c, const std::vector<Tensor>& result) {
  const auto* spec = engine::Engine::get().registry().find(c.op);
  std::vector<DType> types;
  for (const auto& t : c.inputs) types.push_back(t->dtype());
  auto node = op::NodeInfo::make(*spec, "", c.attrs, types);
  if (!node.ok()) return node.status().to_string();
  for (const bool known : {true, false}) {
    std::vector<PartialShape> shapes;
    std::vector<const Tensor*> constants;
    for (const auto& t : c.inputs) {
      shapes.push_back(known ? PartialShape(t->shape()) : PartialShape::unknown());
      constants.push_back(known ? &*t : nullptr);
    }
    op::ShapeContext context(*node, shapes, constants);
    if (Status s = spec->infer_shapes(context); !s.ok()) return cat("the shape rule fails: ", s.message());
    for (size_t i = 0; i < result.size(); ++i) {
      if (!context.outputs()[i].compatible_with(result[i].shape()))
        return cat("the shape rule says ", context.outputs()[i], " of output ", i, ", which is ", result[i].shape());
    }
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  std::string known_path, only;
  bool show_fails = false;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg == "--known") known_path = argv[++i];
    else if (arg == "--op") only = argv[++i];
    else if (arg == "--fails") show_fails = true;
    else paths.push_back(arg);
  }
  eager::Context context(engine::Engine::get().registry(), {});
  std::map<std::string, Tally> tallies;
  const bool read = each_case(paths, only, [&](const OpCase& c, int number) {
    Tally& tally = tallies[c.op];
    ++tally.total;
    auto result = run(context, c);
    std::string why = result.ok() ? difference(*result, c.outputs) : result.status().to_string();
    if (why.empty()) why = check_shapes(c, *result);
    if (why.empty()) {
      ++tally.agree;
      return;
    }
    if (tally.first.empty()) tally.first = why;
    if (show_fails) std::printf("%s #%d: %s\n", c.op.c_str(), number, why.c_str());
  });
  if (!read) return 2;
  const auto known = read_known_counts(known_path);
  int agree = 0, total = 0, whole = 0, worse = 0;
  for (const auto& [op, t] : tallies) {
    agree += t.agree;
    total += t.total;
    whole += t.agree == t.total;
    if (t.agree == t.total) continue;
    auto it = known.find(op);
    const bool expected = it != known.end() && t.agree >= it->second;
    worse += !expected;
    std::printf("%s%-36s %3d of %3d  %s\n", expected ? "known " : "WORSE ", op.c_str(), t.agree, t.total, t.first.substr(0, 160).c_str());
  }
  std::printf("cases: %d of %d agree, ops: %d of %zu wholly\n", agree, total, whole, tallies.size());
  return worse || total == 0 ? 1 : 0;
}
