weft_op_families(signal
  FAMILIES
    fft
  SMALL_FAMILIES
    audio)
