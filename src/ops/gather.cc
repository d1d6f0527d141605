#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void gather(Registry& r) {
  r.add("Gather")
      .in("params: Tparams")
      .in("indices: Tindices")
      .out("output: Tparams")
      .attr("validate_indices: bool = true")
      .attr("Tparams: type")
      .attr("Tindices: {int32, int64}");

  r.add("GatherNd")
      .in("params: Tparams")
      .in("indices: Tindices")
      .out("output: Tparams")
      .attr("Tparams: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("bad_indices_policy: string = ''");

  r.add("GatherV2")
      .in("params: Tparams")
      .in("indices: Tindices")
      .in("axis: Taxis")
      .out("output: Tparams")
      .attr("batch_dims: int = 0")
      .attr("Tparams: type")
      .attr("Tindices: {int16, int32, int64}")
      .attr("Taxis: {int32, int64}");
}

}  // namespace weft::ops
