#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void decode_raw(Registry& r) {
  r.add("DecodeCompressed")
      .in("bytes: string")
      .out("output: string")
      .attr("compression_type: string = ''");

  r.add("DecodePaddedRaw")
      .in("input_bytes: string")
      .in("fixed_length: int32")
      .out("output: out_type")
      .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}")
      .attr("little_endian: bool = true");

  r.add("DecodeRaw")
      .in("bytes: string")
      .out("output: out_type")
      .attr("out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
            "complex128, bool, bfloat16}")
      .attr("little_endian: bool = true");

  r.add("ParseTensor")
      .in("serialized: string")
      .out("output: out_type")
      .attr("out_type: type");

  r.add("SerializeTensor")
      .in("tensor: T")
      .out("serialized: string")
      .attr("T: type");
}

}  // namespace weft::ops
