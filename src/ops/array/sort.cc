// Ops that order or compare elements: top k, unique, sorting, searching.
#include <algorithm>
#include <limits>

#include "kernels/cpu/order.h"
#include "kernels/cpu/unique.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- top k

Status top_k_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  std::optional<int64_t> k;
  if (c.num_inputs() > 1) {
    WEFT_ASSIGN([[maybe_unused]] PartialShape k_shape, c.with_rank(1, 0));
    const Tensor* t = c.constant(1);
    if (t && t->num_elements() == 1) k = int_at(*t, 0);
  } else {
    k = c.attr<int64_t>("k");
  }
  if (k && *k < 0) return invalid_argument("Need k >= 0, got ", *k);
  if (!in.has_rank()) return {};
  const int64_t last = in.dim(-1);
  if (k && last >= 0 && last < *k) return invalid_argument("input must have last dimension >= k = ", *k, " but is ", last);
  in.set_dim(in.rank() - 1, k ? *k : kUnknownDim);
  c.output(0, in);
  c.output(1, in);
  return {};
}

Status run_top_k(KernelContext& c) {
  const Tensor& in = c.input(0);
  int64_t k;
  if (c.num_inputs() > 1) {
    if (c.input(1).rank() != 0) return invalid_argument("k must be scalar, got shape ", c.input(1).shape());
    k = int_at(c.input(1), 0);
  } else {
    k = c.attr<int64_t>("k");
  }
  if (k < 0) return invalid_argument("Need k >= 0, got ", k);
  if (in.rank() < 1) return invalid_argument("input must be >= 1-D, got shape ", in.shape());
  const int64_t n = in.dim(in.rank() - 1);
  if (n < k) return invalid_argument("input must have at least k columns. Had ", n, ", needed ", k);
  const Shape shape = in.shape().with_dim(in.rank() - 1, k);
  WEFT_ASSIGN(Tensor* values, c.allocate(0, shape));
  WEFT_ASSIGN(Tensor* indices, c.allocate(1, shape));
  const AttrValue* sorted = c.node().find_attr("sorted");
  return kernels::top_k(in.dtype(), !sorted || *sorted->get<bool>(), in.raw(), in.shape().elements_in(0, in.rank() - 1), n, k, values->raw(),
                        indices->raw(), int(dtype_size(indices->dtype())), c.pool());
}

// TensorFlow's CPU kernel is the exact one, for the last dimension and the greatest elements only.
Result<std::unique_ptr<Kernel>> make_approx_top_k(const NodeInfo& node) {
  if (!node.attr<bool>("is_max_k") || node.attr<int64_t>("reduction_dimension") != -1) {
    return not_found("No registered 'ApproxTopK' OpKernel for 'CPU' devices compatible with node ", node.to_string());
  }
  return std::unique_ptr<Kernel>(new FunctionKernel(run_top_k));
}

Status approx_top_k_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  if (!in.has_rank()) return {};
  int64_t axis = c.attr<int64_t>("reduction_dimension");
  if (axis < 0) axis += in.rank();
  if (axis < 0 || axis >= in.rank()) return invalid_argument("Invalid reduction dimension ", c.attr<int64_t>("reduction_dimension"));
  in.set_dim(int(axis), c.attr<bool>("aggregate_to_topk") ? c.attr<int64_t>("k") : kUnknownDim);
  if (c.attr<bool>("is_max_k") && axis == in.rank() - 1) in.set_dim(int(axis), c.attr<int64_t>("k"));
  c.output(0, in);
  c.output(1, in);
  return {};
}

// ---- NthElement

Status nth_element_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape in, c.with_rank_at_least(0, 1));
  WEFT_ASSIGN([[maybe_unused]] PartialShape n_shape, c.with_rank(1, 0));
  const auto n = c.constant_int(1);
  if (n && *n < 0) return invalid_argument("n must be non-negative but is ", *n);
  if (!in.has_rank()) return {};
  if (n && in.dim(-1) >= 0 && in.dim(-1) <= *n) return invalid_argument("Input must have last dimension > n = ", *n, " but is ", in.dim(-1));
  c.output(0, in.slice(0, in.rank() - 1));
  return {};
}

Status run_nth_element(KernelContext& c) {
  const Tensor &in = c.input(0), &n_tensor = c.input(1);
  if (n_tensor.rank() != 0) return invalid_argument("N must be scalar but has rank ", n_tensor.rank());
  int64_t n = int_at(n_tensor, 0);
  if (n < 0) return invalid_argument("n must be non-negative but is ", n);
  if (in.rank() < 1) return invalid_argument("Input must be at least rank 1 but is rank ", in.rank());
  const int64_t columns = in.dim(in.rank() - 1);
  if (columns <= n) return invalid_argument("Input must have last dimension > n = ", n);
  if (c.attr<bool>("reverse")) n = columns - n - 1;
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape().slice(0, in.rank() - 1)));
  return kernels::nth_element(in.dtype(), in.raw(), out->num_elements(), columns, n, out->raw(), c.pool());
}

// ---- Unique

// By its outputs: y, idx and, with counts, count.
Status unique_shape(ShapeContext& c) {
  if (c.num_inputs() == 1) {
    WEFT_ASSIGN(PartialShape x, c.with_rank(0, 1));
    c.output(0, PartialShape::vector(kUnknownDim));
    c.output(1, x);
  } else {
    const PartialShape& x = c.input(0);
    const auto axes = c.constant_ints(1);
    if (axes && axes->empty()) {
      WEFT_ASSIGN(PartialShape flat, c.with_rank(0, 1));
      c.output(0, PartialShape::vector(kUnknownDim));
      c.output(1, flat);
    } else if (axes && axes->size() == 1 && x.has_rank()) {
      const int64_t axis = (*axes)[0] < 0 ? (*axes)[0] + x.rank() : (*axes)[0];
      if (axis < 0 || axis >= x.rank())
        return invalid_argument("axis expected to be in the range [", -x.rank(), ", ", x.rank(), ") but got ", (*axes)[0]);
      PartialShape y = x;
      y.set_dim(int(axis), kUnknownDim);
      c.output(0, y);
      c.output(1, PartialShape::vector(x.dim(int(axis))));
    } else {
      if (x.has_rank()) c.output(0, PartialShape::unknown_of_rank(x.rank()));
      c.output(1, PartialShape::vector(kUnknownDim));
    }
  }
  if (c.num_outputs() == 3) c.output(2, PartialShape::vector(kUnknownDim));
  return {};
}

// Slices without elements are all the same; there may be more of them than memory for a table.
Status unique_of_nothing(KernelContext& c, int axis) {
  const Tensor& x = c.input(0);
  const int64_t n = x.dim(axis), distinct = n ? 1 : 0;
  WEFT_ASSIGN([[maybe_unused]] Tensor* y, c.allocate(0, x.shape().with_dim(axis, distinct)));
  WEFT_ASSIGN(Tensor* idx, c.allocate(1, Shape({n})));
  std::fill_n(static_cast<char*>(idx->raw()), idx->byte_size(), char(0));
  if (c.num_outputs() == 3) {
    WEFT_ASSIGN(Tensor* counts, c.allocate(2, Shape({distinct})));
    if (distinct) put_int(*counts, 0, n);
  }
  return {};
}

Status run_unique(KernelContext& c) {
  const Tensor& x = c.input(0);
  int axis = 0;
  if (c.num_inputs() == 1 || c.input(1).num_elements() == 0) {
    if (c.num_inputs() == 2 && c.input(1).rank() != 1) return invalid_argument("axis expects a 1D vector.");
    if (x.rank() != 1) return invalid_argument("unique expects a 1D vector.");
  } else {
    const Tensor& axes = c.input(1);
    if (axes.rank() != 1) return invalid_argument("axis expects a 1D vector.");
    if (axes.num_elements() > 1) return invalid_argument("axis does not support input tensors larger than 1 elements");
    const int64_t given = int_at(axes, 0), from_front = given < 0 ? given + x.rank() : given;
    if (from_front < 0 || from_front >= x.rank()) return invalid_argument("axis has to be between [0, ", x.rank(), ")");
    axis = int(from_front);
  }
  const int64_t n = x.dim(axis), outer = x.shape().elements_in(0, axis), inner = x.shape().elements_in(axis + 1, x.rank());
  if (c.output_type(1) == DType::kInt32 && n > std::numeric_limits<int32_t>::max()) {
    return invalid_argument("unique does not support input tensors larger than ", std::numeric_limits<int32_t>::max(), " elements");
  }
  if (outer * inner == 0) return unique_of_nothing(c, axis);
  const kernels::UniqueSlices found = kernels::unique_slices(x.dtype(), x.raw(), outer, n, inner);
  const int64_t distinct = int64_t(found.first.size());
  WEFT_ASSIGN(Tensor* y, c.allocate(0, x.shape().with_dim(axis, distinct)));
  if (outer * inner == 1) {
    WEFT_RETURN_IF_ERROR(dispatch_movable(x.dtype(), [&]<class T>(Tag<T>) {
      for (int64_t u = 0; u < distinct; ++u) y->data<T>()[u] = x.data<T>()[found.first[size_t(u)]];
      return Status();
    }));
  } else {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t u = 0; u < distinct; ++u) copy_elements(x, (o * n + found.first[size_t(u)]) * inner, *y, (o * distinct + u) * inner, inner);
    }
  }
  const auto put_all = [](Tensor& t, const std::vector<int64_t>& values) {
    if (t.dtype() == DType::kInt32) std::transform(values.begin(), values.end(), t.data<int32_t>(), [](int64_t v) { return int32_t(v); });
    else std::copy(values.begin(), values.end(), t.data<int64_t>());
  };
  WEFT_ASSIGN(Tensor* idx, c.allocate(1, Shape({n})));
  put_all(*idx, found.group);
  if (c.num_outputs() == 3) {
    WEFT_ASSIGN(Tensor* counts, c.allocate(2, Shape({distinct})));
    put_all(*counts, found.counts);
  }
  return {};
}

// ---- LowerBound, UpperBound

Status bound_shape(ShapeContext& c) {
  WEFT_ASSIGN([[maybe_unused]] PartialShape sorted, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape values, c.with_rank(1, 2));
  c.output(0, std::move(values));
  return {};
}

template <bool upper>
Status run_bound(KernelContext& c) {
  const Tensor &sorted = c.input(0), &values = c.input(1);
  if (sorted.rank() != 2) return invalid_argument("Shape must be rank 2 but is rank ", sorted.rank(), " for `sorted_inputs` argument");
  if (values.rank() != 2) return invalid_argument("Shape must be rank 2 but is rank ", values.rank(), " for `values` argument");
  if (sorted.dim(0) != values.dim(0)) return invalid_argument("Leading dim_size of both tensors must match.");
  if (c.output_type(0) == DType::kInt32 && sorted.dim(1) >= std::numeric_limits<int32_t>::max()) {
    return invalid_argument("trailing dim_size must less than INT_MAX for int32 output type, was ", sorted.dim(1));
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, values.shape()));
  return kernels::search_rows(sorted.dtype(), upper, sorted.raw(), sorted.dim(0), sorted.dim(1), values.raw(), values.dim(1), out->raw(),
                              int(dtype_size(out->dtype())), c.pool());
}

// ---- NearestNeighbors

Status nearest_neighbors_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape points, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape centers, c.with_rank(1, 2));
  WEFT_ASSIGN([[maybe_unused]] PartialShape k_shape, c.with_rank(2, 0));
  const auto k = c.constant_int(2);
  const int64_t columns = k && *k >= 0 && centers.dim(0) >= 0 ? std::min(*k, centers.dim(0)) : kUnknownDim;
  c.output(0, PartialShape::matrix(points.dim(0), columns));
  c.output(1, PartialShape::matrix(points.dim(0), columns));
  return {};
}

Status run_nearest_neighbors(KernelContext& c) {
  const Tensor &points = c.input(0), &centers = c.input(1), &k_tensor = c.input(2);
  if (points.rank() != 2) return invalid_argument("Input points should be a matrix.");
  if (centers.rank() != 2) return invalid_argument("Input centers should be a matrix.");
  if (k_tensor.rank() != 0) return invalid_argument("Input k should be a scalar.");
  if (points.dim(1) != centers.dim(1)) {
    return invalid_argument("Expected point_dimensions == center_dimensions: ", points.dim(1), " vs ", centers.dim(1), ".");
  }
  if (int_at(k_tensor, 0) < 0) return invalid_argument("Input k should be non-negative, got ", int_at(k_tensor, 0));
  const int64_t count = centers.dim(0), depth = points.dim(1), k = std::min(int_at(k_tensor, 0), count);
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({points.dim(0), k})));
  WEFT_ASSIGN(Tensor* distances, c.allocate(1, Shape({points.dim(0), k})));
  if (k == 0) return {};
  c.pool().parallel_for(points.dim(0), double(count) * double(depth + 4), [&](int64_t begin, int64_t end) {
    std::vector<std::pair<float, int64_t>> found(static_cast<size_t>(count));
    for (int64_t p = begin; p < end; ++p) {
      const float* a = points.data<float>() + p * depth;
      for (int64_t i = 0; i < count; ++i) {
        const float* b = centers.data<float>() + i * depth;
        double sum = 0;
        for (int64_t d = 0; d < depth; ++d) sum += double(a[d] - b[d]) * double(a[d] - b[d]);
        if (sum != sum) sum = std::numeric_limits<double>::infinity();  // NaN would have no place in the order
        found[size_t(i)] = {float(sum), i};
      }
      std::partial_sort(found.begin(), found.begin() + k, found.end());
      for (int64_t i = 0; i < k; ++i) {
        indices->data<int64_t>()[p * k + i] = found[size_t(i)].second;
        distances->data<float>()[p * k + i] = found[size_t(i)].first;
      }
    }
  });
  return {};
}

// ---- sorting

Status key_value_sort_shape(ShapeContext& c) {
  c.output(0, c.input(0));
  c.output(1, c.input(1));
  return {};
}

// Keys, and values along with them, in the order of the keys within each row of the last dimension.
Status run_sort(KernelContext& c) {
  const Tensor& keys = c.input(0);
  if (keys.rank() < 1) return invalid_argument("sort needs an operand of at least rank 1, got shape ", keys.shape());
  if (c.num_inputs() == 2 && c.input(1).shape() != keys.shape()) {
    return invalid_argument("keys and values must have the same shape: ", keys.shape(), " vs. ", c.input(1).shape());
  }
  const int64_t n = keys.dim(keys.rank() - 1), rows = n ? keys.num_elements() / n : 0;
  std::vector<int64_t> order(static_cast<size_t>(keys.num_elements()));
  WEFT_RETURN_IF_ERROR(kernels::sort_rows(keys.dtype(), keys.raw(), rows, n, order.data(), c.pool()));
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Tensor& in = c.input(i);
    WEFT_ASSIGN(Tensor* out, c.allocate(i, in.shape()));
    WEFT_RETURN_IF_ERROR(dispatch_movable(in.dtype(), [&]<class T>(Tag<T>) {
      for (int64_t j = 0; j < in.num_elements(); ++j) out->data<T>()[j] = in.data<T>()[j / n * n + order[size_t(j)]];
      return Status();
    }));
  }
  return {};
}

// ---- gradients -----------------------------------------------------------------------------------------

// Each value goes back to where it came from, row by row.
Grads top_k_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  Grads grads = g.none();
  const Value shape = shape_of(g.x(0)), row = element(shape, -1), k = element(shape_of(g.y(1)), -1), zero = scalar(e, DType::kInt32, 0);
  const Value pair[] = {ints(e, {-1}), reshape(k, ints(e, {1}))};
  const Value places = reshape(cast(g.y(1), DType::kInt32), concat(pair, 0));
  const Value rows = g.one("Range", {zero, element(shape_of(places), 0), scalar(e, DType::kInt32, 1)});
  const Value flat = reshape(places + expand_dims(rows * row, 1), ints(e, {-1, 1}));
  const Value size = reshape(size_of(g.x(0)), ints(e, {1}));
  grads[0] = reshape(g.one("ScatterNd", {flat, reshape(g.dy(0), ints(e, {-1})), size}), shape);
  return grads;
}

// Shared among all that have that value.
Grads nth_element_grad(const GradContext& g) {
  const Value hits = cast(binary("Equal", expand_dims(g.y(), -1), g.x(0)), g.dy().dtype());
  const Value count = reduce("Sum", hits, ints(g.emitter(), {-1}), true);
  return {hits / count * expand_dims(g.dy(), -1), {}};
}

// To the elements that were picked.
Grads approx_top_k_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value picked = g.y(1);
  if (!picked.shape().has_rank()) return g.fail(unimplemented("the gradient of ApproxTopK for inputs whose rank is not known"));
  const int rank = picked.shape().rank();
  const int64_t dim = g.attr<int64_t>("reduction_dimension"), axis = dim < 0 ? dim + rank : dim;
  std::vector<Value> places;
  const Value shape = shape_of(picked), zero = scalar(e, DType::kInt32, 0), one = scalar(e, DType::kInt32, 1);
  for (int d = 0; d < rank; ++d) {
    std::vector<int32_t> line(size_t(rank), 1);
    line[size_t(d)] = -1;
    places.push_back(d == axis ? picked : binary("BroadcastTo", reshape(e.one("Range", {zero, element(shape, d), one}), ints(e, line)), shape));
  }
  auto indices = e.apply("Pack", places, {{"axis", int64_t(-1)}});
  if (indices.empty()) return g.none();
  return {e.one("ScatterNd", {indices[0], g.dy(), shape_of(g.x())})};
}

}  // namespace

void sort(Registry& r) {
  r.add("ApproxTopK")
      .in("input: T")
      .out("values: T")
      .out("indices: int32")
      .attr("k: int >= 0")
      .attr("reduction_dimension: int = -1")
      .attr("recall_target: float = 0.95")
      .attr("is_max_k: bool = true")
      .attr("reduction_input_size_override: int = -1")
      .attr("aggregate_to_topk: bool = true")
      .attr("T: {half, bfloat16, float}")
      .doc("The k greatest elements of each row; exact on CPUs.")
      .shape(approx_top_k_shape)
      .grad(approx_top_k_grad)
      .cpu_make(make_approx_top_k);

  r.add("LowerBound")
      .in("sorted_inputs: T")
      .in("values: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .doc("Where in its sorted row each value could first be inserted.")
      .shape(bound_shape)
      .batch(batch_folded<2>)
      .cpu(run_bound<false>, types<WEFT_REALS>("T"));

  r.add("NearestNeighbors")
      .in("points: float")
      .in("centers: float")
      .in("k: int64")
      .out("nearest_center_indices: int64")
      .out("nearest_center_distances: float")
      .doc("The k nearest centers of each point and their squared distances.")
      .shape(nearest_neighbors_shape)
      .cpu(run_nearest_neighbors);

  r.add("NthElement")
      .in("input: T")
      .in("n: int32")
      .out("values: T")
      .attr("reverse: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("The element at place n of each row if the row were sorted.")
      .shape(nth_element_shape)
      .grad(nth_element_grad)
      .cpu(run_nth_element);

  r.add("TopK")
      .in("input: T")
      .out("values: T")
      .out("indices: int32")
      .attr("k: int >= 0")
      .attr("sorted: bool = true")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .deprecated(7, "Use TopKV2 instead")
      .doc("The k greatest elements of each row and their indices.")
      .shape(top_k_shape)
      .batch(batch_leading<1>)
      .grad(top_k_grad)
      .cpu(run_top_k);

  r.add("TopKV2")
      .in("input: T")
      .in("k: Tk")
      .out("values: T")
      .out("indices: index_type")
      .attr("sorted: bool = true")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tk: {int16, int32, int64} = DT_INT32")
      .attr("index_type: {int16, int32, int64} = DT_INT32")
      .doc("As TopK, with k given as an input.")
      .shape(top_k_shape)
      .batch(batch_leading<1>)
      .grad(top_k_grad)
      .cpu(run_top_k);

  r.add("Unique")
      .in("x: T")
      .out("y: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32")
      .doc("The distinct elements in order of appearance, and for each element which of them it is.")
      .traits({.shrinks = true})
      .on_gpu(OnGpu::kByCpu)
      .shape(unique_shape)
      .cpu(run_unique, types<WEFT_REALS, bool, tstring>("T"));

  r.add("UniqueV2")
      .in("x: T")
      .in("axis: Taxis")
      .out("y: T")
      .out("idx: out_idx")
      .attr("T: type")
      .attr("Taxis: {int32, int64} = DT_INT64")
      .attr("out_idx: {int32, int64} = DT_INT32")
      .doc("As Unique, for slices along an axis.")
      .traits({.shrinks = true})
      .shape(unique_shape)
      .cpu(run_unique, types<WEFT_REALS, bool, tstring>("T"));

  r.add("UniqueWithCounts")
      .in("x: T")
      .out("y: T")
      .out("idx: out_idx")
      .out("count: out_idx")
      .attr("T: type")
      .attr("out_idx: {int32, int64} = DT_INT32")
      .doc("As Unique, with the number of times each element appears.")
      .on_gpu(OnGpu::kByCpu)
      .shape(unique_shape)
      .cpu(run_unique, types<WEFT_REALS, bool, tstring>("T"));

  r.add("UniqueWithCountsV2")
      .in("x: T")
      .in("axis: Taxis")
      .out("y: T")
      .out("idx: out_idx")
      .out("count: out_idx")
      .attr("T: type")
      .attr("Taxis: {int32, int64} = DT_INT64")
      .attr("out_idx: {int32, int64} = DT_INT32")
      .doc("As UniqueV2, with the number of times each slice appears.")
      .shape(unique_shape)
      .cpu(run_unique, types<WEFT_REALS, bool, tstring>("T"));

  r.add("UpperBound")
      .in("sorted_inputs: T")
      .in("values: T")
      .out("output: out_type")
      .attr("T: type")
      .attr("out_type: {int32, int64} = DT_INT32")
      .doc("Where in its sorted row each value could last be inserted.")
      .shape(bound_shape)
      .batch(batch_folded<2>)
      .cpu(run_bound<true>, types<WEFT_REALS>("T"));

  r.add("XlaKeyValueSort")
      .in("keys: K")
      .in("values: V")
      .out("sorted_keys: K")
      .out("sorted_values: V")
      .attr("K: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("V: type")
      .doc("Sorts the last dimension of keys and moves values along.")
      .shape(key_value_sort_shape)
      .cpu(run_sort);

  r.add("XlaSort")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .doc("Sorts the last dimension.")
      .shape(shapes::unchanged)
      .cpu(run_sort, types<WEFT_REALS, bool>("T"));

  set_layout(r, {"TopK", "TopKV2"}, layouts::kWholeAlongLast);
}

}  // namespace weft_engine::ops
