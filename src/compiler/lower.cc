#include "compiler/lower.h"

#include <set>

#include "compiler/lower_internal.h"
#include "core/call_depth.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/passes/util.h"
#include "ir/simplify.h"

namespace weft_engine::compiler {
namespace {

using core::Result;
using core::Status;
using graph::FunctionBody;
using graph::Node;

constexpr int kMostAttempts = 64;   // open sizes that turn out to be equal
constexpr size_t kMostNodes = 8;    // named of each op without a rule

// The functions that a node calls.
std::vector<op::FunctionAttr> callees(const Node& n) {
  std::vector<op::FunctionAttr> out;
  if (n.is_function_call()) {
    out.push_back({std::string(n.op()), std::make_shared<op::AttrMap>(graph::attrs_of(n))});
    return out;
  }
  for (const auto& a : n.info().attrs()) {
    if (const auto* f = a.get<op::FunctionAttr>()) out.push_back(*f);
    if (const auto* l = a.get<std::vector<op::FunctionAttr>>()) out.insert(out.end(), l->begin(), l->end());
  }
  return out;
}

using Rules = std::map<std::string, std::vector<std::string>>;  // op: nodes

// The nodes of a body and of the functions that it calls, each function once.
void each_node(const FunctionBody& body, core::FunctionRef<void(const Node&)> see) {
  std::set<std::string> seen;
  std::vector<FunctionBody> todo;  // opened, not looked at
  const auto look = [&](const FunctionBody& b) {
    for (const Node* n : b.graph->nodes()) {
      see(*n);
      for (const op::FunctionAttr& f : callees(*n)) {
        if (!b.graph->library() || !seen.insert(f.name).second) continue;
        auto def = b.graph->library()->find(f.name);
        if (!def.ok()) continue;
        auto inner = graph::instantiate_function(**def, f.attrs ? *f.attrs : op::AttrMap{}, b.graph->registry(), b.graph->library());
        if (inner.ok()) todo.push_back(std::move(inner).value());
      }
    }
  };
  look(body);
  while (!todo.empty()) {
    const FunctionBody next = std::move(todo.back());
    todo.pop_back();
    look(next);
  }
}

// The ops without a rule, and those whose rule always refuses.
void collect(const FunctionBody& body, Rules& missing, Rules& from_data) {
  each_node(body, [&](const Node& n) {
    if (!n.is_function_call() && !is_end(n) && !n.spec().lower && !graph::is_v1_control_flow(n)) missing[std::string(n.op())].push_back(n.name());
    if (n.spec().lower == op::shape_from_data) from_data[std::string(n.op())].push_back(n.name());
  });
}

// Until no two open sizes turn out to be one.
Result<std::unique_ptr<ir::Module>> attempts(const FunctionBody& body, const LowerOptions& options) {
  LowerCache cache;
  std::map<int, ir::Dim> replaced;
  std::vector<ir::Guard> guards;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    auto m = std::make_unique<ir::Module>();
    m->name = body.name;
    Lowerer l(*m, options, cache, replaced);
    Status s = l.run(body);
    if (s.ok()) {
      for (ir::Guard& g : guards) {
        const int symbol = g.a.as_symbol();
        const auto name = [&](int i) { return size_t(i) < m->symbols.size() ? m->symbols[size_t(i)].name : core::cat("s", i); };
        g.text = core::cat("the size ", name(symbol), " must be ", g.b.is_const() || g.b.as_symbol() < 0 ? g.b.to_string() : name(g.b.as_symbol()));
        m->guards.push_back(g);
      }
      WEFT_RETURN_IF_ERROR(ir::verify(*m));
      ir::simplify(*m, options.threads == 1 && !options.gpu, options.gpu ? ir::Convolutions::kOutputChannelsFirst : ir::Convolutions::kWinograd);
      WEFT_RETURN_IF_ERROR(ir::verify(*m));
      return m;
    }
    const auto& unify = l.builder().unify();
    if (!unify) return s;
    const auto [symbol, with] = *unify;
    const auto put = [&](int i) { return i == symbol ? std::optional<ir::Dim>(with) : std::nullopt; };
    for (auto& [k, d] : replaced) d = d.substitute(put);
    for (ir::Guard& g : guards) g.b = g.b.substitute(put);
    replaced[symbol] = with;
    guards.push_back({ir::Dim::symbol(symbol), with, ""});
  }
  return core::unimplemented("too many unknown sizes of '", body.name, "' turn out to be equal");
}

}  // namespace

std::vector<std::string> without_lowering(const FunctionBody& body) {
  Rules missing;
  collect(body, missing, missing);
  std::vector<std::string> out;
  for (const auto& [op, nodes] : missing) {
    std::string line = op + " (";
    for (size_t i = 0; i < nodes.size() && i < kMostNodes; ++i) line += (i ? ", " : "") + nodes[i];
    if (nodes.size() > kMostNodes) line += core::cat(" and ", nodes.size() - kMostNodes, " more");
    out.push_back(line + ")");
  }
  return out;
}

bool only_shapes_from_data(const FunctionBody& body) {
  Rules missing, from_data;
  collect(body, missing, from_data);
  return missing.empty() && !from_data.empty();
}

bool may_grow_lists(const FunctionBody& body) {
  bool grows = false;
  each_node(body, [&](const Node& n) {
    const op::AttrValue* resize = n.find_attr("resize_if_index_out_of_bounds");
    const bool* on = resize ? resize->get<bool>() : nullptr;
    grows |= on && *on;
  });
  return grows;
}

Status prepare(FunctionBody& body, std::vector<core::PartialShape> arg_shapes, std::vector<std::optional<op::ShapeContext::HandleData>> arg_handles,
               bool whole) {
  graph::PassContext c;
  c.arg_shapes = std::move(arg_shapes);
  c.arg_handles = std::move(arg_handles);
  c.inline_compiled = whole;
  c.disabled = {"remap"};  // the compiler fuses by itself, and has no rules for fused kernels
  WEFT_RETURN_IF_ERROR(raise_frames(body));
  WEFT_RETURN_IF_ERROR(graph::optimize(body, c));
  return raise_frames(body);  // what calls brought in
}

Result<std::unique_ptr<ir::Module>> lower(const FunctionBody& body, const LowerOptions& options) {
  const std::vector<std::string> missing = without_lowering(body);
  if (!missing.empty()) {
    std::string text = core::cat("the compiler has no rule for ", missing.size() == 1 ? "this op" : "these ops", " of '", body.name, "': ");
    for (size_t i = 0; i < missing.size(); ++i) text += (i ? "; " : "") + missing[i];
    return core::unimplemented(text);
  }
  std::unique_ptr<ir::Module> module;
  WEFT_RETURN_IF_ERROR(core::with_large_stack([&]() -> Status {
    WEFT_ASSIGN(module, attempts(body, options));
    return {};
  }));
  return module;
}

}  // namespace weft_engine::compiler
