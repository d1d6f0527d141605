"""tf.compat.v1: version 1's API. What means the same in both versions is tf's."""

import importlib as _importlib

# module -> names, loaded when one is first asked for; "public=own" as in weft/_top.py.
_MODULES = {
    "weft.ops.sparse_tensor": "SparseTensorValue",
    "weft.ops.sparse_ops": "sparse_add=add sparse_fill_empty_rows=fill_empty_rows sparse_mask=mask sparse_maximum=maximum sparse_minimum=minimum sparse_placeholder "
    "sparse_reorder=reorder sparse_reset_shape=reset_shape sparse_reshape=reshape sparse_retain=retain sparse_slice=slice sparse_softmax=softmax "
    "sparse_tensor_dense_matmul=sparse_dense_matmul sparse_tensor_to_dense=to_dense sparse_to_dense sparse_to_indicator=to_indicator "
    "sparse_transpose=transpose sparse_concat=concat sparse_reduce_sum=reduce_sum sparse_reduce_max=reduce_max sparse_split=split "
    "sparse_segment_sum=segment_sum sparse_segment_mean=segment_mean sparse_segment_sqrt_n=segment_sqrt_n",
    "weft.compat.session": "Session InteractiveSession get_default_session",
    "weft.compat.session_handles": "get_session_handle get_session_tensor delete_session_tensor",
    "weft.compat.v1.graphs": "placeholder placeholder_with_default executing_eagerly_outside_functions enable_v2_behavior disable_v2_behavior "
    "enable_control_flow_v2 disable_control_flow_v2 control_flow_v2_enabled enable_resource_variables disable_resource_variables "
    "resource_variables_enabled enable_v2_tensorshape disable_v2_tensorshape set_random_seed get_seed Print constant device "
    "convert_to_tensor_or_indexed_slices convert_to_tensor_or_sparse_tensor convert_to_tensor=convert_to_tensor_v1 wrap_function disable_tensor_equality enable_tensor_equality",
    "weft.framework.graph": "Graph Operation get_default_graph reset_default_graph disable_eager_execution enable_eager_execution executing_eagerly "
    "name_scope=name_scope_v1",
    "weft.compat.v1.readers": "ReaderBase WholeFileReader TextLineReader FixedLengthRecordReader TFRecordReader LMDBReader IdentityReader",
    "weft.queue": "QueueBase FIFOQueue PaddingFIFOQueue PriorityQueue RandomShuffleQueue",
    "weft.compat.v1.values": "IndexedSlicesValue",
    "weft.framework.tensor_shape": "Dimension",
    "weft.compat.v1.variables": "GraphKeys AUTO_REUSE add_to_collection add_to_collections get_collection get_collection_ref global_variables local_variables "
    "model_variables trainable_variables moving_average_variables variables_initializer global_variables_initializer "
    "local_variables_initializer initialize_variables=variables_initializer initialize_all_variables=global_variables_initializer "
    "initialize_local_variables=local_variables_initializer tables_initializer all_variables=global_variables "
    "is_variable_initialized report_uninitialized_variables assert_variables_initialized assign assign_add assign_sub "
    "scatter_update scatter_add scatter_sub VariableScope get_variable_scope variable_scope variable_op_scope no_regularizer "
    "get_variable get_local_variable make_template",
    "weft.compat.v1.partitioned": "fixed_size_partitioner variable_axis_size_partitioner min_max_variable_partitioner create_partitioned_variables",
    "weft.compat.v1.initializers": "zeros_initializer=Zeros ones_initializer=Ones constant_initializer=Constant random_uniform_initializer=RandomUniform "
    "random_normal_initializer=RandomNormal truncated_normal_initializer=TruncatedNormal orthogonal_initializer=Orthogonal "
    "variance_scaling_initializer=VarianceScaling glorot_uniform_initializer=GlorotUniform "
    "glorot_normal_initializer=GlorotNormal",
    "weft.compat.v1.old_ops": "to_float to_double to_int32 to_int64 to_bfloat16 to_complex64 to_complex128 reduce_sum reduce_mean reduce_max reduce_min reduce_prod "
    "reduce_all reduce_any reduce_logsumexp count_nonzero argmax argmin arg_max=argmax arg_min=argmin div floor_div squeeze "
    "expand_dims where concat multinomial string_split batch_gather case cond while_loop",
    "weft.gradients.graph": "gradients=gradients_v1 hessians AggregationMethod",
    "weft.trackable.variable": "VariableAggregation",
    "weft.framework.importer": "import_graph_def",
    "weft.compat": "dimension_value dimension_at_index",
}
_NAMESPACES = "distribute image strings initializers feature_column train losses metrics saved_model graph_util nn layers math python_io gfile lookup io logging ragged app flags data summary"
# What version 2 has under another name.
_RENAMED = """
random_uniform random.uniform
random_normal random.normal
truncated_normal random.truncated_normal
random_shuffle random.shuffle
random_gamma random.gamma
random_poisson random.poisson
random_crop image.random_crop
string_to_number strings.to_number
string_join strings.join
string_strip strings.strip
substr strings.substr
regex_replace strings.regex_replace
reduce_join strings.reduce_join
string_to_hash_bucket strings.to_hash_bucket
string_to_hash_bucket_fast strings.to_hash_bucket_fast
string_to_hash_bucket_strong strings.to_hash_bucket_strong
string_length strings.length
as_string strings.as_string
decode_raw io.decode_raw
decode_csv io.decode_csv
decode_base64 io.decode_base64
encode_base64 io.encode_base64
decode_compressed io.decode_compressed
decode_json_example io.decode_json_example
read_file io.read_file
write_file io.write_file
matching_files io.matching_files
parse_example io.parse_example
parse_single_example io.parse_single_example
parse_single_sequence_example io.parse_single_sequence_example
parse_tensor io.parse_tensor
serialize_tensor io.serialize_tensor
FixedLenFeature io.FixedLenFeature
FixedLenSequenceFeature io.FixedLenSequenceFeature
VarLenFeature io.VarLenFeature
SparseFeature io.SparseFeature
tensor_scatter_update tensor_scatter_nd_update
tensor_scatter_add tensor_scatter_nd_add
tensor_scatter_sub tensor_scatter_nd_sub
unsorted_segment_sum math.unsorted_segment_sum
unsorted_segment_max math.unsorted_segment_max
unsorted_segment_min math.unsorted_segment_min
unsorted_segment_mean math.unsorted_segment_mean
segment_sum math.segment_sum
segment_mean math.segment_mean
segment_max math.segment_max
segment_min math.segment_min
log math.log
log1p math.log1p
log_sigmoid math.log_sigmoid
expm1 math.expm1
erf math.erf
erfc math.erfc
lgamma math.lgamma
digamma math.digamma
rsqrt math.rsqrt
reciprocal math.reciprocal
ceil math.ceil
rint math.rint
floordiv math.floordiv
floormod math.floormod
mod math.floormod
is_nan math.is_nan
is_inf math.is_inf
is_finite math.is_finite
imag math.imag
real math.real
conj math.conj
angle math.angle
invert_permutation math.invert_permutation
cumprod math.cumprod
logical_xor math.logical_xor
accumulate_n math.accumulate_n
bincount math.bincount
confusion_matrix math.confusion_matrix
polyval math.polyval
squared_difference math.squared_difference
cross linalg.cross
diag linalg.tensor_diag
diag_part linalg.tensor_diag_part
matrix_diag linalg.diag
matrix_diag_part linalg.diag_part
matrix_set_diag linalg.set_diag
matrix_band_part linalg.band_part
matrix_inverse linalg.inv
matrix_determinant linalg.det
matrix_solve linalg.solve
matrix_triangular_solve linalg.triangular_solve
matrix_transpose linalg.matrix_transpose
cholesky linalg.cholesky
cholesky_solve linalg.cholesky_solve
self_adjoint_eig linalg.eigh
qr linalg.qr
svd linalg.svd
trace linalg.trace
lbeta math.lbeta
fft signal.fft
ifft signal.ifft
depth_to_space nn.depth_to_space
space_to_depth nn.space_to_depth
manip_roll roll
global_norm linalg.global_norm
assert_non_negative debugging.assert_non_negative
assert_positive debugging.assert_positive
assert_negative debugging.assert_negative
assert_none_equal debugging.assert_none_equal
assert_less_equal debugging.assert_less_equal
assert_greater_equal debugging.assert_greater_equal
assert_type debugging.assert_type
check_numerics debugging.check_numerics
is_numeric_tensor debugging.is_numeric_tensor
py_func numpy_function
python_io io
quantize quantization.quantize
dequantize quantization.dequantize
fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args
fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars
"""
_renamed = dict(line.split() for line in _RENAMED.strip().splitlines())
_names = {}
for _module, _text in _MODULES.items():
    for _name in _text.split():
        _public, _, _own = _name.partition("=")
        _names[_public] = (_module, _own or _public)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    found = _names.get(name)
    if found is not None:
        value = getattr(_importlib.import_module(found[0]), found[1])
    elif name in _NAMESPACES.split():
        value = _namespace(name)
    else:
        value = _of_version_2(name)
    globals()[name] = value
    return value


def _namespace(name):
    """A namespace of version 1, or tf's where there is nothing of version 1's in it."""
    try:
        return _importlib.import_module("weft.compat.v1." + name)
    except ModuleNotFoundError as error:
        if error.name != "weft.compat.v1." + name:
            raise
    return _of_version_2(name)


def _of_version_2(name):
    import weft

    try:
        value = weft
        for part in _renamed.get(name, name).split("."):
            value = getattr(value, part)
        return value
    except AttributeError:
        pass
    from weft import proto

    try:
        return getattr(proto, name)
    except AttributeError:
        raise AttributeError(f"module 'tensorflow._api.v2.compat.v1' has no attribute {name!r}") from None
