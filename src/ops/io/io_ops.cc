// Readers of version 1 and their ops, with handles of both kinds (ref_handle.h). The readers are in reader_resource.h.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/io/reader_resource.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Tensor strings(std::vector<ReaderRecord>& records, std::string ReaderRecord::* part, bool single) {
  std::vector<tstring> out;
  for (ReaderRecord& r : records) out.emplace_back(r.*part);
  Tensor t = Tensor::vector(out);
  return single ? t.reshaped(Shape()) : t;
}

Status start_read(KernelContext& c, Kernel::Done& done) {
  const bool single = c.num_inputs() == 2;
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c, 0));
  WEFT_ASSIGN(std::shared_ptr<Queue> queue, handle_input<Queue>(c, 1));
  Reader::Request r{.context = &c, .queue = std::move(queue)};
  if (!single) {
    if (c.input(2).rank() != 0) return invalid_argument("num_records must be scalar, but had shape: ", c.input(2).shape());
    r.wanted = c.input(2).data<int64_t>()[0];
    if (r.wanted < 0) return invalid_argument("num_records must not be negative, got ", r.wanted);
  }
  r.done = [&c, single, done = std::move(done)](Status s, std::vector<ReaderRecord> records) {
    if (s.ok()) {
      c.set_output(0, strings(records, &ReaderRecord::key, single));
      c.set_output(1, strings(records, &ReaderRecord::value, single));
    }
    done(std::move(s));
  };
  reader->read(std::move(r));
  return {};
}

void run_read(KernelContext& c, Kernel::Done done) {
  if (Status s = start_read(c, done); !s.ok()) done(s);
}

Status run_num_records(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c));
  c.set_output(0, Tensor::scalar(reader->num_records_produced()));
  return {};
}

Status run_num_work_units(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c));
  c.set_output(0, Tensor::scalar(reader->num_work_units_completed()));
  return {};
}

Status run_reset(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c));
  reader->reset();
  return {};
}

Status run_serialize(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c));
  WEFT_ASSIGN(std::string state, reader->serialize_state());
  c.set_output(0, Tensor::scalar(tstring(state)));
  return {};
}

Status run_restore(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Reader> reader, handle_input<Reader>(c));
  if (c.input(1).rank() != 0) return invalid_argument("Reader state must be scalar, but had shape: ", c.input(1).shape());
  return reader->restore_state(c.input(1).data<tstring>()[0].view());
}

// ---- shape rules -----------------------------------------------------------------------------------------

Status pair_shape(ShapeContext& c) {
  c.output(0, PartialShape::vector(2));
  return {};
}

// Handles of version 1 are two strings.
Status check_handles(ShapeContext& c, int n) {
  for (int i = 0; i < n; ++i) {
    const bool ref = is_ref_type(c.node().input_types()[size_t(i)]);
    WEFT_ASSIGN(PartialShape s, c.with_rank(i, ref ? 1 : 0));
    if (ref && s.dim(0) != kUnknownDim && s.dim(0) != 2) return invalid_argument("Dimension must be 2 but is ", s.dim(0));
  }
  return {};
}

Status read_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handles(c, 2));
  return shapes::scalar(c);
}

Status read_up_to_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handles(c, 2));
  WEFT_RETURN_IF_ERROR(c.with_rank(2, 0).status());
  c.output(0, {kUnknownDim});
  c.output(1, {kUnknownDim});
  return {};
}

Status handle_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(check_handles(c, 1));
  if (c.num_inputs() > 1) WEFT_RETURN_IF_ERROR(c.with_rank(1, 0).status());
  return shapes::scalar(c);
}

// ---- the ops, each with both handles -----------------------------------------------------------------------

struct Handle {
  const char *out, *in, *queue;
};
constexpr Handle kRef{"reader_handle: Ref(string)", "reader_handle: Ref(string)", "queue_handle: Ref(string)"};
constexpr Handle kResource{"reader_handle: resource", "reader_handle: resource", "queue_handle: resource"};

OpBuilder reader(OpBuilder b, const Handle& h) {
  b.out(h.out).stateful().effect_free().cpu_make(HandleKernel<Reader>::create);
  return &h == &kRef ? b.shape(pair_shape).no_grad() : b.shape(shapes::scalar);
}

OpBuilder named(OpBuilder b) { return b.attr("container: string = ''").attr("shared_name: string = ''"); }

OpBuilder text_lines(OpBuilder b, const Handle& h) {
  return named(reader(b, h).doc("A reader of lines of text.").attr("skip_header_lines: int = 0"));
}

OpBuilder fixed_lengths(OpBuilder b, const Handle& h) {
  return named(reader(b, h)
                   .doc("A reader of records that all have one length.")
                   .attr("header_bytes: int = 0")
                   .attr("record_bytes: int")
                   .attr("footer_bytes: int = 0")
                   .attr("hop_bytes: int = 0"));
}

OpBuilder tf_records(OpBuilder b, const Handle& h) {
  return named(reader(b, h).doc("A reader of TFRecord files.")).attr("compression_type: string = ''");
}

OpBuilder verb(OpBuilder b, const Handle& h) { return &h == &kRef ? b.in(h.in).no_grad() : b.in(h.in).stateful(); }

void read(OpBuilder b, const Handle& h) {
  verb(b, h)
      .doc("The next record of a reader, with a key that says where it came from.")
      .in(h.queue)
      .out("key: string")
      .out("value: string")
      .shape(read_shape)
      .cpu_make(AsyncKernel<run_read>::create);
}

void read_up_to(OpBuilder b, const Handle& h) {
  verb(b, h)
      .doc("The next records of a reader, fewer where a file ends.")
      .in(h.queue)
      .in("num_records: int64")
      .out("keys: string")
      .out("values: string")
      .shape(read_up_to_shape)
      .cpu_make(AsyncKernel<run_read>::create);
}

void num_records(OpBuilder b, const Handle& h) {
  verb(b, h).doc("How many records a reader has given.").out("records_produced: int64").shape(handle_shape).cpu(run_num_records);
}

void num_work_units(OpBuilder b, const Handle& h) {
  verb(b, h).doc("How many files a reader has read to the end.").out("units_completed: int64").shape(handle_shape).cpu(run_num_work_units);
}

void reset(OpBuilder b, const Handle& h) { verb(b, h).doc("Puts a reader back to its first state.").shape(handle_shape).cpu(run_reset); }

void serialize(OpBuilder b, const Handle& h) {
  verb(b, h).doc("The state of a reader as a string; not all kinds have one.").out("state: string").shape(handle_shape).cpu(run_serialize);
}

void restore(OpBuilder b, const Handle& h) {
  verb(b, h).doc("Gives a reader a state that was serialized.").in("state: string").shape(handle_shape).cpu(run_restore);
}

}  // namespace

void io_ops(Registry& r) {
  fixed_lengths(r.add("FixedLengthRecordReader"), kRef).deprecated(26, "Use FixedLengthRecordReaderV2");
  fixed_lengths(r.add("FixedLengthRecordReaderV2"), kResource).attr("encoding: string = ''");
  named(reader(r.add("IdentityReader").doc("A reader that gives the work itself as key and value."), kRef)).deprecated(26, "Use IdentityReaderV2");
  named(reader(r.add("IdentityReaderV2").doc("A reader that gives the work itself as key and value."), kResource));
  named(reader(r.add("LMDBReader").doc("A reader of LMDB databases, which TensorFlow no longer has."), kRef));
  text_lines(r.add("TextLineReader"), kRef).deprecated(26, "Use TextLineReaderV2");
  text_lines(r.add("TextLineReaderV2"), kResource);
  tf_records(r.add("TFRecordReader"), kRef).deprecated(26, "Use TFRecordReaderV2");
  tf_records(r.add("TFRecordReaderV2"), kResource);
  named(reader(r.add("WholeFileReader").doc("A reader that gives whole files, by name."), kRef));
  named(reader(r.add("WholeFileReaderV2").doc("A reader that gives whole files, by name."), kResource));

  read(r.add("ReaderRead"), kRef);
  read(r.add("ReaderReadV2"), kResource);
  read_up_to(r.add("ReaderReadUpTo"), kRef);
  read_up_to(r.add("ReaderReadUpToV2"), kResource);
  num_records(r.add("ReaderNumRecordsProduced"), kRef);
  num_records(r.add("ReaderNumRecordsProducedV2"), kResource);
  num_work_units(r.add("ReaderNumWorkUnitsCompleted"), kRef);
  num_work_units(r.add("ReaderNumWorkUnitsCompletedV2"), kResource);
  reset(r.add("ReaderReset"), kRef);
  reset(r.add("ReaderResetV2"), kResource);
  serialize(r.add("ReaderSerializeState"), kRef);
  serialize(r.add("ReaderSerializeStateV2"), kResource);
  restore(r.add("ReaderRestoreState"), kRef);
  restore(r.add("ReaderRestoreStateV2"), kResource);
}

}  // namespace weft_engine::ops
