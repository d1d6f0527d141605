weft_op_families(control_flow
  FAMILIES
    control_flow
  SMALL_FAMILIES
    debug debug_numeric
  SMALL_PARTS
    summarize)
