"""Public names that refuse: each has its signature and says what is missing. "# reason" stands before the lines that it is for; "1" is of tf.compat.v1, "2" of tf,
"12" of both."""

import functools

TEXT = """
# ops take the name of their container as an argument, not from a scope
1 container(container_name)
# columns of sequences and linear models of version 1 are not built yet
1 feature_column.linear_model(features, feature_columns, units=1, sparse_combiner='sum', weight_collections=None, trainable=True, cols_to_vars=None)
12 feature_column.sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=tf.string)
12 feature_column.sequence_categorical_column_with_identity(key, num_buckets, default_value=None)
12 feature_column.sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=tf.string)
12 feature_column.sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0)
12 feature_column.sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=tf.float32, normalizer_fn=None)
1 feature_column.shared_embedding_columns(categorical_columns, dimension, combiner='mean', initializer=None, shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True)
# weft has no decoder for JPEG XL
12 image.decode_jxl(contents, channels=0, dtype=tf.uint8, name=None)
12 io.decode_jxl(contents, channels=0, dtype=tf.uint8, name=None)
# weft has no converter to and no interpreter of TensorFlow Lite models
12 lite.Interpreter(model_path=None, model_content=None, experimental_delegates=None, num_threads=None, experimental_op_resolver_type=enums.OpResolverType.AUTO, experimental_preserve_all_tensors=False, experimental_disable_delegate_clustering=False, experimental_default_delegate_latest_features=False)
1 lite.OpHint(function_name, level=1, children_inputs_mappings=None, **kwargs)
12 lite.RepresentativeDataset(input_gen)
1 lite.TFLiteConverter(graph_def, input_tensors, output_tensors, input_arrays_with_shape=None, output_arrays=None, experimental_debug_info_func=None)
12 lite.TargetSpec(supported_ops=None, supported_types=None, experimental_select_user_tf_ops=None, experimental_supported_backends=None)
1 lite.TocoConverter()
12 lite.experimental.Analyzer()
12 lite.experimental.QuantizationDebugOptions(layer_debug_metrics=None, model_debug_metrics=None, layer_direct_compare_metrics=None, denylisted_ops=None, denylisted_nodes=None, fully_quantize=False)
12 lite.experimental.QuantizationDebugger(quant_debug_model_path=None, quant_debug_model_content=None, float_model_path=None, float_model_content=None, debug_dataset=None, debug_options=None, converter=None)
12 lite.experimental.authoring.compatible(target=None, converter_target_spec=None, **kwargs)
1 lite.experimental.convert_op_hints_to_stubs(session=None, graph_def=None, write_callback=lambda: None)
12 lite.experimental.load_delegate(library, options=None)
1 lite.toco_convert(input_data, input_tensors, output_tensors, *args, **kwargs)
2 lite.TFLiteConverter(funcs, trackable_obj=None)
# weft does not read or write MLIR
12 mlir.experimental.convert_function(concrete_function, pass_pipeline='tf-standard-pipeline', show_debug_info=False)
12 mlir.experimental.convert_graph_def(graph_def, pass_pipeline='tf-standard-pipeline', show_debug_info=False)
12 mlir.experimental.convert_saved_model(saved_model_path, exported_names, show_debug_info=False)
12 mlir.experimental.convert_saved_model_v1(saved_model_path, exported_names, tags, lift_variables, include_variables_in_initializers, upgrade_legacy=True, show_debug_info=False)
12 mlir.experimental.run_pass_pipeline(mlir_txt, pass_pipeline, show_debug_info=False)
12 mlir.experimental.tflite_to_tosa_bytecode(flatbuffer, bytecode, use_external_constant=False, ordered_input_arrays=None, ordered_output_arrays=None)
12 mlir.experimental.write_bytecode(filename, mlir_txt)
# sessions keep no statistics of ops; tf.profiler.experimental traces programs
1 profiler.AdviceProto()
1 profiler.GraphNodeProto()
1 profiler.MultiGraphNodeProto()
1 profiler.OpLogProto()
1 profiler.Profiler(graph=None, op_log=None)
1 profiler.advise(graph=None, run_meta=None, options=0)
1 profiler.profile(graph=None, run_meta=None, op_log=None, cmd='scope', options=0)
1 profiler.write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True)
# weft does not quantize saved models
12 quantization.experimental.QuantizationComponentSpec()
12 quantization.experimental.QuantizationMethod()
12 quantization.experimental.QuantizationOptions()
12 quantization.experimental.TfRecordRepresentativeDatasetSaver(path_map, expected_input_key_map=None)
12 quantization.experimental.UnitWiseQuantizationSpec()
12 quantization.experimental.quantize_saved_model(saved_model_path, output_directory=None, quantization_options=None, representative_dataset=None, *, overwrite_output_directory=False)
# weft has no TPUs
1 tpu.CrossShardOptimizer(opt, reduction='weighted_mean', name='CrossShardOptimizer', group_assignment=None)
12 tpu.XLAOptions(use_spmd_for_xla_partitioning=True, enable_xla_dynamic_padder=True, use_shardy_partitioner=False)
1 tpu.batch_parallel(computation, inputs=None, num_shards=1, infeed_queue=None, device_assignment=None, name=None, xla_options=None)
1 tpu.bfloat16_scope(name=None)
1 tpu.core(num)
1 tpu.cross_replica_sum(x, group_assignment=None, name=None)
12 tpu.experimental.DeviceAssignment(topology, core_assignment)
12 tpu.experimental.HardwareFeature(tpu_hardware_feature_proto)
12 tpu.experimental.TPUSystemMetadata(num_cores, num_hosts, num_of_cores_per_host, topology, devices)
12 tpu.experimental.Topology(serialized=None, mesh_shape=None, device_coordinates=None)
12 tpu.experimental.embedding.Adagrad(learning_rate=0.001, initial_accumulator_value=0.1, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None, weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, slot_variable_creation_fn=None, clipvalue=None, low_dimensional_packing_status=False)
12 tpu.experimental.embedding.AdagradMomentum(learning_rate=0.001, momentum=0.0, use_nesterov=False, exponent=2, beta2=1, epsilon=1e-10, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None, weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, slot_variable_creation_fn=None, clipvalue=None, low_dimensional_packing_status=False)
12 tpu.experimental.embedding.Adam(learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-07, lazy_adam=True, sum_inside_sqrt=True, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None, weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, slot_variable_creation_fn=None, clipvalue=None, low_dimensional_packing_status=False)
12 tpu.experimental.embedding.CustomCombiner(combiner_computation, max_valency, num_weights=0, initializer=None, combiner_weights_learning_rate=0.01)
12 tpu.experimental.embedding.CustomOptimizer(custom_computation, learning_rate=0.01, slot_names=None, slot_initializers=None, hyperparameters=None, slot_dims=None)
12 tpu.experimental.embedding.FTRL(learning_rate=0.001, learning_rate_power=-0.5, l1_regularization_strength=0.0, l2_regularization_strength=0.0, beta=0.0, initial_accumulator_value=0.1, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None, weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, slot_variable_creation_fn=None, clipvalue=None, multiply_linear_by_learning_rate=False, allow_zero_accumulator=False, low_dimensional_packing_status=False)
12 tpu.experimental.embedding.FeatureConfig(table, max_sequence_length=0, validate_weights_and_indices=True, output_shape=None, name=None)
12 tpu.experimental.embedding.QuantizationConfig(num_buckets, lower, upper)
12 tpu.experimental.embedding.RowIdInitializer(offset=0)
12 tpu.experimental.embedding.SGD(learning_rate=0.01, use_gradient_accumulation=True, clip_weight_min=None, clip_weight_max=None, weight_decay_factor=None, multiply_weight_decay_factor_by_learning_rate=None, clipvalue=None, low_dimensional_packing_status=False)
12 tpu.experimental.embedding.SparseCoreEmbeddingConfig(disable_table_stacking=False, max_ids_per_chip_per_sample=64, max_ids_per_table=None, max_unique_ids_per_table=None, allow_id_dropping=False, initialize_tables_on_host=True, enable_fast_table_initialization=False)
12 tpu.experimental.embedding.TPUEmbedding(feature_config, optimizer, pipeline_execution_with_tensor_core=False)
12 tpu.experimental.embedding.TPUEmbeddingForServing(feature_config, optimizer, experimental_sparsecore_restore_info=None)
12 tpu.experimental.embedding.TPUEmbeddingV0(feature_config, optimizer)
12 tpu.experimental.embedding.TPUEmbeddingV2(feature_config, optimizer=None, pipeline_execution_with_tensor_core=False, sparse_core_embedding_config=None)
12 tpu.experimental.embedding.TableConfig(vocabulary_size, dim, initializer=None, optimizer=None, combiner='mean', name=None, quantization_config=None, layout=None, dtype=tf.float32)
12 tpu.experimental.embedding.serving_embedding_lookup(inputs, weights, tables, feature_config)
1 tpu.experimental.embedding_column(categorical_column, dimension, combiner='mean', initializer=None, max_sequence_length=0, learning_rate_fn=None, embedding_lookup_device=None, tensor_core_shape=None, use_safe_embedding_lookup=True)
12 tpu.experimental.initialize_tpu_system(cluster_resolver=None)
1 tpu.experimental.shared_embedding_columns(categorical_columns, dimension, combiner='mean', initializer=None, shared_embedding_collection_name=None, max_sequence_lengths=None, learning_rate_fn=None, embedding_lookup_device=None, tensor_core_shape=None, use_safe_embedding_lookup=True)
12 tpu.experimental.shutdown_tpu_system(cluster_resolver=None)
1 tpu.initialize_system(embedding_config=None, job=None, compilation_failure_closes_chips=True, tpu_cancellation_closes_chips=None)
1 tpu.outside_compilation(computation, *args, **kwargs)
1 tpu.replicate(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None, maximum_shapes=None, padding_spec=None, xla_options=None)
1 tpu.rewrite(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None, xla_options=None)
1 tpu.shard(computation, inputs=None, num_shards=1, input_shard_axes=None, outputs_from_all_shards=True, output_shard_axes=None, infeed_queue=None, device_assignment=None, name=None, xla_options=None)
1 tpu.shutdown_system(job=None)
# sessions do not record timelines, rewrite graphs for quantized training, or average gradients of other workers
1 train.ProfilerHook(save_steps=None, save_secs=None, output_dir='', show_dataflow=True, show_memory=False)
1 train.SyncReplicasOptimizer(opt, replicas_to_aggregate, total_num_replicas=None, variable_averages=None, variables_to_average=None, use_locking=False, name='sync_replicas')
1 train.do_quantize_training_on_graphdef(input_graph, num_bits)
# weft has no watcher of preemptions apart from PreemptionCheckpointHandler
2 distribute.experimental.PreemptionWatcher()
# weft has no servers of tf.functions
2 distribute.experimental.rpc.Client()
2 distribute.experimental.rpc.Server()
# weft has no TensorRT
2 experimental.tensorrt.ConversionParams(max_workspace_size_bytes=1073741824, precision_mode='FP32', minimum_segment_size=3, maximum_cached_engines=1, use_calibration=True, allow_build_at_runtime=True)
2 experimental.tensorrt.Converter(input_saved_model_dir=None, input_saved_model_tags=None, input_saved_model_signature_key=None, use_dynamic_shape=None, dynamic_shape_profile_strategy=None, max_workspace_size_bytes=1073741824, precision_mode='FP32', minimum_segment_size=3, maximum_cached_engines=1, use_calibration=True, allow_build_at_runtime=True, conversion_params=None)
# columns of sequences and shared embeddings are not built yet
2 feature_column.shared_embeddings(categorical_columns, dimension, combiner='mean', initializer=None, shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True)
"""

_ROOTS = {"1": ["tf.compat.v1."], "2": ["tf."], "12": ["tf.compat.v1.", "tf."]}


@functools.cache
def table():
    """{whole name: (parameters, reason)}"""
    found, reason = {}, ""
    for line in TEXT.strip().splitlines():
        if line.startswith("# "):
            reason = line[2:]
            continue
        versions, _, rest = line.partition(" ")
        name, _, parameters = rest.partition("(")
        for root in _ROOTS[versions]:
            found[root + name] = (parameters[:-1], reason)
    return found


def find(name):
    """What refuses under this name: a function, a class or a module of them; None where there is none."""
    if name in table():
        from weft._src import signatures

        return signatures.unsupported(name, *table()[name])
    if not names(name):
        return None
    import types

    from weft._src.namespace import missing

    made = types.ModuleType(name.replace("tf.", "tensorflow.", 1), f"{name}: names that are not supported.")
    made.__path__ = []
    made.__getattr__, made.__dir__ = missing(name), lambda: sorted(names(name))
    return made


def names(namespace):
    """The names of a namespace that refuse."""
    start = namespace + "."
    return {name.removeprefix(start).partition(".")[0] for name in table() if name.startswith(start)}
