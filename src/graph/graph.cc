#include "graph/graph.h"

#include <algorithm>
#include <charconv>

#include "graph/function_library.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {

const AttrValue* Node::find_attr(std::string_view name) const {
  if (const AttrValue* v = info_.find_attr(name)) return v;
  auto it = info_.extra_attrs().find(name);
  return it == info_.extra_attrs().end() ? nullptr : &it->second;
}

Graph::Graph(const Registry& registry, std::shared_ptr<FunctionLibrary> library)
    : registry_(&registry), library_(library ? std::move(library) : std::make_shared<FunctionLibrary>()) {}

Result<const OpSpec*> Graph::find_spec(std::string_view op) const {
  if (const OpSpec* spec = library_->find_spec(op)) return spec;
  return registry_->get(op);
}

Result<Node*> Graph::add(std::string name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs, std::span<Node* const> controls,
                         std::span<const DType> pending) {
  if (names_.count(name)) return invalid_argument("Duplicate node name in graph: '", name, "'");
  std::vector<DType> types;
  types.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Endpoint& in = inputs[i];
    if (!in.node) {
      types.push_back(i < pending.size() ? pending[i] : DType::kInvalid);
      continue;
    }
    if (in.index < 0 || in.index >= in.node->num_outputs())
      return invalid_argument("Node '", name, "': Connecting to invalid output ", in.index, " of source node ", in.node->name(), " which has ",
                              in.node->num_outputs(), " outputs.");
    types.push_back(in.node->output_type(in.index));
  }
  const OpSpec* function = library_->find_spec(op);
  const OpSpec* spec = function;
  if (!spec) {
    WEFT_ASSIGN(spec, registry_->get(op));
  }
  WEFT_ASSIGN(NodeInfo info, NodeInfo::make(*spec, std::move(name), std::move(attrs), types));
  nodes_.push_back(std::unique_ptr<Node>(new Node(int(nodes_.size()), std::move(info))));
  Node* node = nodes_.back().get();
  node->function_call_ = function != nullptr;
  node->inputs_ = std::move(inputs);
  for (int i = 0; i < node->num_inputs(); ++i) {
    if (const Endpoint& in = node->input(i); in.node) in.node->uses_.push_back({node, i, in.index});
  }
  names_.emplace(node->name(), node);
  ++count_;
  for (Node* c : controls) add_control(c, node);
  return node;
}

Result<Node*> Graph::add_const(std::string name, Tensor value) {
  AttrMap attrs;
  attrs["dtype"] = value.dtype();
  attrs["value"] = std::move(value);
  return add(std::move(name), op_of(op::Role::kConst), std::move(attrs), {});
}

std::string Graph::unique_name(std::string_view prefix) const {
  if (!find(prefix)) return std::string(prefix);
  int& count = name_counts_[std::string(prefix)];
  for (;;) {
    std::string name = cat(prefix, "_", ++count);
    if (!find(name)) return name;
  }
}

Node* Graph::find(std::string_view name) const {
  auto it = names_.find(name);
  return it == names_.end() ? nullptr : it->second;
}

std::vector<Node*> Graph::nodes() const {
  std::vector<Node*> all;
  all.reserve(size_t(count_));
  for (const auto& n : nodes_) {
    if (n) all.push_back(n.get());
  }
  return all;
}

void Graph::unlink_input(Node* node, int i) {
  const Endpoint from = node->input(i);
  if (!from.node) return;
  auto& uses = from.node->uses_;
  for (size_t u = 0; u < uses.size(); ++u) {
    if (uses[u].node == node && uses[u].input == i) {
      uses.erase(uses.begin() + long(u));
      break;
    }
  }
  node->inputs_[size_t(i)] = {};
}

void Graph::set_input(Node* node, int i, Endpoint from) {
  unlink_input(node, i);
  node->inputs_[size_t(i)] = from;
  if (from.node) from.node->uses_.push_back({node, i, from.index});
}

void Graph::add_control(Node* from, Node* to) {
  auto& in = to->control_inputs_;
  if (from == to || std::find(in.begin(), in.end(), from) != in.end()) return;
  in.push_back(from);
  from->control_outputs_.push_back(to);
}

void Graph::remove_control(Node* from, Node* to) {
  std::erase(to->control_inputs_, from);
  std::erase(from->control_outputs_, to);
}

void Graph::replace_uses(Endpoint from, Endpoint to) {
  auto uses = from.node->uses_;
  for (const Use& u : uses) {
    if (u.output == from.index) set_input(u.node, u.input, to);
  }
}

void Graph::replace_controls(Node* from, Node* to) {
  auto outs = from->control_outputs_;
  for (Node* n : outs) {
    remove_control(from, n);
    add_control(to, n);
  }
}

void Graph::set_attr(Node* node, std::string_view name, AttrValue value) { node->info_.set_attr(name, std::move(value)); }

void Graph::clear_attr(Node* node, std::string_view name) { node->info_.clear_attr(name); }

Status Graph::rewrite(Node* node, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs) {
  std::vector<DType> types;
  for (const Endpoint& in : inputs) types.push_back(in.node->output_type(in.index));
  WEFT_ASSIGN(const OpSpec* spec, find_spec(op));
  WEFT_ASSIGN(NodeInfo info, NodeInfo::make(*spec, node->name(), std::move(attrs), types));
  for (const Use& u : node->uses_) {
    if (u.output >= info.num_outputs()) return internal_error("rewriting node ", node->name(), " to ", op, " would lose output ", u.output);
  }
  for (int i = 0; i < node->num_inputs(); ++i) unlink_input(node, i);
  // The name index looks into the node's own text, which moves with the new info.
  names_.erase(node->name());
  node->info_ = std::move(info);
  names_.emplace(node->name(), node);
  node->function_call_ = library_->find_spec(op) != nullptr;
  node->inputs_ = std::move(inputs);
  for (int i = 0; i < node->num_inputs(); ++i) node->input(i).node->uses_.push_back({node, i, node->input(i).index});
  node->shapes.clear();
  node->handles.clear();
  return {};
}

void Graph::remove(Node* node) {
  for (int i = 0; i < node->num_inputs(); ++i) unlink_input(node, i);
  while (!node->control_inputs_.empty()) remove_control(node->control_inputs_.back(), node);
  while (!node->control_outputs_.empty()) remove_control(node, node->control_outputs_.back());
  for (const Use& u : node->uses_) u.node->inputs_[size_t(u.input)] = {};
  names_.erase(node->name());
  --count_;
  nodes_[size_t(node->id())].reset();
}

std::unique_ptr<Graph> Graph::clone(std::vector<Node*>* map) const {
  auto copy = std::make_unique<Graph>(*registry_, library_);
  copy->versions = versions;
  copy->nodes_.resize(nodes_.size());
  for (const auto& n : nodes_) {
    if (!n) continue;
    auto c = std::unique_ptr<Node>(new Node(n->id(), n->info_));
    c->function_call_ = n->function_call_;
    c->device = n->device;
    c->assigned_device = n->assigned_device;
    c->debug_info = n->debug_info;
    c->full_type = n->full_type;
    c->shapes = n->shapes;
    c->handles = n->handles;
    copy->names_.emplace(c->name(), c.get());
    copy->nodes_[size_t(n->id())] = std::move(c);
  }
  auto at = [&](const Node* n) { return n ? copy->nodes_[size_t(n->id())].get() : nullptr; };
  for (const auto& n : nodes_) {
    if (!n) continue;
    Node* c = at(n.get());
    for (const Endpoint& in : n->inputs_) c->inputs_.push_back({at(in.node), in.index});
    for (Node* p : n->control_inputs_) c->control_inputs_.push_back(at(p));
    for (Node* p : n->control_outputs_) c->control_outputs_.push_back(at(p));
    for (const Use& u : n->uses_) c->uses_.push_back({at(u.node), u.input, u.output});
  }
  copy->count_ = count_;
  if (map) {
    map->clear();
    for (const auto& n : copy->nodes_) map->push_back(n.get());
  }
  return copy;
}

// Kahn's algorithm, the smallest id first, so that the order is that of the program as far as edges allow.
Result<std::vector<Node*>> Graph::topological_order() const {
  auto is_back = [](const Node* n) { return is_next_iteration(*n); };
  std::vector<int> waiting(nodes_.size(), 0);
  std::vector<int> ready;  // a heap
  for (const auto& n : nodes_) {
    if (!n) continue;
    int count = int(n->control_inputs_.size());
    for (const Endpoint& in : n->inputs_) count += in.node && !is_back(in.node);
    waiting[size_t(n->id())] = count;
    if (count == 0) ready.push_back(n->id());
  }
  auto later = std::greater<int>();
  std::make_heap(ready.begin(), ready.end(), later);
  std::vector<Node*> order;
  order.reserve(size_t(count_));
  auto done_for = [&](Node* reader) {
    if (--waiting[size_t(reader->id())] == 0) {
      ready.push_back(reader->id());
      std::push_heap(ready.begin(), ready.end(), later);
    }
  };
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    Node* n = nodes_[size_t(ready.back())].get();
    ready.pop_back();
    order.push_back(n);
    if (!is_back(n)) {
      for (const Use& u : n->uses_) done_for(u.node);
    }
    for (Node* c : n->control_outputs_) done_for(c);
  }
  if (int(order.size()) == count_) return order;
  for (const auto& n : nodes_) {
    if (n && waiting[size_t(n->id())] > 0)
      return invalid_argument("Graph is invalid, contains a cycle with ", count_ - int(order.size()), " nodes, including: ", n->name());
  }
  return internal_error("a cycle that has no node");
}

AttrMap attrs_of(const Node& node) {
  AttrMap attrs = node.info().extra_attrs();
  const auto& specs = node.spec().signature().attrs;
  for (size_t i = 0; i < specs.size(); ++i) attrs[specs[i].name] = node.info().attrs()[i];
  return attrs;
}

bool parse_input_name(std::string_view text, InputName& out) {
  out = {};
  if (text.starts_with("^")) {
    out.control = true;
    out.node = text.substr(1);
    return !out.node.empty();
  }
  const size_t colon = text.rfind(':');
  out.node = text.substr(0, colon);
  if (colon == std::string_view::npos) return !out.node.empty();
  std::string_view digits = text.substr(colon + 1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out.index);
  return error == std::errc() && end == digits.data() + digits.size() && out.index >= 0 && !out.node.empty();
}

}  // namespace weft_engine::graph
