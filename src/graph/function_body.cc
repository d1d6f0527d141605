#include "graph/function_body.h"

#include <charconv>
#include <set>
#include <unordered_map>

#include "core/error_notes.h"
#include "graph/function_library.h"
#include "graph/import.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

const AttrValue* lookup(const FunctionDef& def, const AttrMap& attrs, const std::string& name) {
  if (auto it = attrs.find(name); it != attrs.end()) return &it->second;
  for (const auto& a : def.signature_attrs) {
    if (a.name == name && a.default_value) return &*a.default_value;
  }
  return nullptr;
}

// The types of the tensors of one argument.
Status arg_types(const FunctionDef& def, const AttrMap& attrs, const ArgDef& arg, std::vector<DType>& out) {
  int64_t count = 1;
  auto missing = [&](const std::string& attr) { return invalid_argument("Attr ", attr, " is not found from attributes of function ", def.name); };
  if (!arg.number_attr.empty()) {
    const AttrValue* v = lookup(def, attrs, arg.number_attr);
    const int64_t* n = v ? v->get<int64_t>() : nullptr;
    if (!n) return missing(arg.number_attr);
    if (*n < 0 || *n > (1 << 20)) return invalid_argument("attribute ", arg.number_attr, " of function ", def.name, " is ", *n);
    count = *n;
  }
  if (!arg.type_list_attr.empty()) {
    const AttrValue* v = lookup(def, attrs, arg.type_list_attr);
    if (v && v->get<EmptyList>()) return {};
    const auto* l = v ? v->get<std::vector<DType>>() : nullptr;
    if (!l) return missing(arg.type_list_attr);
    out.insert(out.end(), l->begin(), l->end());
    return {};
  }
  DType type = arg.type;
  if (!arg.type_attr.empty()) {
    const AttrValue* v = lookup(def, attrs, arg.type_attr);
    const DType* t = v ? v->get<DType>() : nullptr;
    if (!t) return missing(arg.type_attr);
    type = *t;
  }
  if (!is_valid_dtype(int(type))) return invalid_argument("argument ", arg.name, " of function ", def.name, " has no valid type");
  out.insert(out.end(), size_t(count), arg.is_ref ? ref_type(type) : type);
  return {};
}

// Puts the function's attributes where the body asks for them. Functions named inside get theirs too.
Status substitute(const FunctionDef& def, const AttrMap& attrs, AttrValue& v, int depth) {
  if (depth > 32) return invalid_argument("attributes of function ", def.name, " are nested too deeply");
  if (const auto* p = v.get<PlaceholderAttr>()) {
    const AttrValue* found = lookup(def, attrs, p->name);
    if (!found) return invalid_argument("Failed to bind all placeholders in function ", def.name, ": no attribute ", p->name);
    AttrValue copy = *found;
    v = std::move(copy);
    return {};
  }
  auto inner = [&](const FunctionAttr& f) -> Result<FunctionAttr> {
    if (!f.attrs || f.attrs->empty()) return f;
    AttrMap map = *f.attrs;
    for (auto& [k, a] : map) WEFT_RETURN_IF_ERROR(substitute(def, attrs, a, depth + 1));
    return FunctionAttr{f.name, std::make_shared<const AttrMap>(std::move(map))};
  };
  if (const auto* f = v.get<FunctionAttr>()) {
    WEFT_ASSIGN(FunctionAttr g, inner(*f));
    v = AttrValue(std::move(g));
  } else if (const auto* l = v.get<std::vector<FunctionAttr>>()) {
    std::vector<FunctionAttr> out;
    for (const auto& f : *l) {
      WEFT_ASSIGN(FunctionAttr g, inner(f));
      out.push_back(std::move(g));
    }
    v = AttrValue(std::move(out));
  }
  return {};
}

class Builder {
 public:
  Builder(const FunctionDef& def, const AttrMap& attrs, FunctionBody& body) : def_(def), attrs_(attrs), body_(body), graph_(*body.graph) {}

  Status build() {
    WEFT_RETURN_IF_ERROR(add_args());
    WEFT_RETURN_IF_ERROR(add_nodes());
    return add_rets();
  }

 private:
  struct Text {  // hashing by view
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };

  Status add_args() {
    int index = 0;
    for (size_t a = 0; a < def_.inputs.size(); ++a) {
      std::vector<DType> types;
      WEFT_RETURN_IF_ERROR(arg_types(def_, attrs_, def_.inputs[a], types));
      std::vector<Endpoint> ends;
      const bool list = !def_.inputs[a].number_attr.empty() || !def_.inputs[a].type_list_attr.empty();
      for (size_t i = 0; i < types.size(); ++i) {
        AttrMap attrs;
        if (auto it = def_.arg_attrs.find(int(a)); it != def_.arg_attrs.end()) {
          for (const auto& [k, v] : it->second) {
            if (k.starts_with("_")) attrs[k] = v;
          }
        }
        std::string name = list ? cat(def_.inputs[a].name, "_", i) : def_.inputs[a].name;
        WEFT_ASSIGN(Node* node, add_arg(graph_, name, types[i], index, std::move(attrs)));
        body_.args.push_back(node);
        body_.arg_types.push_back(types[i]);
        ends.push_back({node, 0});
        ++index;
      }
      if (!args_.emplace(def_.inputs[a].name, std::move(ends)).second)
        return invalid_argument("Duplicated arg name: ", def_.inputs[a].name, " in function ", def_.name);
    }
    return {};
  }

  // "arg", "arg:1", "node:output:0".
  Result<Endpoint> resolve(std::string_view text, std::string_view reader) {
    auto not_there = [&] {
      return core::names_node(invalid_argument("input ", text, " is not found: in function ", def_.name, " {{node ", reader, "}}"), reader);
    };
    const size_t colon = text.find(':');
    std::string_view first = text.substr(0, colon);
    if (auto it = args_.find(first); it != args_.end() && std::count(text.begin(), text.end(), ':') < 2) {
      int index = 0;
      if (colon != std::string_view::npos && !to_int(text.substr(colon + 1), index)) return not_there();
      if (index < 0 || size_t(index) >= it->second.size()) return not_there();
      return it->second[size_t(index)];
    }
    auto it = nodes_.find(first);
    if (it == nodes_.end() || !it->second) return not_there();
    Node* node = it->second;
    if (colon == std::string_view::npos) return node->num_outputs() > 0 ? Result<Endpoint>(Endpoint{node, 0}) : Result<Endpoint>(not_there());
    std::string_view rest = text.substr(colon + 1);
    const size_t second = rest.find(':');
    std::string_view output = rest.substr(0, second);
    int index = 0;
    if (second != std::string_view::npos && !to_int(rest.substr(second + 1), index)) return not_there();
    const auto& outs = node->spec().signature().outputs;
    for (size_t o = 0; o < outs.size(); ++o) {
      if (outs[o].name != output) continue;
      const auto range = node->info().output_range(int(o));
      if (index < 0 || index >= range.size()) return not_there();
      return Endpoint{node, range.begin + index};
    }
    if (second == std::string_view::npos && to_int(output, index) && index < node->num_outputs()) return Endpoint{node, index};
    return not_there();
  }

  static bool to_int(std::string_view s, int& v) {
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
    return error == std::errc() && end == s.data() + s.size() && v >= 0;
  }

  // The way back of a loop of version 1, which TensorFlow's clients make of loops over several tasks.
  bool is_next_iteration(const NodeDef& nd) const {
    const auto spec = graph_.find_spec(nd.op);
    return spec.ok() && (*spec)->traits().role == Role::kNextIteration;
  }

  // Nodes may be in any order: each is added when all it reads is there, but for what comes back in a loop.
  Status add_nodes() {
    const size_t n = def_.nodes.size();
    std::unordered_map<std::string_view, size_t> by_name;
    for (size_t i = 0; i < n; ++i) {
      if (!by_name.emplace(def_.nodes[i].name, i).second || args_.count(def_.nodes[i].name))
        return invalid_argument("Duplicated node name: ", def_.nodes[i].name, " in function ", def_.name);
    }
    for (const NodeDef& nd : def_.nodes) {
      if (is_next_iteration(nd)) next_iterations_.insert(nd.name);
    }
    std::vector<int> waiting(n, 0);
    std::vector<std::vector<size_t>> readers(n);
    for (size_t i = 0; i < n; ++i) {
      for (std::string_view in : def_.nodes[i].inputs) {
        const bool control = in.starts_with("^");
        if (control) in.remove_prefix(1);
        auto it = by_name.find(in.substr(0, in.find(':')));
        if (it == by_name.end()) continue;  // an argument, or an error found later
        if (!control && next_iterations_.contains(it->first)) continue;
        ++waiting[i];
        readers[it->second].push_back(i);
      }
    }
    std::vector<size_t> ready;
    for (size_t i = n; i-- > 0;) {
      if (waiting[i] == 0) ready.push_back(i);
    }
    // The smallest first keeps the order of the file as far as edges allow.
    auto later = std::greater<size_t>();
    std::make_heap(ready.begin(), ready.end(), later);
    size_t done = 0;
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), later);
      const size_t i = ready.back();
      ready.pop_back();
      WEFT_RETURN_IF_ERROR(add_node(def_.nodes[i]));
      ++done;
      for (size_t r : readers[i]) {
        if (--waiting[r] == 0) {
          ready.push_back(r);
          std::push_heap(ready.begin(), ready.end(), later);
        }
      }
    }
    if (done == n) return close_loops();
    for (size_t i = 0; i < n; ++i) {
      if (waiting[i] > 0)
        return core::names_node(invalid_argument("function ", def_.name, " contains a cycle through {{node ", def_.nodes[i].name, "}}"),
                                def_.nodes[i].name);
    }
    return {};
  }

  // What add_node() had to leave open.
  Status close_loops() {
    for (const auto& [node, index, text] : open_) {
      WEFT_ASSIGN(Endpoint e, resolve(text, node->name()));
      if (base_type(e.node->output_type(e.index)) != base_type(node->info().input_types()[size_t(index)]))
        return core::names_node(invalid_argument("input ", text, " has the type ", dtype_name(e.node->output_type(e.index)), ": in function ",
                                                 def_.name, " {{node ", node->name(), "}}"),
                                node->name());
      graph_.set_input(node, index, e);
    }
    return {};
  }

  Status add_node(const NodeDef& nd) {
    AttrMap attrs = nd.attrs;
    for (auto& [k, v] : attrs) WEFT_RETURN_IF_ERROR(substitute(def_, attrs_, v, 0));
    std::vector<Endpoint> inputs;
    std::vector<Node*> controls;
    std::vector<std::pair<int, std::string_view>> later;
    for (std::string_view in : nd.inputs) {
      const std::string_view from = in.substr(0, in.find(':'));
      if (next_iterations_.contains(from) && !nodes_.contains(from)) {
        later.emplace_back(int(inputs.size()), in);
        inputs.emplace_back();
        continue;
      }
      if (!in.starts_with("^")) {
        WEFT_ASSIGN(Endpoint e, resolve(in, nd.name));
        inputs.push_back(e);
        continue;
      }
      in.remove_prefix(1);
      if (auto a = args_.find(in); a != args_.end()) {
        for (const Endpoint& e : a->second) controls.push_back(e.node);
      } else if (auto it = nodes_.find(in); it != nodes_.end()) {
        controls.push_back(it->second);
      } else {
        return core::names_node(invalid_argument("input ^", in, " is not found: in function ", def_.name, " {{node ", nd.name, "}}"), nd.name);
      }
    }
    // The inputs of what a loop comes back to are of one type.
    std::vector<DType> pending;
    if (!later.empty()) {
      const auto type = attrs.find("T");
      const DType* t = type == attrs.end() ? nullptr : type->second.get<DType>();
      if (!t)
        return core::names_node(invalid_argument("{{node ", nd.name, "}} has no type, and reads what comes back in a loop: in function ", def_.name),
                                nd.name);
      pending.assign(inputs.size(), *t);
    }
    auto made = graph_.add(nd.name, nd.op, std::move(attrs), std::move(inputs), controls, pending);
    if (!made.ok()) return core::at_node(made.status(), nd.name).with_suffix(cat(" in function ", def_.name));
    Node* node = *made;
    node->device = nd.device;
    node->debug_info = nd.debug_info;
    node->full_type = nd.full_type;
    nodes_.emplace(nd.name, node);
    for (const auto& [index, text] : later) open_.emplace_back(node, index, text);
    return {};
  }

  Status add_rets() {
    int index = 0;
    for (const ArgDef& out : def_.outputs) {
      std::vector<DType> types;
      WEFT_RETURN_IF_ERROR(arg_types(def_, attrs_, out, types));
      auto it = def_.ret.find(out.name);
      if (it == def_.ret.end()) return invalid_argument("Return ", out.name, " is missing in function ", def_.name);
      WEFT_ASSIGN(Endpoint first, resolve(it->second, out.name));
      for (size_t i = 0; i < types.size(); ++i) {
        Endpoint from = first;
        if (i > 0) {  // a list: the outputs (or arguments) that follow
          from.index += int(i);
          if (from.index >= from.node->num_outputs()) {
            if (!is_arg(*from.node)) return invalid_argument("Return ", out.name, " of function ", def_.name, " has too few values");
            const int64_t at = first.node->attr<int64_t>("index") + int64_t(i);
            if (at >= int64_t(body_.args.size())) return invalid_argument("Return ", out.name, " of function ", def_.name, " has too few values");
            from = {body_.args[size_t(at)], 0};
          }
        }
        if (base_type(from.node->output_type(from.index)) != base_type(types[i]))
          return invalid_argument("Invalid ret types ", out.name, " : ", dtype_name(types[i]), " vs ", dtype_name(from.node->output_type(from.index)),
                                  " in function ", def_.name);
        WEFT_ASSIGN(Node* ret, add_retval(graph_, cat(out.name, "_RetVal"), from, base_type(types[i]), index));
        body_.rets.push_back(ret);
        body_.ret_types.push_back(base_type(types[i]));
        ++index;
      }
    }
    for (const auto& [name, node] : def_.control_ret) {
      auto it = nodes_.find(node);
      if (it == nodes_.end()) return invalid_argument("control output ", name, " of function ", def_.name, " is not found: ", node);
      body_.control_rets.push_back(it->second);
    }
    return {};
  }

  const FunctionDef& def_;
  const AttrMap& attrs_;
  FunctionBody& body_;
  Graph& graph_;
  std::unordered_map<std::string, std::vector<Endpoint>, Text, std::equal_to<>> args_;
  std::unordered_map<std::string, Node*, Text, std::equal_to<>> nodes_;
  std::set<std::string_view> next_iterations_;  // nodes that loops come back by
  std::vector<std::tuple<Node*, int, std::string_view>> open_;
};

}  // namespace

Result<FunctionBody> instantiate_function(const FunctionDef& def, const AttrMap& attrs, const Registry& registry,
                                          std::shared_ptr<FunctionLibrary> library) {
  FunctionBody body;
  body.name = def.name;
  body.graph = std::make_unique<Graph>(registry, std::move(library));
  body.graph->versions.producer = kGraphDefVersion;
  WEFT_RETURN_IF_ERROR(Builder(def, attrs, body).build());
  return body;
}

Status function_types(const FunctionDef& def, const AttrMap& attrs, std::vector<DType>& args, std::vector<DType>& rets) {
  for (const auto& a : def.inputs) WEFT_RETURN_IF_ERROR(arg_types(def, attrs, a, args));
  for (const auto& a : def.outputs) WEFT_RETURN_IF_ERROR(arg_types(def, attrs, a, rets));
  return {};
}

Result<Node*> add_arg(Graph& g, std::string_view name, DType type, int64_t index, AttrMap more) {
  more["T"] = type;
  more["index"] = index;
  return g.add(g.unique_name(name), op_of(Role::kArg), std::move(more), {});
}

Result<Node*> add_retval(Graph& g, std::string_view name, Endpoint from, DType type, int64_t index) {
  return g.add(g.unique_name(name), op_of(Role::kRetval), {{"T", type}, {"index", index}}, {from});
}

FunctionBody clone(const FunctionBody& body) {
  FunctionBody copy;
  std::vector<Node*> map;
  copy.name = body.name;
  copy.graph = body.graph->clone(&map);
  auto at = [&](const std::vector<Node*>& from, std::vector<Node*>& to) {
    for (const Node* n : from) to.push_back(map[size_t(n->id())]);
  };
  at(body.args, copy.args);
  at(body.rets, copy.rets);
  at(body.control_rets, copy.control_rets);
  copy.arg_types = body.arg_types;
  copy.ret_types = body.ret_types;
  return copy;
}

}  // namespace weft_engine::graph
