#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void fake_quant(Registry& r) {
  r.add("FakeQuantWithMinMaxArgs")
      .in("inputs: float")
      .out("outputs: float")
      .attr("min: float = -6")
      .attr("max: float = 6")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("FakeQuantWithMinMaxArgsGradient")
      .in("gradients: float")
      .in("inputs: float")
      .out("backprops: float")
      .attr("min: float = -6")
      .attr("max: float = 6")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("FakeQuantWithMinMaxVars")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("outputs: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("FakeQuantWithMinMaxVarsGradient")
      .in("gradients: float")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("backprops_wrt_input: float")
      .out("backprop_wrt_min: float")
      .out("backprop_wrt_max: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("FakeQuantWithMinMaxVarsPerChannel")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("outputs: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("FakeQuantWithMinMaxVarsPerChannelGradient")
      .in("gradients: float")
      .in("inputs: float")
      .in("min: float")
      .in("max: float")
      .out("backprops_wrt_input: float")
      .out("backprop_wrt_min: float")
      .out("backprop_wrt_max: float")
      .attr("num_bits: int = 8")
      .attr("narrow_range: bool = false");

  r.add("QuantizeAndDequantize")
      .in("input: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("input_min: float = 0")
      .attr("input_max: float = 0")
      .attr("T: {bfloat16, half, float, double}")
      .deprecated(22, "");

  r.add("QuantizeAndDequantizeV2")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1");

  r.add("QuantizeAndDequantizeV3")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .in("num_bits: int32")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("range_given: bool = true")
      .attr("T: {bfloat16, half, float, double}")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1");

  r.add("QuantizeAndDequantizeV4")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("output: T")
      .attr("signed_input: bool = true")
      .attr("num_bits: int = 8")
      .attr("range_given: bool = false")
      .attr("T: {bfloat16, half, float, double}")
      .attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
      .attr("narrow_range: bool = false")
      .attr("axis: int = -1");

  r.add("QuantizeAndDequantizeV4Grad")
      .in("gradients: T")
      .in("input: T")
      .in("input_min: T")
      .in("input_max: T")
      .out("input_backprop: T")
      .out("input_min_backprop: T")
      .out("input_max_backprop: T")
      .attr("T: {bfloat16, half, float, double}")
      .attr("axis: int = -1");
}

}  // namespace weft::ops
