weft_op_families(linalg
  FAMILIES
    diag einsum linalg linalg_solve matmul
  SMALL_PARTS
    einsum_equation linalg_grad
  FUSIONS
    matmul matmul_bias)
