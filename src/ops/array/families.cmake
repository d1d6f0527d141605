weft_op_families(array
  FAMILIES
    array array_values concat gather pad scatter slice sort space_batch transpose
  PARTS
    strided_slice_util)
