// Summaries: what TensorBoard shows, as serialized messages, in event files and in databases.
#include <optional>
#include <set>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/data/stats.h"
#include "ops/io/summary_db.h"
#include "ops/io/summary_values.h"
#include "wire/event_file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// ---- ops that give a serialized Summary ----

Status emit(KernelContext& c, const std::string& summary) {
  WEFT_ASSIGN(Tensor* out, c.allocate(0, Shape()));
  out->data<tstring>()[0] = summary;
  return {};
}

Status need_scalar(const Tensor& t, std::string_view text) { return t.rank() == 0 ? Status() : invalid_argument(text); }
std::string_view text_of(const Tensor& t) { return t.data<tstring>()[0].view(); }

bool is_message(std::string_view bytes) {
  wire::ProtoReader r(bytes);
  while (r.next()) {
  }
  return r.ok();
}

Status run_scalar(KernelContext& c) {
  const Tensor &tags = c.input(0), &values = c.input(1);
  // A single tag may stand for any value of one element.
  const bool one = tags.num_elements() == 1 && values.num_elements() == 1;
  if (tags.shape() != values.shape() && !(one && tags.rank() == 0 && values.rank() == 0))
    return invalid_argument("tags and values are not the same shape: ", tags.shape(), " != ", values.shape(),
                            tags.num_elements() == 1 ? cat(" (tag '", text_of(tags), "')") : std::string());
  std::string summary;
  for (int64_t i = 0; i < tags.num_elements(); ++i) WEFT_RETURN_IF_ERROR(add_scalar(summary, tags.data<tstring>()[i].view(), values, i));
  return emit(c, summary);
}

Status run_histogram(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(need_scalar(c.input(0), "tags must be scalar"));
  std::string summary;
  const std::string& name = c.node().name();
  WEFT_RETURN_IF_ERROR(add_histogram(summary, text_of(c.input(0)), c.input(1), name.empty() ? c.node().op() : name));
  return emit(c, summary);
}

Status run_image(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(need_scalar(c.input(0), "Tags must be a scalar"));
  std::string summary;
  WEFT_RETURN_IF_ERROR(add_images(summary, text_of(c.input(0)), c.input(1), c.attr<int64_t>("max_images"), c.attr<Tensor>("bad_color")));
  return emit(c, summary);
}

template <bool kRateIsInput>
Status run_audio(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(need_scalar(c.input(0), "Tag must be a scalar"));
  float rate;
  if constexpr (kRateIsInput) {
    WEFT_RETURN_IF_ERROR(need_scalar(c.input(2), "sample_rate must be a scalar"));
    rate = c.input(2).data<float>()[0];
  } else {
    rate = c.attr<float>("sample_rate");
  }
  std::string summary;
  WEFT_RETURN_IF_ERROR(add_audio(summary, text_of(c.input(0)), c.input(1), c.attr<int64_t>("max_outputs"), rate));
  return emit(c, summary);
}

Status run_tensor(KernelContext& c) {
  WEFT_ASSIGN(std::string tensor, wire::encode_tensor(c.input(0)));
  wire::ProtoWriter value, summary;
  value.bytes(7, c.node().name().empty() ? c.node().op() : c.node().name());
  value.bytes(8, tensor);
  summary.message(1, value);
  return emit(c, summary.str());
}

// Metadata that cannot be read count as none, as in TensorFlow.
std::string readable(std::string_view metadata) { return is_message(metadata) ? std::string(metadata) : std::string(); }

Status run_tensor_v2(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(need_scalar(c.input(0), "tag must be scalar"));
  WEFT_RETURN_IF_ERROR(need_scalar(c.input(2), "serialized_summary_metadata must be scalar"));
  WEFT_ASSIGN(std::string summary, wire::tensor_summary(text_of(c.input(0)), c.input(1), readable(text_of(c.input(2)))));
  return emit(c, summary);
}

// The values of a serialized Summary, each as bytes; false if it cannot be read.
template <class F>
bool each_value(std::string_view summary, F f) {
  wire::ProtoReader r(summary);
  while (r.next())
    if (r.field() == 1 && (!is_message(r.bytes()) || !f(r.bytes()))) return false;
  return r.ok();
}

Status run_merge(KernelContext& c) {
  std::set<std::string> tags;
  std::string merged;
  for (int i = 0; i < c.num_inputs(); ++i) {
    for (const tstring& one : c.input(i).span<tstring>()) {
      Status duplicate;
      const bool read = each_value(one.view(), [&](std::string_view value) {
        wire::ProtoReader r(value);
        std::string tag;
        while (r.next())
          if (r.field() == 1) tag = r.string();
        if (!tag.empty() && !tags.insert(tag).second && duplicate.ok())
          duplicate = invalid_argument("Duplicate tag ", tag, " found in summary inputs ");
        wire::ProtoWriter w;
        w.bytes(1, value);
        merged += w.str();
        return true;
      });
      if (!read) return invalid_argument("Could not parse one of the summary inputs");
      WEFT_RETURN_IF_ERROR(duplicate);
    }
  }
  return emit(c, merged);
}

// ---- writers: an event file or a database behind a resource ----

class SummaryWriterResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow22SummaryWriterInterfaceE";
  explicit SummaryWriterResource(std::unique_ptr<wire::EventFile> f) : file(std::move(f)) {}
  std::string type_name() const override { return "SummaryWriter"; }
  explicit SummaryWriterResource(std::unique_ptr<SummaryDb> d) : db(std::move(d)) {}
  std::string debug_string() const override { return db ? "SummaryDbWriter" : "SummaryFileWriter"; }
  Status add(int64_t step, const std::string& summary) {
    const double now = wire::wall_time_now();
    return db ? db->write_summary(now, step, summary) : file->write(wire::summary_event(now, step, summary));
  }
  Status add_graph(int64_t step, std::string_view graph) {
    const double now = wire::wall_time_now();
    return db ? db->write_graph(now, graph) : file->write(wire::graph_event(now, step, graph));
  }
  Status add_event(std::string_view event) { return db ? db->write_event(event) : file->write(event); }
  Status flush() { return db ? Status() : file->flush(); }  // a database has all that was written
  const std::unique_ptr<wire::EventFile> file;  // one of the two
  const std::unique_ptr<SummaryDb> db;
};
using Writer = std::shared_ptr<SummaryWriterResource>;

Status run_set_stats_writer(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<data::StatsAggregator> aggregator, c.resource<data::StatsAggregator>(0));
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(1));
  aggregator->set_writer([writer](int64_t step, const std::string& summary) { return writer->add(step, summary); });
  return {};
}

Status run_writer(KernelContext& c) {
  const std::string &container = c.attr<std::string>("container"), &name = c.attr<std::string>("shared_name");
  c.set_output(0, make_handle(c.device().name(), container.empty() ? c.resources().default_container() : container,
                              name.empty() ? c.node().name() : name, SummaryWriterResource::kTypeName));
  return {};
}

// One that is there already will do, whatever it writes to.
template <class Make>
Status create(KernelContext& c, std::initializer_list<const char*> scalars, Make make) {
  for (const char* name : scalars) {
    if (c.input(name).rank() != 0) return invalid_argument(name, " must be a scalar");
  }
  const Tensor& handle = c.input(0);
  const auto* info = handle.num_elements() < 1 ? nullptr : handle.data<ResourceHandle>()[0].info();
  if (!info || info->type_name != SummaryWriterResource::kTypeName) return c.resource<SummaryWriterResource>(0).status();
  return c.resources().find_or_create<SummaryWriterResource>(info->container, info->name, make).status();
}

Status run_create_file(KernelContext& c) {
  return create(c, {"logdir", "max_queue", "flush_millis", "filename_suffix"}, [&]() -> Result<Writer> {
    const wire::EventFileOptions options{std::string(text_of(c.input("filename_suffix"))), c.input("max_queue").data<int32_t>()[0],
                                         c.input("flush_millis").data<int32_t>()[0] / 1000.0};
    WEFT_ASSIGN(auto file, wire::EventFile::create(std::string(text_of(c.input("logdir"))), options));
    return std::make_shared<SummaryWriterResource>(std::move(file));
  });
}

Status run_create_db(KernelContext& c) {
  return create(c, {"db_uri", "experiment_name", "run_name", "user_name"}, [&]() -> Result<Writer> {
    auto text = [&](const char* name) { return std::string(text_of(c.input(name))); };
    WEFT_ASSIGN(auto db, SummaryDb::open(text("db_uri"), text("experiment_name"), text("run_name"), text("user_name")));
    return std::make_shared<SummaryWriterResource>(std::move(db));
  });
}

Status run_flush(KernelContext& c) {
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  return writer->flush();
}

Status run_close(KernelContext& c) {
  const Tensor& handle = c.input(0);
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  const Status flushed = writer->flush();
  WEFT_RETURN_IF_ERROR(c.resources().destroy(handle.data<ResourceHandle>()[0]));
  return flushed;
}

// The writer, the step, and what make(summary) appends.
template <class F>
Status write(KernelContext& c, F make) {
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  for (const char* name : {"step", "tag"}) {
    if (c.input(name).num_elements() < 1) return invalid_argument(name, " must be a scalar");
  }
  std::string summary;
  WEFT_RETURN_IF_ERROR(make(summary, text_of(c.input("tag"))));
  return writer->add(c.input("step").data<int64_t>()[0], summary);
}

Status run_write_scalar(KernelContext& c) {
  const Tensor& value = c.input("value");
  if (value.num_elements() < 1) return invalid_argument("value must be a scalar");
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  // A database has numbers of every type.
  if (writer->db && value.num_elements() == 1 && c.input("step").num_elements() == 1 && c.input("tag").num_elements() == 1)
    return writer->db->write_scalar(wire::wall_time_now(), c.input("step").data<int64_t>()[0], text_of(c.input("tag")), value);
  return write(c, [&](std::string& s, std::string_view tag) { return add_scalar(s, tag, value, 0); });
}
Status run_write_histogram(KernelContext& c) {
  return write(c, [&](std::string& s, std::string_view tag) { return add_histogram(s, tag, c.input("values"), tag); });
}
Status run_write_image(KernelContext& c) {
  return write(c, [&](std::string& s, std::string_view tag) {
    return add_images(s, tag, c.input("tensor"), c.attr<int64_t>("max_images"), c.input("bad_color"));
  });
}
Status run_write_audio(KernelContext& c) {
  const Tensor& rate = c.input("sample_rate");
  if (rate.num_elements() < 1) return invalid_argument("sample_rate must be a scalar");
  return write(c, [&](std::string& s, std::string_view tag) {
    return add_audio(s, tag, c.input("tensor"), c.attr<int64_t>("max_outputs"), rate.data<float>()[0]);
  });
}
Status run_write(KernelContext& c) {
  const Tensor& metadata = c.input("summary_metadata");
  if (metadata.num_elements() < 1) return invalid_argument("summary_metadata must be a scalar");
  return write(c, [&](std::string& s, std::string_view tag) -> Status {
    std::optional<std::string> m;
    if (!text_of(metadata).empty()) m = readable(text_of(metadata));
    WEFT_ASSIGN(s, wire::tensor_summary(tag, c.input("tensor"), m));
    return {};
  });
}

Status run_write_raw(KernelContext& c) {
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  const Tensor &step = c.input("step"), &tensor = c.input("tensor");
  if (step.num_elements() < 1) return invalid_argument("step must be a scalar");
  std::string summary;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const std::string_view one = tensor.data<tstring>()[i].view();
    if (!each_value(one, [](std::string_view) { return true; })) return data_loss("Bad tf.compat.v1.Summary binary proto tensor string at index ", i);
    summary += one;  // messages behind each other are merged: their lists of values are joined
  }
  return writer->add(step.data<int64_t>()[0], summary);
}

Status run_import(KernelContext& c) {
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  const Tensor& event = c.input("event");
  if (event.num_elements() < 1 || !is_message(text_of(event))) return data_loss("Bad tf.Event binary proto tensor string");
  return writer->add_event(text_of(event));
}

Status run_write_graph(KernelContext& c) {
  WEFT_ASSIGN(Writer writer, c.resource<SummaryWriterResource>(0));
  const Tensor &step = c.input("step"), &graph = c.input("tensor");
  if (step.num_elements() < 1) return invalid_argument("step must be a scalar");
  if (graph.num_elements() < 1 || !is_message(text_of(graph))) return data_loss("Bad tf.GraphDef binary proto tensor string");
  return writer->add_graph(step.data<int64_t>()[0], text_of(graph));
}

}  // namespace

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
      .cpu(run_audio<false>)
      .no_grad();

  r.add("AudioSummaryV2")
      .in("tag: string")
      .in("tensor: float")
      .in("sample_rate: float")
      .out("summary: string")
      .attr("max_outputs: int >= 1 = 3")
      .doc("A serialized summary of audio clips, with the sample rate as an input.")
      .shape(shapes::scalar)
      .cpu(run_audio<true>)
      .no_grad();

  r.add("CloseSummaryWriter")
      .in("writer: resource")
      .stateful()
      .doc("Writes what is left and closes a summary writer.")
      .shape(shapes::no_outputs)
      .cpu(run_close);

  r.add("CreateSummaryDbWriter")
      .in("writer: resource")
      .in("db_uri: string")
      .in("experiment_name: string")
      .in("run_name: string")
      .in("user_name: string")
      .stateful()
      .doc("Makes a summary writer into a database.")
      .shape(shapes::no_outputs)
      .cpu(run_create_db);

  r.add("CreateSummaryFileWriter")
      .in("writer: resource")
      .in("logdir: string")
      .in("max_queue: int32")
      .in("flush_millis: int32")
      .in("filename_suffix: string")
      .stateful()
      .doc("Makes a summary writer into event files of a folder.")
      .shape(shapes::no_outputs)
      .cpu(run_create_file);

  r.add("FlushSummaryWriter")
      .in("writer: resource")
      .stateful()
      .doc("Writes what a summary writer holds back.")
      .shape(shapes::no_outputs)
      .cpu(run_flush);

  r.add("HistogramSummary")
      .in("tag: string")
      .in("values: T")
      .out("summary: string")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64} = DT_FLOAT")
      .doc("A serialized summary of a histogram of values.")
      .shape(shapes::scalar)
      .cpu(run_histogram)
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
      .cpu(run_image)
      .no_grad();

  r.add("ImportEvent")
      .in("writer: resource")
      .in("event: string")
      .stateful()
      .doc("Hands a serialized event to a summary writer.")
      .shape(shapes::no_outputs)
      .cpu(run_import);

  r.add("MergeSummary")
      .in("inputs: N * string")
      .out("summary: string")
      .attr("N: int >= 1")
      .doc("One serialized summary with the values of several.")
      .shape(shapes::scalar)
      .cpu(run_merge)
      .no_grad();

  r.add("ScalarSummary")
      .in("tags: string")
      .in("values: T")
      .out("summary: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .doc("A serialized summary of named numbers.")
      .shape(shapes::scalar)
      .cpu(run_scalar)
      .no_grad();

  r.add("StatsAggregatorSetSummaryWriter")
      .in("stats_aggregator: resource")
      .in("summary: resource")
      .stateful()
      .doc("Lets statistics of input pipelines go to a summary writer.")
      .shape(shapes::no_outputs)
      .cpu(run_set_stats_writer);

  r.add("SummaryWriter")
      .out("writer: resource")
      .attr("shared_name: string = ''")
      .attr("container: string = ''")
      .stateful()
      .doc("A handle to a summary writer.")
      .shape(shapes::scalar)
      .cpu(run_writer);

  r.add("TensorSummary")
      .in("tensor: T")
      .out("summary: string")
      .attr("T: type")
      .attr("description: string = ''")
      .attr("labels: list(string) = []")
      .attr("display_name: string = ''")
      .doc("A serialized summary of a tensor.")
      .shape(shapes::scalar)
      .cpu(run_tensor)
      .no_grad();

  r.add("TensorSummaryV2")
      .in("tag: string")
      .in("tensor: T")
      .in("serialized_summary_metadata: string")
      .out("summary: string")
      .attr("T: type")
      .doc("A serialized summary of a tensor with a tag and plugin data.")
      .shape(shapes::scalar)
      .cpu(run_tensor_v2)
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
      .shape(shapes::no_outputs)
      .cpu(run_write_audio);

  r.add("WriteGraphSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful()
      .doc("Writes a serialized graph.")
      .shape(shapes::no_outputs)
      .cpu(run_write_graph);

  r.add("WriteHistogramSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("values: T")
      .attr(
          "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
          "uint64, bool} = DT_FLOAT")
      .stateful()
      .doc("Writes a summary of a histogram of values.")
      .shape(shapes::no_outputs)
      .cpu(run_write_histogram);

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
      .shape(shapes::no_outputs)
      .cpu(run_write_image);

  r.add("WriteRawProtoSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: string")
      .stateful()
      .doc("Writes serialized summaries as they are.")
      .shape(shapes::no_outputs)
      .cpu(run_write_raw);

  r.add("WriteScalarSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tag: string")
      .in("value: T")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .stateful()
      .doc("Writes a summary of one number.")
      .shape(shapes::no_outputs)
      .cpu(run_write_scalar);

  r.add("WriteSummary")
      .in("writer: resource")
      .in("step: int64")
      .in("tensor: T")
      .in("tag: string")
      .in("summary_metadata: string")
      .attr("T: type")
      .stateful()
      .doc("Writes a summary of a tensor with a tag and plugin data.")
      .shape(shapes::no_outputs)
      .cpu(run_write);
}

}  // namespace weft_engine::ops
