"""tf.compat.v1: version 1's API. What means the same in both versions is tf's."""

from weft._src.compat.v1 import version_2 as _version_2
from weft._src.namespace import lazily as _lazily

_MODULES = """
ops.sparse_tensor: SparseTensorValue
ops.sparse_ops: sparse_add=add sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum
ops.sparse_ops: sparse_minimum=minimum sparse_placeholder sparse_reorder=reorder sparse_reset_shape=reset_shape
ops.sparse_ops: sparse_reshape=reshape sparse_retain=retain sparse_slice=slice sparse_softmax=softmax
ops.sparse_ops: sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense
ops.sparse_ops: sparse_to_indicator=to_indicator sparse_transpose=transpose sparse_concat=concat
ops.sparse_ops: sparse_reduce_sum=reduce_sum sparse_reduce_max=reduce_max sparse_split=split
ops.sparse_ops: sparse_segment_sum=segment_sum sparse_segment_mean=segment_mean sparse_segment_sqrt_n=segment_sqrt_n
compat.session: Session InteractiveSession get_default_session
compat.session_handles: get_session_handle get_session_tensor delete_session_tensor
compat.v1.graphs: placeholder placeholder_with_default executing_eagerly_outside_functions enable_v2_behavior
compat.v1.graphs: disable_v2_behavior enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled
compat.v1.graphs: enable_resource_variables disable_resource_variables resource_variables_enabled
framework.device: device=device_v1
compat.v1.graphs: enable_v2_tensorshape disable_v2_tensorshape set_random_seed get_seed Print constant
compat.v1.graphs: convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor
compat.v1.graphs: convert_to_tensor=convert_to_tensor_v1 wrap_function disable_tensor_equality enable_tensor_equality
framework.graph: Graph Operation get_default_graph reset_default_graph disable_eager_execution enable_eager_execution
framework.graph: executing_eagerly name_scope=name_scope_v1
compat.v1.graphs: colocate_with
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
compat.v1.variables: all_variables=global_variables is_variable_initialized report_uninitialized_variables
compat.v1.variables: assert_variables_initialized assign assign_add assign_sub scatter_update scatter_add scatter_sub
compat.v1.variables: VariableScope get_variable_scope variable_scope variable_op_scope no_regularizer get_variable
compat.v1.variables: get_local_variable make_template
compat.v1.partitioned: fixed_size_partitioner variable_axis_size_partitioner min_max_variable_partitioner
compat.v1.partitioned: create_partitioned_variables
compat.v1.initializers: zeros_initializer=Zeros ones_initializer=Ones constant_initializer=Constant
compat.v1.initializers: random_uniform_initializer=RandomUniform random_normal_initializer=RandomNormal
compat.v1.initializers: truncated_normal_initializer=TruncatedNormal orthogonal_initializer=Orthogonal
compat.v1.initializers: variance_scaling_initializer=VarianceScaling glorot_uniform_initializer=GlorotUniform
compat.v1.initializers: glorot_normal_initializer=GlorotNormal
compat.v1.old_ops: to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128 reduce_sum reduce_mean
compat.v1.old_ops: reduce_max reduce_min reduce_prod reduce_all reduce_any reduce_logsumexp count_nonzero argmax
compat.v1.old_ops: argmin arg_max=argmax arg_min=argmin div floor_div squeeze expand_dims where concat multinomial
compat.v1.old_ops: string_split batch_gather case cond while_loop
gradients.graph: gradients=gradients_v1 hessians AggregationMethod
trackable.variable: VariableAggregation
framework.importer: import_graph_def
compat.compat: dimension_value dimension_at_index
"""
_SPACES = "app data distribute feature_column gfile graph_util image initializers logging losses math metrics nn ragged resource_loader saved_model strings test train"

__getattr__, _ = _lazily(globals(), "tf.compat.v1", _MODULES, _SPACES.split(), otherwise=_version_2.find)
