#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void random_stateless(Registry& r) {
  r.add("RandomGammaGrad")
      .in("alpha: T")
      .in("sample: T")
      .out("output: T")
      .attr("T: {float, double}");

  r.add("RandomIndexShuffle")
      .in("index: dtype")
      .in("seed: Tseed")
      .in("max_index: dtype")
      .out("output: dtype")
      .attr("rounds: int = 4")
      .attr("dtype: {int32, uint32, int64, uint64}")
      .attr("Tseed: {int32, uint32, int64, uint64}");

  r.add("SobolSample")
      .in("dim: int32")
      .in("num_results: int32")
      .in("skip: int32")
      .out("samples: dtype")
      .attr("dtype: {float, double} = DT_FLOAT");

  r.add("StatelessMultinomial")
      .in("logits: T")
      .in("num_samples: int32")
      .in("seed: Tseed")
      .out("output: output_dtype")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("output_dtype: {int32, int64} = DT_INT64");

  r.add("StatelessParameterizedTruncatedNormal")
      .in("shape: S")
      .in("seed: Tseed")
      .in("means: dtype")
      .in("stddevs: dtype")
      .in("minvals: dtype")
      .in("maxvals: dtype")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("dtype: {half, float, double}");

  r.add("StatelessRandomBinomial")
      .in("shape: S")
      .in("seed: Tseed")
      .in("counts: T")
      .in("probs: T")
      .out("output: dtype")
      .attr("S: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64")
      .attr("T: {half, float, double, int32, int64} = DT_DOUBLE")
      .attr("dtype: {half, float, double, int32, int64} = DT_INT64");

  r.add("StatelessRandomGammaV2")
      .in("shape: T")
      .in("seed: Tseed")
      .in("alpha: dtype")
      .out("output: dtype")
      .attr("dtype: {half, float, double}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomGammaV3")
      .in("shape: shape_dtype")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .in("alpha: dtype")
      .out("output: dtype")
      .attr("dtype: {half, float, double}")
      .attr("shape_dtype: {int32, int64} = DT_INT32");

  r.add("StatelessRandomGetAlg")
      .out("alg: int32")
      .stateful();

  r.add("StatelessRandomGetKeyCounter")
      .in("seed: Tseed")
      .out("key: uint64")
      .out("counter: uint64")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomGetKeyCounterAlg")
      .in("seed: Tseed")
      .out("key: uint64")
      .out("counter: uint64")
      .out("alg: int32")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomNormal")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomNormalV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("StatelessRandomPoisson")
      .in("shape: T")
      .in("seed: Tseed")
      .in("lam: Rtype")
      .out("output: dtype")
      .attr("Rtype: {half, float, double, int32, int64}")
      .attr("dtype: {half, float, double, int32, int64}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomUniform")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomUniformFullInt")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64, uint32, uint64} = DT_INT64");

  r.add("StatelessRandomUniformFullIntV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64} = DT_UINT64")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("StatelessRandomUniformInt")
      .in("shape: T")
      .in("seed: Tseed")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: {int32, int64}")
      .attr("T: {int32, int64}")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessRandomUniformIntV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .in("minval: dtype")
      .in("maxval: dtype")
      .out("output: dtype")
      .attr("dtype: {int32, int64, uint32, uint64}")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("StatelessRandomUniformV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32");

  r.add("StatelessSampleDistortedBoundingBox")
      .in("image_size: T")
      .in("bounding_boxes: float")
      .in("min_object_covered: float")
      .in("seed: Tseed")
      .out("begin: T")
      .out("size: T")
      .out("bboxes: float")
      .attr("T: {uint8, int8, int16, int32, int64}")
      .attr("Tseed: {int32, int64}")
      .attr("aspect_ratio_range: list(float) = [0.75, 1.33]")
      .attr("area_range: list(float) = [0.05, 1]")
      .attr("max_attempts: int = 100")
      .attr("use_image_if_no_bounding_boxes: bool = false");

  r.add("StatelessShuffle")
      .in("value: T")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: T")
      .attr("T: type");

  r.add("StatelessTruncatedNormal")
      .in("shape: T")
      .in("seed: Tseed")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("Tseed: {int32, int64} = DT_INT64");

  r.add("StatelessTruncatedNormalV2")
      .in("shape: Tshape")
      .in("key: uint64")
      .in("counter: uint64")
      .in("alg: int32")
      .out("output: dtype")
      .attr("dtype: {half, bfloat16, float, double} = DT_FLOAT")
      .attr("Tshape: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
