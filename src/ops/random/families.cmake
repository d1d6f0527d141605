weft_op_families(random
  FAMILIES
    random random_stateless
  PARTS
    random_common random_crop)
