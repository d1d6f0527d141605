weft_op_families(strings
  FAMILIES
    string_hash
  SMALL_FAMILIES
    regex string string_format string_split unicode)
