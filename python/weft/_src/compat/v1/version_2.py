"""What version 1 shares with version 2: the same names, and some that version 2 renamed."""

# version 1's name, version 2's
RENAMED = dict(
    line.split()
    for line in """
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
""".strip().splitlines()
)


def find(name):
    """What `tf.compat.v1.NAME` is where version 1 has nothing of its own: tf's, or a message."""
    import weft

    try:
        if name != "optimizers":  # Keras' own, which version 1 does not have
            value = weft
            for part in RENAMED.get(name, name).split("."):
                value = getattr(value, part)
            return value
    except AttributeError:
        pass
    return message("tf.compat.v1", name)


def find_in_train(name):
    """The same of tf.compat.v1.train."""
    from weft import train

    try:
        return getattr(train, name)
    except AttributeError:
        return message("tf.compat.v1.train", name)


def message(namespace, name):
    """A class of messages: version 1 has some of them as names."""
    from weft._src import proto
    from weft._src.namespace import missing

    try:
        return getattr(proto, name)
    except AttributeError:
        pass
    return missing(namespace)(name)
