weft_op_families(training
  FAMILIES
    optimizer
  SMALL_FAMILIES
    clustering remap sdca
  SMALL_PARTS
    sdca_loss
  FUSIONS
    adam)
