weft_op_families(function
  FAMILIES
    function send_recv
  SMALL_FAMILIES
    collective py_func)
