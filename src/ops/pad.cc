#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void pad(Registry& r) {
  r.add("MirrorPad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}");

  r.add("MirrorPadGrad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("mode: {'REFLECT', 'SYMMETRIC'}");

  r.add("Pad")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32");

  r.add("PadV2")
      .in("input: T")
      .in("paddings: Tpaddings")
      .in("constant_values: T")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
