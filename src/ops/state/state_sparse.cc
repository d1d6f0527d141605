// Resource variables in parts: gathering rows, scattering updates, assigning slices.
#include <algorithm>

#include "graph/handle_use.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/strided_copy.h"
#include "op/batching.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/strided_slice.h"
#include "ops/all.h"
#include "ops/state/sparse_updates.h"
#include "ops/state/variables.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/
using kernels::Update;

namespace {

Status index_error(const Tensor& indices, int64_t at, int64_t value, int64_t limit) {
  return invalid_argument("indices", kernels::position_text(indices.shape(), at), " = ", value, " is not in [0, ", limit, ")");
}

bool has_integer_zero(const Tensor& t) {
  bool found = false;
  (void)dispatch<WEFT_INTEGERS>(t.dtype(), [&]<class T>(Tag<T>) {
    found = std::ranges::find(t.span<T>(), T(0)) != t.span<T>().end();
    return Status();
  });
  return found;
}

// Rows of `updates` that are not as wide as those of params, which TensorFlow lets pass: arithmetic takes
// the first columns, an assignment writes on into the next row.
Status scatter_uneven(KernelContext& c, Update update, Tensor& params, const Tensor& updates, std::span<const int64_t> offsets, int64_t row,
                      int64_t width) {
  const size_t size = dtype_size(params.dtype());
  const int64_t end = params.num_elements();
  const char* from = static_cast<const char*>(updates.raw());
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t n = update == Update::kAssign ? std::min(width, end - offsets[i]) : row;
    WEFT_RETURN_IF_ERROR(
        kernels::scatter_update(c.pool(), update, params.dtype(), params.raw(), from + int64_t(i) * width * int64_t(size), offsets.subspan(i, 1), n));
  }
  return {};
}

}  // namespace

Status check_scatter_rows(const Tensor& params, const Tensor& indices, const Tensor& updates) {
  if (updates.rank() != 0 && updates.rank() != indices.rank() + params.rank() - 1)
    return invalid_argument("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape ", updates.shape(),
                            ", indices.shape ", indices.shape(), ", params.shape ", params.shape());
  return {};
}

Status scatter_rows(KernelContext& c, Update update, Tensor& params, const Tensor& indices, const Tensor& updates) {
  WEFT_RETURN_IF_ERROR(check_scatter_rows(params, indices, updates));
  const int64_t n = indices.num_elements();
  if (n == 0) return {};
  const int64_t rows = params.rank() > 0 ? params.dim(0) : 1, row = rows > 0 ? params.num_elements() / rows : 0;
  const bool broadcast = updates.rank() == 0;
  for (int i = 0; !broadcast && i < indices.rank(); ++i) {
    if (updates.dim(i) != indices.dim(i))
      return invalid_argument("The shape of indices (", indices.shape(), ") must be a prefix of the shape of updates (", updates.shape(), ")");
  }
  if (update == Update::kDiv && has_integer_zero(updates)) return invalid_argument("updates must not contain 0");
  WEFT_ASSIGN(Tensor offsets, c.temp(DType::kInt64, Shape({n})));
  int64_t good = n;
  // What is before a bad index is done, as TensorFlow does it, and the error comes after.
  Status bad_index;
  WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(indices.dtype(), [&]<class Index>(Tag<Index>) {
    const Index* in = indices.data<Index>();
    const int64_t bad = kernels::first_bad_index(in, n, rows);
    if (bad >= 0) bad_index = index_error(indices, bad, in[bad], rows), good = bad;
    for (int64_t i = 0; i < good; ++i) offsets.data<int64_t>()[i] = in[i] * row;
    return Status();
  })));
  const std::span<const int64_t> places = offsets.span<int64_t>().first(size_t(good));
  const int64_t width = broadcast ? row : updates.num_elements() / n;
  if (width < row)
    return invalid_argument("Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got updates.shape ", updates.shape(),
                            ", indices.shape ", indices.shape(), ", params.shape ", params.shape());
  if (width > row) WEFT_RETURN_IF_ERROR(scatter_uneven(c, update, params, updates, places, row, width));
  else WEFT_RETURN_IF_ERROR(kernels::scatter_update(c.pool(), update, params.dtype(), params.raw(), updates.raw(), places, row, broadcast));
  return bad_index;
}

namespace {

// TensorFlow's words for the shapes that do not fit; the rest is checked by the kernel's own check.
Status check_tuple_shapes(const Shape& params, const Shape& indices, const Shape& updates) {
  if (params.rank() < 1 || indices.rank() < 1 || updates.rank() < 1 || updates.dim(0) != indices.dim(0)) return {};
  if (params.num_elements() <= 0 && (indices.num_elements() != 0 || updates.num_elements() != 0)) return {};
  const int64_t tuple = indices.rank() > 1 ? indices.dim(indices.rank() - 1) : 1;
  const int batch = indices.rank() > 1 ? indices.rank() - 1 : 1;
  auto wrong_prefix = [&] {
    return invalid_argument("Dimensions [0,", batch, ") of indices[shape=", indices, "] must match dimensions [0,", batch,
                            ") of updates[shape=", updates, "]");
  };
  auto wrong_suffix = [&] {
    return invalid_argument("Dimensions [", tuple, ",", params.rank(), ") of input[shape=", params, "] must match dimensions [", tuple, ",",
                            updates.rank(), ") of updates[shape=", updates, "]");
  };
  if (updates.rank() < batch) return wrong_prefix();
  if (updates.rank() - batch != params.rank() - tuple) return wrong_suffix();
  for (int i = 0; i < batch; ++i) {
    if (updates.dim(i) != indices.dim(i)) return wrong_prefix();
  }
  for (int i = batch; i < updates.rank(); ++i) {
    if (updates.dim(i) != params.dim(i - batch + int(tuple))) return wrong_suffix();
  }
  return {};
}

}  // namespace

Status scatter_tuples(KernelContext& c, Update update, Tensor& params, const Tensor& indices, const Tensor& updates) {
  const auto& policy = c.attr<std::string>("bad_indices_policy");
  if (!policy.empty() && policy != "DEFAULT" && policy != "ERROR" && policy != "IGNORE")
    return invalid_argument("Unknown bad indices handling attribute: ", policy);
  WEFT_RETURN_IF_ERROR(check_tuple_shapes(params.shape(), indices.shape(), updates.shape()));
  WEFT_ASSIGN(kernels::ScatterNdSizes sizes, kernels::check_scatter_nd(params.shape(), indices.shape(), updates.shape()));
  if (sizes.updates == 0) return {};
  WEFT_ASSIGN(Tensor offsets, c.temp(DType::kInt64, Shape({sizes.updates})));
  WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(indices.dtype(), [&]<class Index>(Tag<Index>) {
    const Index* in = indices.data<Index>();
    const int64_t bad = kernels::scatter_nd_offsets(in, sizes, params.shape(), offsets.data<int64_t>());
    if (bad >= 0 && policy != "IGNORE") return kernels::scatter_nd_error(in, indices.shape(), sizes, params.shape(), bad);
    return Status();
  })));
  if (params.dtype() == DType::kBool && update == Update::kSub) {  // true - true is false, all else as it is for numbers: not equal
    for (int64_t i = 0; i < sizes.updates; ++i) {
      const int64_t at = offsets.data<int64_t>()[i];
      for (int64_t j = 0; at >= 0 && j < sizes.slice; ++j) params.data<bool>()[at + j] ^= updates.data<bool>()[i * sizes.slice + j];
    }
    return {};
  }
  return kernels::scatter_update(c.pool(), update, params.dtype(), params.raw(), updates.raw(), offsets.span<int64_t>(), sizes.slice);
}

Status assign_slice(KernelContext& c, Tensor& params, const Tensor& value) {
  WEFT_ASSIGN(StridedSlice slice, parse_strided_slice(&c.input(1), &c.input(2), c.input(3), params.shape(), SliceMasks::of(c.node())));
  if (params.dtype() != value.dtype()) return invalid_argument("l-value dtype ", params.dtype(), " does not match r-value dtype ", value.dtype());
  const Shape cut = slice.cut();
  auto target_shape = slice.shape.concrete();
  if (!target_shape) return internal_error("the slice has no shape");
  if (cut.num_elements() <= 0) return {};
  // The value repeated to the slice's shape; leading dimensions of size 1 may be too many.
  const Shape& final_shape = *target_shape;
  Tensor repeated = value;
  if (value.shape() != final_shape) {
    auto misfit = [&] { return invalid_argument("Cannot broadcast input shape ", value.shape(), " into final shape ", final_shape); };
    const int extra = value.rank() - final_shape.rank();
    for (int i = 0; i < extra; ++i) {
      if (value.dim(i) != 1) return misfit();
    }
    std::vector<int64_t> strides(size_t(final_shape.rank()), 0);
    int64_t stride = 1;
    for (int i = final_shape.rank() - 1; i >= 0; --i) {
      const int64_t d = i + extra < 0 ? 1 : value.dim(i + extra);
      if (d != 1 && d != final_shape.dim(i)) return misfit();
      strides[size_t(i)] = d == 1 ? 0 : stride;
      stride *= d;
    }
    WEFT_ASSIGN(repeated, c.temp(value.dtype(), final_shape));
    kernels::CopyPlan plan;
    int64_t target = final_shape.num_elements();
    for (int i = 0; i < final_shape.rank(); ++i) {
      target /= final_shape.dim(i);
      plan.add(final_shape.dim(i), strides[size_t(i)], target);
    }
    kernels::strided_copy(c.pool(), value.dtype(), value.raw(), repeated.raw(), plan);
  }
  kernels::CopyPlan plan;
  int64_t source = cut.num_elements(), target = params.num_elements(), first = 0;
  for (int i = 0; i < params.rank(); ++i) {
    const SliceDim& d = slice.dims[size_t(i)];
    source /= d.size;
    target /= params.dim(i);
    first += d.begin * target;
    plan.add(d.size, source, d.stride * target);
  }
  kernels::strided_copy(c.pool(), params.dtype(), repeated.raw(), static_cast<char*>(params.raw()) + size_t(first) * dtype_size(params.dtype()),
                        plan);
  return {};
}

namespace {

template <Update kUpdate>
Status run_scatter(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  if (v->tensor().dtype() != c.input(2).dtype()) return invalid_argument("DType of scatter resource and updates does not match.");
  WEFT_RETURN_IF_ERROR(check_scatter_rows(v->tensor(), c.input(1), c.input(2)));
  WEFT_RETURN_IF_ERROR(v->make_writable());
  return scatter_rows(c, kUpdate, v->tensor(), c.input(1), c.input(2));
}

template <Update kUpdate>
Status run_scatter_nd(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  if (v->tensor().dtype() != c.input(2).dtype()) return invalid_argument("DType of scatter resource and updates does not match.");
  WEFT_RETURN_IF_ERROR(v->make_writable());
  return scatter_tuples(c, kUpdate, v->tensor(), c.input(1), c.input(2));
}

Status run_assign_slice(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  std::unique_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  WEFT_RETURN_IF_ERROR(v->make_writable());
  return assign_slice(c, v->tensor(), c.input(4));
}

// Index i of batch b points at row b * limit + i of all batches together, so one that leaves its batch
// reads a neighbour, as TensorFlow's does; only leaving the whole variable is an error.
template <class Index>
Status gather_rows(KernelContext& c, const Tensor& params, const Tensor& indices, int batch_dims, const Shape& out_shape) {
  const int64_t n = indices.num_elements(), limit = params.dim(batch_dims);
  const int64_t batches = params.shape().elements_in(0, batch_dims), rows = batches * limit;
  const int64_t inner = params.shape().elements_in(batch_dims + 1, params.rank());
  const Index* in = indices.data<Index>();
  Tensor shifted;
  if (batch_dims > 0 && n > 0) {
    WEFT_ASSIGN(shifted, c.temp(indices.dtype(), indices.shape()));
    const int64_t each = batches > 0 ? n / batches : 0;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t batch = each > 0 ? std::min(i / each, batches - 1) : 0;
      const uint64_t at = uint64_t(in[i]) + uint64_t(batch) * uint64_t(limit);
      shifted.data<Index>()[i] = Index(at);
    }
    in = shifted.data<Index>();
  }
  const int64_t bad = kernels::first_bad_index(in, n, rows);
  if (bad >= 0) return index_error(indices, bad, in[bad], params.dim(0));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, out_shape));
  if (out->num_elements() == 0) return {};
  kernels::gather(c.pool(), params.dtype(), params.raw(), 1, 1, rows, inner, in, n, out->raw());
  return {};
}

Status run_gather(KernelContext& c) {
  const int64_t batch_dims = c.attr<int64_t>("batch_dims");
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  const Tensor& indices = c.input(1);
  std::shared_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  const Tensor& params = v->tensor();
  if (params.dtype() != c.output_type(0))
    return invalid_argument("Trying to read variable with wrong dtype. Expected ", c.output_type(0), " got ", params.dtype());
  if (params.rank() < 1) return invalid_argument("params must be at least 1 dimensional");
  if (batch_dims < 0) return invalid_argument("batch_dims is negative (", batch_dims, ")");
  if (params.rank() <= batch_dims)
    return invalid_argument("params must have at least ", batch_dims, " (batch_dims) dimensions but it has shape ", params.shape());
  Shape out = params.shape().slice(0, int(batch_dims));
  for (int i = int(batch_dims); i < indices.rank(); ++i) out.add_dim(indices.dim(i));
  out = out.concat(params.shape().slice(int(batch_dims) + 1, params.rank()));
  const int64_t inner = params.shape().elements_in(int(batch_dims) + 1, params.rank());
  // Batches of unequal number leave no shape that holds one row for each index.
  if (indices.rank() >= batch_dims && out.num_elements() != multiply_without_overflow(indices.num_elements(), inner))
    return invalid_argument("the first ", batch_dims, " dimensions of params ", params.shape(), " and indices ", indices.shape(), " must be equal");
  if (indices.rank() < batch_dims)
    return invalid_argument("indices ", indices.shape(), " must have at least ", batch_dims, " (batch_dims) dimensions");
  return dispatch<int32_t, int64_t>(indices.dtype(),
                                    [&]<class Index>(Tag<Index>) { return gather_rows<Index>(c, params, indices, int(batch_dims), out); });
}

Status run_gather_nd(KernelContext& c) {
  WEFT_ASSIGN(VariableInput v, variable_input(c, 0));
  const Tensor& indices = c.input(1);
  std::shared_lock lock(v->mutex());
  WEFT_RETURN_IF_ERROR(check_exists(c, v));
  const Tensor& params = v->tensor();
  if (params.dtype() != c.output_type(0))
    return invalid_argument("Trying to read variable with wrong dtype. Expected ", c.output_type(0), " got ", params.dtype());
  if (params.rank() < 1) return invalid_argument("params must be at least a vector");
  if (indices.rank() < 1) return invalid_argument("indices must be at least a vector");
  const int64_t tuple = indices.dim(indices.rank() - 1);
  if (tuple > params.rank()) return invalid_argument("index innermost dimension length must be <= params rank; saw: ", tuple, " vs. ", params.rank());
  const Shape outer = indices.shape().slice(0, indices.rank() - 1);
  const kernels::ScatterNdSizes sizes{outer.num_elements(), tuple, params.shape().elements_in(int(tuple), params.rank())};
  const Shape out_shape = outer.concat(params.shape().slice(int(tuple), params.rank()));
  if (params.num_elements() == 0 && sizes.updates > 0)
    return invalid_argument("Requested more than 0 entries, but params is empty.  Params shape: ", params.shape());
  WEFT_ASSIGN(Tensor offsets, c.temp(DType::kInt64, Shape({sizes.updates})));
  WEFT_RETURN_IF_ERROR((dispatch<int32_t, int64_t>(indices.dtype(), [&]<class Index>(Tag<Index>) {
    const Index* in = indices.data<Index>();
    const int64_t bad = kernels::scatter_nd_offsets(in, sizes, params.shape(), offsets.data<int64_t>());
    if (bad < 0) return Status();
    return invalid_argument("indices", kernels::position_text(outer, bad), " = [", join(std::span(in + bad * tuple, size_t(tuple)), ","),
                            "] does not index into param shape ", params.shape(),
                            ", node name: ", c.node().name().empty() ? c.node().op() : std::string_view(c.node().name()));
  })));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, out_shape));
  if (out->num_elements() == 0) return {};
  kernels::gather_offsets(c.pool(), params.dtype(), params.raw(), offsets.data<int64_t>(), sizes.updates, sizes.slice, out->raw());
  return {};
}

// ---- shape rules ----

Status gather_shape(ShapeContext& c) {
  const auto* h = c.handle(0);
  if (!h || !h->shape.has_rank() || !c.input(1).has_rank()) return {};
  const PartialShape &params = h->shape, &indices = c.input(1);
  if (params.rank() < 1) return invalid_argument("Shape must be at least rank 1 but is rank 0");
  const int64_t batch = c.attr<int64_t>("batch_dims");
  if (batch < 0) return invalid_argument("batch_dims is negative (", batch, ")");
  if (batch >= params.rank() || batch > indices.rank()) return {};
  c.output(0, params.slice(0, int(batch)).concat(indices.slice(int(batch), indices.rank())).concat(params.slice(int(batch) + 1, params.rank())));
  return {};
}

Status gather_nd_shape(ShapeContext& c) {
  const auto* h = c.handle(0);
  WEFT_ASSIGN(PartialShape indices, c.with_rank_at_least(1, 1));
  if (!h || !h->shape.has_rank() || !indices.has_rank() || indices.dim(-1) < 0) return {};
  if (indices.dim(-1) > h->shape.rank())
    return invalid_argument("indices.shape[-1] must be <= params.rank, but saw indices shape: ", indices, " and params shape: ", h->shape);
  c.output(0, indices.slice(0, indices.rank() - 1).concat(h->shape.slice(int(indices.dim(-1)), h->shape.rank())));
  return {};
}

Status scatter_shape(ShapeContext& c) {
  const auto* h = c.handle(0);
  const PartialShape &indices = c.input(1), &updates = c.input(2);
  if (!h || !h->shape.has_rank() || h->shape.rank() < 1 || !indices.has_rank() || updates.rank() <= 0) return {};
  return updates.merge_with(indices.concat(h->shape.slice(1, h->shape.rank()))).status();
}

// ---- gradients -----------------------------------------------------------------------------------------

// Slices of the variable.
Grads resource_gather_grad(const GradContext& g) {
  Emitter& e = g.emitter();
  const Value shape = g.one("VariableShape", {g.x(0)}), rows = reshape(g.x(1), ints(e, {-1}));
  const Value parts[] = {shape_of(rows), slice(shape, ints(e, {1}), ints(e, {-1}))};
  return {Value::slices(reshape(g.dy(), concat(parts, 0)), rows, shape), {}};
}

Grads resource_gather_nd_grad(const GradContext& g) {
  const Value indices = g.x(1), shape = g.one("VariableShape", {g.x(0)}, {{"out_type", indices.dtype()}});
  const PartialShape s = indices.shape();
  if (s.has_rank() && s.rank() == 2 && s.dim(1) == 1) return {Value::slices(g.dy(), squeeze(indices, {-1}), shape), {}};
  return {g.one("ScatterNd", {indices, g.dy(), shape}), {}};
}

// ---- on the values of variables --------------------------------------------------------------------------

void gather_of_value(graph::HandleUse& use) {
  const auto given = use.node.attrs.find("batch_dims");
  const int64_t* dims = given == use.node.attrs.end() ? nullptr : given->second.get<int64_t>();
  const int64_t batch_dims = dims ? *dims : 0;
  use.attrs = {{"Tparams", use.dtype}, {"Taxis", DType::kInt32}, {"batch_dims", batch_dims}};
  use.keep("Tindices");
  use.node.op = "GatherV2";
  auto& inputs = use.node.inputs;  // control inputs are the last
  inputs.insert(inputs.begin() + std::min<ptrdiff_t>(2, std::ssize(inputs)), use.constant("/axis", Tensor::scalar(int32_t(batch_dims))));
}

void gather_nd_of_value(graph::HandleUse& use) {
  use.attrs = {{"Tparams", use.dtype}};
  use.keep("Tindices");
  use.node.op = "GatherNd";
}

}  // namespace

void state_sparse(Registry& r) {
  r.add("ResourceGather")
      .in("resource: resource")
      .in("indices: Tindices")
      .out("output: dtype")
      .attr("batch_dims: int = 0")
      .attr("validate_indices: bool = true")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Gathers rows of a variable.")
      .traits({.only_reads = true, .on_value = gather_of_value})
      .shape(gather_shape)
      .batch([](BatchContext& c) -> Batched { return c.has_rows(0) || c.number("batch_dims") ? c.refused() : c.one(c.itself1(c.inner_all())); })
      .grad(resource_gather_grad)
      .cpu(run_gather, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant, qint8, quint8, qint32>("dtype"));

  r.add("ResourceGatherNd")
      .in("resource: resource")
      .in("indices: Tindices")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .effect_free()
      .doc("Gathers slices of a variable that index tuples address.")
      .traits({.only_reads = true, .on_value = gather_nd_of_value})
      .shape(gather_nd_shape)
      .grad(resource_gather_nd_grad)
      .cpu(run_gather_nd, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant>("dtype"));

  r.add("ResourceScatterAdd")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Adds updates to rows of a variable.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kAdd>, types<WEFT_NUMBERS>("dtype"));

  r.add("ResourceScatterSub")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Subtracts updates from rows of a variable.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kSub>, types<WEFT_NUMBERS>("dtype"));

  r.add("ResourceScatterMul")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Multiplies rows of a variable by updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kMul>, types<WEFT_NUMBERS>("dtype"));

  r.add("ResourceScatterDiv")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Divides rows of a variable by updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kDiv>, types<WEFT_NUMBERS>("dtype"));

  r.add("ResourceScatterMin")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Takes the minimum of rows of a variable and updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kMin>, types<WEFT_REALS>("dtype"));

  r.add("ResourceScatterMax")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr(
          "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Takes the maximum of rows of a variable and updates.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kMax>, types<WEFT_REALS>("dtype"));

  r.add("ResourceScatterUpdate")
      .in("resource: resource")
      .in("indices: Tindices")
      .in("updates: dtype")
      .attr("dtype: type")
      .attr("Tindices: {int32, int64}")
      .stateful()
      .doc("Replaces rows of a variable.")
      .shape(scatter_shape)
      .cpu(run_scatter<Update::kAssign>, types<WEFT_NUMBERS, bool, tstring, Variant>("dtype"));

  r.add("ResourceScatterNdAdd")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful()
      .doc("Adds updates at places of a variable that index tuples address.")
      .shape(shapes::no_outputs)
      .cpu(run_scatter_nd<Update::kAdd>, types<WEFT_NUMBERS, bool>("T"));

  r.add("ResourceScatterNdSub")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful()
      .doc("Subtracts updates at places of a variable that index tuples address.")
      .shape(shapes::no_outputs)
      .cpu(run_scatter_nd<Update::kSub>, types<WEFT_NUMBERS, bool>("T"));

  r.add("ResourceScatterNdMin")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful()
      .doc("Takes the minimum at places of a variable that index tuples address.")
      .shape(shapes::no_outputs)
      .cpu(run_scatter_nd<Update::kMin>, types<WEFT_REALS>("T"));

  r.add("ResourceScatterNdMax")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful()
      .doc("Takes the maximum at places of a variable that index tuples address.")
      .shape(shapes::no_outputs)
      .cpu(run_scatter_nd<Update::kMax>, types<WEFT_REALS>("T"));

  r.add("ResourceScatterNdUpdate")
      .in("ref: resource")
      .in("indices: Tindices")
      .in("updates: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .attr("use_locking: bool = true")
      .attr("bad_indices_policy: string = ''")
      .stateful()
      .doc("Replaces slices of a variable that index tuples address.")
      .shape(shapes::no_outputs)
      .cpu(run_scatter_nd<Update::kAssign>, types<WEFT_NUMBERS, bool, tstring>("T"));

  r.add("ResourceStridedSliceAssign")
      .in("ref: resource")
      .in("begin: Index")
      .in("end: Index")
      .in("strides: Index")
      .in("value: T")
      .attr("T: type")
      .attr("Index: {int32, int64}")
      .attr("begin_mask: int = 0")
      .attr("end_mask: int = 0")
      .attr("ellipsis_mask: int = 0")
      .attr("new_axis_mask: int = 0")
      .attr("shrink_axis_mask: int = 0")
      .stateful()
      .doc("Assigns to a strided slice of a variable.")
      .shape(shapes::no_outputs)
      .cpu(run_assign_slice, types<WEFT_NUMBERS, bool, tstring, ResourceHandle, Variant, qint8, quint8, qint32, float8_e5m2, float8_e4m3fn>("T"));

  set_layout(r, {"ResourceGather"}, layouts::kGatherVariable);
  set_layout(r, {"ResourceGatherNd"}, layouts::kGatherNd);
}

}  // namespace weft_engine::ops
