weft_op_families(sparse
  FAMILIES
    sparse sparse_math sparse_matrix sparse_matrix_math
  PARTS
    fill_empty_rows sparse_matrix_grad sparse_parts sparse_tensor
  SMALL_FAMILIES
    sparse_cross sparse_serialize sparse_tensors_map
  SMALL_PARTS
    sparse_grad)
