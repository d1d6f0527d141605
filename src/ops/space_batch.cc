#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void space_batch(Registry& r) {
  r.add("BatchToSpace")
      .in("input: T")
      .in("crops: Tidx")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("Tidx: {int32, int64} = DT_INT32");

  r.add("BatchToSpaceND")
      .in("input: T")
      .in("block_shape: Tblock_shape")
      .in("crops: Tcrops")
      .out("output: T")
      .attr("T: type")
      .attr("Tblock_shape: {int32, int64} = DT_INT32")
      .attr("Tcrops: {int32, int64} = DT_INT32");

  r.add("DataFormatDimMap")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("src_format: string = 'NHWC'")
      .attr("dst_format: string = 'NCHW'");

  r.add("DataFormatVecPermute")
      .in("x: T")
      .out("y: T")
      .attr("T: {int32, int64} = DT_INT32")
      .attr("src_format: string = 'NHWC'")
      .attr("dst_format: string = 'NCHW'");

  r.add("DepthToSpace")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'");

  r.add("ExtractImagePatches")
      .in("images: T")
      .out("patches: T")
      .attr("ksizes: list(int) >= 4")
      .attr("strides: list(int) >= 4")
      .attr("rates: list(int) >= 4")
      .attr("T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, "
            "uint64, complex64, complex128, bool}")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("ExtractVolumePatches")
      .in("input: T")
      .out("patches: T")
      .attr("ksizes: list(int) >= 5")
      .attr("strides: list(int) >= 5")
      .attr("T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}")
      .attr("padding: {'SAME', 'VALID'}");

  r.add("SpaceToBatch")
      .in("input: T")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tpaddings: {int32, int64} = DT_INT32")
      .attr("block_size: int >= 2");

  r.add("SpaceToBatchND")
      .in("input: T")
      .in("block_shape: Tblock_shape")
      .in("paddings: Tpaddings")
      .out("output: T")
      .attr("T: type")
      .attr("Tblock_shape: {int32, int64} = DT_INT32")
      .attr("Tpaddings: {int32, int64} = DT_INT32");

  r.add("SpaceToDepth")
      .in("input: T")
      .out("output: T")
      .attr("T: type")
      .attr("block_size: int >= 2")
      .attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'");
}

}  // namespace weft::ops
