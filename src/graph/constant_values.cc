#include "graph/constant_values.h"

#include <algorithm>

#include "graph/evaluate.h"
#include "graph/node_traits.h"

namespace weft_engine::graph {
namespace {

using op::ShapeQuery;

// Chains longer than this are given up: the walk is recursive, and graphs come from files.
constexpr int kMostDepth = 200;

bool is_integer(DType t) { return PartialValues::may_be_size(t); }

PartialShape shape_of(const Endpoint& e) {
  return e.node && size_t(e.index) < e.node->shapes.size() ? e.node->shapes[size_t(e.index)] : PartialShape();
}

std::optional<std::vector<int64_t>> integers(const Tensor& t) {
  std::vector<int64_t> out;
  if (t.dtype() == DType::kInt32) {
    for (int32_t v : t.span<int32_t>()) out.push_back(v);
  } else if (t.dtype() == DType::kInt64) {
    for (int64_t v : t.span<int64_t>()) out.push_back(v);
  } else {
    return std::nullopt;
  }
  return out;
}

std::optional<Tensor> tensor_of(DType type, const Shape& shape, const std::vector<int64_t>& values) {
  auto t = Tensor::allocate(type, shape);
  if (!t.ok() || t->num_elements() != int64_t(values.size())) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::kInt64) {
      t->data<int64_t>()[i] = values[i];
    } else {
      if (values[i] > INT32_MAX || values[i] < INT32_MIN) return std::nullopt;  // the step reports it
      t->data<int32_t>()[i] = int32_t(values[i]);
    }
  }
  return std::move(t).value();
}

}  // namespace

std::optional<Tensor> ConstantValues::value(Endpoint e, int depth) {
  if (!e.node || depth > kMostDepth) return std::nullopt;
  if (is_const(*e.node)) {  // a file may say one type and hold another
    const Tensor& v = e.node->attr<Tensor>("value");
    return v.valid() && v.dtype() == e.node->output_type(0) ? std::optional<Tensor>(v) : std::nullopt;
  }
  if (auto it = known_.find(e); it != known_.end()) return it->second;
  std::optional<Tensor> found = from_shapes(e, depth);
  if (!found) found = compute(e, depth);
  known_.emplace(e, found);
  return found;
}

std::optional<Tensor> ConstantValues::compute(Endpoint e, int depth) {
  const Node& node = *e.node;
  if (node.num_inputs() == 0 || !can_evaluate(node)) return std::nullopt;
  for (int i = 0; i < node.num_outputs(); ++i) {
    const PartialShape s = shape_of({e.node, i});
    if (s.fully_known() && s.num_elements().value_or(most_ + 1) > most_) return std::nullopt;
  }
  std::vector<Tensor> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    auto v = value(node.input(i), depth + 1);
    if (!v || v->num_elements() > most_ || v->dtype() != node.input_type(i)) return std::nullopt;
    inputs.push_back(std::move(*v));
  }
  std::vector<const Tensor*> pointers;
  for (const Tensor& t : inputs) pointers.push_back(&t);
  auto result = evaluate_node(graph_.registry(), node.info(), pointers);
  if (!result.ok()) return std::nullopt;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (i != e.index) known_.emplace(Endpoint{e.node, i}, (*result)[size_t(i)]);
  }
  return (*result)[size_t(e.index)];
}

// Ops that ask only for the shape of their input.
std::optional<Tensor> ConstantValues::from_shapes(Endpoint e, int depth) {
  const Node& node = *e.node;
  const DType type = node.output_type(e.index);
  if (!is_integer(type) || node.num_inputs() == 0) return std::nullopt;
  const ShapeQuery query = traits_of(node).shape_query;
  if (query == ShapeQuery::kDims) {
    const PartialShape in = shape_of(node.input(e.index));
    if (in.fully_known()) return tensor_of(type, Shape({int64_t(in.rank())}), in.dims());
  } else if (query == ShapeQuery::kRank) {
    const PartialShape in = shape_of(node.input(0));
    if (in.has_rank()) return tensor_of(type, Shape(), {int64_t(in.rank())});
  } else if (query == ShapeQuery::kSize) {
    const PartialShape in = shape_of(node.input(0));
    if (in.fully_known() && in.num_elements()) return tensor_of(type, Shape(), {*in.num_elements()});
  } else if (const auto rule = traits_of(node).shape_value; rule && traits_of(node).pick_dims) {
    if (as_builder && node.input(0).node && traits_of(*node.input(0).node).shape_query != ShapeQuery::kDims) return std::nullopt;
    PartialShape dims;
    if (!rule(PartialValues(*this, node, depth), dims) || !dims.fully_known()) return std::nullopt;
    const int rank = shape_of(e).rank();
    if (rank == 1) return tensor_of(type, Shape({int64_t(dims.rank())}), dims.dims());
    if (rank == 0 && dims.rank() == 1) return tensor_of(type, Shape(), dims.dims());
  }
  return std::nullopt;
}

std::optional<int64_t> ConstantValues::integer(Endpoint e, int depth) {
  if (!e.node || depth > kMostDepth) return std::nullopt;
  // Which dimension is picked of a shape, value() says.
  const op::OpTraits& traits = traits_of(*e.node);
  if (PartialShape dims;
      traits.shape_value && !traits.pick_dims && shape_of(e).rank() == 0 && traits.shape_value(PartialValues(*this, *e.node, depth), dims))
    return dims.rank() == 1 && dims.dim(0) >= 0 ? std::optional<int64_t>(dims.dim(0)) : std::nullopt;
  auto t = value(e, depth);
  if (!t || t->num_elements() != 1) return std::nullopt;
  auto v = integers(*t);
  return v ? std::optional<int64_t>((*v)[0]) : std::nullopt;
}

PartialShape ConstantValues::as_shape(Endpoint e, int depth) {
  if (!e.node || depth > kMostDepth) return {};
  if (auto it = bound_shapes_.find(e); it != bound_shapes_.end()) return it->second;
  if (auto it = shapes_.find(e); it != shapes_.end()) return it->second;
  PartialShape found = find_shape(e, depth);
  shapes_.emplace(e, found);
  return found;
}

PartialShape ConstantValues::find_shape(Endpoint e, int depth) {
  const Node& node = *e.node;
  const PartialShape own = shape_of(e);
  if (own.has_rank() && own.rank() != 1) return {};
  if (own.rank() == 1 && own.dim(0) == 0) return PartialShape::scalar();
  const op::OpTraits& traits = traits_of(node);
  PartialShape out;
  if (traits.shape_query == ShapeQuery::kDims) {
    out = shape_of(node.input(e.index));
  } else if (traits.role == Role::kVariableShape) {
    const Endpoint in = node.input(0);
    if (in.node && size_t(in.index) < in.node->handles.size() && in.node->handles[size_t(in.index)]) out = in.node->handles[size_t(in.index)]->shape;
  } else if (traits.role == Role::kIdentity && !as_builder && is_integer(base_type(node.input_type(0)))) {
    out = as_shape(node.input(0), depth + 1);
  } else if (traits.shape_value && traits.shape_value(PartialValues(*this, node, depth), out)) {
    if (out.rank() > kMaxRank) return {};  // of a vector that is joined with itself again and again
  } else if (auto t = value(e, depth); t && t->rank() == 1) {
    auto v = integers(*t);
    if (v && !v->empty() && *std::min_element(v->begin(), v->end()) < kUnknownDim) return {};  // no shape; the rule will say so
    if (v) out = PartialShape(std::move(*v));
  }
  if (!out.has_rank() && own.rank() == 1 && own.dim(0) >= 0 && own.dim(0) <= kMaxRank) return PartialShape::unknown_of_rank(int(own.dim(0)));
  return out;
}

PartialShape PartialValues::shape(int i) const { return shape_of(node.input(i)); }
PartialShape PartialValues::as_shape(int i) const { return all_.as_shape(node.input(i), depth_ + 1); }
std::optional<int64_t> PartialValues::integer(int i) const { return all_.integer(node.input(i), depth_ + 1); }

int PartialValues::rank() const { return shape_of({const_cast<Node*>(&node), 0}).rank(); }

std::optional<std::vector<int64_t>> PartialValues::elements(int i) const {
  const auto t = all_.value(node.input(i), depth_ + 1);
  return t ? integers(*t) : std::nullopt;
}

}  // namespace weft_engine::graph
