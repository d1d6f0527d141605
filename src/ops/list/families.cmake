weft_op_families(list
  FAMILIES
    tensor_list
  PARTS
    tensor_list_util variant_math
  SMALL_FAMILIES
    composite_variant tensor_array tensor_map
  SMALL_PARTS
    tensor_array_grad tensor_array_resource tensor_list_grad variant_codec)
