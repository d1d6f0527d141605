#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void conv3d(Registry& r) {
  r.add("Conv3D")
      .in("input: T")
      .in("filter: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]");

  r.add("Conv3DBackpropFilterV2")
      .in("input: T")
      .in("filter_sizes: int32")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]");

  r.add("Conv3DBackpropInputV2")
      .in("input_sizes: Tshape")
      .in("filter: T")
      .in("out_backprop: T")
      .out("output: T")
      .attr("T: {half, bfloat16, float, double}")
      .attr("strides: list(int) >= 5")
      .attr("padding: {'SAME', 'VALID'}")
      .attr("data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'")
      .attr("dilations: list(int) = [1, 1, 1, 1, 1]")
      .attr("Tshape: {int32, int64} = DT_INT32");
}

}  // namespace weft::ops
