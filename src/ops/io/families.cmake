weft_op_families(io
  FAMILIES
    csv decode_raw example sequence_example
  PARTS
    example_parser
  SMALL_FAMILIES
    checkpoint file io_ops json_example proto record_input summary
  SMALL_PARTS
    reader_resource summary_db summary_values)
