// What convolutions and pools share: reading and checking window attributes, sizing windows without
// overflow, and bringing tensors into the layout and type that the kernels compute in.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "kernels/cpu/window.h"
#include "op/kernel.h"
#include "op/shape_context.h"

namespace weft_engine::ops {

using kernels::WindowDim;
using op::KernelContext;
using op::NodeInfo;
using op::PartialShape;
using op::Result;
using op::ShapeContext;
using op::Status;
using op::Tensor;

// Attributes of a window op with `spatial` spatial dimensions; lists have one entry per tensor
// dimension, in the order of the data format.
struct WindowAttrs {
  int spatial = 2;
  bool channels_first = false;
  std::string padding;
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> paddings;  // before and after, per dimension; empty unless EXPLICIT

  int channel_axis() const { return channels_first ? 1 : spatial + 1; }
  int axis(int i) const { return channels_first ? i + 2 : i + 1; }  // of spatial dimension i
  // Sizes of spatial dimension i, with TensorFlow's error texts.
  Result<WindowDim> window(int i, int64_t in, int64_t window) const;
  // Output size; -1 where `in` or `window` is not known.
  Result<int64_t> out_dim(int i, int64_t in, int64_t window) const;
};

// The length of "strides" and the like, and that values fit an int32, as TensorFlow's kernels want.
Status check_int32_attr(std::string_view name, const std::vector<int64_t>& values);
// EXPLICIT paddings: count, sign, none for batch and channels.
Status check_explicit_paddings(const WindowAttrs& a);
Result<WindowDim> make_window(int64_t in, int64_t window, int64_t stride, int64_t dilation, std::string_view padding, int64_t before = 0,
                              int64_t after = 0);

// Convolution attributes, checked. `kind`: texts of Conv2D, of depthwise or of Conv3D kernels.
enum class ConvKind { kConv2D, kDepthwise, kConv3D };
// `for_shape`: as shape rules see them, which leave what a kernel refuses to the kernel.
Result<WindowAttrs> read_conv_attrs(const NodeInfo& node, ConvKind kind, bool for_shape = false);

// a + b where integers wrap instead of overflowing.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}

// --- layout and type ---

// half and bfloat16 are computed in float.
core::DType compute_type(core::DType t);
// The tensor channels last and in its compute_type; the tensor itself if it is so already.
Result<Tensor> stage(KernelContext& c, const Tensor& t, bool channels_first);
// Shape with the channel dimension moved last.
core::Shape channels_last(const core::Shape& s, bool channels_first);

// An output in the kernels' layout: allocated for real where that fits, else moved over by finish().
class StagedOutput {
 public:
  // `shape` is the output's own shape.
  static Result<StagedOutput> make(KernelContext& c, int index, const core::Shape& shape, bool channels_first);
  Tensor& tensor() { return work_; }
  Status finish(KernelContext& c);

 private:
  int index_ = 0;
  bool channels_first_ = false, direct_ = true;
  core::Shape shape_;
  Tensor work_;
};

}  // namespace weft_engine::ops
