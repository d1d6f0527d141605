weft_op_families(linalg
  FAMILIES
    diag einsum linalg linalg_solve matmul
  SMALL_PARTS
    einsum_equation linalg_grad linalg_matrix_lower
  FUSIONS
    matmul matmul_bias)
