// Tensor lists that carry values from one loop to another, as gradients of loops make them: a loop pushes a
// value in every iteration, and the loop of the gradient pops them.
//
// Where shapes are known, so are those of the elements: the ops that take elements out are told, and the
// body can be simplified by them. And a value that is the same each time is read from in front of the loop
// instead of being pushed and popped.
#include <algorithm>
#include <unordered_map>

#include "graph/passes/loops.h"
#include "graph/shape_inference.h"

namespace weft_engine::graph {
namespace {

constexpr int64_t kSmall = 64;  // elements of a value that may become a constant of the body

// What is known of the elements of a list.
struct Elements {
  PartialShape shape;
  Endpoint same;                // all of them are this value, from outside of loops
  std::optional<Tensor> value;  // ... or this one
  bool useful() const { return shape.fully_known() || same.node || value; }
};

class Lists {
 public:
  explicit Lists(FunctionBody& outer) : outer_(outer), g_(*outer.graph) {}

  Status run(Node* node) {
    Loop loop;
    if (!Loop::open(g_, node, loop)) return {};
    std::vector<LoopInput> added;
    bool changed = false;
    const size_t n = loop.body.args.size();
    std::vector<Elements> in(n);
    for (size_t i = 0; i < n; ++i) {
      if (loop.body.arg_types[i] != DType::kVariant) continue;
      in[i] = elements_of(node->input(int(i)));
      if (in[i].useful()) WEFT_RETURN_IF_ERROR(tell_readers(loop, int(i), in[i], added, changed));
    }
    ShapeInference inference(*loop.body.graph);
    ArgShapes args{node->shapes, node->handles};
    args.shapes.resize(n);
    WEFT_RETURN_IF_ERROR(inference.all(args));
    std::vector<Elements> out(n);
    for (size_t i = 0; i < n; ++i) {
      if (loop.body.arg_types[i] != DType::kVariant) continue;
      const Endpoint r = source(loop.body.rets[i]->input(0)), arg{loop.body.args[i], 0};
      if (r == arg || (role_of(*r.node) == Role::kListPop && r.index == 0 && source(r.node->input(0)) == arg)) out[i] = in[i];
      else if (role_of(*r.node) == Role::kListPush && source(r.node->input(0)) == arg) out[i] = pushed(loop, int(i), r.node->input(1), inference);
    }
    if (changed) {
      std::vector<int> kept;
      for (size_t i = 0; i < n; ++i) kept.push_back(int(i));
      WEFT_ASSIGN(node, rebuild_loop(outer_, loop, kept, added));
    }
    known_[node->id()] = std::move(out);
    return {};
  }

 private:
  Elements elements_of(Endpoint e) const {
    e = source(e);
    Elements out;
    if (role_of(*e.node) == Role::kListFromTensor) {
      const PartialShape& s = shape_of(e.node->input(0));
      if (s.fully_known() && s.rank() >= 1) out.shape = s.slice(1, s.rank());
    } else if (auto it = known_.find(e.node->id()); it != known_.end() && size_t(e.index) < it->second.size()) {
      out = it->second[size_t(e.index)];
    }
    return out;
  }

  // Every iteration pushes `value` to a list that was empty.
  Elements pushed(const Loop& loop, int i, const Endpoint& value, ShapeInference& inference) const {
    Elements out;
    if (role_of(*source(loop.node->input(i)).node) != Role::kEmptyList) return out;
    out.shape = shape_of(value);
    const Endpoint s = source(value);
    if (is_arg(*s.node)) {
      const auto k = int(s.node->attr<int64_t>("index"));
      if (k < loop.node->num_inputs() && loop.invariant(k)) out.same = loop.node->input(k);
    } else if (const DType t = type_of(s); t == DType::kInt32 || t == DType::kInt64) {
      auto v = inference.value(s);
      if (v && v->num_elements() <= kSmall) out.value = std::move(v);
    }
    return out;
  }

  // The body's readers of list i learn what its elements are.
  Status tell_readers(Loop& loop, int i, const Elements& in, std::vector<LoopInput>& added, bool& changed) {
    Graph& bg = *loop.body.graph;
    Node* arg = loop.body.args[size_t(i)];
    const Endpoint r = source(loop.body.rets[size_t(i)]->input(0));
    const bool popped = role_of(*r.node) == Role::kListPop && r.index == 0 && source(r.node->input(0)) == Endpoint{arg, 0};
    if (!popped && !(r == Endpoint{arg, 0})) return {};
    for (const Use& u : std::vector<Use>(arg->uses())) {
      Node* reader = u.node;
      const int shape_at = role_of(*reader) == Role::kListPop ? 1 : role_of(*reader) == Role::kListGet ? 2 : -1;
      if (shape_at < 0 || u.input != 0) continue;
      const Endpoint item{reader, reader->num_outputs() - 1};
      if (popped && reader == r.node && (in.same.node || in.value) && num_uses(item) > 0) {
        Endpoint value;
        if (in.value) {
          WEFT_ASSIGN(value, add_const_near(bg, reader, "/same", *in.value));
        } else {
          WEFT_ASSIGN(LoopInput input, add_loop_input(loop, in.same, cat(reader->name(), "/same")));
          added.push_back(input);
          value = {input.arg, 0};
        }
        bg.replace_uses(item, value);
        changed = true;
        continue;
      }
      if (!in.shape.fully_known()) continue;
      const Endpoint old = reader->input(shape_at);
      const Tensor* t = const_value(old);
      if (!t || (t->rank() == 1 && *const_ints(old) == in.shape.dims())) continue;
      std::vector<int32_t> dims(in.shape.dims().begin(), in.shape.dims().end());
      Tensor shape = type_of(old) == DType::kInt64 ? Tensor::vector(in.shape.dims()) : Tensor::vector(dims);
      WEFT_ASSIGN(Endpoint known, add_const_near(bg, reader, "/element_shape", std::move(shape)));
      bg.set_input(reader, shape_at, known);
      changed = true;
    }
    return {};
  }

  FunctionBody& outer_;
  Graph& g_;
  std::unordered_map<int, std::vector<Elements>> known_;  // by the id of the loop
};

}  // namespace

Status pass_loop_lists(FunctionBody& body, PassContext&) {
  const Region region(*body.graph);
  WEFT_ASSIGN(std::vector<Node*> order, body.graph->topological_order());
  Lists lists(body);
  for (Node* n : order) {
    if (is_while(*n) && !region.contains(n)) WEFT_RETURN_IF_ERROR(lists.run(n));
  }
  return {};
}

}  // namespace weft_engine::graph
