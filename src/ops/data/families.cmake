weft_op_families(data
  SMALL_FAMILIES
    batch_size batches caches choose_fastest combinations compressed_elements csv_files file_ops fingerprint
    first_snapshots flat_maps folds generators global_shuffles graphs groups index_flat_maps iterators
    map_and_batch map_defun maps multi_device_iterators not_supported optional padded_batches parse_examples
    pass_through record_files saved_iterators saves selections services shuffles snapshots sources
    sparse_batches sql stats thread_pools windows
  SMALL_PARTS
    captured_function dataset prefetch_buffer served_datasets snapshot_files splits sqlite)
