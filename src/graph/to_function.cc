#include "graph/to_function.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <unordered_map>

#include "graph/function_library.h"
#include "graph/holds.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

// Argument names are lower-case words that begin with a letter.
std::string normal(std::string_view name) {
  std::string out;
  for (unsigned char c : name) out += std::isalnum(c) ? char(std::tolower(c)) : '_';
  const auto first = std::find_if(out.begin(), out.end(), [](unsigned char c) { return std::isalpha(c); });
  return first == out.end() ? "unknown" : std::string(first, out.end());
}

// A hash of what the function computes, in letters and digits.
std::string hash_text(const FunctionDef& f) {
  uint64_t h = 0xcbf29ce484222325u;
  auto mix = [&](std::string_view s) {
    for (unsigned char c : s) h = (h ^ c) * 0x100000001b3u;
    h = (h ^ 0xff) * 0x100000001b3u;  // ends the text
  };
  auto mix_attrs = [&](const AttrMap& attrs) {
    for (const auto& [k, v] : attrs) mix(k), mix(v.to_string());
  };
  for (const auto* args : {&f.inputs, &f.outputs}) {
    for (const ArgDef& a : *args) mix(a.name), mix(cat(int(a.type)));
    mix("");
  }
  for (const NodeDef& n : f.nodes) {
    mix(n.name), mix(n.op), mix(n.device);
    for (const auto& i : n.inputs) mix(i);
    mix_attrs(n.attrs);
  }
  for (const auto& [k, v] : f.ret) mix(k), mix(v);
  for (const auto& [k, v] : f.control_ret) mix(k), mix(v);
  for (const auto& [i, attrs] : f.arg_attrs) mix(cat(i)), mix_attrs(attrs);
  static const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789Aa";
  std::string text;
  for (int i = 0; i < 11; ++i, h >>= 6) text += digits[h & 63];
  return text;
}

class Converter {
 public:
  Converter(const Graph& graph, const FunctionOptions& o) : graph_(graph), o_(o) {}

  Result<FunctionDef> run() {
    WEFT_RETURN_IF_ERROR(check_ends());
    WEFT_RETURN_IF_ERROR(collect_body());
    f_.description = o_.description;
    WEFT_RETURN_IF_ERROR(name_outputs());
    name_inputs();
    for (const Node* n : body_) name_node(*n);
    for (const Node* n : body_) WEFT_RETURN_IF_ERROR(add_node(*n));
    WEFT_RETURN_IF_ERROR(add_returns());
    f_.name = o_.append_hash ? cat(o_.name, "_", hash_text(f_)) : o_.name;
    return std::move(f_);
  }

 private:
  static std::string flat(const Endpoint& e) { return cat(e.node->name(), ":", e.index); }
  bool in_graph(const Node* n) const { return holds(graph_, n); }

  Status check_end(const Endpoint& e, std::string_view where) const {
    if (!in_graph(e.node)) return invalid_argument("Node is not in the graph\n\tEncountered while processing ", where, " function '", o_.name, "'");
    if (e.index < 0 || e.index >= e.node->num_outputs())
      return out_of_range("Node '", e.node->name(), "' (type: '", e.node->op(), "', num of outputs: ", e.node->num_outputs(),
                          ") does not have output ", e.index, "\n\tEncountered while processing ", where, " function '", o_.name, "'");
    return {};
  }

  Status check_ref(const Endpoint& e, std::string_view where) const {
    const DType t = e.node->output_type(e.index);
    if (!is_ref_type(t)) return {};
    return invalid_argument("Output ", e.index, " of node '", e.node->name(), "' has a reference type ", dtype_name(t), "\n\tEncountered while ",
                            where, " function '", o_.name, "'");
  }

  Status check_ends() {
    for (size_t i = 0; i < o_.inputs.size(); ++i) {
      const Endpoint& e = o_.inputs[i];
      WEFT_RETURN_IF_ERROR(check_end(e, cat("input ", i, " into")));
      WEFT_RETURN_IF_ERROR(check_ref(e, cat("processing input ", i, " into")));
      if (!inputs_[e.node].insert(e.index).second) return invalid_argument("TF_Output ", flat(e), " appears more than once in the input list");
    }
    for (size_t i = 0; i < o_.outputs.size(); ++i) WEFT_RETURN_IF_ERROR(check_end(o_.outputs[i], cat("output ", i, " from")));
    for (const Node* n : o_.control_outputs) {
      if (!in_graph(n)) return invalid_argument("Control output is not in the graph\n\tEncountered while creating function '", o_.name, "'");
    }
    if (o_.body) {
      for (const Node* n : *o_.body) {
        if (!in_graph(n)) return invalid_argument("Node of the body is not in the graph\n\tEncountered while creating function '", o_.name, "'");
      }
    }
    return {};
  }

  Status collect_body() {
    if (o_.body) {
      body_ = *o_.body;
      return {};
    }
    for (const Node* n : graph_.nodes()) {
      if (!inputs_.count(n)) body_.push_back(n);
      else if (n->num_outputs() != 1)
        return invalid_argument("When `num_opers` is set to -1, nodes referenced in `inputs` must have a single output. Node ", n->name(), " has ",
                                n->num_outputs(), " outputs. Encountered while creating function '", o_.name, "'");
    }
    return {};
  }

  std::string unique(const std::string& name) {
    std::string out = name;
    for (int i = 0; !used_.insert(out).second; ++i) out = cat(name, "_", i);
    return out;
  }

  ArgDef arg(const Endpoint& e, std::string name) const {
    ArgDef a;
    a.name = std::move(name);
    a.type = base_type(e.node->output_type(e.index));
    return a;
  }

  // Outputs first, so that names given for them never collide with what is made up here.
  Status name_outputs() {
    for (size_t i = 0; i < o_.outputs.size(); ++i) {
      const Endpoint& e = o_.outputs[i];
      WEFT_RETURN_IF_ERROR(check_ref(e, "creating"));
      std::string name;
      if (!o_.output_names.empty()) {
        name = o_.output_names[i];
        if (!used_.insert(name).second)
          return invalid_argument("Cannot have duplicate output names. Name '", name, "' appears more than once in 'output_names' array.");
      } else {
        name = unique(normal(e.node->name()));
      }
      f_.outputs.push_back(arg(e, std::move(name)));
    }
    return {};
  }

  void name_inputs() {
    for (size_t i = 0; i < o_.inputs.size(); ++i) {
      const Endpoint& e = o_.inputs[i];
      std::string name = unique(normal(e.node->name()));
      tensors_[flat(e)] = name;
      f_.inputs.push_back(arg(e, std::move(name)));
      AttrMap attrs;
      for (const auto& [k, v] : attrs_of(*e.node)) {
        if (k.starts_with("_")) attrs[k] = v;
        else if (const auto* s = v.get<PartialShape>(); s && k == "shape" && f_.inputs.back().type != DType::kResource)
          attrs["_output_shapes"] = std::vector<PartialShape>{*s};
      }
      if (auto it = attrs.find("_resource_arg_unique_id"); it != attrs.end()) {
        if (const auto* id = it->second.get<int64_t>(); id && f_.inputs.back().type == DType::kResource) f_.resource_arg_unique_id[int(i)] = int(*id);
      }
      if (!attrs.empty()) f_.arg_attrs[int(i)] = std::move(attrs);
    }
  }

  void name_node(const Node& n) {
    const std::string name = unique(n.name());
    nodes_[n.name()] = name;
    const auto& outs = n.spec().signature().outputs;
    for (size_t o = 0; o < outs.size(); ++o) {
      const auto range = n.info().output_range(int(o));
      // An output that is an input of the function keeps its argument.
      for (int i = range.begin; i < range.end; ++i) tensors_.emplace(cat(n.name(), ":", i), cat(name, ":", outs[o].name, ":", i - range.begin));
    }
  }

  Status add_node(const Node& n) {
    NodeDef d;
    d.name = nodes_[n.name()];
    d.op = std::string(n.op());
    d.device = n.assigned_device.empty() ? n.device : n.assigned_device;
    d.debug_info = n.debug_info;
    d.full_type = n.full_type;
    d.attrs = attrs_of(n);
    for (int i = 0; i < n.num_inputs(); ++i) {
      const Endpoint& e = n.input(i);
      if (!e.node)
        return invalid_argument("Graph to be converted to function appears to be malformed. Node ", n.name(), " is missing input edge ", i);
      auto it = tensors_.find(flat(e));
      if (it == tensors_.end())
        return invalid_argument("Input ", i, ", '", flat(e), "', of node '", n.name(), "' in function '", o_.name,
                                "' is not available. You might need to include it in inputs or include its source node in the body");
      d.inputs.push_back(it->second);
    }
    for (const Node* c : n.control_inputs()) {
      auto it = nodes_.find(c->name());
      if (it != nodes_.end()) {
        d.inputs.push_back(cat("^", it->second));
        continue;
      }
      if (o_.drops_outer_controls) continue;
      // An input's node is there as an argument; any other is missing.
      if (!inputs_.count(c))
        return invalid_argument("The source of control edge ", c->name(), " -> ", n.name(),
                                " is not in the body. Encountered while creating function '", o_.name, "'");
      for (size_t i = 0; i < o_.inputs.size(); ++i) {
        if (o_.inputs[i].node == c) d.inputs.push_back(cat("^", f_.inputs[i].name));
      }
    }
    f_.stateful |= n.spec().stateful;
    f_.nodes.push_back(std::move(d));
    return {};
  }

  Status add_returns() {
    for (size_t i = 0; i < o_.outputs.size(); ++i) {
      auto it = tensors_.find(flat(o_.outputs[i]));
      if (it == tensors_.end())
        return invalid_argument("TF_Output ", flat(o_.outputs[i]),
                                " is neither in the function body nor among function inputs. Encountered while creating function '", o_.name, "'");
      f_.ret[f_.outputs[i].name] = it->second;
    }
    for (size_t i = 0; i < o_.control_outputs.size(); ++i) {
      auto it = nodes_.find(o_.control_outputs[i]->name());
      if (it == nodes_.end()) return invalid_argument("Control output node name must be not empty");
      const std::string& name = o_.control_output_names.empty() ? o_.control_outputs[i]->name() : o_.control_output_names[i];
      if (name.empty()) return invalid_argument("Control output name must be not empty");
      if (!f_.control_ret.emplace(name, it->second).second) return invalid_argument("Repeated control output name: ", name);
      f_.control_outputs.push_back(name);
    }
    return {};
  }

  const Graph& graph_;
  const FunctionOptions& o_;
  FunctionDef f_;
  std::vector<const Node*> body_;
  std::map<const Node*, std::set<int>> inputs_;
  std::set<std::string> used_;
  std::unordered_map<std::string, std::string> nodes_, tensors_;
};

}  // namespace

Result<FunctionDef> to_function(const Graph& graph, const FunctionOptions& options) { return Converter(graph, options).run(); }

Result<FunctionDef> make_function(const Graph& graph, std::string name, bool append_hash, const Interface& io) {
  FunctionOptions o;
  o.name = std::move(name);
  o.append_hash = append_hash;
  o.inputs = io.inputs;
  o.outputs = io.outputs;
  for (size_t i = 0; i < io.outputs.size(); ++i) o.output_names.push_back(cat("result_", i));
  for (Node* c : io.control_outputs) o.control_outputs.push_back(c);
  o.body = io.body;
  o.drops_outer_controls = io.drops_outer_controls;
  WEFT_ASSIGN(FunctionDef def, to_function(graph, o));
  // An input may be any value; what its node says of itself holds for an argument alone, and its shape is worth telling.
  for (size_t i = 0; i < io.inputs.size(); ++i) {
    const Endpoint& e = io.inputs[i];
    if (!is_arg(*e.node)) def.arg_attrs.erase(int(i));
    if (size_t(e.index) < e.node->shapes.size() && e.node->shapes[size_t(e.index)].has_rank() && def.inputs[i].type != DType::kResource)
      def.arg_attrs[int(i)]["_output_shapes"] = std::vector<PartialShape>{e.node->shapes[size_t(e.index)]};
  }
  return def;
}

Result<FunctionAttr> define_function(Graph& graph, std::string name, const Interface& io, std::string_view of) {
  WEFT_ASSIGN(FunctionDef def, make_function(graph, std::move(name), true, io));
  FunctionAttr f{def.name, nullptr};
  WEFT_RETURN_IF_ERROR(graph.library()->add_derived(std::move(def), of));
  return f;
}

}  // namespace weft_engine::graph
