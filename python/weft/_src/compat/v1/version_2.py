"""What version 1 shares with version 2: the same names, and some that version 2 renamed."""

import functools

from weft._src.namespace import lazily, missing

# version 1's name, version 2's (or another of version 1's)
RENAMED = dict(
    line.split()
    for line in """
COMPILER_VERSION version.COMPILER_VERSION
CXX11_ABI_FLAG sysconfig.CXX11_ABI_FLAG
CXX_VERSION sysconfig.CXX_VERSION
FixedLenFeature io.FixedLenFeature
FixedLenSequenceFeature io.FixedLenSequenceFeature
GIT_VERSION version.GIT_VERSION
GRAPH_DEF_VERSION version.GRAPH_DEF_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER version.GRAPH_DEF_VERSION_MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER version.GRAPH_DEF_VERSION_MIN_PRODUCER
MONOLITHIC_BUILD sysconfig.MONOLITHIC_BUILD
NoGradient no_gradient
NotDifferentiable no_gradient
OpError errors.OpError
QUANTIZED_DTYPES dtypes.QUANTIZED_DTYPES
SparseFeature io.SparseFeature
VERSION version.VERSION
VarLenFeature io.VarLenFeature
accumulate_n math.accumulate_n
angle math.angle
as_string strings.as_string
assert_integer debugging.assert_integer
assert_proper_iterable debugging.assert_proper_iterable
assert_same_float_dtype debugging.assert_same_float_dtype
assert_scalar compat.v1.debugging.assert_scalar
assert_type debugging.assert_type
batch_to_space_nd batch_to_space
betainc math.betainc
bincount math.bincount
ceil math.ceil
check_numerics debugging.check_numerics
cholesky linalg.cholesky
cholesky_solve linalg.cholesky_solve
conj math.conj
cross linalg.cross
cumprod math.cumprod
debugging.assert_equal compat.v1.assert_equal
debugging.assert_greater compat.v1.assert_greater
debugging.assert_greater_equal compat.v1.assert_greater_equal
debugging.assert_less compat.v1.assert_less
debugging.assert_less_equal compat.v1.assert_less_equal
debugging.assert_near compat.v1.assert_near
debugging.assert_negative compat.v1.assert_negative
debugging.assert_non_negative compat.v1.assert_non_negative
debugging.assert_non_positive compat.v1.assert_non_positive
debugging.assert_none_equal compat.v1.assert_none_equal
debugging.assert_positive compat.v1.assert_positive
debugging.assert_rank compat.v1.assert_rank
debugging.assert_rank_at_least compat.v1.assert_rank_at_least
debugging.assert_rank_in compat.v1.assert_rank_in
debugging.is_finite math.is_finite
debugging.is_inf math.is_inf
debugging.is_nan math.is_nan
debugging.is_non_decreasing math.is_non_decreasing
debugging.is_strictly_increasing math.is_strictly_increasing
decode_base64 io.decode_base64
decode_compressed io.decode_compressed
decode_json_example io.decode_json_example
decode_raw io.decode_raw
dequantize quantization.dequantize
deserialize_many_sparse io.deserialize_many_sparse
diag linalg.tensor_diag
diag_part linalg.tensor_diag_part
digamma math.digamma
div_no_nan math.divide_no_nan
dtypes.as_string strings.as_string
encode_base64 io.encode_base64
erf math.erf
erfc math.erfc
expm1 math.expm1
fake_quant_with_min_max_args quantization.fake_quant_with_min_max_args
fake_quant_with_min_max_args_gradient quantization.fake_quant_with_min_max_args_gradient
fake_quant_with_min_max_vars quantization.fake_quant_with_min_max_vars
fake_quant_with_min_max_vars_gradient quantization.fake_quant_with_min_max_vars_gradient
fake_quant_with_min_max_vars_per_channel quantization.fake_quant_with_min_max_vars_per_channel
fake_quant_with_min_max_vars_per_channel_gradient quantization.fake_quant_with_min_max_vars_per_channel_gradient
fft signal.fft
fft2d signal.fft2d
fft3d signal.fft3d
floordiv math.floordiv
floormod math.floormod
global_norm linalg.global_norm
ifft signal.ifft
ifft2d signal.ifft2d
ifft3d signal.ifft3d
igamma math.igamma
igammac math.igammac
imag math.imag
image.extract_image_patches compat.v1.extract_image_patches
image.resize_image_with_crop_or_pad image.resize_with_crop_or_pad
image.resize_images compat.v1.image.resize
invert_permutation math.invert_permutation
io.PaddingFIFOQueue queue.PaddingFIFOQueue
io.PriorityQueue queue.PriorityQueue
io.QueueBase queue.QueueBase
io.RandomShuffleQueue queue.RandomShuffleQueue
io.decode_csv compat.v1.decode_csv
io.decode_raw compat.v1.decode_raw
io.parse_example compat.v1.parse_example
io.parse_single_example compat.v1.parse_single_example
io.serialize_many_sparse compat.v1.serialize_many_sparse
io.serialize_sparse compat.v1.serialize_sparse
is_finite math.is_finite
is_inf math.is_inf
is_nan math.is_nan
is_non_decreasing math.is_non_decreasing
is_numeric_tensor debugging.is_numeric_tensor
is_strictly_increasing math.is_strictly_increasing
lbeta math.lbeta
lgamma math.lgamma
lin_space linspace
linalg.transpose linalg.matrix_transpose
log math.log
log1p math.log1p
log_sigmoid math.log_sigmoid
logical_xor math.logical_xor
manip.batch_to_space_nd batch_to_space
manip.gather_nd compat.v1.gather_nd
manip.reshape reshape
manip.reverse reverse
manip.roll roll
manip.scatter_nd scatter_nd
manip.space_to_batch_nd space_to_batch_nd
manip.tile tile
matching_files io.matching_files
math.bincount compat.v1.bincount
math.confusion_matrix compat.v1.confusion_matrix
matrix_band_part linalg.band_part
matrix_determinant linalg.det
matrix_diag linalg.diag
matrix_diag_part linalg.diag_part
matrix_inverse linalg.inv
matrix_set_diag linalg.set_diag
matrix_solve linalg.solve
matrix_solve_ls linalg.lstsq
matrix_transpose linalg.matrix_transpose
matrix_triangular_solve linalg.triangular_solve
mod math.floormod
nn.avg_pool_v2 nn.avg_pool
nn.ctc_beam_search_decoder_v2 nn.ctc_beam_search_decoder
nn.depth_to_space compat.v1.depth_to_space
nn.log_uniform_candidate_sampler random.log_uniform_candidate_sampler
nn.max_pool_v2 nn.max_pool
nn.space_to_batch compat.v1.space_to_batch
nn.space_to_depth compat.v1.space_to_depth
nn.uniform_candidate_sampler random.uniform_candidate_sampler
norm compat.v1.linalg.norm
parse_single_sequence_example io.parse_single_sequence_example
parse_tensor io.parse_tensor
polygamma math.polygamma
polyval math.polyval
python_io.TFRecordCompressionType compat.v1.io.TFRecordCompressionType
python_io.TFRecordOptions io.TFRecordOptions
python_io.TFRecordWriter io.TFRecordWriter
python_io.tf_record_iterator compat.v1.io.tf_record_iterator
qr linalg.qr
quantize quantization.quantize
quantized_concat quantization.quantized_concat
random.get_seed compat.v1.get_seed
random.multinomial compat.v1.multinomial
random.set_random_seed compat.v1.set_random_seed
random_crop image.random_crop
random_gamma random.gamma
random_normal random.normal
random_poisson compat.v1.random.poisson
random_shuffle random.shuffle
random_uniform random.uniform
read_file io.read_file
real math.real
reciprocal math.reciprocal
regex_replace strings.regex_replace
reverse_v2 reverse
rint math.rint
rsqrt math.rsqrt
segment_max math.segment_max
segment_mean math.segment_mean
segment_min math.segment_min
segment_prod math.segment_prod
segment_sum math.segment_sum
self_adjoint_eig linalg.eigh
serialize_tensor io.serialize_tensor
sets.set_difference sets.difference
sets.set_intersection sets.intersection
sets.set_size sets.size
sets.set_union sets.union
sparse.SparseConditionalAccumulator compat.v1.SparseConditionalAccumulator
sparse.concat compat.v1.sparse_concat
sparse.matmul sparse.sparse_dense_matmul
sparse.merge compat.v1.sparse_merge
sparse.placeholder compat.v1.sparse_placeholder
sparse.reduce_max compat.v1.sparse_reduce_max
sparse.reduce_max_sparse compat.v1.sparse_reduce_max_sparse
sparse.reduce_sum compat.v1.sparse_reduce_sum
sparse.reduce_sum_sparse compat.v1.sparse_reduce_sum_sparse
sparse.split compat.v1.sparse_split
sparse_add compat.v1.sparse.add
sparse_segment_mean compat.v1.sparse.segment_mean
sparse_segment_sqrt_n compat.v1.sparse.segment_sqrt_n
sparse_segment_sum compat.v1.sparse.segment_sum
spectral.dct signal.dct
spectral.fft signal.fft
spectral.fft2d signal.fft2d
spectral.fft3d signal.fft3d
spectral.idct signal.idct
spectral.ifft signal.ifft
spectral.ifft2d signal.ifft2d
spectral.ifft3d signal.ifft3d
spectral.irfft signal.irfft
spectral.irfft2d signal.irfft2d
spectral.irfft3d signal.irfft3d
spectral.rfft signal.rfft
spectral.rfft2d signal.rfft2d
spectral.rfft3d signal.rfft3d
squared_difference math.squared_difference
string_join strings.join
string_length strings.length
string_strip strings.strip
string_to_hash_bucket_fast strings.to_hash_bucket_fast
string_to_hash_bucket_strong strings.to_hash_bucket_strong
strings.reduce_join compat.v1.reduce_join
strings.substr compat.v1.substr
strings.to_hash_bucket compat.v1.string_to_hash_bucket
strings.to_number compat.v1.string_to_number
svd linalg.svd
tensor_scatter_add tensor_scatter_nd_add
tensor_scatter_sub tensor_scatter_nd_sub
tensor_scatter_update tensor_scatter_nd_update
trace linalg.trace
truncated_normal random.truncated_normal
unsorted_segment_max math.unsorted_segment_max
unsorted_segment_mean math.unsorted_segment_mean
unsorted_segment_min math.unsorted_segment_min
unsorted_segment_prod math.unsorted_segment_prod
unsorted_segment_sqrt_n math.unsorted_segment_sqrt_n
unsorted_segment_sum math.unsorted_segment_sum
verify_tensor_all_finite compat.v1.debugging.assert_all_finite
where_v2 where
write_file io.write_file
zeta math.zeta
""".strip().splitlines()
)


def path(dotted):
    """What a public name of ours is."""
    import weft

    value = weft
    for part in dotted.split("."):
        value = getattr(value, part)
    return value


@functools.cache
def _rearranged():
    from weft._src import signatures
    from weft._src.compat.v1 import rearranged

    return signatures.parse(rearranged.TEXT)


def value_of(name):
    """What `tf.compat.v1.NAME` is where version 1 has nothing of its own: version 2's, as it is or with other arguments, a message, or what refuses."""
    from weft._src import unsupported, signatures

    if name in _rearranged():
        parameters, target, passed = _rearranged()[name]
        return signatures.rearranged(name, parameters, path(target), passed)
    if f"tf.compat.v1.{name}" in unsupported.table():
        return unsupported.find(f"tf.compat.v1.{name}")
    try:
        if name != "optimizers":  # Keras' own, which version 1 does not have
            return path(RENAMED.get(name, name))
    except AttributeError:
        pass
    namespace, _, last = name.rpartition(".")
    if namespace not in ("", "summary", "train"):
        return missing(f"tf.compat.v1.{namespace}")(last)
    return message("tf.compat.v1." + namespace if namespace else "tf.compat.v1", last)


def find_in(namespace):
    """The same for the names of a namespace."""
    return lambda name: value_of(f"{namespace}.{name}" if namespace else name)


def names_in(namespace):
    """The names that this file, rearranged.py and unsupported.py have for a namespace."""
    from weft._src import unsupported

    start = namespace + "." if namespace else ""
    found = (name.removeprefix(start) for table in (RENAMED, _rearranged()) for name in table if name.startswith(start))
    full = f"tf.compat.v1.{namespace}" if namespace else "tf.compat.v1"
    return {name.partition(".")[0] for name in found} | unsupported.names(full)


def namespace(scope, name, text="", spaces=()):
    """`__getattr__` and `__dir__` of tf.compat.v1.NAME, which has version 2's names, too."""
    full = f"tf.compat.v1.{name}" if name else "tf.compat.v1"
    own, listed = lazily(scope, full, text, spaces, otherwise=find_in(name))

    def __dir__():
        from importlib import import_module

        try:
            module = import_module(f"weft.{name}" if name else "weft")
            shared = [n for n in dir(module) if not n.startswith("_")]
        except ModuleNotFoundError:
            shared = []
        return sorted({*listed(), *shared, *names_in(name)})

    return own, __dir__


def message(namespace, name):
    """A class of messages: version 1 has some of them as names."""
    from weft._src import proto

    try:
        return getattr(proto, name)
    except AttributeError:
        pass
    return missing(namespace)(name)
