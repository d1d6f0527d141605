#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void string(Registry& r) {
  r.add("AsString")
      .in("input: T")
      .out("output: string")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
            "uint64, complex64, complex128, bool, variant, string}")
      .attr("precision: int = -1")
      .attr("scientific: bool = false")
      .attr("shortest: bool = false")
      .attr("width: int = -1")
      .attr("fill: string = ''");

  r.add("DecodeBase64")
      .in("input: string")
      .out("output: string");

  r.add("EncodeBase64")
      .in("input: string")
      .out("output: string")
      .attr("pad: bool = false");

  r.add("ReduceJoin")
      .in("inputs: string")
      .in("reduction_indices: int32")
      .out("output: string")
      .attr("keep_dims: bool = false")
      .attr("separator: string = ''");

  r.add("ShardedFilename")
      .in("basename: string")
      .in("shard: int32")
      .in("num_shards: int32")
      .out("filename: string");

  r.add("ShardedFilespec")
      .in("basename: string")
      .in("num_shards: int32")
      .out("filename: string");

  r.add("StringFormat")
      .in("inputs: T")
      .out("output: string")
      .attr("T: list(type) >= 0")
      .attr("template: string = '%s'")
      .attr("placeholder: string = '%s'")
      .attr("summarize: int = 3");

  r.add("StringJoin")
      .in("inputs: N * string")
      .out("output: string")
      .attr("N: int >= 0")
      .attr("separator: string = ''");

  r.add("StringLength")
      .in("input: string")
      .out("output: int32")
      .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'");

  r.add("StringLower")
      .in("input: string")
      .out("output: string")
      .attr("encoding: string = ''");

  r.add("StringNGrams")
      .in("data: string")
      .in("data_splits: Tsplits")
      .out("ngrams: string")
      .out("ngrams_splits: Tsplits")
      .attr("separator: string")
      .attr("ngram_widths: list(int) >= 0")
      .attr("left_pad: string")
      .attr("right_pad: string")
      .attr("pad_width: int")
      .attr("preserve_short_sequences: bool")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("StringSplit")
      .in("input: string")
      .in("delimiter: string")
      .out("indices: int64")
      .out("values: string")
      .out("shape: int64")
      .attr("skip_empty: bool = true");

  r.add("StringSplitV2")
      .in("input: string")
      .in("sep: string")
      .out("indices: int64")
      .out("values: string")
      .out("shape: int64")
      .attr("maxsplit: int = -1");

  r.add("StringStrip")
      .in("input: string")
      .out("output: string");

  r.add("StringToNumber")
      .in("string_tensor: string")
      .out("output: out_type")
      .attr("out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT");

  r.add("StringUpper")
      .in("input: string")
      .out("output: string")
      .attr("encoding: string = ''");

  r.add("Substr")
      .in("input: string")
      .in("pos: T")
      .in("len: T")
      .out("output: string")
      .attr("T: {int32, int64}")
      .attr("unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'");

  r.add("UnsortedSegmentJoin")
      .in("inputs: string")
      .in("segment_ids: Tindices")
      .in("num_segments: Tnumsegments")
      .out("output: string")
      .attr("separator: string = ''")
      .attr("Tindices: {int32, int64}")
      .attr("Tnumsegments: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
