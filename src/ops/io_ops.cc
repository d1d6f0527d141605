#include <charconv>

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

// The names (and slices) in inputs 1 to `last` are vectors with one entry for each tensor after them.
Status save_shape(ShapeContext& c, int last) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  const int64_t tensors = c.num_inputs() - 1 - last;
  for (int i = 1; i <= last; ++i) {
    WEFT_ASSIGN(PartialShape s, c.with_rank(i, 1));
    if (s.dim(0) >= 0 && s.dim(0) != tensors) return invalid_argument("Dimension must be ", tensors, " but is ", s.dim(0));
  }
  return {};
}

// The shape of a slice as checkpoints write it: "4 5 0,2:-" is rows 0 and 1 of a 4 x 5 matrix. Unknown
// for the empty text, which stands for the whole tensor, and for one that cannot be read.
PartialShape slice_shape(std::string_view text) {
  std::vector<int64_t> dims;
  std::string_view slice;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    slice = text.substr(0, space);
    text = space == text.npos ? std::string_view() : text.substr(space + 1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(slice.data(), slice.data() + slice.size(), value);
    if (text.empty() || error != std::errc() || end != slice.data() + slice.size() || value < 0) break;
    dims.push_back(value);
  }
  for (int64_t& dim : dims) {
    const size_t colon = slice.find(':');
    const std::string_view part = slice.substr(0, colon);
    slice = colon == slice.npos ? std::string_view() : slice.substr(colon + 1);
    if (part == "-") continue;
    const size_t comma = part.find(',');
    if (comma == part.npos) return PartialShape::unknown();
    const auto [end, error] = std::from_chars(part.data() + comma + 1, part.data() + part.size(), dim);
    if (error != std::errc() || dim < 0) return PartialShape::unknown();
  }
  return dims.empty() ? PartialShape::unknown() : PartialShape(std::move(dims));
}

Status restore_shape(ShapeContext& c) { return ranks(c, {0, 0}); }

Status restore_slice_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 0, 0}));
  if (const Tensor* t = c.constant(2); t && t->num_elements() == 1) c.output(0, slice_shape(t->data<tstring>()[0]));
  return {};
}

Status restore_v2_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 1, 1}));
  WEFT_RETURN_IF_ERROR(ShapeContext::merge_dim(c.input(1).dim(0), c.input(2).dim(0)).status());
  const Tensor* t = c.constant(2);
  if (!t || t->num_elements() != c.num_outputs()) return {};
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, slice_shape(t->data<tstring>()[i]));
  return {};
}

Status read_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(ranks(c, {0, 0}));
  return shapes::scalar(c);
}

Status merge_shape(ShapeContext& c) { return ranks(c, {1, 0}); }

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

  r.add("MergeV2Checkpoints")
      .in("checkpoint_prefixes: string")
      .in("destination_prefix: string")
      .attr("delete_old_dirs: bool = true")
      .attr("allow_missing_files: bool = false")
      .stateful()
      .doc("Makes one checkpoint of several by joining their indices.")
      .shape(merge_shape);

  r.add("ReaderReadV2")
      .in("reader_handle: resource")
      .in("queue_handle: resource")
      .out("key: string")
      .out("value: string")
      .stateful()
      .doc("The next record of a reader, with a key that says where it came from.")
      .shape(read_shape);

  r.add("Restore")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful().effect_free()
      .doc("Reads a tensor from an old checkpoint.")
      .shape(restore_shape);

  r.add("RestoreSlice")
      .in("file_pattern: string")
      .in("tensor_name: string")
      .in("shape_and_slice: string")
      .out("tensor: dt")
      .attr("dt: type")
      .attr("preferred_shard: int = -1")
      .stateful().effect_free()
      .doc("Reads a slice of a tensor from an old checkpoint.")
      .shape(restore_slice_shape);

  r.add("RestoreV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .out("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful().effect_free()
      .doc("Reads tensors, or slices of them, from a checkpoint.")
      .shape(restore_v2_shape);

  r.add("Save")
      .in("filename: string")
      .in("tensor_names: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .doc("Writes tensors into an old checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 1); });

  r.add("SaveSlices")
      .in("filename: string")
      .in("tensor_names: string")
      .in("shapes_and_slices: string")
      .in("data: T")
      .attr("T: list(type) >= 1")
      .stateful()
      .doc("Writes slices of tensors into an old checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 2); });

  r.add("SaveV2")
      .in("prefix: string")
      .in("tensor_names: string")
      .in("shape_and_slices: string")
      .in("tensors: dtypes")
      .attr("dtypes: list(type) >= 1")
      .stateful()
      .doc("Writes tensors, or slices of them, into a checkpoint.")
      .shape([](ShapeContext& c) { return save_shape(c, 2); });

  r.add("TFRecordReader")
      .out("reader_handle: Ref(string)")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .attr("compression_type: string = ''")
      .stateful().effect_free()
      .deprecated(26, "")
      .doc("A reader of TFRecord files, as a pair of strings that names it.")
      .shape(pair_shape);

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
