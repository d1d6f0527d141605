// What the convolution families share: shapes to geometry with TensorFlow's checks, and the choice of
// kernel. Tensors given to run_* are staged (ops/nn/window.h): channels last, float, double or int32.
#pragma once

#include "kernels/cpu/matmul_epilogue.h"
#include "kernels/cpu/window.h"
#include "op/registry.h"
#include "ops/nn/window.h"

namespace weft_engine::ops {

using kernels::ConvGeometry;

// From the shapes of input and filter in the op's own data format.
Result<ConvGeometry> conv_geometry(const WindowAttrs& a, const core::Shape& in, const core::Shape& filter);
core::Shape conv_output_shape(const WindowAttrs& a, const ConvGeometry& g);
// As above for gradients, with the text's prefix ("Conv2DCustomBackpropInput").
Result<ConvGeometry> conv_gradient_geometry(std::string_view label, const WindowAttrs& a, const core::Shape& in, const core::Shape& filter,
                                            const core::Shape& dout);

// What follows a convolution of floats: a bias (may be null) and an activation.
struct ConvEpilogue {
  const float* bias = nullptr;
  kernels::Epilogue activation = kernels::Epilogue::kNone;
  float alpha = 0;  // LeakyRelu's slope
};
Status run_conv(KernelContext& c, const ConvGeometry& g, const Tensor& in, const Tensor& filter, Tensor& out, const ConvEpilogue& e = {});
Status run_conv_input(KernelContext& c, const ConvGeometry& g, const Tensor& filter, const Tensor& dout, Tensor& din);
Status run_conv_filter(KernelContext& c, const ConvGeometry& g, const Tensor& in, const Tensor& dout, Tensor& dfilter);

// The whole of a forward convolution into output 0: stages, runs, finishes. `after` may change the
// staged result.
Status convolve(
    KernelContext& c, const WindowAttrs& a, const Tensor& in, const Tensor& filter, const ConvEpilogue& e = {},
    core::FunctionRef<Status(Tensor&)> after = [](Tensor&) { return Status(); });

// A vector of sizes (int32 or int64) as a shape; `what` names it in the error texts.
Result<core::Shape> sizes_shape(const Tensor& sizes);

// Shape rules for both 2-D and 3-D.
Status conv_shape(ShapeContext& c, ConvKind kind);
Status conv_sizes_shape(ShapeContext& c, int input, int rank);

// Registration of the parts of the family `conv` that have files of their own.

}  // namespace weft_engine::ops
