weft_op_families(nn
  FAMILIES
    bias conv conv3d conv_depthwise conv_dilation conv_fused ctc fused loss norm pool pool_fractional
    rnn
  PARTS
    conv_common window
  SMALL_FAMILIES
    candidate_sampling nn_act norm_global
  SMALL_PARTS
    window_lower
  FUSIONS
    attention attention_gradient elementwise layer_norm recurrent recurrent_gradient)
