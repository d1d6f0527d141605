#include "saved_model/freeze.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/call_depth.h"
#include "core/cat.h"
#include "core/own_memory.h"
#include "graph/handle_use.h"
#include "graph/passes/passes.h"
#include "io/graph_def.h"
#include "op/op_traits.h"
#include "op/variable.h"
#include "saved_model/export_graph.h"
#include "wire/proto.h"

namespace weft_engine::saved_model {
namespace {

using graph::FunctionDef;
using graph::FunctionLibrary;
using graph::NodeDef;
using op::AttrMap;
using op::OpSpec;
using op::Role;

constexpr int kMaxDepth = 2'000;  // functions inside functions

// What is known of a handle that was replaced by its variable's value.
struct Frozen {
  DType dtype = DType::kInvalid;
  PartialShape shape;
  std::string variable;
};
// An output of a node, by flat index; an argument of a function is output 0 of its name.
using Ref = std::pair<std::string, int>;

Role role_of(const op::Registry& registry, const NodeDef& n) {
  const OpSpec* spec = registry.find(n.op);
  return spec ? spec->traits().role : Role::kNone;  // a function
}

op::OnValueRule rule_of(const op::Registry& registry, const NodeDef& n) {
  const OpSpec* spec = registry.find(n.op);
  return spec ? spec->traits().on_value : nullptr;
}

bool is_variable(const op::Registry& registry, const NodeDef& n) {
  const Role role = role_of(registry, n);
  return role == Role::kVarHandle || role == Role::kRefVariable;
}

// An op that hands its first input on, of type T: what it is called where that is not a reference. Empty for all others.
std::string_view hands_on(const op::Registry& registry, const NodeDef& n) {
  const OpSpec* spec = registry.find(n.op);
  if (!spec) return {};
  switch (const Role role = spec->traits().role) {
    case Role::kSwitch:
    case Role::kMerge:
    case Role::kEnter:
    case Role::kExit:
    case Role::kNextIteration: return op::op_of(role);
    default: break;
  }
  const auto& in = spec->signature().inputs;
  if (!spec->traits().forwards_inputs || in.size() != 1 || in[0].type_attr < 0 || in[0].number_attr >= 0) return {};
  return in[0].is_ref ? op::op_of(Role::kIdentity) : spec->name;
}

// A call op: where its function attributes are, and at which input their arguments begin.
struct CallOp {
  std::vector<std::string_view> functions;
  std::string_view types;         // the attribute with the arguments' types
  std::string_view result_types;  // and the results'
  int first = 0;
};
const CallOp* call_op(Role role) {
  static const auto* call = new CallOp{{"f"}, "Tin", "Tout", 0};
  static const auto* loop = new CallOp{{"cond", "body"}, "T", "T", 0};
  static const auto* branch = new CallOp{{"then_branch", "else_branch"}, "Tin", "Tout", 1};
  static const auto* branches = new CallOp{{"branches"}, "Tin", "Tout", 1};
  switch (role) {
    case Role::kCall: return call;
    case Role::kWhile: return loop;
    case Role::kIf: return branch;
    case Role::kCase: return branches;
    default: return nullptr;
  }
}

// Rewrites lists of nodes: those of the graph, and those of functions that handles are passed to.
class Freezer {
 public:
  Freezer(const op::Registry& registry, FunctionLibrary& library) : registry_(registry), library_(library) {}

  // Nodes of a graph ("node:1") or, with `function`, of one of the library ("node:output:1"). `frozen` says which
  // tensors hold values already; more are added as handles are passed on.
  Status rewrite(std::vector<NodeDef>& nodes, std::map<Ref, Frozen>& frozen, bool function, std::map<std::string, std::string>& ret, int depth);

 private:
  struct Special {
    std::string name;
    std::map<int, Frozen> results;  // results that were handles
  };
  Result<Special> specialise(const FunctionAttr& f, const std::map<int, Frozen>& args, int depth);
  Status rewrite_call(NodeDef& n, const CallOp& call, const std::map<int, Frozen>& inputs, std::map<Ref, Frozen>& frozen, int depth);
  // The input's place in the flat list of outputs.
  Ref parse(std::string_view input, bool function, const std::unordered_map<std::string_view, const NodeDef*>& by_name) const;

  const op::Registry& registry_;
  FunctionLibrary& library_;
  std::map<std::string, Special> specials_;
  int count_ = 0;
};

Ref Freezer::parse(std::string_view input, bool function, const std::unordered_map<std::string_view, const NodeDef*>& by_name) const {
  const size_t colon = input.find(':');
  std::string node(input.substr(0, colon));
  if (colon == std::string_view::npos) return {std::move(node), 0};
  std::string_view rest = input.substr(colon + 1);
  int offset = 0;
  if (const size_t second = rest.find(':'); function && second != std::string_view::npos) {
    // Of the ops that hand handles on only these have more than one output argument.
    auto it = by_name.find(node);
    const Role role = it == by_name.end() ? Role::kNone : role_of(registry_, *it->second);
    offset = (role == Role::kSwitch && rest.starts_with("output_true")) || (role == Role::kMerge && rest.starts_with("value_index"));
    rest = rest.substr(second + 1);
  }
  return {std::move(node), offset + std::atoi(std::string(rest).c_str())};
}

Status Freezer::rewrite(std::vector<NodeDef>& nodes, std::map<Ref, Frozen>& frozen, bool function, std::map<std::string, std::string>& ret,
                        int depth) {
  if (depth > kMaxDepth) return invalid_argument("functions call each other too deeply to freeze variables in them");
  std::unordered_map<std::string_view, const NodeDef*> by_name;
  std::unordered_map<std::string, std::vector<size_t>> readers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    by_name.emplace(nodes[i].name, &nodes[i]);
    for (const auto& input : nodes[i].inputs) {
      if (!input.starts_with("^")) readers[input.substr(0, input.find(':'))].push_back(i);
    }
  }
  std::map<std::string, std::string> renamed_outputs;  // in functions: "read:value:0" -> "read:output:0"
  std::vector<NodeDef> added;
  std::vector<size_t> todo;
  std::vector<std::set<int>> seen(nodes.size());  // inputs that were dealt with
  const auto read_by = [&](const std::string& name) {
    auto it = readers.find(name);
    if (it != readers.end()) todo.insert(todo.end(), it->second.begin(), it->second.end());
  };
  for (const auto& [ref, f] : frozen) read_by(ref.first);
  while (!todo.empty()) {
    const size_t at = todo.back();
    todo.pop_back();
    NodeDef& n = nodes[at];
    std::map<int, Frozen> inputs;  // those that hold values now
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      if (n.inputs[i].starts_with("^")) continue;
      auto it = frozen.find(parse(n.inputs[i], function, by_name));
      if (it != frozen.end()) inputs.emplace(int(i), it->second);
    }
    std::set<int> places;
    for (const auto& [i, f] : inputs) places.insert(i);
    if (places == seen[at]) continue;
    const bool first_time = seen[at].empty();
    seen[at] = std::move(places);
    const Frozen& f = inputs.begin()->second;
    const auto renames = [&](const char* from) {
      if (function) renamed_outputs[cat(n.name, ":", from, ":0")] = cat(n.name, ":output:0");
    };
    const auto keep_extra = [&](AttrMap attrs) {
      for (const auto& [key, value] : n.attrs) {
        if (key.starts_with("_") && !key.starts_with("_handle") && key != "_class") attrs.emplace(key, value);
      }
      n.attrs = std::move(attrs);
    };
    const auto constant = [&](std::string_view suffix, Tensor value) {
      NodeDef c;
      c.name = cat(n.name, suffix);
      while (by_name.count(c.name)) c.name += "_";
      c.op = op::op_of(Role::kConst);
      c.attrs = {{"dtype", value.dtype()}, {"value", std::move(value)}};
      added.push_back(c);
      return function ? cat(c.name, ":output:0") : c.name;
    };
    const Role role = role_of(registry_, n);
    if (role == Role::kReadVariable) {
      n.op = op::op_of(Role::kIdentity);
      keep_extra({{"T", f.dtype}});
      renames("value");
    } else if (const op::OnValueRule on_value = rule_of(registry_, n)) {
      graph::HandleUse use{n, f.dtype, constant, {}};
      on_value(use);
      keep_extra(std::move(use.attrs));
    } else if (role == Role::kIsInitialized) {
      n.op = op::op_of(Role::kConst);
      renames("is_initialized");
      n.inputs.erase(n.inputs.begin());
      keep_extra({{"dtype", DType::kBool}, {"value", Tensor::scalar(true)}});
    } else if (const std::string_view as_value = hands_on(registry_, n); !as_value.empty()) {
      if (role == Role::kSwitch && !inputs.count(0)) continue;
      n.op = as_value;
      n.attrs["T"] = f.dtype;
      n.attrs.erase("_output_shapes");
      for (int out = 0; out < (role == Role::kSwitch ? 2 : 1); ++out) frozen[{n.name, out}] = f;
      read_by(n.name);
    } else if (const CallOp* call = call_op(role)) {
      if (!first_time) return unimplemented("node ", n.name, ": a handle reaches it through its own results");
      WEFT_RETURN_IF_ERROR(rewrite_call(n, *call, inputs, frozen, depth));
      read_by(n.name);
    } else if (library_.contains(n.op)) {
      std::map<int, Frozen> args(inputs.begin(), inputs.end());
      auto attrs = std::make_shared<AttrMap>(n.attrs);
      WEFT_ASSIGN(Special s, specialise({n.op, attrs}, args, depth + 1));
      n.op = s.name;
      n.attrs.clear();
      if (!s.results.empty()) return unimplemented("node ", n.name, " calls function ", n.op, " by its name, which gives a variable's handle back");
    } else {
      const OpSpec* spec = registry_.find(n.op);
      const auto reads_value = [&] {
        if (!spec) return false;
        const auto& args = spec->signature().inputs;
        for (const auto& [i, x] : inputs) {
          // A list of tensors before the argument would shift it; then every argument is asked.
          for (size_t a = 0; a < args.size(); ++a) {
            const bool single =
                std::none_of(args.begin(), args.begin() + int(a), [](const auto& s) { return s.number_attr >= 0 || s.type_list_attr >= 0; });
            if ((single ? int(a) == i : true) && (args[a].is_ref || args[a].type == DType::kResource)) return false;
          }
        }
        return true;
      };
      // Plain ops read the value of a ref variable; a resource's value comes by reads alone.
      if (reads_value()) continue;
      return invalid_argument("node ", n.name, " (", n.op, ") needs variable '", f.variable,
                              "' itself, not its value: only what reads variables can be frozen");
    }
  }
  if (function) {
    const auto rename = [&](std::string& input) {
      auto it = renamed_outputs.find(input);
      if (it != renamed_outputs.end()) input = it->second;
    };
    for (NodeDef& n : nodes) {
      for (auto& input : n.inputs) rename(input);
    }
    for (auto& [key, value] : ret) rename(value);
  }
  nodes.insert(nodes.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
  return {};
}

// A copy of the function that takes values where it took handles.
Result<Freezer::Special> Freezer::specialise(const FunctionAttr& f, const std::map<int, Frozen>& args, int depth) {
  std::string key = f.name;
  if (f.attrs) {
    for (const auto& [k, v] : *f.attrs) key += cat("\x01", k, "\x02", v.to_string());
  }
  for (const auto& [i, x] : args) key += cat("\x03", i, "\x03", int(x.dtype), x.shape.to_string());
  if (auto it = specials_.find(key); it != specials_.end()) return it->second;
  WEFT_ASSIGN(auto original, library_.find(f.name));
  FunctionDef def = *original;
  for (const auto& a : def.inputs) {
    if (!a.number_attr.empty() || !a.type_list_attr.empty())
      return unimplemented("function ", f.name, ", which variables are passed to, has arguments that are lists");
  }
  Special s;
  do s.name = cat(f.name, "_frozen_", count_++);
  while (library_.contains(s.name));
  specials_[key] = s;  // a function that calls itself finds its new name here
  def.name = s.name;
  std::map<Ref, Frozen> frozen;
  for (const auto& [i, x] : args) {
    if (i < 0 || size_t(i) >= def.inputs.size()) return invalid_argument("function ", f.name, " is called with more arguments than it has");
    auto& a = def.inputs[size_t(i)];
    a.type = x.dtype;
    a.type_attr.clear();
    a.unread.clear();  // what it said of the handle
    def.arg_attrs.erase(i);
    def.resource_arg_unique_id.erase(i);
    frozen[{a.name, 0}] = x;
  }
  WEFT_RETURN_IF_ERROR(core::with_stack([&] { return rewrite(def.nodes, frozen, true, def.ret, depth); }));
  std::unordered_map<std::string_view, const NodeDef*> by_name;
  for (const NodeDef& n : def.nodes) by_name.emplace(n.name, &n);
  for (size_t i = 0; i < def.outputs.size(); ++i) {
    auto r = def.ret.find(def.outputs[i].name);
    if (r == def.ret.end()) continue;
    auto it = frozen.find(parse(r->second, true, by_name));
    if (it == frozen.end()) continue;
    def.outputs[i].type = it->second.dtype;
    def.outputs[i].type_attr.clear();
    def.outputs[i].unread.clear();
    s.results[int(i)] = it->second;
  }
  WEFT_RETURN_IF_ERROR(library_.add(std::move(def)));
  return specials_[key] = s;
}

Status Freezer::rewrite_call(NodeDef& n, const CallOp& call, const std::map<int, Frozen>& inputs, std::map<Ref, Frozen>& frozen, int depth) {
  std::map<int, Frozen> args;
  for (const auto& [i, f] : inputs) {
    if (i < call.first) return invalid_argument("node ", n.name, " is controlled by a variable's handle");
    args.emplace(i - call.first, f);
  }
  std::optional<std::map<int, Frozen>> results;
  const auto one = [&](const FunctionAttr& f) -> Result<FunctionAttr> {
    WEFT_ASSIGN(Special s, specialise(f, args, depth + 1));
    const bool cond = role_of(registry_, n) == Role::kWhile && &f == n.attrs["cond"].get<FunctionAttr>();
    if (!cond) {
      const auto same = [&] {
        if (results->size() != s.results.size()) return false;
        return std::equal(results->begin(), results->end(), s.results.begin(),
                          [](const auto& a, const auto& b) { return a.first == b.first && a.second.dtype == b.second.dtype; });
      };
      if (results && !same()) return invalid_argument("node ", n.name, ": its branches give different variables back");
      results = s.results;
    }
    return FunctionAttr{s.name, f.attrs};
  };
  for (std::string_view key : call.functions) {
    auto it = n.attrs.find(key);
    if (it == n.attrs.end()) return invalid_argument("node ", n.name, " has no attribute ", key);
    if (const auto* f = it->second.get<FunctionAttr>()) {
      WEFT_ASSIGN(FunctionAttr g, one(*f));
      it->second = std::move(g);
    } else if (const auto* list = it->second.get<std::vector<FunctionAttr>>()) {
      std::vector<FunctionAttr> out;
      for (const auto& f : *list) {
        WEFT_ASSIGN(FunctionAttr g, one(f));
        out.push_back(std::move(g));
      }
      it->second = std::move(out);
    }
  }
  const auto set_types = [&](std::string_view attr, const std::map<int, Frozen>& changed) -> Status {
    auto it = n.attrs.find(attr);
    const auto* types = it == n.attrs.end() ? nullptr : it->second.get<std::vector<DType>>();
    if (!types) return changed.empty() ? Status() : invalid_argument("node ", n.name, " has no list of types ", attr);
    std::vector<DType> out = *types;
    for (const auto& [i, f] : changed) {
      if (i >= 0 && size_t(i) < out.size()) out[size_t(i)] = f.dtype;
    }
    it->second = std::move(out);
    return {};
  };
  WEFT_RETURN_IF_ERROR(set_types(call.types, args));
  const bool loop = role_of(registry_, n) == Role::kWhile;
  if (loop) {
    for (const auto& [i, f] : args) {
      if (!results->count(i)) return invalid_argument("node ", n.name, ": variable '", f.variable, "' leaves the loop as another one");
    }
  } else {
    WEFT_RETURN_IF_ERROR(set_types(call.result_types, *results));
  }
  for (const auto& [i, f] : *results) {
    frozen[{n.name, i}] = f;
    if (auto it = n.attrs.find("output_shapes"); it != n.attrs.end()) {
      if (const auto* shapes = it->second.get<std::vector<PartialShape>>(); shapes && size_t(i) < shapes->size()) {
        std::vector<PartialShape> out = *shapes;
        out[size_t(i)] = f.shape;
        it->second = std::move(out);
      }
    }
  }
  n.attrs.erase("_output_shapes");
  n.attrs.erase("_read_only_resource_inputs");
  n.attrs.erase("_num_original_outputs");
  return {};
}

// Where a control edge comes from something without an effect nothing is lost by dropping it, except in graphs of
// version 1, where it also says which branch is alive.
void drop_idle_controls(ExportedGraph& g, const op::Registry& registry, const FunctionLibrary& library) {
  std::unordered_map<std::string_view, const NodeDef*> by_name;
  for (const NodeDef& n : g.nodes) {
    const Role role = role_of(registry, n);
    if (role == Role::kSwitch || role == Role::kEnter || role == Role::kMerge) return;
    by_name.emplace(n.name, &n);
  }
  std::unordered_map<std::string_view, int> effects;  // 1: it, or what it waits for, does something; -1: being asked
  const auto has_effect = [&](const auto& self, std::string_view name, int depth) -> bool {
    auto [it, fresh] = effects.emplace(name, -1);
    if (!fresh) return it->second != 0;
    auto n = by_name.find(name);
    bool yes = n == by_name.end() || depth > 2000;
    if (!yes) {
      const OpSpec* spec = registry.find(n->second->op);
      yes = !spec || spec->has_side_effect() || !functions_of(*n->second, library).empty();
      for (size_t i = 0; !yes && i < n->second->inputs.size(); ++i) {
        std::string_view in = n->second->inputs[i];
        if (in.starts_with("^")) in.remove_prefix(1);
        yes = self(self, in.substr(0, in.find(':')), depth + 1);
      }
    }
    effects[name] = yes;
    return yes;
  };
  std::vector<std::pair<NodeDef*, std::vector<std::string>>> changed;
  for (NodeDef& n : g.nodes) {
    std::vector<std::string> kept;
    for (const auto& in : n.inputs) {
      if (!in.starts_with("^") || has_effect(has_effect, std::string_view(in).substr(1), 0)) kept.push_back(in);
    }
    if (kept.size() != n.inputs.size()) changed.emplace_back(&n, std::move(kept));
  }
  for (auto& [n, inputs] : changed) n->inputs = std::move(inputs);
}

const std::string* text_attr(const NodeDef& n, std::string_view key) {
  auto it = n.attrs.find(key);
  return it == n.attrs.end() ? nullptr : it->second.get<std::string>();
}

// The value of the variable that a node stands for. It is found by its name: after inlining, the node may come from a function.
Result<Tensor> value_of(Model& model, const NodeDef& n) {
  const std::string* container = text_attr(n, "container");
  const std::string* shared = text_attr(n, "shared_name");
  const std::string name = shared && !shared->empty() ? *shared : n.name;
  const auto none = [&] {
    return failed_precondition("variable '", name, "' has no value yet: run the graph's initialiser first, or give a SavedModel with its checkpoint");
  };
  if (role_of(model.graph().registry(), n) == Role::kVarHandle) {
    auto variable = model.session().resources().find<op::Variable>(container ? *container : "", name);
    if (!variable.ok()) return none();
    std::shared_lock lock((*variable)->mutex());
    if (!(*variable)->initialized()) return none();
    return core::to_host((*variable)->tensor());
  }
  // Fetching a ref gives its value.
  Node* node = model.graph().find(n.name);
  if (!node) return unimplemented("variable '", name, "' of version 1 inside a function");
  Endpoint e{node, 0};
  Tensor t;
  if (Status s = model.session().run({}, {}, {&e, 1}, {&t, 1}, {}, {}); !s.ok()) return s.code() == Code::kFailedPrecondition ? none() : s;
  return t.copy();
}

// ---- tables: their contents come from an initialiser, which goes along -----------------------------------------

Node* initialiser(Model& model) {
  if (Node* n = model.graph().find(kInitTables)) return n;
  const std::string& name = model.meta().init_op;
  return name.empty() ? nullptr : model.graph().find(name.substr(0, name.rfind(':')));
}

// Gives the initialiser its name, and the files that it reads their places. Of all that loading runs only what fills
// tables stays: it sets variables, too, before what reads them. `own` are the nodes that the outputs need.
void keep_initialiser(Model& model, const std::set<std::string>& own, ExportedGraph& g) {
  const op::Registry& registry = model.graph().registry();
  for (const auto& [tensor, file] : model.meta().assets) {
    const std::string node = tensor.substr(0, tensor.rfind(':'));
    for (NodeDef& n : g.nodes) {
      if (n.name == node && role_of(registry, n) == Role::kConst) n.attrs["value"] = Tensor::scalar((model.path() + "/assets/" + file).c_str());
    }
  }
  std::set<std::string> sets;
  for (const NodeDef& n : g.nodes) {
    if (role_of(registry, n) == Role::kAssignVariable && !own.count(n.name)) sets.insert("^" + n.name);
  }
  NodeDef init;
  init.name = kInitTables;
  init.op = op::op_of(Role::kNoOp);
  for (NodeDef& n : g.nodes) {
    std::erase_if(n.inputs, [&](const std::string& in) { return sets.count(in) > 0; });
    if (role_of(registry, n) == Role::kFillTable) init.inputs.push_back("^" + n.name);
  }
  g.targets = {init.name};
  std::erase_if(g.nodes, [&](const NodeDef& n) { return n.name == init.name; });  // of a graph that was frozen before
  g.nodes.push_back(std::move(init));
  prune_nodes(g);
}

}  // namespace

Result<FrozenGraph> freeze(Model& model, const std::vector<BoundSignature::Port>& inputs, const std::vector<BoundSignature::Port>& outputs) {
  if (outputs.empty()) return invalid_argument("freezing needs at least one output");
  const op::Registry& registry = model.graph().registry();
  std::vector<Endpoint> feeds, fetches;
  std::vector<ExportPort> in, out;
  for (const auto& p : inputs) feeds.push_back(p.tensor), in.push_back({p.name, p.shape});
  for (const auto& p : outputs) fetches.push_back(p.tensor), out.push_back({p.name, p.shape});
  const auto part = [&](std::span<Node* const> targets) -> Result<ExportedGraph> {
    WEFT_ASSIGN(graph::FunctionBody body, model.session().body(feeds, fetches, targets));
    graph::PassContext c;
    c.env = model.session().runtime().env();
    WEFT_RETURN_IF_ERROR(graph::pass_inline(body, c));
    WEFT_ASSIGN(ExportedGraph g, export_body(body, in, out));
    prune_nodes(g);
    return g;
  };
  WEFT_ASSIGN(ExportedGraph g, part({}));
  if (Node* init = initialiser(model);
      init && std::any_of(g.nodes.begin(), g.nodes.end(), [&](const NodeDef& n) { return role_of(registry, n) == Role::kHashTable; })) {
    std::set<std::string> own;
    for (const NodeDef& n : g.nodes) own.insert(n.name);
    WEFT_ASSIGN(g, part({&init, 1}));
    keep_initialiser(model, own, g);
  }

  FrozenGraph result;
  auto library = std::make_shared<FunctionLibrary>();
  WEFT_RETURN_IF_ERROR(library->add_all(*model.graph().library()));
  std::map<Ref, Frozen> frozen;
  for (NodeDef& n : g.nodes) {
    if (!is_variable(registry, n)) continue;
    WEFT_ASSIGN(Tensor value, value_of(model, n));
    const std::string* shared = text_attr(n, "shared_name");
    Frozen f{value.dtype(), value.shape(), shared && !shared->empty() ? *shared : n.name};
    n.op = op::op_of(Role::kConst);
    n.attrs = {{"dtype", value.dtype()}, {"value", value}};
    n.full_type.clear();
    result.constants.push_back(f.variable);
    frozen[{n.name, 0}] = std::move(f);
  }
  std::map<std::string, std::string> none;
  WEFT_RETURN_IF_ERROR(Freezer(registry, *library).rewrite(g.nodes, frozen, false, none, 0));
  drop_idle_controls(g, registry, *library);
  prune_nodes(g);
  result.inputs = g.inputs;
  result.outputs = g.outputs;
  WEFT_ASSIGN(auto needed, needed_functions(g.nodes, *library));
  WEFT_ASSIGN(result.graph, make_graph(std::move(g), std::move(needed), model.graph().registry()));
  return result;
}

Result<std::string> freeze_graph_def(std::shared_ptr<const std::string> graph_def, const std::map<std::string, Tensor>& values,
                                     const Registry& registry) {
  WEFT_ASSIGN(graph::GraphDef def, io::decode_graph_def(std::move(graph_def)));
  FunctionLibrary library;
  for (auto& [name, function] : def.functions) WEFT_RETURN_IF_ERROR(library.add(name, std::move(function)));
  for (auto& g : def.gradients) WEFT_RETURN_IF_ERROR(library.add_gradient(std::move(g)));
  std::map<Ref, Frozen> frozen;
  for (NodeDef& n : def.nodes) {
    auto value = values.find(n.name);
    if (value == values.end()) continue;
    auto dtype = n.attrs.find("dtype");
    const DType* type = dtype == n.attrs.end() ? nullptr : dtype->second.get<DType>();
    if (is_variable(registry, n) || (type && *type == DType::kResource)) frozen[{n.name, 0}] = {value->second.dtype(), value->second.shape(), n.name};
    n.op = op::op_of(Role::kConst);
    n.inputs.clear();
    n.attrs = {{"dtype", value->second.dtype()}, {"value", value->second}};
    n.full_type.clear();
  }
  std::map<std::string, std::string> none;
  WEFT_RETURN_IF_ERROR(Freezer(registry, library).rewrite(def.nodes, frozen, false, none, 0));
  WEFT_ASSIGN(auto needed, needed_functions(def.nodes, library));
  wire::ProtoWriter w;
  for (const NodeDef& n : def.nodes) {
    WEFT_ASSIGN(std::string bytes, io::encode_node_def(n));
    w.bytes(1, bytes);
  }
  w.bytes(4, io::encode_versions(def.versions));
  WEFT_ASSIGN(std::string functions, io::encode_function_library(*needed));
  w.bytes(2, functions);
  return w.take();
}

}  // namespace weft_engine::saved_model
