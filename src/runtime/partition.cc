#include "runtime/partition.h"

#include <set>
#include <tuple>
#include <unordered_map>

#include "core/error_notes.h"
#include "core/remote_device.h"
#include "graph/frames.h"
#include "graph/node_traits.h"

namespace weft_engine::runtime {

using graph::Endpoint;
using graph::Node;

namespace {

class Partitioner {
 public:
  Partitioner(const graph::FunctionBody& body, const DeviceSet& devices, const PartitionOptions& options)
      : body_(body), devices_(devices), options_(options) {}

  Result<std::vector<Part>> cut() {
    WEFT_ASSIGN(order_, body_.graph->topological_order());
    frames_ = std::make_unique<graph::Frames>(*body_.graph, order_);
    const size_t ids = size_t(body_.graph->num_ids());
    part_of_.resize(ids, -1);
    copies_.resize(ids);
    WEFT_RETURN_IF_ERROR(choose_parts());
    for (Part& p : parts_) {
      p.body.name = cat(body_.name, "_", p.device->parsed_name().type.value_or("CPU"), "_", p.device->parsed_name().id.value_or(0));
      p.body.graph = std::make_unique<graph::Graph>(body_.graph->registry(), body_.graph->library());
      p.body.graph->versions = body_.graph->versions;
    }
    for (size_t i = 0; i < body_.args.size(); ++i) arg_index_[body_.args[i]] = int(i);
    for (Node* n : order_) {
      if (part_of_[size_t(n->id())] >= 0) WEFT_RETURN_IF_ERROR(copy(*n, part_of_[size_t(n->id())]).status());
    }
    WEFT_RETURN_IF_ERROR(close_loops());
    WEFT_RETURN_IF_ERROR(list_results());
    return std::move(parts_);
  }

 private:
  // In the memory of every part that needs it, so that it need not be sent.
  static bool anywhere(const Node& n) { return is_arg(n) || (is_const(n) && n.control_inputs().empty()); }

  Result<int> part_for(const Node& n) {
    const auto [at, fresh] = part_numbers_.try_emplace(n.assigned_device, int(parts_.size()));
    if (fresh) {
      Part p;
      for (const auto& d : devices_.all()) {
        if (d->name() == n.assigned_device) p.device = d.get();
      }
      if (!p.device)
        return core::names_node(internal_error("{{node ", n.name(), "}} was placed on '", n.assigned_device, "', which is not a device"), n.name());
      parts_.push_back(std::move(p));
    }
    return at->second;
  }

  // Of a result that is an argument or a constant. A resource of another task keeps its home: by a part there, or by one of this process, which hands the reference on.
  Result<int> part_of_argument(const Node& r) {
    if (const auto there = part_numbers_.find(r.assigned_device); there != part_numbers_.end()) return there->second;
    if (r.input(0).node->output_type(r.input(0).index) != DType::kResource) return 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!dynamic_cast<const core::RemoteDevice*>(parts_[i].device)) return int(i);
    }
    return part_for(r);
  }

  Status choose_parts() {
    for (Node* n : order_) {
      if (anywhere(*n) || is_retval(*n)) continue;
      WEFT_ASSIGN(part_of_[size_t(n->id())], part_for(*n));
    }
    for (Node* r : body_.rets) {
      const bool free = anywhere(*r->input(0).node);
      if (free && !parts_.empty()) {
        WEFT_ASSIGN(part_of_[size_t(r->id())], part_of_argument(*r));
      } else {
        WEFT_ASSIGN(part_of_[size_t(r->id())], part_for(*r));
      }
    }
    for (const Node* n : order_) {
      // What a Merge of a loop reads comes once, or from the iteration before: it is where the Merge is.
      for (const Endpoint& e : n->inputs()) {
        if (is_merge(*n) && (is_enter(*e.node) || is_next_iteration(*e.node))) part_of_[size_t(e.node->id())] = part_of_[size_t(n->id())];
      }
      if (is_loop_cond(*n)) conditions_[frames_->of(n)] = n;
    }
    return {};
  }

  Node*& copied(const Node& n, int part) {
    auto& all = copies_[size_t(n.id())];
    if (all.empty()) all.resize(parts_.size(), nullptr);
    return all[size_t(part)];
  }

  // The node itself in its part, or one of those that are anywhere.
  Result<Node*> copy(const Node& n, int part) {
    Node*& mine = copied(n, part);
    if (mine) return mine;
    Part& p = parts_[size_t(part)];
    std::vector<Endpoint> inputs;
    std::vector<DType> types;
    for (int i = 0; i < n.num_inputs(); ++i) {
      const Endpoint& e = n.input(i);
      if (!e.node) return core::names_node(invalid_argument("{{node ", n.name(), "}} has an input that leads nowhere"), n.name());
      types.push_back(n.input_type(i));
      if (is_back_edge(e)) {
        inputs.push_back({});
        continue;
      }
      WEFT_ASSIGN(Endpoint in, read(e, n, i, part));
      inputs.push_back(in);
    }
    std::vector<Node*> controls;
    for (const Node* c : n.control_inputs()) {
      if (anywhere(*c)) continue;
      WEFT_ASSIGN(Node* before, wait_for(*c, part));
      controls.push_back(before);
    }
    AttrMap attrs = graph::attrs_of(n);
    if (is_arg(n)) attrs["index"] = int(p.args.size());
    auto made = p.body.graph->add(n.name(), n.op(), std::move(attrs), std::move(inputs), controls, types);
    if (!made.ok()) return made.status();
    mine = *made;
    mine->device = n.device;
    mine->assigned_device = p.device->name();
    mine->debug_info = n.debug_info;
    mine->full_type = n.full_type;
    mine->shapes = n.shapes;
    mine->handles = n.handles;
    if (is_arg(n)) {
      const int index = arg_index_.at(&n);
      p.args.push_back(index);
      p.body.args.push_back(mine);
      p.body.arg_types.push_back(body_.arg_types[size_t(index)]);
    }
    return mine;
  }

  static bool is_back_edge(const Endpoint& e) { return is_next_iteration(*e.node); }

  Status close_loops() {
    for (const Node* n : order_) {
      for (int i = 0; i < n->num_inputs(); ++i) {
        if (!is_back_edge(n->input(i))) continue;
        const int part = part_of_[size_t(n->id())];
        Node* from = copied(*n->input(i).node, part);
        if (!from)
          return core::names_node(invalid_argument("{{node ", n->name(), "}} reads the next iteration of a loop and is no Merge"), n->name());
        parts_[size_t(part)].body.graph->set_input(copied(*n, part), i, {from, n->input(i).index});
      }
    }
    return close_control_loops();
  }

  // ---- loops of version 1 over several parts. A message of a loop is received once in each of its iterations, so that each part that receives one
  // goes through the same iterations: a control loop (as in TensorFlow's graph_partition.cc), which carries no value and reads the condition that one of the
  // parts computes.

  using ControlLoopKey = std::pair<int, int>;  // frame, part

  // A node of the part that runs in every iteration of the frame; null for the step itself.
  Result<Node*> control_loop(int frame, int part) {
    if (frame == 0) return static_cast<Node*>(nullptr);
    if (auto it = control_loops_.find({frame, part}); it != control_loops_.end()) return it->second;
    if (!conditions_.contains(frame))
      return unimplemented("a loop of version 1 over several devices that has no LoopCond: frame ", frames_->name(frame));
    WEFT_ASSIGN(Node* around, control_loop(frames_->parent(frame), part));
    const std::string prefix = cat(frames_->name(frame), "/_cloop_", control_loops_.size());
    graph::Graph& g = *parts_[size_t(part)].body.graph;
    auto add = [&](const char* name, Role role, AttrMap attrs, std::vector<Endpoint> inputs, std::vector<Node*> controls = {}) -> Result<Node*> {
      attrs.emplace("T", DType::kFloat);
      return add_placed(part, cat(prefix, name), op_of(role), std::move(attrs), std::move(inputs), controls);
    };
    WEFT_ASSIGN(Node* nothing, g.add_const(fresh(cat(prefix, "/start")), *Tensor::zeros(DType::kFloat, {0})));
    nothing->assigned_device = parts_[size_t(part)].device->name();
    if (around) g.add_control(around, nothing);
    WEFT_ASSIGN(Node* enter, add("/enter", Role::kEnter, {{"frame_name", frames_->name(frame)}}, {{nothing, 0}}));
    WEFT_ASSIGN(Node* merge, add("/merge", Role::kMerge, {{"N", int64_t(2)}}, {{enter, 0}, {}}));
    return control_loops_[{frame, part}] = merge;
  }

  // When all nodes are there: the control loops go on as long as their conditions say. Reading a condition from another part may add more control loops.
  Status close_control_loops() {
    std::set<ControlLoopKey> closed;
    while (closed.size() < control_loops_.size()) {
      for (const auto& [key, merge] : std::map(control_loops_)) {
        if (!closed.insert(key).second) continue;
        const auto [frame, part] = key;
        const Node& condition = *conditions_.at(frame);
        WEFT_ASSIGN(Endpoint goes_on, read({const_cast<Node*>(&condition), 0}, condition, 0, part));
        const std::string prefix = std::string(merge->name());
        WEFT_ASSIGN(Node* choice, add_placed(part, prefix + "/switch", op_of(Role::kSwitch), {{"T", DType::kFloat}}, {{merge, 0}, goes_on}));
        WEFT_ASSIGN(Node* next, add_placed(part, prefix + "/next", op_of(Role::kNextIteration), {{"T", DType::kFloat}}, {{choice, 1}}));
        parts_[size_t(part)].body.graph->set_input(merge, 1, {next, 0});
      }
    }
    return {};
  }

  Result<Node*> add_placed(int part, std::string name, std::string_view op, AttrMap attrs, std::vector<Endpoint> inputs,
                           const std::vector<Node*>& controls = {}) {
    const std::vector<DType> types = [&] {
      std::vector<DType> out;
      for (const Endpoint& e : inputs) out.push_back(e.node ? base_type(e.node->output_type(e.index)) : DType::kFloat);
      return out;
    }();
    auto made = parts_[size_t(part)].body.graph->add(fresh(std::move(name)), op, std::move(attrs), std::move(inputs), controls, types);
    if (made.ok()) (*made)->assigned_device = parts_[size_t(part)].device->name();
    return made;
  }

  std::string fresh(std::string name) const {
    while (body_.graph->find(name)) name += "_";
    return name;
  }

  // Where a node of that part reads this output.
  Result<Endpoint> read(const Endpoint& e, const Node& reader, int input, int part) {
    const int from = part_of_[size_t(e.node->id())];
    if (anywhere(*e.node) || from == part) {
      WEFT_ASSIGN(Node* n, copy(*e.node, part));
      return Endpoint{n, e.index};
    }
    if (is_ref_type(reader.input_type(input)))
      return core::names_node(
          invalid_argument("{{node ", reader.name(), "}} changes the variable of {{node ", e.node->name(), "}}, which is on another device"),
          reader.name());
    const int frame = frames_->of(e.node);
    if (frame && is_enter(*e.node) && !e.node->attr<bool>("is_constant"))
      return core::names_node(unimplemented("a loop of version 1 over several devices: {{node ", reader.name(), "}} reads {{node ", e.node->name(),
                                            "}}, which is on another"),
                              reader.name());
    WEFT_ASSIGN(Node* n, receive(Endpoint{copied(*e.node, from), e.index}, from, part, {e.node->id(), e.index, part}, frame));
    return Endpoint{n, 0};
  }

  Result<Node*> wait_for(const Node& n, int part) {
    const int from = part_of_[size_t(n.id())];
    if (from == part) return copied(n, part);
    const Message key{n.id(), -1, part};
    if (auto it = waited_.find(key); it != waited_.end()) return it->second;
    // Control goes over as an empty tensor.
    graph::Graph& g = *parts_[size_t(from)].body.graph;
    WEFT_ASSIGN(Node* signal, g.add_const(fresh_name(n, "/_control_"), *Tensor::zeros(DType::kFloat, {0})));
    g.add_control(copied(n, from), signal);
    signal->assigned_device = parts_[size_t(from)].device->name();
    WEFT_ASSIGN(Node* came, receive({signal, 0}, from, part, key, frames_->of(&n)));
    // A message that is dead makes what reads it dead; TensorFlow's executors do not hand that on along control edges.
    WEFT_ASSIGN(Node* waited, add_placed(part, fresh_name(n, "/_came_"), op_of(Role::kIdentity), {{"T", DType::kFloat}}, {{came, 0}}));
    return waited_[key] = waited;
  }

  // That no node of the whole has, nor one made here: a message has a number.
  std::string fresh_name(const Node& n, const char* what) const { return fresh(cat(n.name(), what, received_.size())); }

  // As its own process knows it.
  static uint64_t incarnation_of(const Device& d) {
    const auto* remote = dynamic_cast<const RemoteTarget*>(&d);
    return remote ? remote->incarnation_there() : d.incarnation();
  }

  using Message = std::tuple<int, int, int>;  // id, output (-1: control), to which part

  // `frame`: of the output.
  Result<Node*> receive(Endpoint e, int from, int to, const Message& key, int frame) {
    if (auto it = received_.find(key); it != received_.end()) return it->second;
    Part &a = parts_[size_t(from)], &b = parts_[size_t(to)];
    const DType type = base_type(e.node->output_type(e.index));
    AttrMap attrs{{"tensor_name", cat(options_.edges, "_", received_.size(), "_", e.node->name())},
                  {"send_device", a.device->name()},
                  {"send_device_incarnation", int64_t(options_.incarnation ? options_.incarnation(*a.device) : incarnation_of(*a.device))},
                  {"recv_device", b.device->name()}};
    AttrMap receive_attrs = attrs;
    attrs["T"] = type;
    receive_attrs["tensor_type"] = type;
    WEFT_ASSIGN(Node* send, a.body.graph->add(fresh_name(*e.node, "/_send_"), op_of(Role::kSend), std::move(attrs), {e}));
    WEFT_ASSIGN(Node* recv, b.body.graph->add(fresh_name(*e.node, "/_recv_"), op_of(Role::kRecv), std::move(receive_attrs), {}));
    send->assigned_device = a.device->name();
    recv->assigned_device = b.device->name();
    if (size_t(e.index) < e.node->shapes.size()) recv->shapes = {e.node->shapes[size_t(e.index)]};
    received_[key] = recv;
    WEFT_ASSIGN(Node* when, control_loop(frame, to));
    if (when) b.body.graph->add_control(when, recv);
    return recv;
  }

  Status list_results() {
    for (size_t i = 0; i < body_.rets.size(); ++i) {
      const Node* r = body_.rets[i];
      const int part = part_of_[size_t(r->id())];
      Part& p = parts_[size_t(part)];
      Node* mine = copied(*r, part);
      p.body.graph->set_attr(mine, "index", int64_t(p.rets.size()));
      p.body.rets.push_back(mine);
      p.body.ret_types.push_back(body_.ret_types[i]);
      p.rets.push_back(int(i));
    }
    for (const Node* n : body_.control_rets) {
      const int part = part_of_[size_t(n->id())];
      if (part >= 0) parts_[size_t(part)].body.control_rets.push_back(copied(*n, part));
    }
    return {};
  }

  const graph::FunctionBody& body_;
  const DeviceSet& devices_;
  const PartitionOptions& options_;
  std::vector<Node*> order_;
  std::unique_ptr<graph::Frames> frames_;
  std::unordered_map<int, const Node*> conditions_;  // by frame: its LoopCond
  std::map<ControlLoopKey, Node*> control_loops_;
  std::vector<Part> parts_;
  std::unordered_map<std::string, int> part_numbers_;
  std::vector<int> part_of_;  // by id; -1: anywhere
  std::vector<std::vector<Node*>> copies_;  // by id and part
  std::map<Message, Node*> received_, waited_;
  std::unordered_map<const Node*, int> arg_index_;
};

}  // namespace

Result<std::vector<Part>> partition(const graph::FunctionBody& body, const DeviceSet& devices, const PartitionOptions& options) {
  return Partitioner(body, devices, options).cut();
}

}  // namespace weft_engine::runtime
