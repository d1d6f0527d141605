// Tensors made from numbers, and places of numbers in tensors: Fill, Range, OneHot, Where.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/fill.h"
#include "op/api_traits.h"
#include "op/layout_rule.h"
#include "op/op_traits.h"
#include "op/registry.h"
#include "op/emit.h"
#include "op/gradient.h"
#include "ops/all.h"
#include "ops/list/variant_math.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

Status shape_from_input(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(0));
  c.output(0, std::move(s));
  return {};
}

Status run_empty(KernelContext& c) {
  const Tensor& dims = c.input(0);
  if (dims.rank() != 1) return invalid_argument("shape must be a vector of int32, got shape ", dims.shape());
  WEFT_ASSIGN(Shape shape, shape_from(dims));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  // Without init the contents are whatever memory held; zeros serve as well and never leak other data.
  kernels::fill_zero(c.pool(), out->dtype(), out->raw(), out->num_elements());
  return {};
}

Status run_fill(KernelContext& c) {
  const Tensor &dims = c.input(0), &value = c.input(1);
  if (dims.rank() > 1) return invalid_argument("dims must represent a vector, got shape ", dims.shape());
  // A vector of one element is taken for a scalar, as graphs of old have it.
  if (value.rank() != 0 && !(value.rank() == 1 && value.dim(0) == 1))
    return invalid_argument("value must represent a scalar, got shape ", value.shape());
  WEFT_ASSIGN(Shape shape, shape_from(dims));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  kernels::fill(c.pool(), value.dtype(), value.raw(), out->raw(), out->num_elements());
  return {};
}

Status fill_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 1).status());
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  if (const auto dims = c.constant_ints(0)) {
    for (int64_t d : *dims) {
      if (d < 0) return invalid_argument("Fill dimensions must be >= 0");
    }
  }
  return shape_from_input(c);
}

Status run_zeros_like(KernelContext& c) {
  const Tensor& in = c.input(0);
  if (in.dtype() == DType::kVariant) return run_zeros_like_variant(c);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  kernels::fill_zero(c.pool(), in.dtype(), out->raw(), out->num_elements());
  return {};
}

Status run_ones_like(KernelContext& c) {
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, c.input(0).shape(), 0));
  return dispatch<WEFT_NUMBERS, bool>(out->dtype(), [&]<class T>(Tag<T>) {
    const T one = T(1);
    kernels::fill(c.pool(), out->dtype(), &one, out->raw(), out->num_elements());
    return Status();
  });
}

Status run_one_hot(KernelContext& c) {
  const Tensor &indices = c.input(0), &depth = c.input(1), &on = c.input(2), &off = c.input(3);
  const int64_t axis = c.attr<int64_t>("axis");
  const int rank = indices.rank() + 1;
  if (axis != -1 && (axis < 0 || axis >= rank)) return invalid_argument("Expected axis to be -1 or between [0, ", rank, ").  But received: ", axis);
  if (depth.rank() != 0) return invalid_argument("depth must be a scalar, but got: ", depth.shape());
  if (on.rank() != 0) return invalid_argument("on_value must be a scalar, but got: ", on.shape());
  if (off.rank() != 0) return invalid_argument("off_value must be a scalar, but got: ", off.shape());
  const int64_t classes = int_at(depth, 0);
  if (classes < 0) return invalid_argument("depth must be non-negative, got: ", classes);
  if (multiply_without_overflow(indices.num_elements(), classes) < 0)
    return invalid_argument("OneHot result would have shape ", indices.shape(), " + [", classes, "], which exceeds 2**63 - 1 elements");
  const int at = axis < 0 ? rank - 1 : int(axis);
  Shape shape = indices.shape();
  shape.insert_dim(at, classes);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  kernels::fill(c.pool(), off.dtype(), off.raw(), out->raw(), out->num_elements());
  const int64_t inner = shape.elements_in(at + 1, rank);
  return dispatch_movable(on.dtype(), [&]<class T>(Tag<T>) {
    const T value = on.data<T>()[0];
    T* to = out->data<T>();
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t x = int_at(indices, i);
      if (x >= 0 && x < classes) to[(i / inner * classes + x) * inner + i % inner] = value;
    }
    return Status();
  });
}

Status one_hot_shape(ShapeContext& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) return invalid_argument("axis must be >= -1");
  for (int i = 1; i < 4; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  const PartialShape& indices = c.input(0);
  if (!indices.has_rank()) return {};
  if (axis > indices.rank()) return invalid_argument("Expected axis to be -1 or between [0, ", indices.rank() + 1, ").  But received: ", axis);
  const auto depth = c.constant_int(1);
  if (depth && *depth < 0) return invalid_argument("Dimension size, given by scalar input 1, must be non-negative but is ", *depth);
  const int at = axis < 0 ? indices.rank() : int(axis);
  c.output(0, indices.slice(0, at).concat(PartialShape::vector(depth.value_or(kUnknownDim))).concat(indices.slice(at, indices.rank())));
  return {};
}

template <class T>
Status linspace(KernelContext& c, int64_t num) {
  const T start = c.input(0).data<T>()[0], stop = c.input(1).data<T>()[0];
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {num}));
  T* y = out->data<T>();
  y[0] = start;
  if (num == 1) return {};
  const T step = (stop - start) / T(num - 1);
  c.pool().parallel_for(num - 1, 0.3, [&](int64_t b, int64_t e) {
    if constexpr (std::is_same_v<T, float>) {
      if (num < INT32_MAX - 16) return WEFT_BEST_ISA(space_floats)(start, step, int32_t(b), y + b, e - b);
    }
    for (int64_t i = b; i < e; ++i) y[i] = start + step * T(i);
  });
  y[0] = start;
  y[num - 1] = stop;
  return {};
}

Status run_linspace(KernelContext& c) {
  constexpr const char* kNames[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) {
    if (c.input(i).rank() != 0) return invalid_argument(kNames[i], " must be a scalar, not shape ", c.input(i).shape());
  }
  const int64_t num = int_at(c.input(2), 0);
  if (num <= 0) return invalid_argument("Requires num > 0: ", num);
  return c.input(0).dtype() == DType::kFloat ? linspace<float>(c, num) : linspace<double>(c, num);
}

Status linspace_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  const auto num = c.constant_int(2);
  if (num && *num <= 0) return invalid_argument("Requires num > 0: ", *num);
  c.output(0, PartialShape::vector(num.value_or(kUnknownDim)));
  return {};
}

// The count of steps from start to limit, with TensorFlow's checks.
template <class T>
Result<int64_t> range_size(T start, T limit, T delta) {
  if (delta == T(0)) return invalid_argument("Requires delta != 0: ", Wide<T>(delta));
  if (delta > T(0) && start > limit) return invalid_argument("Requires start <= limit when delta > 0: ", Wide<T>(start), "/", Wide<T>(limit));
  if (!(delta > T(0)) && !(start >= limit)) return invalid_argument("Requires start >= limit when delta < 0: ", Wide<T>(start), "/", Wide<T>(limit));
  if constexpr (std::is_integral_v<T>) {
    // In 64 unsigned bits, where neither the distance nor the step can overflow.
    const bool up = delta > T(0);
    const uint64_t from = uint64_t(int64_t(start)), to = uint64_t(int64_t(limit)), by = uint64_t(int64_t(delta));
    const uint64_t distance = up ? to - from : from - to, step = up ? by : 0 - by;
    const uint64_t n = distance / step + (distance % step != 0);
    if (n > uint64_t(INT64_MAX)) return invalid_argument("Requires ((limit - start) / delta) <= ", INT64_MAX);
    return int64_t(n);
  } else {
    const double n = std::ceil(std::fabs(double(T((limit - start) / delta))));
    if (!(n < 9223372036854775808.0)) return invalid_argument("Requires ((limit - start) / delta) <= ", INT64_MAX);
    return int64_t(n);
  }
}

template <class T>
Result<int64_t> range_size(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return range_size<T>(start.data<T>()[0], limit.data<T>()[0], delta.data<T>()[0]);
}

Status run_range(KernelContext& c) {
  constexpr const char* kNames[] = {"start", "limit", "delta"};
  for (int i = 0; i < 3; ++i) {
    // Vectors of one element count as scalars, as graphs of old have it.
    const Tensor& t = c.input(i);
    if (t.rank() != 0 && !(t.rank() == 1 && t.dim(0) == 1)) return invalid_argument(kNames[i], " must be a scalar, not shape ", t.shape());
  }
  return dispatch<half, bfloat16, float, double, int32_t, int64_t>(c.output_type(0), [&]<class T>(Tag<T>) -> Status {
    WEFT_ASSIGN(int64_t n, range_size<T>(c.input(0), c.input(1), c.input(2)));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, {n}));
    T* y = out->data<T>();
    const T delta = c.input(2).data<T>()[0];
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      U v = U(c.input(0).data<T>()[0]);
      if constexpr (sizeof(T) == 4) {
        WEFT_BEST_ISA(count_words)(v, U(delta), reinterpret_cast<U*>(y), n);
      } else {
        for (int64_t i = 0; i < n; ++i, v += U(delta)) y[i] = T(v);
      }
    } else {
      // Added up step by step, roundings included, as TensorFlow does.
      T v = c.input(0).data<T>()[0];
      for (int64_t i = 0; i < n; ++i, v += delta) y[i] = v;
    }
    return {};
  });
}

Status range_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(i, 1).status());
  c.output(0, PartialShape::vector(kUnknownDim));
  const Tensor *start = c.constant(0), *limit = c.constant(1), *delta = c.constant(2);
  if (!start || !limit || !delta || start->num_elements() < 1 || limit->num_elements() < 1 || delta->num_elements() < 1) return {};
  return dispatch<WEFT_REALS>(start->dtype(), [&]<class T>(Tag<T>) -> Status {
    WEFT_ASSIGN(int64_t n, range_size<T>(*start, *limit, *delta));
    c.output(0, PartialShape::vector(n));
    return {};
  });
}

// ---- indices -----------------------------------------------------------------------------------------

// Numbers padded to one width, the way Eigen prints a row.
std::string columns(const std::vector<int64_t>& values) {
  size_t width = 0;
  for (int64_t v : values) width = std::max(width, cat(v).size());
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string text = cat(values[i]);
    out += cat(i ? " " : "", std::string(width - text.size(), ' '), text);
  }
  return out;
}

Status run_unravel_index(KernelContext& c) {
  const Tensor &indices = c.input(0), &dims = c.input(1);
  if (indices.rank() > 1) return invalid_argument("The indices can only be scalar or vector, got \"", indices.shape(), "\"");
  if (dims.rank() != 1) return invalid_argument("The indices can only be 1-D, got \"", dims.shape(), "\"");
  const std::vector<int64_t> sizes = ints_of(dims);
  int64_t product = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return invalid_argument("Input dims cannot contain a dim of zero, but dims contains zero at index ", i);
    if (sizes[i] < 0) return invalid_argument("Input dims cannot be negative. Got dim = ", sizes[i], " at index ", i);
    const int64_t next = multiply_without_overflow(product, sizes[i]);
    if (next < 0 || (dims.dtype() == DType::kInt32 && next > INT32_MAX))
      return invalid_argument("Input dims product is causing integer overflow: (", columns(sizes), ")");
    product = next;
  }
  const int64_t n = indices.num_elements(), rank = int64_t(sizes.size());
  for (int64_t i = 0; i < n; ++i) {
    if (int_at(indices, i) >= product) return invalid_argument("index is out of bound as with dims");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, indices.rank() == 0 ? Shape({rank}) : Shape({rank, n})));
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = int_at(indices, i);
    for (int64_t k = rank; k-- > 0;) {
      const int64_t size = sizes[size_t(k)];
      put_int(*out, k * n + i, rest % size);
      rest /= size;
    }
  }
  return {};
}

Status unravel_index_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape dims, c.with_rank(1, 1));
  const PartialShape& indices = c.input(0);
  if (indices.rank() == 0) c.output(0, dims);
  else if (indices.rank() == 1) c.output(0, {dims.dim(0), indices.dim(0)});
  return {};
}

constexpr int64_t kWhereChunk = 1 << 15;

// Marks what is not zero in one chunk, counting it.
template <class T>
int64_t mark(const T* x, int64_t n, uint8_t* marks) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool set = x[i] != T(0);
    marks[i] = set;
    count += set;
  }
  return count;
}

// The positions of the `count` marks in [begin, end).
void put_positions(const Shape& shape, const uint8_t* marks, int64_t begin, int64_t end, int64_t count, int64_t* out) {
  const int rank = shape.rank();
  if (rank == 1) {
    // Without a branch, which random marks would make the processor guess wrong half the time.
    for (int64_t i = begin, at = 0; at < count; ++i) {
      out[at] = i;
      at += marks[i];
    }
    return;
  }
  for (int64_t i = begin; i < end; ++i) {
    if (!marks[i]) continue;
    int64_t rest = i;
    for (int k = rank; k-- > 0; rest /= shape.dim(k)) out[k] = rest % shape.dim(k);
    out += rank;
  }
}

Status run_where(KernelContext& c) {
  const Tensor& in = c.input(0);
  const int rank = in.rank();
  if (rank < 1 || rank > 8) return invalid_argument("WhereOp : Unhandled input dimensions: ", rank);
  const int64_t n = in.num_elements(), chunks = (n + kWhereChunk - 1) / kWhereChunk;
  WEFT_ASSIGN(Tensor marks, c.temp(DType::kUint8, {n}));
  std::vector<int64_t> counts(size_t(chunks), 0);
  WEFT_RETURN_IF_ERROR((dispatch<WEFT_NUMBERS, bool>(in.dtype(), [&]<class T>(Tag<T>) {
    using Element = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;  // a bool from outside may be any byte
    c.pool().parallel_chunks(chunks, [&](int64_t k) {
      const int64_t b = k * kWhereChunk;
      counts[size_t(k)] = mark(in.data<Element>() + b, std::min(kWhereChunk, n - b), marks.data<uint8_t>() + b);
    });
    return Status();
  })));
  std::vector<int64_t> starts(size_t(chunks), 0);
  int64_t total = 0;
  for (size_t k = 0; k < counts.size(); ++k) {
    starts[k] = total;
    total += counts[k];
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {total, rank}));
  c.pool().parallel_chunks(chunks, [&](int64_t k) {
    put_positions(in.shape(), marks.data<uint8_t>(), k * kWhereChunk, std::min(n, (k + 1) * kWhereChunk), counts[size_t(k)],
                  out->data<int64_t>() + starts[size_t(k)] * rank);
  });
  return {};
}

Status where_shape(ShapeContext& c) {
  c.output(0, {kUnknownDim, c.input(0).has_rank() ? c.input(0).rank() : kUnknownDim});
  return {};
}

}  // namespace

void array_values(Registry& r) {
  r.add("Empty")
      .in("shape: int32")
      .out("output: dtype")
      .attr("dtype: type")
      .attr("init: bool = false")
      .stateful()
      .doc("A tensor of the given shape whose contents do not matter, or are zero if `init` says so.")
      .shape(shape_from_input)
      .cpu(run_empty);

  r.add("Fill")
      .in("dims: index_type")
      .in("value: T")
      .out("output: T")
      .attr("T: type")
      .attr("index_type: {int32, int64} = DT_INT32")
      .doc("A tensor of the given shape with one value everywhere.")
      .traits({.repeats = 1})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(fill_shape)
      .grad([](const GradContext& g) -> Grads {
        return {
            {},
            reduce("Sum", g.dy(), g.one("Range", {scalar(g.emitter(), DType::kInt32, 0), rank_of(g.dy()), scalar(g.emitter(), DType::kInt32, 1)}))};
      })
      .cpu(run_fill);

  r.add("LinSpace")
      .in("start: T")
      .in("stop: T")
      .in("num: Tidx")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Evenly spaced values from start to stop, both included.")
      .on_gpu(OnGpu::kBoundsOnHost)
      .shape(linspace_shape)
      .no_grad()
      .cpu(run_linspace, types<float, double>("T"));

  r.add("OneHot")
      .in("indices: TI")
      .in("depth: int32")
      .in("on_value: T")
      .in("off_value: T")
      .out("output: T")
      .attr("axis: int = -1")
      .attr("T: type")
      .attr("TI: {uint8, int8, int32, int64} = DT_INT64")
      .doc("For each index a row that is on at the index and off elsewhere.")
      .shape(one_hot_shape)
      .no_grad()
      .cpu(run_one_hot);

  r.add("OnesLike")
      .in("x: T")
      .out("y: T")
      .attr(
          "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
          "uint64, complex64, complex128, bool}")
      .doc("Ones in the shape and type of the input.")
      .traits({.fills_like = 1})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_ones_like);

  r.add("Range")
      .in("start: Tidx")
      .in("limit: Tidx")
      .in("delta: Tidx")
      .out("output: Tidx")
      .attr("Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = DT_INT32")
      .doc("The numbers start, start + delta, ... before limit.")
      .on_gpu(OnGpu::kAllOnHost)
      .shape(range_shape)
      .no_grad()
      .cpu(run_range, types<half, bfloat16, float, double, int32_t, int64_t>("Tidx"));

  r.add("UnravelIndex")
      .in("indices: Tidx")
      .in("dims: Tidx")
      .out("output: Tidx")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .doc("Flat indices converted to coordinates of an array with the given dimensions.")
      .shape(unravel_index_shape)
      .cpu(run_unravel_index);

  r.add("Where")
      .in("input: T")
      .out("index: int64")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, "
          "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL")
      .doc("The coordinates of all elements that are not zero, in row-major order.")
      .traits({.shrinks = true})
      .on_gpu(OnGpu::kByCpu)
      .shape(where_shape)
      .no_grad()
      .cpu(run_where, types<WEFT_NUMBERS, bool>("T"));

  r.add("ZerosLike")
      .in("x: T")
      .out("y: T")
      .attr("T: type")
      .doc("Zeros in the shape and type of the input.")
      .traits({.fills_like = 0})
      .on_gpu(OnGpu::kInt32OnHost)
      .shape(shapes::unchanged)
      .no_grad()
      .cpu(run_zeros_like);

  set_layout(r, {"Empty", "Fill", "Range"}, layouts::kReplicated);
  set_layout(r, {"OneHot"}, layouts::kOneHot);
  set_api_trait(r, {"Empty", "Fill"}, ApiTrait::kUnchecked);
}

}  // namespace weft_engine::ops
