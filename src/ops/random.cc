#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void random(Registry& r) {
  r.add("Multinomial")
      .in("logits: T")
      .in("num_samples: int32")
      .out("output: output_dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("output_dtype: {int32, int64} = DT_INT64")
      .stateful();

  r.add("NonDeterministicInts")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_INT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("ParameterizedTruncatedNormal")
      .in("shape: T")
      .in("means: dtype")
      .in("stdevs: dtype")
      .in("minvals: dtype")
      .in("maxvals: dtype")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful();

  r.add("RandomCrop")
      .in("image: T")
      .in("size: int64")
      .out("output: T")
      .attr("T: {uint8, int8, int16, int32, int64, float, double}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful()
      .deprecated(8, "");

  r.add("RandomGamma")
      .in("shape: S")
      .in("alpha: T")
      .out("output: T")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("T: {half, float, double}")
      .stateful();

  r.add("RandomPoisson")
      .in("shape: S")
      .in("rate: dtype")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("dtype: {half, float, double}")
      .stateful()
      .deprecated(25, "");

  r.add("RandomPoissonV2")
      .in("shape: S")
      .in("rate: R")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("S: {int32, int64}")
      .attr("R: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .stateful();

  r.add("RandomShuffle")
      .in("value: T")
      .out("output: T")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("T: type")
      .stateful();

  r.add("RandomStandardNormal")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful();

  r.add("RandomUniform")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful();

  r.add("RandomUniformInt")
      .in("shape: T")
      .in("minval: Tout")
      .in("maxval: Tout")
      .out("output: Tout")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("Tout: {int32, int64}")
      .attr("T: {int32, int64}")
      .stateful();

  r.add("RngReadAndSkip")
      .in("resource: resource")
      .in("alg: int32")
      .in("delta: uint64")
      .out("value: int64")
      .stateful();

  r.add("RngSkip")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("delta: int64")
      .stateful();

  r.add("SampleDistortedBoundingBox")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("min_object_covered: float = 0.1")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .stateful();

  r.add("SampleDistortedBoundingBoxV2")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .in("min_object_covered: float")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false")
      .stateful();

  r.add("StatefulRandomBinomial")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: S")
      .in("counts: T")
      .in("probs: T")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64")
      .stateful();

  r.add("StatefulStandardNormal")
      .in("resource: resource")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful()
      .deprecated(29, "");

  r.add("StatefulStandardNormalV2")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("StatefulTruncatedNormal")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("StatefulUniform")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_FLOAT")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("StatefulUniformFullInt")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_UINT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("StatefulUniformInt")
      .in("resource: resource")
      .in("algorithm: int64")
      .in("shape: shape_dtype")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: type = DT_INT64")
      .attr("shape_dtype: type = DT_INT64")
      .stateful();

  r.add("TruncatedNormal")
      .in("shape: T")
      .out("output: dtype")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("dtype: {half, bfloat16, float, double}")
      .attr("T: {int32, int64}")
      .stateful();
}

}  // namespace weft::ops
