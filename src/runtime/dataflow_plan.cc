// Making a Dataflow from a body: which frame a node is in, where its inputs are, what it waits for.
#include <unordered_map>

#include "core/error_notes.h"
#include "graph/node_traits.h"
#include "op/rendezvous.h"
#include "runtime/dataflow.h"
#include "runtime/dataflow_state.h"

namespace weft_engine::runtime {

using graph::Endpoint;
using graph::Node;
using op::Role;
using Kind = Dataflow::Kind;

namespace {

Kind kind_of(const Node& n) {
  switch (role_of(n)) {
    case Role::kArg: return Kind::kArg;
    case Role::kRetval: return Kind::kRetval;
    case Role::kConst: return Kind::kConst;
    case Role::kNoOp:
    case Role::kControlTrigger: return Kind::kNothing;
    case Role::kSwitch: return Kind::kSwitch;
    case Role::kSwitchN: return Kind::kSwitchN;
    case Role::kMerge: return Kind::kMerge;
    case Role::kEnter: return Kind::kEnter;
    case Role::kExit: return Kind::kExit;
    case Role::kNextIteration: return Kind::kNextIteration;
    case Role::kSend: return Kind::kSend;
    case Role::kRecv: return Kind::kRecv;
    default: return forwards_inputs(n) && n.num_inputs() == 1 && n.num_outputs() == 1 ? Kind::kForward : Kind::kKernel;
  }
}

// Always there: whoever reads it neither waits for it nor has it copied. (A Merge goes by what arrives.)
bool plain_constant(const Node& n) { return is_const(n) && n.control_inputs().empty(); }
bool always_there(const Node& n, Kind reader) { return reader != Kind::kMerge && plain_constant(n); }

bool has_functions(const Node& n) {
  if (n.is_function_call()) return true;
  for (const AttrSpec& a : n.spec().signature().attrs) {
    if (a.type == "func" || a.type == "list(func)") return true;
  }
  return false;
}

Status wrong_frames(const Node& n, const Node& a, const std::string& frame_a, const Node& b, const std::string& frame_b) {
  return core::names_node(invalid_argument("{{node ", n.name(), "}} has inputs from different frames. The input {{node ", a.name(),
                                           "}} is in frame '", frame_a, "'. The input {{node ", b.name(), "}} is in frame '", frame_b, "'."),
                          n.name());
}

}  // namespace

class Dataflow::Planner {
 public:
  Planner(Dataflow& p, const graph::FunctionBody& body, const PlanContext& c) : p_(p), body_(body), c_(c) {}

  Status plan() {
    p_.name_ = body_.name;
    p_.device_ = c_.device;
    p_.pool_ = c_.pool;
    p_.inter_ = c_.inter;
    p_.num_args_ = body_.args.size();
    p_.num_rets_ = body_.rets.size();
    WEFT_ASSIGN(order_, body_.graph->topological_order());
    numbers_.resize(size_t(body_.graph->num_ids()), 0);
    p_.num_items_ = order_.size();
    p_.items_ = std::make_unique<Item[]>(order_.size());
    for (size_t i = 0; i < order_.size(); ++i) numbers_[size_t(order_[i]->id())] = uint32_t(i);
    WEFT_RETURN_IF_ERROR(find_frames());
    for (size_t i = 0; i < order_.size(); ++i) WEFT_RETURN_IF_ERROR(fill(p_.items_[i], *order_[i]));
    for (size_t i = 0; i < order_.size(); ++i) connect(p_.items_[i], *order_[i]);
    return {};
  }

 private:
  Item& item(const Node* n) { return p_.items_[numbers_[size_t(n->id())]]; }

  // The frame of what reads this node.
  uint32_t frame_behind(const Node* n) {
    const Item& it = item(n);
    if (it.kind == Kind::kEnter) return it.child;
    if (it.kind == Kind::kExit) return uint32_t(p_.frames_[it.frame].parent);
    return it.frame;
  }

  Status find_frames() {
    p_.frames_.emplace_back();
    for (Node* n : order_) {
      Item& it = item(n);
      it.kind = kind_of(*n);
      const Node* first = nullptr;
      auto join = [&](const Node* from) -> Status {
        const uint32_t f = frame_behind(from);
        if (first && f != it.frame) return wrong_frames(*n, *first, p_.frames_[it.frame].name, *from, p_.frames_[f].name);
        it.frame = f;
        first = from;
        return {};
      };
      for (const Endpoint& e : n->inputs()) {
        if (!e.node) return core::names_node(invalid_argument("{{node ", n->name(), "}} has an input that leads nowhere"), n->name());
        if (kind_of(*e.node) == Kind::kNextIteration) {
          if (it.kind == Kind::kMerge) continue;
          return core::names_node(invalid_argument("{{node ", n->name(), "}} reads {{node ", e.node->name(), "}}, which only a Merge may"),
                                  n->name());
        }
        if (always_there(*e.node, it.kind)) continue;
        WEFT_RETURN_IF_ERROR(join(e.node));
      }
      for (Node* c : n->control_inputs()) {
        if (kind_of(*c) == Kind::kNextIteration)
          return core::names_node(invalid_argument("{{node ", n->name(), "}} waits for {{node ", c->name(), "}}, which only a Merge may"), n->name());
        if (plain_constant(*c)) continue;
        WEFT_RETURN_IF_ERROR(join(c));
      }
      if (it.kind == Kind::kExit && it.frame == 0)
        return core::names_node(invalid_argument("{{node ", n->name(), "}} leaves a loop but is not in one"), n->name());
      if (it.kind == Kind::kNextIteration && it.frame == 0)
        return core::names_node(invalid_argument("{{node ", n->name(), "}} leads to the next iteration of a loop but is not in one"), n->name());
      if (it.kind == Kind::kEnter) WEFT_RETURN_IF_ERROR(enter(it, *n));
    }
    return check_back_edges();
  }

  Status enter(Item& it, const Node& n) {
    const auto& name = n.attr<std::string>("frame_name");
    auto [at, fresh] = frame_numbers_.try_emplace(name, uint32_t(p_.frames_.size()));
    if (fresh) {
      FramePlan f;
      f.name = name;
      f.parent = int(it.frame);
      f.child = p_.frames_[it.frame].num_children++;
      p_.frames_.push_back(std::move(f));
    }
    FramePlan& f = p_.frames_[at->second];
    if (f.parent != int(it.frame))
      return core::names_node(invalid_argument("{{node ", n.name(), "}} enters frame '", name, "', which is in another frame than the node"),
                              n.name());
    ++f.enters;
    it.child = at->second;
    it.constant_enter = n.attr<bool>("is_constant");
    it.parallel_iterations = std::max<int64_t>(1, n.attr<int64_t>("parallel_iterations"));
    return {};
  }

  Status check_back_edges() {
    for (Node* n : order_) {
      for (const Endpoint& e : n->inputs()) {
        if (item(e.node).kind != Kind::kNextIteration) continue;
        if (item(e.node).frame != item(n).frame)
          return wrong_frames(*n, *n, p_.frames_[item(n).frame].name, *e.node, p_.frames_[item(e.node).frame].name);
      }
    }
    return {};
  }

  Status fill(Item& it, Node& n) {
    it.node = n.info();
    it.num_inputs = uint32_t(n.num_inputs());
    it.num_outputs = uint32_t(n.num_outputs());
    it.trigger = role_of(n) == Role::kControlTrigger;
    it.uninitialized_ok = n.spec().allows_uninitialized_input;
    FramePlan& f = p_.frames_[it.frame];
    it.slot = f.num_slots;
    f.num_slots += it.num_inputs;
    it.count = uint32_t(f.counts.size());
    uint64_t data = 0, controls = 0;
    for (const Node* c : n.control_inputs()) controls += !plain_constant(*c);
    for (uint32_t i = 0; i < it.num_inputs; ++i) {
      const Endpoint& e = n.input(int(i));
      if (always_there(*e.node, it.kind)) {
        it.constants.resize(it.num_inputs);
        it.constants[i] = &item(e.node).constant;
        if (i < 64) it.constant_inputs |= uint64_t(1) << i;
        continue;
      }
      ++data;
      const bool ref = is_ref_type(e.node->output_type(e.index));
      it.reads_refs |= ref;
      if (ref) {
        it.ref_names.resize(it.num_inputs);
        it.ref_names[i] = e.index == 0 ? e.node->name() : cat(e.node->name(), ":", e.index);
      }
      if (i >= 64) continue;
      if (!ref) it.donated |= uint64_t(1) << i;
      if (is_const(*e.node)) it.constant_inputs |= uint64_t(1) << i;
    }
    const uint64_t waits = it.kind == Kind::kMerge ? 1 + 2 * controls : data + controls;
    f.counts.push_back(waits);
    if (waits == 0 && (it.kind != Kind::kConst || feeds_merge(n))) p_.roots_.push_back(numbers_[size_t(n.id())]);
    for (uint32_t i = 0; i < it.num_outputs; ++i) it.gives_refs |= is_ref_type(n.output_type(int(i)));
    return prepare(it, n);
  }

  bool feeds_merge(const Node& n) {
    for (const graph::Use& u : n.uses()) {
      if (item(u.node).kind == Kind::kMerge) return true;
    }
    return false;
  }

  Status prepare(Item& it, Node& n) {
    switch (it.kind) {
      case Kind::kConst: it.constant = n.attr<Tensor>("value"); return {};
      case Kind::kArg:
      case Kind::kRetval: return number(it, n);
      case Kind::kSend:
      case Kind::kRecv:
        it.key = rendezvous_key(n.attr<std::string>("send_device"), uint64_t(n.attr<int64_t>("send_device_incarnation")),
                                n.attr<std::string>("recv_device"), n.attr<std::string>("tensor_name"));
        if (it.kind == Kind::kRecv) p_.waits_ = p_.receives_ = it.async = true;
        p_.messages_in_loops_ |= it.frame > 0;
        return {};
      case Kind::kKernel: break;
      default: return {};
    }
    auto kernel = c_.kernel(it.node, c_.device->type());
    if (!kernel.ok()) return with_node(kernel.status(), it.node);
    it.kernel = std::move(kernel).value();
    it.async = it.kernel->is_async();
    it.blocking = !it.async && has_functions(n);
    if (!it.async) it.cost.store(kUnknownCost, std::memory_order_relaxed);
    p_.waits_ |= it.async || it.blocking;
    return {};
  }

  // Arguments and results are told by the body's lists; attributes may number them otherwise.
  Status number(Item& it, const Node& n) {
    const auto& all = it.kind == Kind::kArg ? body_.args : body_.rets;
    if (index_.empty()) {
      for (size_t i = 0; i < body_.args.size(); ++i) index_[body_.args[i]] = int(i);
      for (size_t i = 0; i < body_.rets.size(); ++i) index_[body_.rets[i]] = int(i);
    }
    const auto at = index_.find(&n);
    if (at == index_.end() || all[size_t(at->second)] != &n)
      return core::names_node(internal_error("{{node ", n.name(), "}} is not in the function's list of arguments or results"), n.name());
    it.index = at->second;
    return {};
  }

  void connect(Item& it, const Node& n) {
    it.edges = uint32_t(p_.edges_.size());
    std::vector<std::vector<const graph::Use*>> by_output(it.num_outputs);
    const bool constant = plain_constant(n);
    for (const graph::Use& u : n.uses()) {
      if (!constant || item(u.node).kind == Kind::kMerge) by_output[size_t(u.output)].push_back(&u);
    }
    for (uint32_t o = 0; o < it.num_outputs; ++o) {
      for (const graph::Use* u : by_output[o]) {
        const Item& reader = item(u->node);
        p_.edges_.push_back({numbers_[size_t(u->node->id())], reader.count, reader.slot + uint32_t(u->input), o, reader.kind == Kind::kMerge,
                             u == by_output[o].back()});
      }
    }
    it.edges_end = uint32_t(p_.edges_.size());
    it.controls = uint32_t(p_.controls_.size());
    if (!constant) {
      for (const Node* c : n.control_outputs()) p_.controls_.push_back(numbers_[size_t(c->id())]);
    }
    it.controls_end = uint32_t(p_.controls_.size());
  }

  Dataflow& p_;
  const graph::FunctionBody& body_;
  const PlanContext& c_;
  std::vector<Node*> order_;
  std::vector<uint32_t> numbers_;  // by node id
  std::unordered_map<std::string, uint32_t> frame_numbers_;
  std::unordered_map<const Node*, int> index_;
};

Result<std::unique_ptr<Dataflow>> Dataflow::make(const graph::FunctionBody& body, const PlanContext& c) {
  auto p = std::unique_ptr<Dataflow>(new Dataflow());
  WEFT_RETURN_IF_ERROR(Planner(*p, body, c).plan());
  return p;
}

Result<std::unique_ptr<Executable>> plan_dataflow(const graph::FunctionBody& body, const PlanContext& c) {
  WEFT_ASSIGN(std::unique_ptr<Dataflow> p, Dataflow::make(body, c));
  return std::unique_ptr<Executable>(std::move(p));
}

}  // namespace weft_engine::runtime
