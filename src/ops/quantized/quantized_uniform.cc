// Uniform quantisation: integers that stand for (value - zero point) * scale, with one scale for all or one
// for each slice along an axis.
#include <algorithm>

#include "kernels/cpu/int8_gemm.h"
#include "kernels/cpu/quantize.h"
#include "op/registry.h"
#include "ops/quantized/quantized_common.h"
#include "ops/quantized/quantized_uniform.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Calls f(slice, begin, end) for the runs of elements of each slice along the axis.
template <class F>
void for_each_slice(const Shape& s, int64_t axis, F&& f) {
  if (s.num_elements() == 0) return;
  if (axis < 0) return f(int64_t(0), int64_t(0), s.num_elements());
  const int64_t outer = s.elements_in(0, int(axis)), count = s.dim(int(axis)), inner = s.elements_in(int(axis) + 1, s.rank());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t k = 0; k < count; ++k) f(k, (o * count + k) * inner, (o * count + k + 1) * inner);
  }
}

}  // namespace

Status check_quantization_axis(const Shape& data, const Tensor& scales, const Tensor& zeros, int64_t axis) {
  if (axis < -1 || axis >= data.rank()) return invalid_argument("quantization_axis must be -1 or in range [0, input.rank), but given ", axis);
  if (scales.shape() != zeros.shape())
    return invalid_argument("scales and zero_points shape must be same, but given scales shape ", scales.shape(), " and zero_points shape ",
                            zeros.shape());
  if (axis == -1 && scales.rank() != 0)
    return invalid_argument("If quantization_axis is -1, scales and zero_points must be scalar tensors, but given scales shape ", scales.shape(),
                            " and zero_points shape ", zeros.shape());
  if (axis >= 0 && (scales.rank() != 1 || scales.dim(0) != data.dim(int(axis))))
    return invalid_argument(
        "If quantization_axis is not -1, scales and zero_points must be a tensor of rank 1 and the size must be equal to the "
        "input.dim_size(quantization_axis), but given quantization_axis ",
        axis, ", scales shape ", scales.shape(), " and zero_points shape ", zeros.shape());
  return {};
}

Status check_positive_scales(const Tensor& scales, std::string_view what) {
  for (float s : scales.span<float>()) {
    if (!(s > 0)) return invalid_argument(what, " scales elements must be all positive.");
  }
  return {};
}

Result<int64_t> read_axis(const NodeInfo& node, std::string_view name) {
  const int64_t axis = node.attr<int64_t>(name);
  if (axis < -1) return invalid_argument(name, " must be >= -1, given: ", axis);
  return axis;
}

Result<int32_t> read_int32(const NodeInfo& node, std::string_view name) {
  const int64_t v = node.attr<int64_t>(name);
  if (v < std::numeric_limits<int32_t>::min() || v > std::numeric_limits<int32_t>::max())
    return invalid_argument("Attr ", name, " has value ", v, " out of range for an int32");
  return int32_t(v);
}

Result<Multiplier> Multiplier::make(double factor) {
  if (!std::isfinite(factor) || factor <= 0) return invalid_argument("double_multiplier must be a poisitive finite number. Given ", factor);
  Multiplier m;
  int64_t fixed = int64_t(std::round(std::frexp(factor, &m.shift) * double(int64_t(1) << 31)));
  if (fixed == int64_t(1) << 31) fixed /= 2, ++m.shift;
  if (m.shift < -31) m.shift = 0, fixed = 0;
  if (m.shift > 30) m.shift = 30, fixed = (int64_t(1) << 31) - 1;
  m.value = int32_t(fixed);
  return m;
}

Status requantize_uniform(const Tensor& in, const Scaling& from, const Scaling& to, int32_t least, int32_t most, Tensor& out) {
  const int64_t axis = std::max(from.axis, to.axis), count = axis < 0 ? 1 : in.dim(int(axis));
  std::vector<Multiplier> factors;
  for (int64_t k = 0; k < count; ++k) {
    WEFT_ASSIGN(Multiplier m, Multiplier::make(double(from.scale(k)) / double(to.scale(k))));
    factors.push_back(m);
  }
  auto run = [&]<class I, class O>(Tag<I>, Tag<O>) {
    for_each_slice(in.shape(), axis, [&](int64_t k, int64_t b, int64_t e) {
      const uint32_t zero_in = uint32_t(from.zero(k));
      const int32_t zero_out = to.zero(k);
      for (int64_t i = b; i < e; ++i) {
        const int32_t x = int32_t(uint32_t(int32_t(in.data<I>()[i])) - zero_in);
        const int32_t v = kernels::wrap_add(factors[size_t(k)](x), zero_out);
        out.data<O>()[i] = O(std::max(std::min(v, most), least));
      }
    });
    return Status();
  };
  return dispatch_quantized(in.dtype(), [&]<class I>(Tag<I> i) {
    return dispatch_quantized(out.dtype(), [&]<class O>(Tag<O> o) {
      if constexpr (std::is_signed_v<I> && std::is_signed_v<O> && sizeof(I) != 2 && sizeof(O) != 2) return run(i, o);
      else return unimplemented("no kernel for this type");
    });
  });
}

namespace {

Status run_quantize(KernelContext& c) {
  const Tensor &in = c.input(0), &scales = c.input(1), &zeros = c.input(2);
  WEFT_ASSIGN(int64_t axis, read_axis(c.node(), "quantization_axis"));
  WEFT_ASSIGN(int32_t least, read_int32(c.node(), "quantization_min_val"));
  WEFT_ASSIGN(int32_t most, read_int32(c.node(), "quantization_max_val"));
  WEFT_RETURN_IF_ERROR(check_quantization_axis(in.shape(), scales, zeros, axis));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (axis < 0 && out->dtype() == DType::kQint8) {
    const float inverse = 1.0f / scales.data<float>()[0];
    c.pool().parallel_for(in.num_elements(), 0.2, [&](int64_t b, int64_t e) {
      WEFT_BEST_ISA(int8_quantize)(in.data<float>() + b, inverse, zeros.data<int32_t>()[0], least, most, out->data<int8_t>() + b, e - b);
    });
    return {};
  }
  return dispatch_quantized(out->dtype(), [&]<class I>(Tag<I>) {
    for_each_slice(in.shape(), axis, [&](int64_t k, int64_t b, int64_t e) {
      const float inverse = 1.0f / scales.data<float>()[k];
      const int32_t zero = zeros.data<int32_t>()[k];
      for (int64_t i = b; i < e; ++i) {
        const int32_t v = kernels::wrap_add(kernels::to_int32(std::floor(in.data<float>()[i] * inverse + 0.5f)), zero);
        out->data<I>()[i] = I(std::max(std::min(v, most), least));
      }
    });
    return Status();
  });
}

Status run_dequantize(KernelContext& c) {
  const Tensor &in = c.input(0), &scales = c.input(1), &zeros = c.input(2);
  WEFT_ASSIGN(int64_t axis, read_axis(c.node(), "quantization_axis"));
  WEFT_RETURN_IF_ERROR(check_quantization_axis(in.shape(), scales, zeros, axis));
  WEFT_RETURN_IF_ERROR(check_positive_scales(scales, "rhs"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  if (axis == in.rank() - 1 && axis >= 0 && in.num_elements() > 0 && in.dtype() == DType::kQint32 &&
      std::ranges::all_of(zeros.span<int32_t>(), [](int32_t z) { return z == 0; })) {  // the result of a product
    const int64_t n = in.dim(int(axis));
    const kernels::Int8Finish f{scales.data<float>(), nullptr};
    c.pool().parallel_for(in.num_elements() / n, 0.2 * double(n), [&](int64_t b, int64_t e) {
      WEFT_BEST_ISA(int8_finish_float)(f, 0, in.data<int32_t>() + b * n, n, e - b, n, out->data<float>() + b * n, n);
    });
    return {};
  }
  return dispatch_quantized(in.dtype(), [&]<class I>(Tag<I>) {
    for_each_slice(in.shape(), axis, [&](int64_t k, int64_t b, int64_t e) {
      const float scale = scales.data<float>()[k];
      const uint32_t zero = uint32_t(zeros.data<int32_t>()[k]);
      for (int64_t i = b; i < e; ++i) out->data<float>()[i] = float(int32_t(uint32_t(int32_t(in.data<I>()[i])) - zero)) * scale;
    });
    return Status();
  });
}

Status run_requantize(KernelContext& c) {
  const Tensor &in = c.input(0), &in_scales = c.input(1), &in_zeros = c.input(2), &out_scales = c.input(3), &out_zeros = c.input(4);
  WEFT_ASSIGN(int64_t in_axis, read_axis(c.node(), "input_quantization_axis"));
  WEFT_ASSIGN(int64_t out_axis, read_axis(c.node(), "output_quantization_axis"));
  WEFT_ASSIGN(int32_t least, read_int32(c.node(), "output_quantization_min_val"));
  WEFT_ASSIGN(int32_t most, read_int32(c.node(), "output_quantization_max_val"));
  if (in_axis >= 0 && out_axis >= 0 && in_axis != out_axis)
    return invalid_argument("If input and output is both per-axis quantized, the quantization axis must be same.");
  WEFT_RETURN_IF_ERROR(check_quantization_axis(in.shape(), in_scales, in_zeros, in_axis));
  WEFT_RETURN_IF_ERROR(check_quantization_axis(in.shape(), out_scales, out_zeros, out_axis));
  WEFT_RETURN_IF_ERROR(check_positive_scales(in_scales, "input/output"));
  WEFT_RETURN_IF_ERROR(check_positive_scales(out_scales, "input/output"));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  return requantize_uniform(in, {in_scales, &in_zeros, in_axis}, {out_scales, &out_zeros, out_axis}, least, most, *out);
}

}  // namespace

void quantized_uniform(Registry& r) {
  r.add("UniformDequantize")
      .in("input: Tin")
      .in("scales: float")
      .in("zero_points: int32")
      .out("output: Tout")
      .attr("Tin: {qint8, quint8, qint32}")
      .attr("Tout: {float}")
      .attr("quantization_axis: int = -1")
      .attr("quantization_min_val: int")
      .attr("quantization_max_val: int")
      .doc("Uniformly quantised numbers as floats.")
      .shape(shapes::unchanged)
      .cpu(run_dequantize);

  r.add("UniformQuantize")
      .in("input: Tin")
      .in("scales: float")
      .in("zero_points: int32")
      .out("output: Tout")
      .attr("Tin: {float}")
      .attr("Tout: {qint8, quint8, qint32}")
      .attr("quantization_axis: int = -1")
      .attr("quantization_min_val: int")
      .attr("quantization_max_val: int")
      .doc("Floats as uniformly quantised numbers.")
      .shape(shapes::unchanged)
      .cpu(run_quantize);

  r.add("UniformRequantize")
      .in("input: Tin")
      .in("input_scales: float")
      .in("input_zero_points: int32")
      .in("output_scales: float")
      .in("output_zero_points: int32")
      .out("output: Tout")
      .attr("Tin: {qint8, qint32}")
      .attr("Tout: {qint8, qint32}")
      .attr("input_quantization_axis: int = -1")
      .attr("input_quantization_min_val: int")
      .attr("input_quantization_max_val: int")
      .attr("output_quantization_axis: int = -1")
      .attr("output_quantization_min_val: int")
      .attr("output_quantization_max_val: int")
      .doc("Uniformly quantised numbers with another scale and zero point.")
      .shape(shapes::unchanged)
      .cpu(run_requantize);
}

}  // namespace weft_engine::ops
