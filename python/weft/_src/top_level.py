"""Where the names of `tf.` are: each is loaded when it is first asked for."""

# Modules below weft/_src with their names; "public=own" where the module has another name for it.
MODULES = """
data.iterator: OptionalSpec
framework.dtypes: DType as_dtype float16 float32 float64 bfloat16 half double int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool string
framework.dtypes: complex64 complex128 qint8 quint8 qint16 quint16 qint32 resource variant
framework.tensor_shape: TensorShape
framework.tensor: Tensor is_tensor
framework.convert: constant convert_to_tensor=public_convert_to_tensor register_tensor_conversion_function get_static_value
framework.graph: Graph Operation name_scope control_dependencies init_scope executing_eagerly inside_function
trackable.variable: Variable VariableSynchronization VariableAggregation=VariableAggregationV2 variable_creator_scope
trackable.module: Module
gradients.tape: GradientTape UnconnectedGradients
gradients.graph: gradients hessians AggregationMethod
ops.init_ops: zeros_initializer ones_initializer constant_initializer random_uniform_initializer random_normal_initializer
framework.importer: import_graph_def
gradients.custom: custom_gradient grad_pass_through recompute_grad
gradients.registry: RegisterGradient no_gradient
proto.tensors: make_tensor_proto make_ndarray
framework.type_spec: TypeSpec TensorSpec NoneTensorSpec type_spec_from_value
ops.tensor_array: TensorArray TensorArraySpec
ops.ragged.ragged_tensor: RaggedTensor RaggedTensorSpec
ops.sparse_tensor: SparseTensor SparseTensorSpec
framework.indexed_slices: IndexedSlices IndexedSlicesSpec
function.function: function
ops.array_ops: argsort batch_to_space bitcast boolean_mask broadcast_dynamic_shape broadcast_static_shape broadcast_to concat dynamic_partition
ops.array_ops: dynamic_stitch edit_distance ensure_shape expand_dims extract_volume_patches eye fill fingerprint gather gather_nd guarantee_const
ops.array_ops: identity identity_n linspace meshgrid no_op one_hot ones ones_like pad parallel_stack range rank repeat
ops.array_ops: required_space_to_batch_paddings reshape reverse reverse_sequence roll scatter_nd searchsorted sequence_mask shape shape_n size
ops.array_ops: slice sort space_to_batch space_to_batch_nd split squeeze stack stop_gradient strided_slice tensor_scatter_nd_add
ops.array_ops: tensor_scatter_nd_max tensor_scatter_nd_min tensor_scatter_nd_sub tensor_scatter_nd_update tile timestamp transpose unique
ops.array_ops: unique_with_counts unravel_index unstack where zeros zeros_like
ops.math_ops: abs acos acosh add add_n argmax argmin asin asinh atan atan2 atanh cast clip_by_global_norm clip_by_norm clip_by_value complex cos
ops.math_ops: cosh cumsum divide einsum equal exp floor greater greater_equal histogram_fixed_width histogram_fixed_width_bins less less_equal
ops.math_ops: logical_and logical_not logical_or matmul maximum minimum multiply negative not_equal pow realdiv reduce_all reduce_any
ops.math_ops: reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum round saturate_cast scalar_mul sigmoid sign sin sinh sqrt
ops.math_ops: square subtract tan tanh tensordot truediv truncatediv truncatemod
function.control_flow: cond case switch_case while_loop group tuple=tuple_ no_op Assert
function.functional: map_fn scan foldl foldr
function.vectorize: vectorized_map
framework.device: device DeviceSpec
ops.string_ops: as_string
function.printing: print=print_v2
function.py_func: py_function numpy_function
ops.check_ops: assert_equal assert_greater assert_less assert_rank
ops.linalg_ops: eig eigvals matrix_square_root=sqrtm norm
framework.misc: get_logger get_current_name_scope is_symbolic_tensor
framework.load_library: load_library load_op_library load_pluggable_device_library
ops.search_ops: approx_top_k
ops.stateless_random_ops: random_index_shuffle
ops.conv_ops: conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2
ops.signal_ops: fftnd=fftnd_op ifftnd=ifftnd_op rfftnd=rfftnd_op irfftnd=irfftnd_op
function.critical_section: CriticalSection
function.batch: nondifferentiable_batch_function
ops.array_ops: check_pinned ragged_fill_empty_rows ragged_fill_empty_rows_grad
"""

# Namespaces of Keras that TensorFlow has at the top, too.
OF_KERAS = ("initializers", "losses", "metrics", "optimizers")
# What is in the folder of the package and not a namespace of TensorFlow.
PRIVATE = {"as_tensorflow", "include", "install_as_tensorflow", "proto"}


def namespaces(folders):
    """The public modules in the package's folders."""
    import os

    found = {
        name.partition(".")[0]
        for folder in folders
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if name[0] != "_" and (name.endswith(".py") or "." not in name)
    }
    return found - PRIVATE | {"__internal__", "__operators__"}
