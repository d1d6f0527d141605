#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void unicode(Registry& r) {
  r.add("UnicodeDecode")
      .in("input: string")
      .out("row_splits: Tsplits")
      .out("char_values: int32")
      .attr("input_encoding: string")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("UnicodeDecodeWithOffsets")
      .in("input: string")
      .out("row_splits: Tsplits")
      .out("char_values: int32")
      .out("char_to_byte_starts: int64")
      .attr("input_encoding: string")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("UnicodeEncode")
      .in("input_values: int32")
      .in("input_splits: Tsplits")
      .out("output: string")
      .attr("errors: {'ignore', 'replace', 'strict'} = 'replace'")
      .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
      .attr("replacement_char: int = 65533")
      .attr("Tsplits: {int32, int64} = DT_INT64");

  r.add("UnicodeScript")
      .in("input: int32")
      .out("output: int32");

  r.add("UnicodeTranscode")
      .in("input: string")
      .out("output: string")
      .attr("input_encoding: string")
      .attr("output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}")
      .attr("errors: {'strict', 'replace', 'ignore'} = 'replace'")
      .attr("replacement_char: int = 65533")
      .attr("replace_control_characters: bool = false");
}

}  // namespace weft::ops
