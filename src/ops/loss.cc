#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void loss(Registry& r) {
  r.add("InTopK")
      .in("predictions: float")
      .in("targets: T")
      .out("precision: bool")
      .attr("k: int")
      .attr("T: {int32, int64} = DT_INT32");

  r.add("InTopKV2")
      .in("predictions: float")
      .in("targets: T")
      .in("k: T")
      .out("precision: bool")
      .attr("T: {int32, int64} = DT_INT32");

  r.add("LogSoftmax")
      .in("logits: T")
      .out("logsoftmax: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("Softmax")
      .in("logits: T")
      .out("softmax: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("SoftmaxCrossEntropyWithLogits")
      .in("features: T")
      .in("labels: T")
      .out("loss: T")
      .out("backprop: T")
      .attr("T: {half, bfloat16, float, double}");

  r.add("SparseSoftmaxCrossEntropyWithLogits")
      .in("features: T")
      .in("labels: Tlabels")
      .out("loss: T")
      .out("backprop: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("Tlabels: {int32, int64} = DT_INT64");
}

}  // namespace weft::ops
