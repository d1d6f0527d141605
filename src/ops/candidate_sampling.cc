#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void candidate_sampling(Registry& r) {
  r.add("AllCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();

  r.add("ComputeAccidentalHits")
      .in("true_classes: int64")
      .in("sampled_candidates: int64")
      .out("indices: int32")
      .out("ids: int64")
      .out("weights: float")
      .attr("num_true: int")
      .attr("seed: int = 0")
      .attr("seed2: int = 0");

  r.add("FixedUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("vocab_file: string = ''")
      .attr("distortion: float = 1")
      .attr("num_reserved_ids: int = 0")
      .attr("num_shards: int >= 1 = 1")
      .attr("shard: int >= 0 = 0")
      .attr("unigrams: list(float) = []")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();

  r.add("LearnedUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();

  r.add("LogUniformCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();

  r.add("ThreadUnsafeUnigramCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();

  r.add("UniformCandidateSampler")
      .in("true_classes: int64")
      .out("sampled_candidates: int64")
      .out("true_expected_count: float")
      .out("sampled_expected_count: float")
      .attr("num_true: int >= 1")
      .attr("num_sampled: int >= 1")
      .attr("unique: bool")
      .attr("range_max: int >= 1")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .stateful();
}

}  // namespace weft::ops
