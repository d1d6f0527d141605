"""tf.compat.v1: version 1's API. What means the same in both versions is tf's."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
ops.sparse_tensor: SparseTensorValue
ops.sparse_ops: sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum
ops.sparse_ops: sparse_minimum=minimum sparse_placeholder sparse_reorder=reorder sparse_reset_shape=reset_shape
ops.sparse_ops: sparse_reshape=reshape sparse_retain=retain sparse_slice=slice sparse_softmax=softmax
ops.sparse_ops: sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense
ops.sparse_ops: sparse_to_indicator=to_indicator sparse_transpose=transpose
compat.v1.sparse: sparse_concat sparse_merge sparse_reduce_max sparse_reduce_max_sparse sparse_reduce_sum sparse_reduce_sum_sparse sparse_split
compat.session: Session InteractiveSession get_default_session
compat.session_handles: get_session_handle get_session_tensor delete_session_tensor
compat.v1.graphs: placeholder placeholder_with_default executing_eagerly_outside_functions enable_v2_behavior
compat.v1.graphs: disable_v2_behavior enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled
compat.v1.graphs: enable_resource_variables disable_resource_variables resource_variables_enabled
framework.device: device=device_v1 DeviceSpec=DeviceSpecV1
compat.v1.graphs: enable_v2_tensorshape disable_v2_tensorshape set_random_seed get_seed Print constant
compat.v1.graphs: convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor
compat.v1.graphs: convert_to_tensor=convert_to_tensor_v1 wrap_function disable_tensor_equality enable_tensor_equality
framework.graph: Graph Operation get_default_graph reset_default_graph disable_eager_execution enable_eager_execution
framework.graph: executing_eagerly name_scope=name_scope_v1
compat.v1.graphs: add_check_numerics_ops colocate_with op_scope
compat.v1.readers: ReaderBase WholeFileReader TextLineReader FixedLengthRecordReader TFRecordReader LMDBReader
compat.v1.readers: IdentityReader
ops.queue_ops: QueueBase FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue
compat.v1.values: IndexedSlicesValue
framework.tensor_shape: Dimension
compat.v1.variables: GraphKeys AUTO_REUSE add_to_collection add_to_collections get_collection get_collection_ref
compat.v1.variables: global_variables local_variables model_variables trainable_variables moving_average_variables
compat.v1.variables: variables_initializer global_variables_initializer local_variables_initializer
compat.v1.variables: initialize_variables=variables_initializer initialize_all_variables=global_variables_initializer
compat.v1.variables: initialize_local_variables=local_variables_initializer tables_initializer
compat.v1.variables: initialize_all_tables=tables_initializer
compat.v1.variables: all_variables is_variable_initialized report_uninitialized_variables
compat.v1.variables: assert_variables_initialized assign assign_add assign_sub
compat.v1.scatter: batch_scatter_update count_up_to scatter_add scatter_div scatter_max scatter_min scatter_mul scatter_nd_add scatter_nd_sub
compat.v1.scatter: scatter_nd_update scatter_sub scatter_update
compat.v1.accumulators: ConditionalAccumulator ConditionalAccumulatorBase SparseConditionalAccumulator
compat.v1.variables: VariableScope get_variable_scope variable_scope variable_op_scope no_regularizer get_variable
compat.v1.variables: get_local_variable make_template
compat.v1.partitioned: fixed_size_partitioner variable_axis_size_partitioner min_max_variable_partitioner
compat.v1.partitioned: create_partitioned_variables
compat.v1.initializers: zeros_initializer=Zeros ones_initializer=Ones constant_initializer=Constant
compat.v1.initializers: random_uniform_initializer=RandomUniform random_normal_initializer=RandomNormal
compat.v1.initializers: truncated_normal_initializer=TruncatedNormal orthogonal_initializer=Orthogonal
compat.v1.initializers: variance_scaling_initializer=VarianceScaling glorot_uniform_initializer=GlorotUniform
compat.v1.initializers: glorot_normal_initializer=GlorotNormal uniform_unit_scaling_initializer=UniformUnitScaling
compat.v1.old_ops: to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128 reduce_sum reduce_mean
compat.v1.old_ops: reduce_max reduce_min reduce_prod reduce_all reduce_any reduce_logsumexp count_nonzero argmax
compat.v1.old_ops: argmin div floor_div squeeze expand_dims where concat multinomial
compat.v1.old_ops: string_split batch_gather case cond while_loop bincount clip_by_average_norm decode_raw self_adjoint_eigvals setdiff1d
compat.v1.old_ops: batch_to_space space_to_batch
compat.v1.old_ops: sparse_matmul
compat.v1.checks: assert_equal assert_greater assert_greater_equal assert_less assert_less_equal assert_near assert_negative
compat.v1.checks: assert_non_negative assert_non_positive assert_none_equal assert_positive assert_rank assert_rank_at_least assert_rank_in
keras_package: keras layers
gradients.graph: gradients=gradients_v1 AggregationMethod
trackable.variable: VariableAggregation
framework.importer: import_graph_def
compat.compat: dimension_value dimension_at_index
"""
_SPACES = (
    "app autograph data debugging distribute distributions dtypes errors experimental feature_column flags gfile graph_util image initializers io linalg lite logging losses "
    "manip math metrics mixed_precision nn profiler python_io ragged random resource_loader saved_model sets sparse spectral strings summary test tpu "
    "train user_ops"
)

__getattr__, __dir__ = _namespace(globals(), "", _MODULES, _SPACES.split())
