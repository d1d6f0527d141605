weft_op_families(quantized
  FAMILIES
    fake_quant quantized quantized_conversions quantized_fused quantized_per_channel quantized_window
  PARTS
    quantized_product
  SMALL_FAMILIES
    quantized_uniform quantized_uniform_products
  SMALL_PARTS
    quantize_layers
  FUSIONS
    quantized_product)
