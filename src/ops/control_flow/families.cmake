weft_op_families(control_flow
  SMALL_FAMILIES
    control_flow debug debug_numeric
  SMALL_PARTS
    summarize)
