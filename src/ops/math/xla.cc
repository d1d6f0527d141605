// The few ops of XLA that programs use without its compiler.
#include <algorithm>
#include <bit>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/array/array_util.h"

namespace weft_engine::ops {

namespace {

// Copies a block of `size` from one dense array to another, at an offset in the first (cut) or second.
void copy_at(KernelContext& c, const Tensor& from, Tensor& to, const Shape& size, const std::vector<int64_t>& at, bool cut) {
  if (size.num_elements() == 0) return;
  const auto a = strides_of(from.shape()), b = strides_of(to.shape());
  kernels::CopyPlan plan;
  int64_t offset = 0;
  for (int i = 0; i < size.rank(); ++i) {
    offset += at[size_t(i)] * (cut ? a : b)[size_t(i)];
    plan.add(size.dim(i), a[size_t(i)], b[size_t(i)]);
  }
  if (plan.empty()) return;
  kernels::strided_copy(c.pool(), from.dtype(), element(from, cut ? offset : 0), element(to, cut ? 0 : offset), plan);
}

// Starts that keep the block inside.
std::vector<int64_t> clamped(const Tensor& starts, const Shape& in, const Shape& size) {
  std::vector<int64_t> at;
  for (int i = 0; i < in.rank(); ++i) at.push_back(std::clamp<int64_t>(int_at(starts, i), 0, in.dim(i) - size.dim(i)));
  return at;
}

Status run_dynamic_slice(KernelContext& c) {
  const Tensor &in = c.input(0), &starts = c.input(1), &sizes = c.input(2);
  if (starts.rank() != 1 || sizes.rank() != 1 || sizes.num_elements() != starts.num_elements())
    return invalid_argument("has mismatched number of slice sizes (", sizes.num_elements(), ") and number of start indices (", starts.num_elements(),
                            ")");
  if (starts.num_elements() != in.rank())
    return invalid_argument("has mismatched number of start indices (", starts.num_elements(), ") and the rank of operand (", in.rank(), ")");
  const Shape size(ints_of(sizes));
  for (int i = 0; i < in.rank(); ++i) {
    if (size.dim(i) < 0) return invalid_argument("has negative size index to dynamic slice: ", size.dim(i));
    if (size.dim(i) > in.dim(i))
      return invalid_argument("has slice size ", size.dim(i), " greater than dimension size ", in.dim(i), " in dimension ", i, " of operand");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, size));
  copy_at(c, in, *out, size, clamped(starts, in.shape(), size), true);
  return {};
}

Status dynamic_slice_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape s, c.constant_shape(2));
  if (!s.has_rank() && c.input(0).has_rank()) s = PartialShape::unknown_of_rank(c.input(0).rank());
  c.output(0, std::move(s));
  return {};
}

Status run_dynamic_update_slice(KernelContext& c) {
  const Tensor &in = c.input(0), &update = c.input(1), &starts = c.input(2);
  if (starts.rank() != 1 || starts.num_elements() != in.rank())
    return invalid_argument("index must be a vector with length equal to the number of input dimensions");
  if (in.rank() != update.rank())
    return invalid_argument("input and update must have the same rank, input shape is ", in.shape(), "; update shape is ", update.shape());
  for (int i = 0; i < in.rank(); ++i) {
    if (update.dim(i) > in.dim(i))
      return invalid_argument("Update dim size ", update.dim(i), " greater than dynamic slice dimension: ", in.dim(i), ".");
  }
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, in.shape(), 0));
  if (out->raw() != in.raw()) kernels::copy_run(c.pool(), in.dtype(), in.raw(), out->raw(), in.num_elements());
  copy_at(c, update, *out, update.shape(), clamped(starts, in.shape(), update.shape()), false);
  return {};
}

// The size of a padded dimension; checks what XLA checks.
Result<int64_t> padded_size(int i, int64_t n, int64_t low, int64_t high, int64_t interior) {
  int64_t size = 0, gaps = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(n - 1, 0), interior, &gaps) || __builtin_add_overflow(n, gaps, &size) ||
      __builtin_add_overflow(size, low, &size) || __builtin_add_overflow(size, high, &size))
    return invalid_argument("Padding is too large for dimension ", i);
  if (size < 0) return invalid_argument("Padding result in negative size for dimension ", i);
  return size;
}

Status run_xla_pad(KernelContext& c) {
  const Tensor &in = c.input(0), &value = c.input(1);
  const int rank = in.rank();
  for (int k = 2; k < 5; ++k) {
    const Tensor& t = c.input(k);
    if (t.rank() != 1) return invalid_argument("output_shape must be rank 1, got shape ", t.dtype() == DType::kInt32 ? "s32" : "s64", t.shape());
  }
  if (value.rank() != 0) return invalid_argument("padding_value must be a scalar");
  constexpr const char* kNames[] = {"padding_low", "padding_high", "padding_interior"};
  std::vector<int64_t> pads[3];
  for (int k = 0; k < 3; ++k) {
    const Tensor& t = c.input(k + 2);
    if (t.num_elements() != rank)
      return invalid_argument("The size of ", kNames[k], " must be equal to the input rank (", t.num_elements(), " vs. ", rank, ")");
    pads[k] = ints_of(t);
  }
  const auto &low = pads[0], &high = pads[1], &interior = pads[2];
  std::vector<int64_t> dims;
  if (std::any_of(interior.begin(), interior.end(), [](int64_t x) { return x < 0; }))
    return invalid_argument("padding_interior must be non-negative, got [", join(interior), "]");
  for (int i = 0; i < rank; ++i) {
    WEFT_ASSIGN(int64_t size, padded_size(i, in.dim(i), low[size_t(i)], high[size_t(i)], interior[size_t(i)]));
    dims.push_back(size);
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape(dims)));
  kernels::fill(c.pool(), value.dtype(), value.raw(), out->raw(), out->num_elements());
  if (out->num_elements() == 0 || in.num_elements() == 0) return {};
  const auto from = strides_of(in.shape()), to = strides_of(out->shape());
  kernels::CopyPlan plan;
  int64_t source = 0, target = 0;
  for (int i = 0; i < rank; ++i) {
    // Element k goes to low + k * step; negative borders cut some off at either end.
    const int64_t start = low[size_t(i)], step = interior[size_t(i)] + 1, size = dims[size_t(i)];
    const int64_t first = start < 0 ? (-start + step - 1) / step : 0;
    const int64_t last = start >= size ? -1 : std::min(in.dim(i) - 1, (size - 1 - start) / step);
    const int64_t count = std::max<int64_t>(0, last - first + 1);
    plan.add(count, from[size_t(i)], count > 1 ? step * to[size_t(i)] : 0);
    if (count == 0) break;
    source += first * from[size_t(i)];
    target += (start + first * step) * to[size_t(i)];
  }
  if (!plan.empty()) kernels::strided_copy(c.pool(), in.dtype(), element(in, source), element(*out, target), plan);
  return {};
}

Status xla_pad_shape(ShapeContext& c) {
  const PartialShape& in = c.input(0);
  WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  if (!in.has_rank()) return {};
  const auto low = c.constant_ints(2), high = c.constant_ints(3), interior = c.constant_ints(4);
  PartialShape out = PartialShape::unknown_of_rank(in.rank());
  const size_t rank = size_t(in.rank());
  if (low && high && interior) {
    if (low->size() != rank || high->size() != rank || interior->size() != rank)
      return invalid_argument("The size of the paddings must be equal to the input rank ", rank);
    for (int i = 0; i < in.rank(); ++i) {
      const size_t k = size_t(i);
      if ((*interior)[k] < 0) return invalid_argument("padding_interior must be non-negative, got [", join(*interior), "]");
      if (in.dim(i) < 0) continue;
      WEFT_ASSIGN(int64_t size, padded_size(i, in.dim(i), (*low)[k], (*high)[k], (*interior)[k]));
      out.set_dim(i, size);
    }
  }
  c.output(0, std::move(out));
  return {};
}

// Rounds a number to fewer bits, on its bits: to the nearest with ties to even, infinities where the
// exponent overflows, zeros where it underflows.
template <class Bits>
Bits reduce_bits(Bits x, int exponent, int mantissa, int to_exponent, int to_mantissa) {
  const Bits sign_mask = Bits(Bits(1) << (exponent + mantissa)), exponent_mask = Bits((Bits(1) << (exponent + mantissa)) - (Bits(1) << mantissa));
  const Bits magnitude = Bits(x & ~sign_mask);
  const bool nan = magnitude > exponent_mask;
  if (nan) return to_mantissa > 0 ? x : Bits((x & sign_mask) | exponent_mask);
  if (to_mantissa < mantissa) {
    const int drop = mantissa - to_mantissa;
    const Bits last = Bits(Bits(1) << drop), bias = Bits((last >> 1) - 1);
    x = Bits(x + ((x & last) >> drop) + bias);
    x = Bits(x & ~Bits(last - 1));
  }
  if (to_exponent < exponent) {
    const Bits middle = Bits((Bits(1) << (exponent - 1)) - 1), reach = Bits((Bits(1) << (to_exponent - 1)) - 1);
    const Bits highest = Bits(Bits(middle + reach) << mantissa), lowest = Bits(Bits(middle - reach) << mantissa);
    const Bits now = Bits(x & exponent_mask), sign = Bits(x & sign_mask);
    if (now > highest) return Bits(sign | exponent_mask);
    if (now <= lowest) return sign;
  }
  return x;
}

template <class Bits>
Status reduce_precision(KernelContext& c, int exponent, int mantissa) {
  const int64_t to_exponent = c.attr<int64_t>("exponent_bits"), to_mantissa = c.attr<int64_t>("mantissa_bits");
  if (to_exponent < 1) return invalid_argument("Expected exponent_bits >= 1, got ", to_exponent);
  if (to_mantissa < 0) return invalid_argument("Expected non-negative mantissa_bits, got ", to_mantissa);
  const Tensor& in = c.input(0);
  WEFT_ASSIGN(Tensor* out, c.allocate_or_reuse(0, in.shape(), 0));
  const Bits* x = in.data<Bits>();
  Bits* y = out->data<Bits>();
  const int e = int(std::min<int64_t>(to_exponent, exponent)), m = int(std::min<int64_t>(to_mantissa, mantissa));
  c.pool().parallel_for(in.num_elements(), 3, [&](int64_t b, int64_t end) {
    for (int64_t i = b; i < end; ++i) y[i] = reduce_bits<Bits>(x[i], exponent, mantissa, e, m);
  });
  return {};
}

Status run_reduce_precision(KernelContext& c) {
  switch (c.input(0).dtype()) {
    case DType::kBfloat16: return reduce_precision<uint16_t>(c, 8, 7);
    case DType::kHalf: return reduce_precision<uint16_t>(c, 5, 10);
    case DType::kFloat: return reduce_precision<uint32_t>(c, 8, 23);
    default: return reduce_precision<uint64_t>(c, 11, 52);
  }
}

}  // namespace

void xla(Registry& r) {
  r.add("XlaDynamicSlice")
      .in("input: T")
      .in("start_indices: Tindices")
      .in("size_indices: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .doc("A block of the input; starts that reach beyond are moved inside.")
      .shape(dynamic_slice_shape)
      .cpu(run_dynamic_slice);

  r.add("XlaDynamicUpdateSlice")
      .in("input: T")
      .in("update: T")
      .in("indices: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .doc("The input with a block replaced; starts that reach beyond are moved inside.")
      .shape(shapes::unchanged)
      .cpu(run_dynamic_update_slice);

  r.add("XlaPad")
      .in("input: T")
      .in("padding_value: T")
      .in("padding_low: Tindices")
      .in("padding_high: Tindices")
      .in("padding_interior: Tindices")
      .out("output: T")
      .attr("T: type")
      .attr("Tindices: {int32, int64}")
      .doc("The input with borders, which may be negative, and gaps between its elements.")
      .shape(xla_pad_shape)
      .cpu(run_xla_pad);

  r.add("XlaReducePrecision")
      .in("operand: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("exponent_bits: int")
      .attr("mantissa_bits: int")
      .doc("The input rounded to numbers with fewer bits.")
      .shape(shapes::unchanged)
      .cpu(run_reduce_precision);
}

}  // namespace weft_engine::ops
