weft_op_families(state
  FAMILIES
    state state_ref state_sparse
  PARTS
    lookup_table
  SMALL_FAMILIES
    barrier batch conditional_accumulator lookup mutex queue sparse_conditional_accumulator staging unbatch
  SMALL_PARTS
    lookup_text_file queue_resource)
