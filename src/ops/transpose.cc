#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void transpose(Registry& r) {
  r.add("BroadcastArgs")
      .in("s0: T")
      .in("s1: T")
      .out("r0: T")
      .attr("T: {int32, int64} = DT_INT32");

  r.add("BroadcastGradientArgs")
      .in("s0: T")
      .in("s1: T")
      .out("r0: T")
      .out("r1: T")
      .attr("T: {int32, int64} = DT_INT32");

  r.add("BroadcastTo")
      .in("input: T")
      .in("shape: Tidx")
      .out("output: T")
      .attr("T: type")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("ConjugateTranspose")
      .in("x: T")
      .in("perm: Tperm")
      .out("y: T")
      .attr("T: type")
      .attr("Tperm: {int32, int64} = DT_INT32");

  r.add("InvertPermutation")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32");

  r.add("Reverse")
      .in("tensor: T")
      .in("dims: bool")
      .out("output: T")
      .attr("T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, "
            "double, complex64, complex128, string}");

  r.add("ReverseSequence")
      .in("input: T")
      .in("seq_lengths: Tlen")
      .out("output: T")
      .attr("seq_dim: int")
      .attr("batch_dim: int = 0")
      .attr("T: type")
      .attr("Tlen: {int32, int64} = DT_INT64");

  r.add("ReverseV2")
      .in("tensor: T")
      .in("axis: Tidx")
      .out("output: T")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .attr("T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, "
            "double, complex64, complex128, string}");

  r.add("Roll")
      .in("input: T")
      .in("shift: Tshift")
      .in("axis: Taxis")
      .out("output: T")
      .attr("T: type")
      .attr("Tshift: {int32, int64}")
      .attr("Taxis: {int32, int64}");

  r.add("Tile")
      .in("input: T")
      .in("multiples: Tmultiples")
      .out("output: T")
      .attr("T: type")
      .attr("Tmultiples: {int32, int64} = DT_INT32");

  r.add("Transpose")
      .in("x: T")
      .in("perm: Tperm")
      .out("y: T")
      .attr("T: type")
      .attr("Tperm: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
