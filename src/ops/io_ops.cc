#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Status ranks(ShapeContext& c, std::initializer_list<int> wanted) {
  int i = 0;
  for (int rank : wanted) WEFT_RETURN_IF_ERROR(c.with_rank(i++, rank).status());
  return {};
}

Status read_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 0}));
  return shapes::scalar(c);
}

Status pair_shape(ShapeContext& c) {
  c.output(0, PartialShape::vector(2));
  return {};
}

}  // namespace

void io_ops(Registry& r) {
  r.add("FixedLengthRecordReaderV2")
      .out("reader_handle: resource")
      .attr("header_bytes: int = 0")
      .attr("record_bytes: int")
      .attr("footer_bytes: int = 0")
      .attr("hop_bytes: int = 0")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("encoding: string = ''")
      .stateful().effect_free()
      .doc("A reader of records that all have one length.")
      .shape(shapes::scalar);

  r.add("ReaderReadV2")
      .in("reader_handle: resource")
      .in("queue_handle: resource")
      .out("key: string")
      .out("value: string")
      .stateful()
      .doc("The next record of a reader, with a key that says where it came from.")
      .shape(read_shape);

  r.add("TFRecordReader")
      .out("reader_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("compression_type: string = ''")
      .stateful().effect_free()
      .deprecated(26, "Use TFRecordReaderV2")
      .doc("A reader of TFRecord files, as a pair of strings that names it.")
      .shape(pair_shape)
      .no_grad();

  r.add("TFRecordReaderV2")
      .out("reader_handle: resource")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("compression_type: string = ''")
      .stateful().effect_free()
      .doc("A reader of TFRecord files.")
      .shape(shapes::scalar);
}

}  // namespace weft::ops
