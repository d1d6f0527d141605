// Sums, limits, matrix products and convolutions of uniformly quantised numbers. The hybrid ops quantise their float side themselves, each
// row (image) with a scale and zero point of its own.
#include <algorithm>

#include "kernels/cpu/int8_gemm.h"
#include "ops/quantized/quantized_common.h"
#include "ops/quantized/quantized_uniform.h"
#include "wire/proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

constexpr int32_t kLowest = std::numeric_limits<int32_t>::min(), kHighest = std::numeric_limits<int32_t>::max();

Status run_clip(KernelContext& c) {
  const Tensor &in = c.input(0), &low = c.input(1), &high = c.input(2), &scales = c.input(3), &zeros = c.input(4);
  const int64_t axis = c.attr<int64_t>("quantization_axis");
  WEFT_RETURN_IF_ERROR(check_quantization_axis(in.shape(), scales, zeros, axis));
  if (low.shape() != scales.shape())
    return invalid_argument("Input min shape must be same as scales/zero_points. Given min of shape ", low.shape(),
                            " and scales/zero_points of shape ", scales.shape());
  if (high.shape() != scales.shape())
    return invalid_argument("Input max shape must be same as scales/zero_points. Given max of shape ", high.shape(),
                            " and scales/zero_points of shape ", scales.shape());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, in.shape()));
  const int64_t count = axis < 0 ? 1 : in.dim(int(axis)), inner = axis < 0 ? in.num_elements() : in.shape().elements_in(int(axis) + 1, in.rank());
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    const int64_t k = i / inner % count;
    out->data<int32_t>()[i] = std::min(std::max(in.data<int32_t>()[i], low.data<int32_t>()[k]), high.data<int32_t>()[k]);
  }
  return {};
}

// --- sum ---

Result<Shape> sum_shape(const Shape& x, const Shape& y) {
  if (x.rank() == 0) return y;
  if (y.rank() == 0) return x;
  const int rank = std::max(x.rank(), y.rank());
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i) {
    const int ix = i - (rank - x.rank()), iy = i - (rank - y.rank());
    const int64_t a = ix < 0 ? 1 : x.dim(ix), b = iy < 0 ? 1 : y.dim(iy);
    if (a != 1 && b != 1 && a != b) return invalid_argument("Cannot Add tensors of shapes: ", x, y);
    dims[size_t(i)] = a == 1 ? b : a;
  }
  return Shape::make(dims);
}

Status run_add(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1);
  const int64_t ax = c.attr<int64_t>("lhs_quantization_axis"), ay = c.attr<int64_t>("rhs_quantization_axis"),
                az = c.attr<int64_t>("output_quantization_axis");
  WEFT_ASSIGN(int32_t least, read_int32(c.node(), "output_quantization_min_val"));
  WEFT_ASSIGN(int32_t most, read_int32(c.node(), "output_quantization_max_val"));
  if (ax < -1 || ay < -1 || az < -1) return invalid_argument("lhs, rhs and output quantization_axis must be -1 or within [0, dims)");
  WEFT_RETURN_IF_ERROR(check_quantization_axis(x.shape(), c.input(2), c.input(3), ax));
  WEFT_RETURN_IF_ERROR(check_quantization_axis(y.shape(), c.input(4), c.input(5), ay));
  WEFT_ASSIGN(Shape shape, sum_shape(x.shape(), y.shape()));
  const Tensor &scales = c.input(6), &zeros = c.input(7);
  WEFT_RETURN_IF_ERROR(check_quantization_axis(shape, scales, zeros, az));
  if (ax >= 0 && az >= 0 && x.rank() - ax != shape.rank() - az)
    return invalid_argument("If lhs and output is both per-axis quantized, the quantization axis must match.");
  if (ay >= 0 && az >= 0 && y.rank() - ay != shape.rank() - az)
    return invalid_argument("If rhs and output is both per-axis quantized, the quantization axis must match.");
  for (int i : {2, 4, 6}) WEFT_RETURN_IF_ERROR(check_positive_scales(c.input(i), "lhs/rhs/output"));
  // Each side goes to the scale of the output first. TensorFlow takes the output's axis for an axis of the right side.
  Tensor sides[2];
  for (int s : {0, 1}) {
    const Tensor& side = s == 0 ? x : y;
    const int64_t axis = s == 0 ? ax : ay, to = s == 1 ? az : az < 0 ? -1 : ax;
    if (az >= 0 && (to < 0 || to >= side.rank() || side.dim(int(to)) != scales.dim(0)))
      return unimplemented("UniformQuantizedAdd with an output quantized per axis needs ", s == 0 ? "lhs" : "rhs", " to have that axis, of ",
                           scales.dim(0), " elements");
    WEFT_ASSIGN(sides[s], c.temp(DType::kQint32, side.shape()));
    WEFT_RETURN_IF_ERROR(
        requantize_uniform(side, {c.input(2 + 2 * s), &c.input(3 + 2 * s), axis}, {scales, nullptr, to}, kLowest, kHighest, sides[s]));
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  for (int64_t i = 0; i < out->num_elements(); ++i) {
    int64_t rest = i, at[2] = {0, 0}, step[2] = {1, 1}, slice = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const int64_t k = rest % shape.dim(d);
      rest /= shape.dim(d);
      if (d == az) slice = k;
      for (int s : {0, 1}) {
        const int e = d - (shape.rank() - sides[s].rank());
        if (e < 0) continue;
        if (sides[s].dim(e) != 1) at[s] += k * step[s];
        step[s] *= sides[s].dim(e);
      }
    }
    const int32_t v =
        kernels::wrap_add(kernels::wrap_add(sides[0].data<int32_t>()[at[0]], sides[1].data<int32_t>()[at[1]]), zeros.data<int32_t>()[slice]);
    out->data<int32_t>()[i] = std::max(std::min(v, most), least);
  }
  return {};
}

// --- what products and convolutions share ---

// The left side as int8 with zero points (and scales) of its batches; a quantised one has one for all.
struct Left {
  const int8_t* values;
  std::vector<int32_t> zeros;
  std::vector<float> scales;
  Tensor memory;
  int32_t zero(int64_t batch) const { return zeros[zeros.size() == 1 ? 0 : size_t(batch)]; }
};

// Quantises n floats to int8 so that zero is one of the numbers. `next` steps through them.
template <class Each>
void quantize_row(const float* in, int8_t* out, Each&& each, float& scale, int32_t& zero) {
  float least = 0, most = 0;
  each([&](int64_t i) { least = in[i] < least ? in[i] : least, most = in[i] > most ? in[i] : most; });
  const double low = least, high = most;
  scale = float((high - low) / 255.0);
  const float inverse = high - low != 0 ? float(255.0 / (high - low)) : 0.0f;
  if (scale == 0 || !std::isfinite(inverse)) {
    each([&](int64_t i) { out[i] = 0; });
    scale = 1, zero = 0;
    return;
  }
  // The zero point that is nearer to an integer bound.
  const double from_low = -128.0 - low / double(scale), from_high = 127.0 - high / double(scale);
  const double error_low = 128.0 + std::abs(low / double(scale)), error_high = 127.0 + std::abs(high / double(scale));
  const double at = error_low < error_high ? from_low : from_high;
  zero = at <= -128.0 ? -128 : at >= 127.0 ? 127 : kernels::to_int32(float(std::round(at)));
  each([&](int64_t i) {
    const int32_t v = kernels::wrap_add(kernels::to_int32(std::floor(in[i] * inverse + 0.5f)), zero);
    out[i] = int8_t(std::max(std::min(v, 127), -128));
  });
}

// From a sum of products to the output.
struct Finish {
  std::vector<Multiplier> factors;  // empty: floats
  const Tensor *rhs_scales = nullptr, *out_zeros = nullptr;
  int32_t least = kLowest, most = kHighest;
  void operator()(Tensor& out, int64_t at, uint32_t total, const Left& left, int64_t batch, int64_t channel) const {
    const int32_t sum = int32_t(total);
    if (factors.empty()) {
      out.data<float>()[at] = float(sum) * left.scales[size_t(batch)] * rhs_scales->data<float>()[rhs_scales->rank() == 0 ? 0 : channel];
      return;
    }
    const int32_t v =
        kernels::wrap_add(factors[factors.size() == 1 ? 0 : size_t(channel)](sum), out_zeros->data<int32_t>()[out_zeros->rank() == 0 ? 0 : channel]);
    out.data<int32_t>()[at] = std::max(std::min(v, most), least);
  }
};

Result<Finish> make_finish(KernelContext& c, bool hybrid) {
  Finish f;
  if (hybrid) {
    f.rhs_scales = &c.input(2);
    return f;
  }
  WEFT_ASSIGN(f.least, read_int32(c.node(), "output_quantization_min_val"));
  WEFT_ASSIGN(f.most, read_int32(c.node(), "output_quantization_max_val"));
  f.out_zeros = &c.input(7);
  const Tensor &rhs = c.input(4), &out = c.input(6);
  for (int64_t k = 0; k < rhs.num_elements(); ++k) {
    const double factor = double(c.input(2).data<float>()[0]) * double(rhs.data<float>()[k]) / double(out.data<float>()[out.rank() == 0 ? 0 : k]);
    WEFT_ASSIGN(Multiplier m, Multiplier::make(factor));
    f.factors.push_back(m);
  }
  return f;
}

uint32_t right_zero(const Tensor& zeros, int64_t channel) { return uint32_t(zeros.data<int32_t>()[zeros.rank() == 0 ? 0 : channel]); }

bool all_zero(const Tensor& zeros) {
  return std::ranges::all_of(zeros.span<int32_t>(), [](int32_t z) { return z == 0; });
}

Status check_scale_signs(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(check_positive_scales(c.input(2), "lhs"));
  WEFT_RETURN_IF_ERROR(check_positive_scales(c.input(4), "rhs"));
  return check_positive_scales(c.input(6), "output");
}

Status check_left_scalars(KernelContext& c) {
  if (c.input(2).rank() == 0 && c.input(3).rank() == 0) return {};
  return invalid_argument("lhs scales/zero_points must be all scalar tensors. Given: ", c.input(2).shape(), c.input(3).shape());
}

// --- matrix product ---

Status check_dot_axis(const NodeInfo& node, std::string_view name) {
  const int64_t axis = node.attr<int64_t>(name);
  if (axis != 1 && axis != -1) return invalid_argument(name, " Attr must be 1 (per-channel) or -1 (per-tensor).");
  return {};
}

template <bool kHybrid>
Status run_dot(KernelContext& c) {
  const Tensor &x = c.input(0), &y = c.input(1), &scales = c.input(kHybrid ? 2 : 4), &zeros = c.input(kHybrid ? 3 : 5);
  if (!kHybrid && c.attr<int64_t>("lhs_quantization_axis") != -1) return invalid_argument("lhs_quantization_axis Attr must be -1 (per-tensor).");
  WEFT_RETURN_IF_ERROR(check_dot_axis(c.node(), "rhs_quantization_axis"));
  if (!kHybrid) {
    WEFT_RETURN_IF_ERROR(check_dot_axis(c.node(), "output_quantization_axis"));
    WEFT_RETURN_IF_ERROR(check_scale_signs(c));
  }
  if (x.rank() != 2) return invalid_argument("lhs rank must be 2, but given lhs shape ", x.shape());
  if (y.rank() != 2) return invalid_argument("rhs rank must be 2, but given rhs shape ", y.shape());
  const int64_t m = x.dim(0), depth = x.dim(1), n = y.dim(1);
  if (depth != y.dim(0))
    return invalid_argument("lhs.dim_size(1) and rhs.dim_size(0) must be equal, but given lhs shape ", x.shape(), " and rhs shape ", y.shape());
  if (!kHybrid) WEFT_RETURN_IF_ERROR(check_left_scalars(c));
  WEFT_RETURN_IF_ERROR(check_quantization_axis(y.shape(), scales, zeros, scales.rank() == 0 ? -1 : 1));
  const Shape shape({m, n});
  if (kHybrid) {
    WEFT_RETURN_IF_ERROR(check_positive_scales(scales, "rhs"));
  } else {
    const Tensor& out_scales = c.input(6);
    WEFT_RETURN_IF_ERROR(check_quantization_axis(shape, out_scales, c.input(7), out_scales.rank() == 0 ? -1 : 1));
    if (scales.rank() == 0 && out_scales.rank() > 0)
      return invalid_argument("If rhs is per-tensor quantized, output must be also per-tensor quantized. Given rhs scales and zero_points of shape ",
                              scales.shape(), " but given output scales and zero_points of shape ", out_scales.shape());
  }
  WEFT_ASSIGN(Finish finish, make_finish(c, kHybrid));
  WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
  Left left;
  if (kHybrid) {
    WEFT_ASSIGN(left.memory, c.temp(DType::kInt8, x.shape()));
    left.zeros.resize(size_t(m)), left.scales.resize(size_t(m));
    for (int64_t b = 0; b < m; ++b) {
      quantize_row(
          x.data<float>() + b * depth, left.memory.data<int8_t>() + b * depth,
          [&](auto&& f) {
            for (int64_t i = 0; i < depth; ++i) f(i);
          },
          left.scales[size_t(b)], left.zeros[size_t(b)]);
    }
    left.values = left.memory.data<int8_t>();
  } else {
    left.values = x.data<int8_t>();
    left.zeros = {c.input(3).data<int32_t>()[0]};
  }
  if (out->num_elements() == 0) return {};
  if (all_zero(zeros)) {
    WEFT_ASSIGN(Tensor packed, c.temp(DType::kUint8, Shape({kernels::int8_packed_bytes(depth, n)})));
    kernels::int8_pack({y.raw(), true, false, n}, depth, n, packed.raw(), c.pool());
    const int32_t* sums = kernels::int8_column_sums(packed.raw(), depth, n);
    kernels::int8_matmul(
        {m, n, depth, packed.raw()}, {left.values, true, false, depth},
        [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step) {
          for (int64_t i = i0; i < i1; ++i) {
            const uint32_t zero = uint32_t(left.zero(i));
            for (int64_t j = j0; j < j1; ++j)
              finish(*out, i * n + j, uint32_t(totals[(i - i0) * step + j - j0]) - zero * uint32_t(sums[j]), left, i, j);
          }
        },
        c.pool());
    return {};
  }
  c.pool().parallel_for(m, double(n) * double(depth), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const uint32_t zero = uint32_t(left.zero(left.zeros.size() == 1 ? 0 : b));
      for (int64_t j = 0; j < n; ++j) {
        uint32_t total = 0;
        const uint32_t zero_y = right_zero(zeros, j);
        for (int64_t k = 0; k < depth; ++k)
          total += (uint32_t(int32_t(left.values[b * depth + k])) - zero) * (uint32_t(int32_t(y.data<int8_t>()[k * n + j])) - zero_y);
        finish(*out, b * n + j, total, left, b, j);
      }
    }
  });
  return {};
}

// --- convolution of any number of spatial dimensions ---

// Which dimension is which: batch, feature, spatial ones (of a kernel: output feature, input feature).
struct Roles {
  int64_t first = 0, second = 1;
  std::vector<int64_t> spatial;
};

struct Conv {
  Roles lhs, rhs, out;
  std::vector<int64_t> strides, lhs_dilation, rhs_dilation, padding;
  std::string padding_kind;
  int64_t batch_groups, feature_groups;
  bool given = false;  // dimension_numbers

  static Result<Conv> make(const NodeInfo& node) {
    Conv p;
    p.strides = node.attr<std::vector<int64_t>>("window_strides");
    p.lhs_dilation = node.attr<std::vector<int64_t>>("lhs_dilation");
    p.rhs_dilation = node.attr<std::vector<int64_t>>("rhs_dilation");
    p.batch_groups = node.attr<int64_t>("batch_group_count");
    p.feature_groups = node.attr<int64_t>("feature_group_count");
    p.padding_kind = node.attr<std::string>("padding");
    p.padding = node.attr<std::vector<int64_t>>("explicit_padding");
    const std::string& kind = p.padding_kind;
    if (kind != "EXPLICIT" && kind != "SAME" && kind != "VALID")
      return invalid_argument("padding Attr must be one of [EXPLICIT | SAME | VALID], but given: ", kind);
    if (kind != "EXPLICIT" && !p.padding.empty())
      return invalid_argument("If padding Attr is not 'EXPLICIT', explicit_padding Attr must be empty. Given padding ", kind,
                              " and explicit_padding of size ", p.padding.size());
    // UniformQuantizedConvolutionDimensionNumbersAttr
    p.lhs.second = p.rhs.first = p.rhs.second = p.out.second = 0;
    wire::ProtoReader r(node.attr<std::string>("dimension_numbers"));
    while (r.next()) {
      switch (r.field()) {
        case 1: p.lhs.first = r.int64(); break;
        case 2: p.lhs.second = r.int64(); break;
        case 3: r.append_varints(p.lhs.spatial); break;
        case 4: p.rhs.second = r.int64(); break;
        case 5: p.rhs.first = r.int64(); break;
        case 6: r.append_varints(p.rhs.spatial); break;
        case 7: p.out.first = r.int64(); break;
        case 8: p.out.second = r.int64(); break;
        case 9: r.append_varints(p.out.spatial); break;
        default: break;
      }
    }
    if (!r.ok()) return invalid_argument("Error parsing convolution dimension numbers.");
    p.given = !p.lhs.spatial.empty();
    return p;
  }

  static Status check_roles(const Roles& r, int64_t rank) {
    std::vector<int64_t> all = {r.first, r.second};
    if (int64_t(r.spatial.size()) != rank - 2)
      return invalid_argument("Spatial dimensions size must be rank - 2. Given rank ", rank, " and spatial dimensions size ", r.spatial.size());
    all.insert(all.end(), r.spatial.begin(), r.spatial.end());
    for (int64_t d : all) {
      if (d < 0 || d >= rank)
        return invalid_argument("Each dimension number must be in region [0, rank). Given rank ", rank, " and dimension number value ", d);
    }
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return invalid_argument("dimension numbers must differ from each other");
    return {};
  }

  static Status fill(std::vector<int64_t>& values, int64_t count, std::string_view name) {
    if (values.empty()) values.assign(size_t(count), 1);
    if (int64_t(values.size()) != count) return invalid_argument("Size of ", name, " Attr must be dims - 2.");
    for (int64_t v : values) {
      if (v < 1) return invalid_argument("All elements of ", name, " must be >= 1. Given ", join(values));
    }
    return {};
  }

  // 0 stays 0; more elements get gaps between them. Negative where the number is too great.
  static int64_t dilated(int64_t size, int64_t dilation) {
    int64_t v;
    if (size <= 0) return 0;
    return __builtin_mul_overflow(size - 1, dilation, &v) || __builtin_add_overflow(v, int64_t(1), &v) ? -1 : v;
  }

  // Checks everything that shapes tell and gives the output's shape.
  Result<Shape> bind(const Shape& x, const Shape& y) {
    if (x.rank() != y.rank()) return invalid_argument("lhs and rhs must have same dims. Given lhs and rhs of shapes: ", x, y);
    const int64_t rank = x.rank(), count = rank - 2;
    if (rank <= 2) return invalid_argument("lhs and rhs shape dims must be at least 3. Given: ", rank);
    WEFT_RETURN_IF_ERROR(fill(strides, count, "window_strides"));
    WEFT_RETURN_IF_ERROR(fill(lhs_dilation, count, "lhs_dilation"));
    WEFT_RETURN_IF_ERROR(fill(rhs_dilation, count, "rhs_dilation"));
    for (Roles* r : {&lhs, &rhs, &out}) {
      if (!given) {
        *r = Roles();
        for (int64_t i = 0; i < count; ++i) r->spatial.push_back(i + 2);
      }
      WEFT_RETURN_IF_ERROR(check_roles(*r, rank));
    }
    WEFT_RETURN_IF_ERROR(check_groups(x.dim(int(lhs.first)), x.dim(int(lhs.second)), y.dim(int(rhs.second)), y.dim(int(rhs.first))));
    if (padding_kind == "EXPLICIT") {
      if (int64_t(padding.size()) != 2 * count)
        return invalid_argument("Size of explicit_padding Attr must be 2 * (rank - 2). Given rank ", rank, " and explicit_padding of size ",
                                padding.size());
      for (int64_t v : padding) {
        if (v < 0) return invalid_argument("All explicit_padding elems must be >= 0, Given ", join(padding));
      }
    } else {
      padding.assign(size_t(2 * count), 0);
    }
    std::vector<int64_t> dims(static_cast<size_t>(rank));
    dims[size_t(out.first)] = x.dim(int(lhs.first)) / batch_groups;
    dims[size_t(out.second)] = y.dim(int(rhs.first));
    for (size_t i = 0; i < size_t(count); ++i) {
      const int64_t in = dilated(x.dim(int(lhs.spatial[i])), lhs_dilation[i]), window = dilated(y.dim(int(rhs.spatial[i])), rhs_dilation[i]),
                    stride = strides[i];
      constexpr int64_t kMost = int64_t(1) << 60;
      for (int64_t v : {in, window, stride, padding[2 * i], padding[2 * i + 1]}) {
        if (v < 0 || v > kMost) return invalid_argument("the sizes of spatial dimension ", i, " are too great");
      }
      if (padding_kind == "SAME") {
        const int64_t total = std::max<int64_t>(((in + stride - 1) / stride - 1) * stride + window - in, 0);
        padding[2 * i] = total / 2;
        padding[2 * i + 1] = total - total / 2;
      }
      const int64_t places = in + padding[2 * i] + padding[2 * i + 1] - window + 1;
      dims[size_t(out.spatial[i])] = (places + stride - 1) / stride;
    }
    return Shape::make(dims);
  }

  // What int8_conv serves: batch, two spatial dimensions, features in this order, of the kernel the output's features last.
  bool channels_last() const {
    const std::vector<int64_t> middle{1, 2}, front{0, 1}, ones{1, 1};
    return lhs.first == 0 && lhs.second == 3 && lhs.spatial == middle && out.first == 0 && out.second == 3 && out.spatial == middle &&
           rhs.first == 3 && rhs.second == 2 && rhs.spatial == front && (lhs_dilation.empty() || lhs_dilation == ones) && batch_groups == 1 &&
           feature_groups == 1;
  }
  kernels::ConvGeometry geometry(const Shape& x, const Shape& y, const Shape& z) const {
    kernels::ConvGeometry g;
    g.batch = x.dim(0), g.in_channels = x.dim(3), g.out_channels = y.dim(3);
    for (int i : {0, 1}) {
      const size_t k = size_t(i);
      g.dim[1 + i] = {
          .in = x.dim(1 + i), .window = y.dim(i), .out = z.dim(1 + i), .stride = strides[k], .dilation = rhs_dilation[k], .before = padding[2 * k]};
    }
    return g;
  }

  Status check_groups(int64_t batches, int64_t features, int64_t in_features, int64_t out_features) const {
    if (feature_groups <= 0) return invalid_argument("feature_group_count must be a positive integer, given: ", feature_groups);
    if (features % feature_groups != 0)
      return invalid_argument("feature_group_count must divide lhs feature dimension size, but ", feature_groups, " does not divide ", features);
    if (in_features <= 0 || features % in_features != 0)
      return invalid_argument("rhs input feature dimension must divide lhs feature dimension size, but ", in_features, " does not divide ", features);
    if (features / feature_groups != in_features)
      return invalid_argument("lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension size, but ",
                              features, " / ", feature_groups, " != ", in_features);
    if (out_features % feature_groups != 0)
      return invalid_argument("rhs output dimension size must be a multiple of feature_group_count, but ", out_features, " is not a multiple of ",
                              feature_groups);
    if (batch_groups <= 0) return invalid_argument("batch_group_count Attr must be a positive integer. Given: ", batch_groups);
    if (batches % batch_groups != 0)
      return invalid_argument("batch_group_count must divide lhs batch dimension size, but ", batch_groups, " does not divide ", batches);
    if (out_features % batch_groups != 0)
      return invalid_argument("rhs output dimension size must be a multiple of batch_group_count, but ", out_features, " is not a multiple of ",
                              batch_groups);
    return {};
  }
};

// Distances in memory between neighbours along each role.
struct Steps {
  int64_t first, second;
  std::vector<int64_t> spatial;
  Steps(const Shape& s, const Roles& r) {
    auto step = [&](int64_t d) { return s.elements_in(int(d) + 1, s.rank()); };
    first = step(r.first), second = step(r.second);
    for (int64_t d : r.spatial) spatial.push_back(step(d));
  }
};

// Goes to the next place in `sizes`, the last dimension first; false after the last one.
bool advance(std::vector<int64_t>& at, const std::vector<int64_t>& sizes) {
  for (size_t i = sizes.size(); i-- > 0;) {
    if (++at[i] < sizes[i]) return true;
    at[i] = 0;
  }
  return false;
}

void convolve(const Conv& p, const Shape& x, const Left& left, const Tensor& y, const Tensor& zeros, const Finish& finish, Tensor& out) {
  const Steps sx(x, p.lhs), sy(y.shape(), p.rhs), so(out.shape(), p.out);
  const size_t n = p.strides.size();
  std::vector<int64_t> x_sizes(n), y_sizes(n), o_sizes(n);
  for (size_t i = 0; i < n; ++i)
    x_sizes[i] = x.dim(int(p.lhs.spatial[i])), y_sizes[i] = y.dim(int(p.rhs.spatial[i])), o_sizes[i] = out.dim(int(p.out.spatial[i]));
  const int64_t batches = out.dim(int(p.out.first)), channels = out.dim(int(p.out.second)), depth = y.dim(int(p.rhs.second));
  const bool no_taps = y.num_elements() == 0;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t lhs_batch = c / (channels / p.batch_groups) * batches + b, lhs_feature = c / (channels / p.feature_groups) * depth;
      const uint32_t zero_x = uint32_t(left.zero(lhs_batch)), zero_y = right_zero(zeros, c);
      const uint32_t outside = uint32_t(int32_t(int8_t(zero_x))) - zero_x;
      std::vector<int64_t> o(n, 0);
      do {
        uint32_t total = 0;
        std::vector<int64_t> t(n, 0);
        int64_t to = b * so.first + c * so.second;
        for (size_t i = 0; i < n; ++i) to += o[i] * so.spatial[i];
        if (!no_taps) {
          do {
            bool inside = true;
            int64_t from = lhs_batch * sx.first + lhs_feature * sx.second, tap = c * sy.first;
            for (size_t i = 0; i < n; ++i) {
              const int64_t place = o[i] * p.strides[i] + t[i] * p.rhs_dilation[i] - p.padding[2 * i], k = place / p.lhs_dilation[i];
              inside = inside && place >= 0 && place % p.lhs_dilation[i] == 0 && k < x_sizes[i];
              from += k * sx.spatial[i], tap += t[i] * sy.spatial[i];
            }
            for (int64_t d = 0; d < depth; ++d) {
              const uint32_t v = inside ? uint32_t(int32_t(left.values[from + d * sx.second])) - zero_x : outside;
              total += v * (uint32_t(int32_t(y.data<int8_t>()[tap + d * sy.second])) - zero_y);
            }
          } while (advance(t, y_sizes));
        }
        finish(out, to, total, left, lhs_batch, c);
      } while (advance(o, o_sizes));
    }
  }
}

template <bool kHybrid>
struct ConvKernel {
  Conv conv;
  int64_t rhs_axis, out_axis = -1;

  static Result<ConvKernel> make(const NodeInfo& node) {
    WEFT_ASSIGN(Conv conv, Conv::make(node));
    ConvKernel k{std::move(conv), node.attr<int64_t>("rhs_quantization_axis")};
    if (!kHybrid) {
      if (node.attr<int64_t>("lhs_quantization_axis") != -1) return invalid_argument("lhs_quantization_axis Attr must be -1 (per-tensor).");
      k.out_axis = node.attr<int64_t>("output_quantization_axis");
    }
    return k;
  }

  Status run(KernelContext& c) const {
    const Tensor &x = c.input(0), &y = c.input(1), &scales = c.input(kHybrid ? 2 : 4), &zeros = c.input(kHybrid ? 3 : 5);
    if (kHybrid) WEFT_RETURN_IF_ERROR(check_positive_scales(scales, "rhs"));
    else WEFT_RETURN_IF_ERROR(check_scale_signs(c));
    Conv p = conv;
    WEFT_ASSIGN(Shape shape, p.bind(x.shape(), y.shape()));
    if (!kHybrid) WEFT_RETURN_IF_ERROR(check_left_scalars(c));
    if (rhs_axis != -1 && rhs_axis != p.rhs.first)
      return invalid_argument(
          "rhs_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.kernel_output_feature_dimension (per-channel).");
    WEFT_RETURN_IF_ERROR(check_quantization_axis(y.shape(), scales, zeros, rhs_axis));
    if (!kHybrid) {
      if (out_axis != -1 && out_axis != p.out.second)
        return invalid_argument("output_quantization_axis Attr must be -1 (per-tensor) or dimension_numbers.output_feature_dimension (per-channel).");
      WEFT_RETURN_IF_ERROR(check_quantization_axis(shape, c.input(6), c.input(7), out_axis));
      if (scales.rank() == 0 && c.input(6).rank() > 0)
        return invalid_argument("If rhs is per-tensor quantized, output must be also per-tensor quantized. Given output scales/zero_points of rank ",
                                c.input(6).rank());
    }
    WEFT_ASSIGN(Finish finish, make_finish(c, kHybrid));
    WEFT_ASSIGN(Tensor* out, c.allocate(0, shape));
    Left left;
    if (kHybrid) {
      WEFT_ASSIGN(left.memory, c.temp(DType::kInt8, x.shape()));
      const int64_t batches = x.dim(int(p.lhs.first)), inner = x.shape().elements_in(int(p.lhs.first) + 1, x.rank());
      const int64_t outer = x.shape().elements_in(0, int(p.lhs.first));
      left.zeros.resize(size_t(batches)), left.scales.resize(size_t(batches));
      for (int64_t b = 0; b < batches; ++b) {
        auto each = [&](auto&& f) {
          for (int64_t o = 0; x.num_elements() > 0 && o < outer; ++o) {
            for (int64_t i = 0; i < inner; ++i) f((o * batches + b) * inner + i);
          }
        };
        quantize_row(x.data<float>(), left.memory.data<int8_t>(), each, left.scales[size_t(b)], left.zeros[size_t(b)]);
      }
      left.values = left.memory.data<int8_t>();
    } else {
      left.values = x.data<int8_t>();
      left.zeros = {c.input(3).data<int32_t>()[0]};
    }
    if (out->num_elements() == 0) return {};
    const int32_t zero = left.zeros[0];
    if (kHybrid || !p.channels_last() || !all_zero(zeros) || zero < -128 || zero > 127) {
      convolve(p, x.shape(), left, y, zeros, finish, *out);
      return {};
    }
    const kernels::ConvGeometry g = p.geometry(x.shape(), y.shape(), shape);
    const int64_t n = g.out_channels;
    WEFT_ASSIGN(Tensor packed, c.temp(DType::kUint8, Shape({kernels::int8_packed_bytes(g.patch(), n)})));
    WEFT_ASSIGN(Tensor bytes, c.temp(DType::kUint8, x.shape()));
    kernels::int8_pack({y.raw(), true, false, n}, g.patch(), n, packed.raw(), c.pool());
    kernels::int8_shift(x.raw(), bytes.raw(), x.num_elements(), c.pool());
    kernels::int8_conv(
        g, kernels::int8_conv_sizes(g, packed.raw(), zero + 128, 0), bytes.data<uint8_t>(),
        [&](int64_t i0, int64_t i1, int64_t j0, int64_t j1, const int32_t* totals, int64_t step) {
          for (int64_t i = i0; i < i1; ++i) {
            for (int64_t j = j0; j < j1; ++j) finish(*out, i * n + j, uint32_t(totals[(i - i0) * step + j - j0]), left, 0, j);
          }
        },
        c.pool());
    return {};
  }
};

}  // namespace

bool is_channels_last_conv(const NodeInfo& node) {
  const auto conv = Conv::make(node);
  return conv.ok() && conv->channels_last();
}

namespace {

// --- shapes ---

Status check_scales_shape(ShapeContext& c, int at, int64_t channels) {
  const PartialShape &scales = c.input(at), &zeros = c.input(at + 1);
  if (!scales.has_rank() || !zeros.has_rank()) return {};
  if (scales.rank() != zeros.rank()) return invalid_argument("scales and zero_points must have same rank.");
  if (scales.rank() == 0) return {};
  WEFT_RETURN_IF_ERROR(c.merge_dim(scales.dim(0), channels).status());
  return c.merge_dim(zeros.dim(0), channels).status();
}

// Ranks of the scales and zero points; the channels are not known before the shapes are.
Result<int> check_scale_ranks(ShapeContext& c) {
  const bool hybrid = c.num_inputs() == 4;
  for (int i = 2; i < c.num_inputs(); ++i) WEFT_RETURN_IF_ERROR(c.with_rank_at_most(i, !hybrid && i < 4 ? 0 : 1).status());
  return hybrid ? 2 : 4;
}

Status dot_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank(0, 2));
  WEFT_ASSIGN(PartialShape y, c.with_rank(1, 2));
  WEFT_ASSIGN(int at, check_scale_ranks(c));
  WEFT_RETURN_IF_ERROR(c.merge_dim(x.dim(1), y.dim(0)).status());
  for (; at < c.num_inputs(); at += 2) WEFT_RETURN_IF_ERROR(check_scales_shape(c, at, y.dim(1)));
  c.output(0, PartialShape::matrix(x.dim(0), y.dim(1)));
  return {};
}

Status conv_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape x, c.with_rank_at_least(0, 2));
  WEFT_ASSIGN(PartialShape y, c.with_rank_at_least(1, 2));
  WEFT_ASSIGN(int at, check_scale_ranks(c));
  if (x.has_rank() && y.has_rank() && x.rank() != y.rank()) return invalid_argument("lhs and rhs must have same rank.");
  const auto a = x.concrete(), b = y.concrete();
  if (!a || !b) {
    c.output(0, x.has_rank()   ? PartialShape::unknown_of_rank(x.rank())
                : y.has_rank() ? PartialShape::unknown_of_rank(y.rank())
                               : PartialShape::unknown());
    return {};
  }
  WEFT_ASSIGN(Conv p, Conv::make(c.node()));
  WEFT_ASSIGN(Shape shape, p.bind(*a, *b));
  for (; at < c.num_inputs(); at += 2) WEFT_RETURN_IF_ERROR(check_scales_shape(c, at, y.dim(int(p.rhs.first))));
  c.output(0, PartialShape(shape));
  return {};
}

void add_range(OpBuilder& b, std::string_view axis, std::string_view least, std::string_view most) { b.attr(axis).attr(least).attr(most); }

void add_ranges(OpBuilder& b, bool hybrid) {
  if (!hybrid) add_range(b, "lhs_quantization_axis: int = -1", "lhs_quantization_min_val: int", "lhs_quantization_max_val: int");
  add_range(b, "rhs_quantization_axis: int = -1", "rhs_quantization_min_val: int", "rhs_quantization_max_val: int");
  if (!hybrid) add_range(b, "output_quantization_axis: int = -1", "output_quantization_min_val: int", "output_quantization_max_val: int");
}

void add_inputs(OpBuilder& b, std::string_view lhs, std::string_view rhs, bool hybrid) {
  b.in(lhs).in(rhs);
  if (!hybrid) b.in("lhs_scales: float").in("lhs_zero_points: int32");
  b.in("rhs_scales: float").in("rhs_zero_points: int32");
  if (!hybrid) b.in("output_scales: float").in("output_zero_points: int32");
}

OpBuilder add_product(Registry& r, std::string_view name, bool hybrid, bool conv) {
  OpBuilder b = r.add(name);
  add_inputs(b, hybrid ? "lhs: Tlhs" : "lhs: Tin", hybrid ? "rhs: Trhs" : "rhs: Tin", hybrid);
  b.out("output: Tout");
  if (hybrid) b.attr("Tlhs: {float}").attr("Trhs: {qint8}").attr("Tout: {float}");
  else b.attr("Tin: {qint8}").attr("Tout: {qint32}");
  if (conv) {
    b.attr("window_strides: list(int) = []").attr("padding: string").attr("explicit_padding: list(int) = []");
    b.attr("lhs_dilation: list(int) = []").attr("rhs_dilation: list(int) = []");
    b.attr("batch_group_count: int = 1").attr("feature_group_count: int = 1").attr("dimension_numbers: string = ''");
  }
  add_ranges(b, hybrid);
  return b.shape(conv ? conv_shape : dot_shape);
}

}  // namespace

void quantized_uniform_products(Registry& r) {
  OpBuilder add = r.add("UniformQuantizedAdd");
  add_inputs(add, "lhs: T", "rhs: T", false);
  add.out("output: T");
  add_ranges(add, false);
  add.attr("T: {qint32}").doc("Sum of two arrays of uniformly quantised numbers.").shape(shapes::broadcast_binary).cpu(run_add);

  r.add("UniformQuantizedClipByValue")
      .in("operand: T")
      .in("min: T")
      .in("max: T")
      .in("scales: float")
      .in("zero_points: int32")
      .out("output: T")
      .attr("T: {qint32}")
      .attr("quantization_axis: int = -1")
      .attr("quantization_min_val: int")
      .attr("quantization_max_val: int")
      .doc("Uniformly quantised numbers limited to [min, max].")
      .shape(shapes::unchanged)
      .cpu(run_clip);

  add_product(r, "UniformQuantizedConvolution", false, true).doc("Convolution of uniformly quantised arrays.").cpu<ConvKernel<false>>();
  add_product(r, "UniformQuantizedConvolutionHybrid", true, true)
      .doc("Convolution of floats with a uniformly quantised kernel.")
      .cpu<ConvKernel<true>>();
  add_product(r, "UniformQuantizedDot", false, false).doc("Product of uniformly quantised matrices.").cpu(run_dot<false>);
  add_product(r, "UniformQuantizedDotHybrid", true, false).doc("Product of a matrix of floats and a uniformly quantised one.").cpu(run_dot<true>);
}

}  // namespace weft_engine::ops
