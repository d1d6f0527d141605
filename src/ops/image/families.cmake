weft_op_families(image
  FAMILIES
    image image_crop image_nms image_resize
  SMALL_FAMILIES
    image_codec)
