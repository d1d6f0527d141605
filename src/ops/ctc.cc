#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void ctc(Registry& r) {
  r.add("CTCBeamSearchDecoder")
      .in("inputs: T")
      .in("sequence_length: int32")
      .out("decoded_indices: top_paths * int64")
      .out("decoded_values: top_paths * int64")
      .out("decoded_shape: top_paths * int64")
      .out("log_probability: T")
      .attr("beam_width: int >= 1")
      .attr("top_paths: int >= 1")
      .attr("merge_repeated: bool = true")
      .attr("T: {float, double} = DT_FLOAT");

  r.add("CTCGreedyDecoder")
      .in("inputs: T")
      .in("sequence_length: int32")
      .out("decoded_indices: int64")
      .out("decoded_values: int64")
      .out("decoded_shape: int64")
      .out("log_probability: T")
      .attr("merge_repeated: bool = false")
      .attr("blank_index: int = -1")
      .attr("T: {float, double} = DT_FLOAT");

  r.add("CTCLoss")
      .in("inputs: T")
      .in("labels_indices: int64")
      .in("labels_values: int32")
      .in("sequence_length: int32")
      .out("loss: T")
      .out("gradient: T")
      .attr("preprocess_collapse_repeated: bool = false")
      .attr("ctc_merge_repeated: bool = true")
      .attr("ignore_longer_outputs_than_inputs: bool = false")
      .attr("T: {float, double} = DT_FLOAT");

  r.add("EditDistance")
      .in("hypothesis_indices: int64")
      .in("hypothesis_values: T")
      .in("hypothesis_shape: int64")
      .in("truth_indices: int64")
      .in("truth_values: T")
      .in("truth_shape: int64")
      .out("output: float")
      .attr("normalize: bool = true")
      .attr("T: type");
}

}  // namespace weft::ops
