#include "autodiff/split.h"

#include <algorithm>
#include <map>

#include "graph/node_traits.h"
#include "graph/passes/loops.h"
#include "op/emit.h"

namespace weft_engine::autodiff {
namespace {

constexpr int64_t kSmall = 64;    // elements of an integer that is known and becomes a constant
constexpr int kMostCopied = 24;   // nodes of one fact about shapes
constexpr int kMostDepth = 12;
constexpr std::string_view kShape = "Shape";

bool is_integer(DType t) { return t == DType::kInt32 || t == DType::kInt64 || t == DType::kBool; }

// Reads of its inputs no more than how large they are.
bool reads_size_only(const Node& n) { return traits_of(n).metadata && !n.spec().stateful; }

// Zeros or ones of the size of the input.
bool is_fill_like(const Node& n) {
  return traits_of(n).fills_like >= 0 && differentiable(n.output_type(0)) && n.output_type(0) != DType::kVariant &&
         n.output_type(0) != DType::kResource;
}

struct ByPlace {
  bool operator()(const Endpoint& a, const Endpoint& b) const {
    return a.node->id() != b.node->id() ? a.node->id() < b.node->id() : a.index < b.index;
  }
};

class Splitter {
 public:
  Splitter(BodyGradient& g, std::vector<Endpoint>& results, const std::function<bool(const Endpoint&)>& given)
      : g_(g), graph_(g.graph()), results_(results), given_(given) {}

  Result<Split> run() {
    mark_forward();
    mark_live();
    const bool values = reads_values();
    WEFT_RETURN_IF_ERROR(bring_constants());
    WEFT_RETURN_IF_ERROR(keep_sizes_only());
    WEFT_RETURN_IF_ERROR(copy_facts());
    Split out = gather();
    out.reads_values = values;
    return out;
  }

 private:
  bool forward(const Node* n) const { return size_t(n->id()) < forward_.size() && forward_[size_t(n->id())]; }
  bool live(const Node* n) const { return size_t(n->id()) >= live_.size() || live_[size_t(n->id())]; }
  // Nodes of the backward pass that a result needs; those made here are among them.
  std::vector<Node*> backward() const {
    std::vector<Node*> out;
    for (int id = g_.first_new; id < graph_.num_ids(); ++id) {
      Node* n = graph_.node(id);
      if (n && !forward(n) && live(n) && !is_arg(*n)) out.push_back(n);
    }
    return out;
  }

  // The body, and what was added in front of its nodes.
  void mark_forward() {
    forward_.assign(size_t(graph_.num_ids()), 0);
    std::vector<Node*> todo;
    auto visit = [&](Node* n) {
      if (!n || forward_[size_t(n->id())]) return;
      forward_[size_t(n->id())] = 1;
      todo.push_back(n);
    };
    for (int id = 0; id < g_.first_new; ++id) visit(graph_.node(id));
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      for (const Endpoint& e : n->inputs()) visit(e.node);
      for (Node* c : n->control_inputs()) visit(c);
    }
  }

  void mark_live() {
    live_.assign(size_t(graph_.num_ids()), 0);
    std::vector<Node*> todo;
    auto visit = [&](Node* n) {
      if (!n || forward(n) || live_[size_t(n->id())]) return;
      live_[size_t(n->id())] = 1;
      todo.push_back(n);
    };
    for (const Endpoint& r : results_) visit(r.node);
    while (!todo.empty()) {
      Node* n = todo.back();
      todo.pop_back();
      for (const Endpoint& e : n->inputs()) visit(e.node);
      for (Node* c : std::vector<Node*>(n->control_inputs())) {
        // The body has run when the backward pass starts.
        if (forward(c)) graph_.remove_control(c, n);
        else visit(c);
      }
    }
  }

  bool reads_values() const {
    for (const Node* n : backward()) {
      if (is_while(*n) || is_branch(*n)) return true;
      if (is_call(*n)) {
        const AttrValue* f = n->find_attr("f");
        if (backward_reads_values(*graph_.library(), f ? f->get<FunctionAttr>()->name : std::string(n->op()))) return true;
      }
      for (const Endpoint& e : n->inputs()) {
        if (!e.node || !forward(e.node) || !differentiable(base_type(type_of(e))) || (reads_size_only(*n) && shape_of(e).fully_known())) continue;
        const Endpoint value = same_value(e);
        if (std::none_of(g_.body.rets.begin(), g_.body.rets.end(), [&](Node* r) { return same_value(r->input(0)) == value; })) return true;
      }
    }
    return false;
  }

  // Calls f(endpoint) for each reading of a value of the body; it gives what to read instead.
  template <class F>
  Status each_reading(F&& f) {
    for (Node* n : backward()) {
      for (int i = 0; i < n->num_inputs(); ++i) {
        const Endpoint e = n->input(i);
        if (!e.node || !forward(e.node)) continue;
        WEFT_ASSIGN(Endpoint to, f(n, e));
        if (!(to == e)) graph_.set_input(n, i, to);
      }
    }
    for (Endpoint& r : results_) {
      if (!r.node || !forward(r.node)) continue;
      WEFT_ASSIGN(r, f(nullptr, r));
    }
    return {};
  }

  Result<Endpoint> constant(const Endpoint& e, Tensor value) {
    WEFT_ASSIGN(Node* c, graph_.add_const(graph_.unique_name(cat("gradients/", e.node->name())), std::move(value)));
    c->shapes.assign(1, c->attr<Tensor>("value").shape());
    c->handles.resize(1);
    return Endpoint{c, 0};
  }

  // Values behind nodes that only hand them on; what is known is no value that must be kept.
  Status bring_constants() {
    std::map<Endpoint, Endpoint, ByPlace> made;
    return each_reading([&](Node*, const Endpoint& e) -> Result<Endpoint> {
      const Endpoint s = same_value(e);
      if (auto it = made.find(s); it != made.end()) return it->second;
      if (const Tensor* t = const_value(s)) {
        WEFT_ASSIGN(made[s], constant(s, *t));
      } else if (is_integer(type_of(s))) {
        auto v = g_.shapes->value(s);
        if (!v || v->num_elements() > kSmall) return made[s] = s;
        WEFT_ASSIGN(made[s], constant(s, std::move(*v)));
      } else {
        made[s] = s;
      }
      return made[s];
    });
  }

  Status keep_sizes_only() {
    std::map<Endpoint, bool, ByPlace> whole;  // values of which more than the size is read
    WEFT_RETURN_IF_ERROR(each_reading([&](Node* reader, const Endpoint& e) -> Result<Endpoint> {
      if (!reader || !(reads_size_only(*reader) || is_fill_like(*reader))) whole[e] = true;
      return e;
    }));
    std::map<std::pair<std::string, std::pair<int, int>>, Node*> sizes;
    for (Node* n : backward()) {
      if (!reads_size_only(*n) && !is_fill_like(*n)) continue;
      bool move = n->num_inputs() > 0;
      for (const Endpoint& e : n->inputs()) move = move && forward(e.node) && !whole.count(e) && !given_(e);
      if (!move) continue;
      const Endpoint from = n->input(0);
      if (is_fill_like(*n)) {
        WEFT_ASSIGN(Endpoint filled, fill_from_size(*n, sizes[{std::string(kShape), {from.node->id(), from.index}}]));
        replace({n, 0}, filled);
        continue;
      }
      std::string key = n->info().to_string();
      Node*& same =
          n->num_inputs() == 1
              ? sizes[{n->op() == kShape && n->attr<DType>("out_type") == DType::kInt32 ? std::string(kShape) : key, {from.node->id(), from.index}}]
              : sizes[{cat(key, n->id()), {0, 0}}];
      if (same) {
        replace({n, 0}, {same, 0});
        continue;
      }
      same = n;
      to_forward(n);
    }
    mark_live();
    return {};
  }

  // Zeros or ones of the shape of the node's input, of which only the shape is kept, if it is not known anyway.
  Result<Endpoint> fill_from_size(const Node& n, Node*& shape) {
    const Endpoint from = n.input(0);
    Value size;
    if (shape_of(from).fully_known()) {
      size = op::shape_of(g_.emitter->wrap(from));
    } else {
      if (!shape) {
        WEFT_ASSIGN(shape, graph_.add(graph_.unique_name(cat(from.node->name(), "/Shape")), kShape, {{"out_type", DType::kInt32}}, {from}));
        to_forward(shape);
      }
      size = g_.emitter->wrap({shape, 0});
    }
    const Value filled = fill(size, scalar(*g_.emitter, n.output_type(0), traits_of(n).fills_like));
    WEFT_RETURN_IF_ERROR(g_.emitter->take_status());
    return GraphEmitter::unwrap(filled);
  }

  void to_forward(Node* n) {
    if (forward_.size() <= size_t(n->id())) forward_.resize(size_t(n->id()) + 1, 0);
    forward_[size_t(n->id())] = 1;
    if (n->shapes.empty() && !g_.shapes->node(n).ok()) n->shapes.assign(size_t(n->num_outputs()), {});
  }

  void replace(Endpoint from, Endpoint to) {
    graph_.replace_uses(from, to);
    for (Endpoint& r : results_) {
      if (r == from) r = to;
    }
  }

  // Facts about shapes: integers computed from constants and from what is there anyway.
  Status copy_facts() {
    std::map<Endpoint, bool, ByPlace> there;
    WEFT_RETURN_IF_ERROR(each_reading([&](Node*, const Endpoint& e) -> Result<Endpoint> {
      if (given_(e) || !is_integer(type_of(e))) there[e] = true;
      return e;
    }));
    std::map<Endpoint, Endpoint, ByPlace> copies;
    return each_reading([&](Node*, const Endpoint& e) -> Result<Endpoint> {
      if (there.count(e)) return e;
      int budget = kMostCopied;
      if (!follows(e, there, budget, 0)) return e;
      return copy(e, there, copies);
    });
  }

  bool follows(const Endpoint& e, const std::map<Endpoint, bool, ByPlace>& there, int& budget, int depth) const {
    if (there.count(e) || given_(e) || is_const(*e.node)) return true;
    const Node& n = *e.node;
    if (depth > kMostDepth || --budget < 0 || is_arg(n) || !is_pure(n) || has_function(n) || has_refs(n)) return false;
    if (n.num_outputs() > 4 || !is_integer(type_of(e))) return false;
    if (reads_size_only(n) && n.num_inputs() == 1) return there.count(same_value(n.input(0))) || given_(same_value(n.input(0)));
    for (const Endpoint& in : n.inputs()) {
      if (!is_integer(type_of(in)) || !follows(same_value(in), there, budget, depth + 1)) return false;
    }
    const PartialShape& s = shape_of(e);
    return s.has_rank() && s.rank() <= 1;  // as sizes are
  }

  Result<Endpoint> copy(const Endpoint& e, const std::map<Endpoint, bool, ByPlace>& there, std::map<Endpoint, Endpoint, ByPlace>& copies) {
    if (there.count(e) || given_(e)) return e;
    if (auto it = copies.find(e); it != copies.end()) return it->second;
    std::vector<Endpoint> inputs;
    for (const Endpoint& in : e.node->inputs()) {
      WEFT_ASSIGN(Endpoint c, copy(same_value(in), there, copies));
      inputs.push_back(c);
    }
    WEFT_ASSIGN(Node* c, graph_.add(graph_.unique_name(cat("gradients/", e.node->name())), e.node->op(), attrs_of(*e.node), std::move(inputs)));
    c->shapes = e.node->shapes;
    c->handles = e.node->handles;
    for (int i = 0; i < c->num_outputs(); ++i) copies[{e.node, i}] = {c, i};
    return Endpoint{c, e.index};
  }

  Split gather() {
    mark_live();
    Split out;
    std::map<Endpoint, bool, ByPlace> seen;
    auto need = [&](const Endpoint& e) {
      if (e.node && forward(e.node) && !std::exchange(seen[e], true)) out.needed.push_back(e);
    };
    for (Node* n : backward()) {
      out.backward.push_back(n);
      for (const Endpoint& e : n->inputs()) need(e);
    }
    for (const Endpoint& r : results_) need(r);
    for (Node* n : graph_.nodes()) {
      if (forward(n) && !is_end(*n)) out.forward.push_back(n);
    }
    return out;
  }

  BodyGradient& g_;
  Graph& graph_;
  std::vector<Endpoint>& results_;
  const std::function<bool(const Endpoint&)>& given_;
  std::vector<char> forward_, live_;  // by id
};

}  // namespace

Result<Split> split(BodyGradient& g, std::vector<Endpoint>& results, const std::function<bool(const Endpoint&)>& given) {
  return Splitter(g, results, given).run();
}

void read_instead(Graph& graph, const Split& split, std::vector<Endpoint>& results, Endpoint from, Endpoint to) {
  std::vector<char> back(size_t(graph.num_ids()), 0);
  for (const Node* n : split.backward) back[size_t(n->id())] = 1;
  for (const Use& u : std::vector<Use>(from.node->uses())) {
    if (u.output == from.index && back[size_t(u.node->id())]) graph.set_input(u.node, u.input, to);
  }
  for (Endpoint& r : results) {
    if (r == from) r = to;
  }
}

}  // namespace weft_engine::autodiff
