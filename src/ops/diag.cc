#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void diag(Registry& r) {
  r.add("BatchMatrixBandPart")
      .in("input: T")
      .in("num_lower: int64")
      .in("num_upper: int64")
      .out("band: T")
      .attr("T: type")
      .deprecated(14, "");

  r.add("BatchMatrixDiag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .deprecated(14, "");

  r.add("BatchMatrixDiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: type")
      .deprecated(14, "");

  r.add("BatchMatrixSetDiag")
      .in("input: T")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type")
      .deprecated(14, "");

  r.add("Diag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}");

  r.add("DiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}");

  r.add("MatrixBandPart")
      .in("input: T")
      .in("num_lower: Tindex")
      .in("num_upper: Tindex")
      .out("band: T")
      .attr("T: type")
      .attr("Tindex: {int32, int64} = DT_INT64");

  r.add("MatrixDiag")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type");

  r.add("MatrixDiagPart")
      .in("input: T")
      .out("diagonal: T")
      .attr("T: type");

  r.add("MatrixDiagPartV2")
      .in("input: T")
      .in("k: int32")
      .in("padding_value: T")
      .out("diagonal: T")
      .attr("T: type");

  r.add("MatrixDiagPartV3")
      .in("input: T")
      .in("k: int32")
      .in("padding_value: T")
      .out("diagonal: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'");

  r.add("MatrixDiagV2")
      .in("diagonal: T")
      .in("k: int32")
      .in("num_rows: int32")
      .in("num_cols: int32")
      .in("padding_value: T")
      .out("output: T")
      .attr("T: type");

  r.add("MatrixDiagV3")
      .in("diagonal: T")
      .in("k: int32")
      .in("num_rows: int32")
      .in("num_cols: int32")
      .in("padding_value: T")
      .out("output: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'");

  r.add("MatrixSetDiag")
      .in("input: T")
      .in("diagonal: T")
      .out("output: T")
      .attr("T: type");

  r.add("MatrixSetDiagV2")
      .in("input: T")
      .in("diagonal: T")
      .in("k: int32")
      .out("output: T")
      .attr("T: type");

  r.add("MatrixSetDiagV3")
      .in("input: T")
      .in("diagonal: T")
      .in("k: int32")
      .out("output: T")
      .attr("T: type")
      .attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'");
}

}  // namespace weft::ops
