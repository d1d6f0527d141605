#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void nn_act(Registry& r) {
  r.add("Elu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("EluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("LeakyRelu")
      .in("features: T")
      .out("activations: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT");

  r.add("LeakyReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("alpha: float = 0.2")
      .attr("T: {half, bfloat16, float, double} = DT_FLOAT");

  r.add("Relu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}");

  r.add("Relu6")
      .in("features: T")
      .out("activations: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("Relu6Grad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("ReluGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("Selu")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("SeluGrad")
      .in("gradients: T")
      .in("outputs: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("Sigmoid")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("SigmoidGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("Softplus")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("SoftplusGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("Softsign")
      .in("features: T")
      .out("activations: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("SoftsignGrad")
      .in("gradients: T")
      .in("features: T")
      .out("backprops: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("Tanh")
      .in("x: T")
      .out("y: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");

  r.add("TanhGrad")
      .in("y: T")
      .in("dy: T")
      .out("z: T")
      .attr("T: {bfloat16, half, float, double, complex64, complex128}");
}

}  // namespace weft::ops
