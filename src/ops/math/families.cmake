weft_op_families(math
  FAMILIES
    bincount bitwise cast compare math_binary math_special math_unary reduce scan segment
  PARTS
    elementwise
  SMALL_FAMILIES
    sets xla
  SMALL_PARTS
    math_gamma_lower math_series_lower)
