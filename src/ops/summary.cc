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
      .deprecated(15, "Use AudioSummaryV2.")
      .doc("A serialized summary of audio clips.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("AudioSummaryV2")
      .in("tag: string")
      .in("tensor: float")
      .in("sample_rate: float")
      .out("summary: string")
      .attr("max_outputs: int >= 1 = 3")
      .doc("A serialized summary of audio clips, with the sample rate as an input.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("CloseSummaryWriter")
      .in("writer: resource")
      .stateful()
      .doc("Writes what is left and closes a summary writer.")
      .shape(shapes::no_outputs);

  r.add("CreateSummaryDbWriter")
      .in("writer: resource")
      .in("db_uri: string")
      .in("experiment_name: string")
      .in("run_name: string")
      .in("user_name: string")
      .stateful()
      .doc("Makes a summary writer into a database.")
      .shape(shapes::no_outputs);

  r.add("CreateSummaryFileWriter")
      .in("writer: resource")
      .in("logdir: string")
      .in("max_queue: int32")
      .in("flush_millis: int32")
      .in("filename_suffix: string")
      .stateful()
      .doc("Makes a summary writer into event files of a folder.")
      .shape(shapes::no_outputs);

  r.add("FlushSummaryWriter")
      .in("writer: resource")
      .stateful()
      .doc("Writes what a summary writer holds back.")
      .shape(shapes::no_outputs);

  r.add("HistogramSummary")
      .in("tag: string")
      .in("values: T")
      .out("summary: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64} = DT_FLOAT")
      .doc("A serialized summary of a histogram of values.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("ImageSummary")
      .in("tag: string")
      .in("tensor: T")
      .out("summary: string")
      .attr("max_images: int >= 1 = 3")
      .attr("T: {uint8, float, half, double} = DT_FLOAT")
      .attr("bad_color: tensor = uint8[255, 0, 0, 255]")
      .doc("A serialized summary of images.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("ImportEvent")
      .in("writer: resource")
      .in("event: string")
      .stateful()
      .doc("Hands a serialized event to a summary writer.")
      .shape(shapes::no_outputs);

  r.add("MergeSummary")
      .in("inputs: N * string")
      .out("summary: string")
      .attr("N: int >= 1")
      .doc("One serialized summary with the values of several.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("ScalarSummary")
      .in("tags: string")
      .in("values: T")
      .out("summary: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("A serialized summary of named numbers.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("StatsAggregatorSetSummaryWriter")
      .in("stats_aggregator: resource")
      .in("summary: resource")
      .stateful()
      .doc("Lets statistics of input pipelines go to a summary writer.")
      .shape(shapes::no_outputs);

  r.add("SummaryWriter")
      .out("writer: resource")
      .attr("shared_name: string = ''")
      .attr("container: string = ''")
      .stateful()
      .doc("A handle to a summary writer.")
      .shape(shapes::scalar);

  r.add("TensorSummary")
      .in("tensor: T")
      .out("summary: string")
      .attr("T: type")
      .attr("description: string = ''")
      .attr("labels: list(string) = []")
      .attr("display_name: string = ''")
      .doc("A serialized summary of a tensor.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("TensorSummaryV2")
      .in("tag: string")
      .in("tensor: T")
      .in("serialized_summary_metadata: string")
      .out("summary: string")
      .attr("T: type")
      .doc("A serialized summary of a tensor with a tag and plugin data.")
      .shape(shapes::scalar)
      .no_grad();

  r.add("WriteAudioSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("tensor: float")
      .in("sample_rate: float")
      .attr("max_outputs: int >= 1 = 3")
      .stateful()
      .doc("Writes a summary of audio clips.")
      .shape(shapes::no_outputs);

  r.add("WriteGraphSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful()
      .doc("Writes a serialized graph.")
      .shape(shapes::no_outputs);

  r.add("WriteHistogramSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("values: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, bool} = DT_FLOAT")
      .stateful()
      .doc("Writes a summary of a histogram of values.")
      .shape(shapes::no_outputs);

  r.add("WriteImageSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("tensor: T")
      .in("bad_color: uint8")
      .attr("max_images: int >= 1 = 3")
      .attr("T: {uint8, double, float, half} = DT_FLOAT")
      .stateful()
      .doc("Writes a summary of images.")
      .shape(shapes::no_outputs);

  r.add("WriteRawProtoSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful()
      .doc("Writes serialized summaries as they are.")
      .shape(shapes::no_outputs);

  r.add("WriteScalarSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("value: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .stateful()
      .doc("Writes a summary of one number.")
      .shape(shapes::no_outputs);

  r.add("WriteSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: T")
      .in("tag: string")
      .in("summary_metadata: string")
      .attr("T: type")
      .stateful()
      .doc("Writes a summary of a tensor with a tag and plugin data.")
      .shape(shapes::no_outputs);
}

}  // namespace weft::ops
