#include "op/registry.h"
#include "ops/all.h"

namespace weft::ops {

using namespace weft::op;  // NOLINT: an ops file is written in the vocabulary of op/

void matmul(Registry& r) {
  r.add("BatchMatMul")
      .in("x: T")
      .in("y: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false");

  r.add("BatchMatMulV2")
      .in("x: T")
      .in("y: T")
      .out("output: T")
      .attr("T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
            "complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false");

  r.add("BatchMatMulV3")
      .in("x: Ta")
      .in("y: Tb")
      .out("output: Tout")
      .attr("Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
      .attr("Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}")
      .attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}")
      .attr("adj_x: bool = false")
      .attr("adj_y: bool = false")
      .attr("grad_x: bool = false")
      .attr("grad_y: bool = false");

  r.add("MatMul")
      .in("a: T")
      .in("b: T")
      .out("product: T")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, "
            "complex128}")
      .attr("grad_a: bool = false")
      .attr("grad_b: bool = false");

  r.add("SparseMatMul")
      .in("a: Ta")
      .in("b: Tb")
      .out("product: float")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("a_is_sparse: bool = false")
      .attr("b_is_sparse: bool = false")
      .attr("Ta: {float, bfloat16} = DT_FLOAT")
      .attr("Tb: {float, bfloat16} = DT_FLOAT");

  r.add("_FusedMatMul")
      .in("a: T")
      .in("b: T")
      .in("args: num_args * T")
      .out("product: T")
      .attr("transpose_a: bool = false")
      .attr("transpose_b: bool = false")
      .attr("T: {bfloat16, half, float}")
      .attr("num_args: int >= 0")
      .attr("fused_ops: list(string) = []")
      .attr("epsilon: float = 0.0001")
      .attr("leakyrelu_alpha: float = 0.2");
}

}  // namespace weft::ops
