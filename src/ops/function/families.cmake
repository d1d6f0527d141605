weft_op_families(function
  FAMILIES
    function
  SMALL_FAMILIES
    collective py_func send_recv)
