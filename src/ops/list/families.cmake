weft_op_families(list
  FAMILIES
    tensor_array tensor_list
  PARTS
    tensor_array_resource tensor_list_util variant_math
  SMALL_FAMILIES
    composite_variant tensor_map
  SMALL_PARTS
    tensor_array_grad tensor_list_grad variant_codec)
