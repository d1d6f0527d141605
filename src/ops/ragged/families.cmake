weft_op_families(ragged
  FAMILIES
    ragged ragged_convert
  PARTS
    ragged_splits)
