#include "graph/import.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "core/error_notes.h"
#include "graph/function_library.h"
#include "graph/node_traits.h"
#include "graph/shape_inference.h"
#include "op/summary.h"

namespace weft_engine::graph {
namespace {

// Letters, digits and ".\-/_>"; the first a letter, digit, dot (or underscore inside an engine's own graphs).
bool is_name(std::string_view s) {
  if (s.empty()) return false;
  for (size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
    if (!word && (i == 0 || (c != '/' && c != '\\' && c != '-' && c != '>'))) return false;
  }
  return true;
}

// The types that the attributes promise; nothing if one is missing or of another kind.
std::optional<std::vector<DType>> declared_inputs(const OpSpec& spec, const AttrMap& attrs) {
  const Signature& sig = spec.signature();
  auto attr = [&](int i) -> const AttrValue* {
    auto it = attrs.find(sig.attrs[size_t(i)].name);
    if (it != attrs.end()) return &it->second;
    const auto& value = sig.attrs[size_t(i)].default_value;
    return value ? &*value : nullptr;
  };
  std::vector<DType> types;
  for (const ArgSpec& arg : sig.inputs) {
    int64_t count = 1;
    if (arg.number_attr >= 0) {
      const AttrValue* v = attr(arg.number_attr);
      if (!v || !v->get<int64_t>()) return std::nullopt;
      count = *v->get<int64_t>();
    }
    if (arg.type_list_attr >= 0) {
      const AttrValue* v = attr(arg.type_list_attr);
      if (v && v->get<EmptyList>()) continue;
      if (!v || !v->get<std::vector<DType>>()) return std::nullopt;
      types.insert(types.end(), v->get<std::vector<DType>>()->begin(), v->get<std::vector<DType>>()->end());
      continue;
    }
    const AttrValue* v = arg.type_attr >= 0 ? attr(arg.type_attr) : nullptr;
    if (arg.type_attr >= 0 && (!v || !v->get<DType>())) return std::nullopt;
    if (count < 0 || count > (1 << 20)) return std::nullopt;
    const DType t = v ? *v->get<DType>() : arg.type;
    types.insert(types.end(), size_t(count), arg.is_ref ? ref_type(t) : t);
  }
  return types;
}

class Importer {
 public:
  Importer(Graph& graph, GraphDef& def, const ImportOptions& options) : graph_(graph), def_(def), options_(options) {}

  Result<ImportResults> run() {
    WEFT_RETURN_IF_ERROR(check_versions(def_.versions));
    for (auto& [name, f] : def_.functions) {
      if (graph_.registry().find(name)) return invalid_argument("Cannot add function '", name, "' because an op with the same name already exists.");
      WEFT_RETURN_IF_ERROR(graph_.library()->add(name, f));
    }
    for (auto& g : def_.gradients) WEFT_RETURN_IF_ERROR(graph_.library()->add_gradient(g));
    Status s = add_all();
    if (!s.ok()) {
      for (auto it = added_.rbegin(); it != added_.rend(); ++it) graph_.remove(*it);
      return s;
    }
    return std::move(results_);
  }

 private:
  Status add_all() {
    WEFT_RETURN_IF_ERROR(index_names());
    WEFT_RETURN_IF_ERROR(count_inputs());
    WEFT_RETURN_IF_ERROR(add_in_order());
    WEFT_RETURN_IF_ERROR(close_loops());
    rename_colocations();
    for (Node* n : nodes_) {
      if (n) results_.added.push_back(n);
    }
    update_versions();
    return returns();
  }

  Status index_names() {
    for (size_t i = 0; i < def_.nodes.size(); ++i) {
      const NodeDef& n = def_.nodes[i];
      if (!is_name(n.name)) return invalid_argument("Node '", n.name, "': Node name contains invalid characters");
      if (!by_name_.emplace(n.name, i).second) return invalid_argument("Node '", n.name, "' is not unique");
    }
    prefix_ = options_.prefix;
    if (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
    if (!prefix_.empty() && !is_name(prefix_)) return invalid_argument("Imported node name prefix '", prefix_, "/' would lead to invalid node names");
    if (!prefix_.empty() && options_.uniquify_prefix) {
      auto taken = [&](const std::string& p) {
        for (Node* n : graph_.nodes()) {
          if (n->name() == p || (n->name().size() > p.size() && n->name().starts_with(p) && n->name()[p.size()] == '/')) return true;
        }
        return false;
      };
      std::string p = prefix_;
      for (int k = 1; taken(p); ++k) p = cat(prefix_, "_", k);
      prefix_ = p;
    }
    for (size_t i = 0; !options_.uniquify_names && i < def_.nodes.size(); ++i) {
      const std::string full = prefix_.empty() ? def_.nodes[i].name : cat(prefix_, "/", def_.nodes[i].name);
      if (graph_.find(full) && !skipped(def_.nodes[i])) return invalid_argument("Node name '", full, "' already exists in the Graph");
    }
    return {};
  }

  bool mapped(std::string_view node, int index) const { return options_.input_map.count({std::string(node), index}) > 0; }

  bool skipped(const NodeDef& n) const {
    if (!options_.skip_mapped_nodes) return false;
    auto it = options_.input_map.lower_bound({n.name, -1});
    return it != options_.input_map.end() && it->first.first == n.name;
  }

  Status count_inputs() {
    const size_t n = def_.nodes.size();
    waiting_.assign(n, 0);
    readers_.resize(n);
    nodes_.assign(n, nullptr);
    for (const NodeDef& nd : def_.nodes) {
      const OpSpec* spec = graph_.registry().find(nd.op);
      roles_.push_back(spec ? spec->traits().role : Role::kNone);
    }
    for (size_t i = 0; i < n; ++i) {
      bool control_seen = false;
      for (std::string_view text : def_.nodes[i].inputs) {
        InputName in;
        if (!parse_input_name(text, in)) return invalid_argument("Node '", def_.nodes[i].name, "': Invalid input name '", text, "'");
        if (in.control) control_seen = true;
        else if (control_seen) return invalid_argument("Node '", def_.nodes[i].name, "': Control dependencies must come after regular dependencies");
        if (mapped(in.node, in.control ? -1 : in.index)) continue;
        auto it = by_name_.find(in.node);
        if (it == by_name_.end()) return invalid_argument("Node '", def_.nodes[i].name, "': Unknown input node '", text, "'");
        if (roles_[i] == Role::kMerge && roles_[it->second] == Role::kNextIteration) continue;
        ++waiting_[i];
        readers_[it->second].push_back(i);
      }
    }
    return {};
  }

  Status add_in_order() {
    auto later = std::greater<size_t>();
    std::vector<size_t> ready;
    for (size_t i = 0; i < waiting_.size(); ++i) {
      if (waiting_[i] == 0) ready.push_back(i);
    }
    std::make_heap(ready.begin(), ready.end(), later);
    size_t done = 0;
    while (!ready.empty()) {
      std::pop_heap(ready.begin(), ready.end(), later);
      const size_t i = ready.back();
      ready.pop_back();
      ++done;
      if (!skipped(def_.nodes[i])) WEFT_RETURN_IF_ERROR(add_node(i));
      for (size_t r : readers_[i]) {
        if (--waiting_[r] == 0) {
          ready.push_back(r);
          std::push_heap(ready.begin(), ready.end(), later);
        }
      }
    }
    if (done < waiting_.size()) return invalid_argument(waiting_.size() - done, " nodes in a cycle");
    return {};
  }

  std::string final_name(const std::string& name) const {
    std::string full = prefix_.empty() ? name : cat(prefix_, "/", name);
    return options_.uniquify_names ? graph_.unique_name(full) : full;
  }

  Status add_node(size_t i) {
    NodeDef& nd = def_.nodes[i];
    std::vector<Endpoint> inputs;
    std::vector<Node*> controls;
    bool has_back_edge = false, reads_imported = false;
    for (std::string_view text : nd.inputs) {
      InputName in;
      (void)parse_input_name(text, in);
      if (auto it = options_.input_map.find({std::string(in.node), in.control ? -1 : in.index}); it != options_.input_map.end()) {
        used_.insert(it->first);
        if (in.control) controls.push_back(it->second.node);
        else inputs.push_back(it->second);
        continue;
      }
      const size_t source = by_name_.find(in.node)->second;
      if (roles_[i] == Role::kMerge && roles_[source] == Role::kNextIteration) {
        inputs.push_back({});
        has_back_edge = reads_imported = true;
        continue;
      }
      Node* from = nodes_[source];
      if (!from) return invalid_argument("Node '", nd.name, "': input '", text, "' was mapped away");
      reads_imported = true;
      if (in.control) controls.push_back(from);
      else inputs.push_back({from, in.index});
    }
    for (const Endpoint& e : inputs) {
      if (e.node && (e.index < 0 || e.index >= e.node->num_outputs()))
        return invalid_argument("Node '", nd.name, "': Connecting to invalid output ", e.index, " of source node ", e.node->name(), " which has ",
                                e.node->num_outputs(), " outputs.");
    }
    if (!reads_imported) controls.insert(controls.end(), options_.control_dependencies.begin(), options_.control_dependencies.end());
    std::vector<DType> pending;
    if (has_back_edge) {
      DType t = DType::kInvalid;
      for (const Endpoint& e : inputs) {
        if (e.node && e.index < e.node->num_outputs()) t = e.node->output_type(e.index);
      }
      if (t == DType::kInvalid) return invalid_argument("Node '", nd.name, "': a loop without a way in");
      pending.assign(inputs.size(), t);
    }
    strip_new_defaults(nd);
    WEFT_RETURN_IF_ERROR(check_signature(nd, inputs));
    auto made = graph_.add(final_name(nd.name), nd.op, std::move(nd.attrs), std::move(inputs), controls, pending);
    if (!made.ok()) return made.status();  // which names the node
    Node* node = *made;
    node->device = nd.device.empty() ? options_.default_device : nd.device;
    node->debug_info = std::move(nd.debug_info);
    node->full_type = std::move(nd.full_type);
    nodes_[i] = node;
    added_.push_back(node);
    return {};
  }

  // Inputs against the op's signature as far as the attributes tell, and whether the op is still offered to such
  // a producer. What is left (attributes) the graph checks.
  Status check_signature(const NodeDef& nd, const std::vector<Endpoint>& inputs) const {
    auto found = graph_.find_spec(nd.op);
    if (!found.ok()) return {};
    const OpSpec& spec = **found;
    if (spec.deprecated_since > 0 && def_.versions.producer >= spec.deprecated_since)
      return unimplemented("Op ", spec.name, " is not available in GraphDef version ", def_.versions.producer, ". It has been removed in version ",
                           spec.deprecated_since, ". ", spec.deprecation, ".");
    const auto wanted = declared_inputs(spec, nd.attrs);
    if (!wanted) return {};
    if (wanted->size() != inputs.size()) {
      std::vector<std::string> names;
      for (DType t : *wanted) names.push_back(dtype_name(t));
      return core::names_node(invalid_argument("NodeDef expected inputs '", join(names, ", "), "' do not match ", inputs.size(),
                                               " inputs specified; ", summarize_op(spec), "; NodeDef: {{node ", nd.name, "}}"),
                              nd.name);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].node) continue;
      const DType given = inputs[i].node->output_type(inputs[i].index), want = (*wanted)[i];
      if (given != want && base_type(given) != want)
        return invalid_argument("Input ", i, " of node ", nd.name, " was passed ", dtype_name(given), " from ", inputs[i].node->name(), ":",
                                inputs[i].index, " incompatible with expected ", dtype_name(want), ".");
    }
    return {};
  }

  // A newer producer may write attributes that this version does not know; TensorFlow drops those at their default,
  // which only the producer's OpList tells. Without it an unknown attribute stays, and is an error.
  void strip_new_defaults(NodeDef& nd) {
    if (def_.versions.producer <= kGraphDefVersion) return;
    auto spec = graph_.find_spec(nd.op);
    if (!spec.ok()) return;
    const Signature& sig = (*spec)->signature();
    std::erase_if(nd.attrs, [&](const auto& a) { return !a.first.starts_with("_") && sig.attr_index(a.first) < 0; });
  }

  // Nodes are colocated by name, which the import may have changed.
  void rename_colocations() {
    if (prefix_.empty() && !options_.uniquify_names) return;
    for (Node* n : added_) {
      const AttrValue* v = n->find_attr("_class");
      const auto* list = v ? v->get<std::vector<std::string>>() : nullptr;
      if (!list) continue;
      std::vector<std::string> renamed = *list;
      for (auto& s : renamed) {
        if (!s.starts_with("loc:@")) continue;
        auto it = by_name_.find(std::string_view(s).substr(5));
        Node* target = it == by_name_.end() ? nullptr : nodes_[it->second];
        s = target ? cat("loc:@", target->name()) : prefix_.empty() ? s : cat("loc:@", prefix_, "/", s.substr(5));
      }
      graph_.set_attr(n, "_class", AttrValue(std::move(renamed)));
    }
  }

  Status close_loops() {
    for (size_t i = 0; i < def_.nodes.size(); ++i) {
      Node* node = nodes_[i];
      if (!node || roles_[i] != Role::kMerge) continue;
      int at = 0;
      for (std::string_view text : def_.nodes[i].inputs) {
        InputName in;
        (void)parse_input_name(text, in);
        if (in.control) {
          continue;
        }
        if (at < node->num_inputs() && !node->input(at).node) {
          Node* from = nodes_[by_name_.find(in.node)->second];
          if (!from || in.index >= from->num_outputs()) return invalid_argument("Node '", node->name(), "': bad input '", text, "'");
          if (base_type(from->output_type(in.index)) != base_type(node->input_type(at)))
            return invalid_argument("Node '", node->name(), "': input ", at, " has another type than the others");
          graph_.set_input(node, at, {from, in.index});
        }
        ++at;
      }
    }
    return {};
  }

  void update_versions() {
    Versions& v = graph_.versions;
    if (v.producer == 0 && graph_.num_nodes() == int(added_.size())) {
      v = def_.versions;
      return;
    }
    v.producer = v.producer == 0 ? def_.versions.producer : std::min(v.producer, def_.versions.producer);
    v.min_consumer = std::max(v.min_consumer, def_.versions.min_consumer);
    for (int b : def_.versions.bad_consumers) {
      if (std::find(v.bad_consumers.begin(), v.bad_consumers.end(), b) == v.bad_consumers.end()) v.bad_consumers.push_back(b);
    }
  }

  Status returns() {
    for (const auto& key : options_.return_outputs) {
      if (auto it = options_.input_map.find(key); it != options_.input_map.end()) {
        used_.insert(key);
        results_.return_outputs.push_back(it->second);
        continue;
      }
      auto it = by_name_.find(key.first);
      Node* n = it == by_name_.end() ? nullptr : nodes_[it->second];
      if (!n) return invalid_argument("Requested return tensor '", key.first, ":", key.second, "' not found in graph def");
      if (key.second < 0 || key.second >= n->num_outputs())
        return invalid_argument("Invalid return output ", key.second, " of node '", key.first, "', which has ", n->num_outputs(), " output(s)");
      results_.return_outputs.push_back({n, key.second});
    }
    for (const auto& name : options_.return_nodes) {
      auto it = by_name_.find(name);
      Node* n = it == by_name_.end() ? nullptr : nodes_[it->second];
      if (!n) return invalid_argument("Requested return node '", name, "' not found in graph def");
      results_.return_nodes.push_back(n);
    }
    for (const auto& [key, end] : options_.input_map) {
      if (used_.count(key)) continue;
      auto it = by_name_.find(key.first);
      if (it == by_name_.end() || (nodes_[it->second] && key.second >= nodes_[it->second]->num_outputs()))
        results_.missing_unused_input_map_keys.push_back(key);
    }
    return {};
  }

  Graph& graph_;
  GraphDef& def_;
  const ImportOptions& options_;
  ImportResults results_;
  std::string prefix_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<Role> roles_;  // of the nodes of def_
  std::vector<int> waiting_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<Node*> nodes_, added_;
  std::set<TensorName> used_;
};

}  // namespace

Status check_versions(const Versions& v) {
  if (v.producer < kGraphDefVersionMinProducer)
    return invalid_argument("GraphDef producer version ", v.producer, " below min producer ", kGraphDefVersionMinProducer,
                            " supported by TensorFlow 2.21.0.  Please regenerate your graph.");
  if (v.min_consumer > kGraphDefVersion)
    return invalid_argument("GraphDef min consumer version ", v.min_consumer, " above current version ", kGraphDefVersion,
                            " for TensorFlow 2.21.0.  Please upgrade TensorFlow.");
  for (int bad : v.bad_consumers) {
    if (bad == kGraphDefVersion)
      return invalid_argument("GraphDef disallows consumer version ", bad, ".  Please upgrade TensorFlow: this version is likely buggy.");
  }
  return {};
}

Result<ImportResults> import_graph_def(Graph& graph, GraphDef def, const ImportOptions& options) { return Importer(graph, def, options).run(); }

// Nodes that a GraphDef brought with their shapes say so in an attribute, which must agree with the rule.
static Status take_output_shapes(Graph& graph, Node* node) {
  constexpr const char* kAttr = "_output_shapes";
  const AttrValue* v = node->find_attr(kAttr);
  if (!v) return {};
  const auto* list = v->get<std::vector<PartialShape>>();
  if (!list) {  // an attribute without a value
    graph.clear_attr(node, kAttr);
    return {};
  }
  if (list->size() < node->shapes.size())
    return invalid_argument("Node '", node->name(), "' has ", node->shapes.size(), " outputs but the ", kAttr, " attribute specifies shapes for ",
                            list->size(), " outputs");
  for (size_t i = 0; i < node->shapes.size(); ++i) {
    // TensorFlow says [2] of handles that are scalars (TensorArrayV3): nobody computes with those.
    if (node->output_type(int(i)) == DType::kResource) continue;
    auto merged = node->shapes[i].merge_with((*list)[i]);
    if (!merged.ok())
      return invalid_argument("Node '", node->name(), "' has an ", kAttr, " attribute inconsistent with the GraphDef for output #", i, ": ",
                              merged.status().message());
    node->shapes[i] = std::move(merged).value();
  }
  graph.clear_attr(node, kAttr);
  return {};
}

Status infer_imported(Graph& graph, ShapeInference& shapes, const std::vector<Node*>& added) {
  WEFT_ASSIGN(std::vector<Node*> order, graph.topological_order());
  std::vector<bool> fresh(size_t(graph.num_ids()));
  for (Node* n : added) fresh[size_t(n->id())] = true;
  for (Node* n : order) {
    if (!fresh[size_t(n->id())]) continue;
    WEFT_RETURN_IF_ERROR(shapes.node(n));
    WEFT_RETURN_IF_ERROR(take_output_shapes(graph, n));
  }
  return {};
}

void remove_imported(Graph& graph, const std::vector<Node*>& added) {
  for (auto it = added.rbegin(); it != added.rend(); ++it) graph.remove(*it);
}

}  // namespace weft_engine::graph
