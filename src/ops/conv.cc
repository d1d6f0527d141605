#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void conv(Registry& r) {
  r.add("Conv")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'")
      .attr("dilations: list(int) = []")
      .attr("batch_dims: int = 1")
      .attr("groups: int = 1");

  r.add("Conv2D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("Conv2DBackpropFilter")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("Conv2DBackpropInput")
      .in("input_sizes: int32")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32}")
      .attr("strides: list(int)")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("DepthwiseConv2dNative")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("DepthwiseConv2dNativeBackpropFilter")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("DepthwiseConv2dNativeBackpropInput")
      .in("input_sizes: int32")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1]");

  r.add("Dilation2D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("Dilation2DBackpropFilter")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("filter_backprop: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("Dilation2DBackpropInput")
      .in("input: T")
      .in("filter: T")
      .in("out_backprop: T")
      .out("in_backprop: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("FusedPadConv2D")
      .in("input: T")
      .in("paddings: int32")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("FusedResizeAndPadConv2D")
      .in("input: T")
      .in("size: int32")
      .in("paddings: int32")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, float, double}")
      .attr("resize_align_corners: bool = false")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("_FusedConv2D")
      .in("input: T")
      .in("filter: T")
      .in("args: TArgs")
      .in("host_args: num_host_args * float")
      .out("output: T")
      .attr("T: {half, float, double, int8, qint8}")
      .attr("TArgs: list(type) >= 1")
      .attr("num_args: int >= 0")
      .attr("num_host_args: int >= 0 = 0")
      .attr("strides: list(int)")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .attr("filter_format: {'HWIO', 'OIHW', 'OIHW_VECT_I'} = 'HWIO'")
      .attr("dilations: list(int) = [1, 1, 1, 1]")
      .attr("use_cudnn_on_gpu: bool = true")
      .attr("fused_ops: list(string) = []")
      .attr("epsilon: float = 0.0001")
      .attr("leakyrelu_alpha: float = 0.2");
}

}  // namespace weft::ops
