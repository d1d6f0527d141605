#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void pool(Registry& r) {
  r.add("AvgPool")
      .in("value: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {half, bfloat16, float, double}");

  r.add("AvgPool3D")
      .in("input: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float, double}");

  r.add("AvgPool3DGrad")
      .in("orig_input_shape: int32")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float, double}");

  r.add("AvgPoolGrad")
      .in("orig_input_shape: int32")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {half, bfloat16, float, double}");

  r.add("FractionalAvgPool")
      .in("value: T")
      .out("output: T")
      .out("row_pooling_sequence: int64")
      .out("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float) >= 4")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, int64}");

  r.add("FractionalAvgPoolGrad")
      .in("orig_input_tensor_shape: int64")
      .in("out_backprop: T")
      .in("row_pooling_sequence: int64")
      .in("col_pooling_sequence: int64")
      .out("output: T")
      .attr("overlapping: bool = false")
      .attr("T: {float, double, int32, int64}");

  r.add("FractionalMaxPool")
      .in("value: T")
      .out("output: T")
      .out("row_pooling_sequence: int64")
      .out("col_pooling_sequence: int64")
      .attr("pooling_ratio: list(float) >= 4")
      .attr("pseudo_random: bool = false")
      .attr("overlapping: bool = false")
      .attr("deterministic: bool = false")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, int64}");

  r.add("FractionalMaxPoolGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("out_backprop: T")
      .in("row_pooling_sequence: int64")
      .in("col_pooling_sequence: int64")
      .out("output: T")
      .attr("overlapping: bool = false")
      .attr("T: {float, double, int32, int64}");

  r.add("MaxPool")
      .in("input: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'");

  r.add("MaxPool3D")
      .in("input: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float}");

  r.add("MaxPool3DGrad")
      .in("orig_input: TInput")
      .in("orig_output: TInput")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {half, bfloat16, float} = DT_FLOAT")
      .attr("TInput: {half, bfloat16, float} = DT_FLOAT");

  r.add("MaxPool3DGradGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("MaxPoolGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID', 'EXPLICIT'}")
      .attr("explicit_paddings: list(int) = []")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT");

  r.add("MaxPoolGradGrad")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("MaxPoolGradGradV2")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("MaxPoolGradV2")
      .in("orig_input: T")
      .in("orig_output: T")
      .in("grad: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT");

  r.add("MaxPoolGradWithArgmax")
      .in("input: T")
      .in("grad: T")
      .in("argmax: Targmax")
      .out("output: T")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("include_batch_in_index: bool = false")
      .attr("Targmax: {int32, int64}")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("MaxPoolV2")
      .in("input: T")
      .in("ksize: int32")
      .in("strides: int32")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'");

  r.add("MaxPoolWithArgmax")
      .in("input: T")
      .out("output: T")
      .out("argmax: Targmax")
      .attr("ksize: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("Targmax: {int32, int64} = DT_INT64")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("include_batch_in_index: bool = false")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");
}

}  // namespace weft::ops
