#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void summary(Registry& r) {
  r.add("AudioSummary")
      .in("tag: string")
      .in("tensor: float")
      .out("summary: string")
      .attr("sample_rate: float")
      .attr("max_outputs: int >= 1 = 3")
      .deprecated(15, "");

  r.add("AudioSummaryV2")
      .in("tag: string")
      .in("tensor: float")
      .in("sample_rate: float")
      .out("summary: string")
      .attr("max_outputs: int >= 1 = 3");

  r.add("CloseSummaryWriter")
      .in("writer: resource")
      .stateful();

  r.add("CreateSummaryDbWriter")
      .in("writer: resource")
      .in("db_uri: string")
      .in("experiment_name: string")
      .in("run_name: string")
      .in("user_name: string")
      .stateful();

  r.add("CreateSummaryFileWriter")
      .in("writer: resource")
      .in("logdir: string")
      .in("max_queue: int32")
      .in("flush_millis: int32")
      .in("filename_suffix: string")
      .stateful();

  r.add("FlushSummaryWriter")
      .in("writer: resource")
      .stateful();

  r.add("HistogramSummary")
      .in("tag: string")
      .in("values: T")
      .out("summary: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT");

  r.add("ImageSummary")
      .in("tag: string")
      .in("tensor: T")
      .out("summary: string")
      .attr("max_images: int >= 1 = 3")
      .attr("T: {uint8, float, half, double} = DT_FLOAT")
      .attr("bad_color: tensor = uint8[255, 0, 0, 255]");

  r.add("ImportEvent")
      .in("writer: resource")
      .in("event: string")
      .stateful();

  r.add("MergeSummary")
      .in("inputs: N * string")
      .out("summary: string")
      .attr("N: int >= 1");

  r.add("ScalarSummary")
      .in("tags: string")
      .in("values: T")
      .out("summary: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}");

  r.add("StatsAggregatorSetSummaryWriter")
      .in("stats_aggregator: resource")
      .in("summary: resource")
      .stateful();

  r.add("SummaryWriter")
      .out("writer: resource")
      .attr("shared_name: string = ''")
      .attr("container: string = ''")
      .stateful();

  r.add("TensorSummary")
      .in("tensor: T")
      .out("summary: string")
      .attr("T: type")
      .attr("description: string = ''")
      .attr("labels: list(string) = []")
      .attr("display_name: string = ''");

  r.add("TensorSummaryV2")
      .in("tag: string")
      .in("tensor: T")
      .in("serialized_summary_metadata: string")
      .out("summary: string")
      .attr("T: type");

  r.add("WriteAudioSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("tensor: float")
      .in("sample_rate: float")
      .attr("max_outputs: int >= 1 = 3")
      .stateful();

  r.add("WriteGraphSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful();

  r.add("WriteHistogramSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("values: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, bool} = DT_FLOAT")
      .stateful();

  r.add("WriteImageSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("tensor: T")
      .in("bad_color: uint8")
      .attr("max_images: int >= 1 = 3")
      .attr("T: {uint8, double, float, half} = DT_FLOAT")
      .stateful();

  r.add("WriteRawProtoSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful();

  r.add("WriteScalarSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("value: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .stateful();

  r.add("WriteSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: T")
      .in("tag: string")
      .in("summary_metadata: string")
      .attr("T: type")
      .stateful();
}

}  // namespace weft::ops
