#include "ops/nn/window.h"

#include <limits>

#include "kernels/cpu/batch_matmul.h"
#include "op/dispatch.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

__extension__ typedef __int128 Wide128;
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
// Sizes of empty tensors may be anything; beyond this they are refused, so that sums cannot overflow.
constexpr int64_t kMaxExtent = int64_t(1) << 60;

// [outer, rows, columns] -> [outer, columns, rows], in tiles that fit the cache.
template <class T>
void transpose_rows(const T* from, T* to, int64_t outer, int64_t rows, int64_t columns, ThreadPool& pool) {
  constexpr int64_t kTile = 32;
  const int64_t strips = (rows + kTile - 1) / kTile;
  pool.parallel_for(outer * strips, double(kTile) * double(columns), [&](int64_t b, int64_t e) {
    for (int64_t s = b; s < e; ++s) {
      const int64_t base = s / strips * rows * columns, r0 = s % strips * kTile, r1 = std::min(rows, r0 + kTile);
      for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
        const int64_t c1 = std::min(columns, c0 + kTile);
        for (int64_t r = r0; r < r1; ++r) {
          for (int64_t c = c0; c < c1; ++c) to[base + c * rows + r] = from[base + r * columns + c];
        }
      }
    }
  });
}

Status move_channels(KernelContext& c, const Tensor& from, Tensor& to, int64_t outer, int64_t rows, int64_t columns) {
  return dispatch_movable(from.dtype(), [&]<class T>(Tag<T>) {
    if constexpr (std::is_trivially_copyable_v<T>) transpose_rows(from.data<T>(), to.data<T>(), outer, rows, columns, c.pool());
    return Status();
  });
}

void convert(KernelContext& c, const Tensor& from, Tensor& to) {
  if (to.dtype() == DType::kFloat) kernels::widen(from.dtype(), from.raw(), to.data<float>(), from.num_elements(), c.pool());
  else kernels::narrow(to.dtype(), from.data<float>(), to.raw(), from.num_elements(), c.pool());
}

}  // namespace

Status check_int32_attr(std::string_view name, const std::vector<int64_t>& values) {
  for (int64_t v : values) {
    if (v > kInt32Max || v < std::numeric_limits<int32_t>::min())
      return invalid_argument("Attr ", name, " has value ", v, " out of range for an int32");
  }
  return {};
}

Status check_explicit_paddings(const WindowAttrs& a) {
  const size_t expected = size_t(a.spatial + 2) * 2;
  if (a.padding != "EXPLICIT") {
    if (!a.paddings.empty()) return invalid_argument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
    return {};
  }
  if (a.paddings.size() != expected)
    return invalid_argument("explicit_paddings attribute must contain ", expected, " values, but got: ", a.paddings.size());
  for (int64_t p : a.paddings) {
    if (p < 0) return invalid_argument("All elements of explicit_paddings must be nonnegative");
    if (p > kInt32Max) return invalid_argument("filter too large");
  }
  for (int axis : {0, a.channel_axis()}) {
    if (a.paddings[size_t(axis) * 2] || a.paddings[size_t(axis) * 2 + 1])
      return invalid_argument("Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  return {};
}

Result<WindowDim> make_window(int64_t in, int64_t window, int64_t stride, int64_t dilation, std::string_view padding, int64_t before, int64_t after) {
  if (stride <= 0) return invalid_argument("Stride must be > 0, but got ", stride);
  if (dilation < 1) return invalid_argument("Dilation rate must be >= 1, but got ", dilation);
  if (in < 0 || window < 0 || in > kMaxExtent || before > kMaxExtent || after > kMaxExtent)
    return invalid_argument("Window of size ", window, " over ", in, " elements is out of range");
  const Wide128 reach = Wide128(window - 1) * dilation + 1;
  if (reach > kMaxExtent) return invalid_argument("filter too large");
  Wide128 out;
  if (padding == "SAME") {
    out = (Wide128(in) + stride - 1) / stride;
    before = int64_t(std::max<Wide128>(0, (out - 1) * stride + reach - in) / 2);
  } else {
    if (padding == "VALID") before = after = 0;
    out = (Wide128(in) + before + after - reach + stride) / stride;
  }
  if (out < 0)
    return invalid_argument("Computed output size would be negative: ", int64_t(out), " [input_size: ", in,
                            ", effective_filter_size: ", int64_t(reach), ", stride: ", stride, "]");
  return WindowDim{.in = in, .window = window, .out = int64_t(out), .stride = stride, .dilation = dilation, .before = before};
}

Result<WindowDim> WindowAttrs::window(int i, int64_t in, int64_t window) const {
  const size_t at = size_t(axis(i));
  const bool given = !paddings.empty();
  return make_window(in, window, strides[at], dilations.empty() ? 1 : dilations[at], padding, given ? paddings[2 * at] : 0,
                     given ? paddings[2 * at + 1] : 0);
}

Result<int64_t> WindowAttrs::out_dim(int i, int64_t in, int64_t size) const {
  const size_t at = size_t(axis(i));
  const int64_t dilation = dilations.empty() ? 1 : dilations[at];
  if (strides[at] <= 0) return invalid_argument("Stride must be > 0, but got ", strides[at]);
  if (dilation < 1) return invalid_argument("Dilation rate must be >= 1, but got ", dilation);
  if (in < 0 || (size < 0 && padding != "SAME")) return kUnknownDim;
  if (padding != "SAME" && size > 0 && size <= kInt32Max && in <= kMaxExtent) {
    const int64_t reach = (size - 1) * dilation + 1, room = in + (paddings.empty() ? 0 : paddings[2 * at] + paddings[2 * at + 1]);
    if (reach > room) return invalid_argument("Negative dimension size caused by subtracting ", reach, " from ", room);
  }
  WEFT_ASSIGN(WindowDim d, window(i, in, std::max<int64_t>(size, 1)));
  return d.out;
}

Result<WindowAttrs> read_conv_attrs(const NodeInfo& node, ConvKind kind, bool for_shape) {
  WindowAttrs a;
  const bool is_3d = kind == ConvKind::kConv3D;
  a.spatial = is_3d ? 3 : 2;
  const size_t rank = size_t(a.spatial) + 2;
  if (const AttrValue* v = node.find_attr("data_format")) {
    const std::string& format = *v->get<std::string>();
    a.channels_first = format == "NCHW" || format == "NCDHW" || format == "CHANNELS_FIRST";
  }
  a.padding = node.attr<std::string>("padding");
  a.strides = node.attr<std::vector<int64_t>>("strides");
  a.dilations = node.find_attr("dilations") ? node.attr<std::vector<int64_t>>("dilations") : std::vector<int64_t>(rank, 1);
  if (node.find_attr("explicit_paddings")) a.paddings = node.attr<std::vector<int64_t>>("explicit_paddings");
  if (node.find_attr("padding_list") && !node.attr<std::vector<int64_t>>("padding_list").empty()) {  // of quantised convolutions
    a.paddings = node.attr<std::vector<int64_t>>("padding_list");
    a.padding = "EXPLICIT";
  }
  WEFT_RETURN_IF_ERROR(check_int32_attr("dilations", a.dilations));
  WEFT_RETURN_IF_ERROR(check_int32_attr("strides", a.strides));
  if (for_shape && kind != ConvKind::kConv3D) {
    const char* op = kind == ConvKind::kDepthwise ? "DepthwiseConv2D" : "Conv2D";
    if (a.strides.size() != rank) return invalid_argument(op, " requires the stride attribute to contain 4 values, but got: ", a.strides.size());
    if (a.dilations.size() != rank)
      return invalid_argument(op, " requires the dilations attribute to contain 4 values, but got: ", a.dilations.size());
  }
  if (a.strides.size() != rank) return invalid_argument("Sliding window strides field must specify ", rank, " dimensions");
  if (a.dilations.size() != rank) {
    if (is_3d) return invalid_argument("Dilation rates field must specify 5 dimensions");
    return invalid_argument("Sliding window dilations field must specify ", rank, " dimensions");
  }
  if (for_shape) {
    WEFT_RETURN_IF_ERROR(check_explicit_paddings(a));
    return a;
  }
  const size_t ch = size_t(a.channel_axis());
  const char* no_strides = "Current implementation does not yet support strides in the batch and depth dimensions.";
  if (a.strides[0] != 1 || a.strides[ch] != 1) {
    if (kind == ConvKind::kConv2D) return unimplemented(no_strides);
    return invalid_argument(no_strides);
  }
  if (a.dilations[0] != 1 || a.dilations[ch] != 1) {
    if (is_3d) return invalid_argument("Current implementation does not yet support dilation rates in the batch and depth dimensions.");
    return unimplemented("Current implementation does not yet support dilations in the batch and depth dimensions.");
  }
  for (int i = 0; i < a.spatial; ++i) {
    const size_t at = size_t(a.axis(i));
    if (a.strides[at] <= 0) {
      if (kind == ConvKind::kDepthwise) return invalid_argument("Stride must be > 0, but got ", a.strides[at]);
      return invalid_argument(is_3d ? "Spatial strides should be larger than 0." : "Row and column strides should be larger than 0.");
    }
    if (a.dilations[at] <= 0) return invalid_argument(is_3d ? "Dilated rates should be larger than 0." : "Dilated rates should be larger than 0.");
  }
  WEFT_RETURN_IF_ERROR(check_explicit_paddings(a));
  return a;
}

DType compute_type(DType t) { return t == DType::kHalf || t == DType::kBfloat16 ? DType::kFloat : t; }

Shape channels_last(const Shape& s, bool channels_first) {
  if (!channels_first || s.rank() < 3) return s;
  Shape out = s;
  const int64_t channels = out.dim(1);
  out.remove_dim(1);
  out.add_dim(channels);
  return out;
}

Result<Tensor> stage(KernelContext& c, const Tensor& t, bool channels_first) {
  Tensor now = t;
  if (channels_first && t.rank() > 2 && t.num_elements() > 0) {
    WEFT_ASSIGN(now, c.temp(t.dtype(), channels_last(t.shape(), true)));
    WEFT_RETURN_IF_ERROR(move_channels(c, t, now, t.dim(0), t.dim(1), t.shape().elements_in(2, t.rank())));
  } else if (channels_first) {
    now = t.reshaped(channels_last(t.shape(), true));
  }
  if (compute_type(t.dtype()) == t.dtype()) return now;
  WEFT_ASSIGN(Tensor wide, c.temp(compute_type(t.dtype()), now.shape()));
  convert(c, now, wide);
  return wide;
}

Result<StagedOutput> StagedOutput::make(KernelContext& c, int index, const Shape& shape, bool channels_first) {
  StagedOutput s;
  s.index_ = index;
  s.shape_ = shape;
  s.channels_first_ = channels_first;
  const DType type = c.output_type(index);
  s.direct_ = !channels_first && compute_type(type) == type;
  if (s.direct_) {
    WEFT_ASSIGN(Tensor* out, c.allocate(index, shape));
    s.work_ = *out;
  } else {
    WEFT_ASSIGN(s.work_, c.temp(compute_type(type), channels_last(shape, channels_first)));
  }
  return s;
}

Status StagedOutput::finish(KernelContext& c) {
  if (direct_) {
    work_ = Tensor();
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(index_, shape_));
  if (out->num_elements() == 0) return {};
  Tensor now = std::move(work_);
  if (now.dtype() != out->dtype()) {
    Tensor narrow = *out;
    if (channels_first_) {
      WEFT_ASSIGN(narrow, c.temp(out->dtype(), now.shape()));
    }
    convert(c, now, narrow);
    now = narrow;
  }
  if (!channels_first_) return {};
  const int rank = now.rank();
  return move_channels(c, now, *out, now.dim(0), now.shape().elements_in(1, rank - 1), now.dim(rank - 1));
}

}  // namespace weft_engine::ops
