"""Functions of version 1 that are version 2's with other names or another order of arguments; signatures.py reads the lines."""

TEXT = """
arg_max(input, dimension, output_type=tf.int64, name=None) =argmax :dimension>axis
arg_min(input, dimension, output_type=tf.int64, name=None) =argmin :dimension>axis
autograph.to_code(entity, recursive=True, arg_values=None, arg_types=None, indentation='  ', experimental_optional_features=None) -arg_values -arg_types -indentation
autograph.to_graph(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None) -arg_values -arg_types
boolean_mask(tensor, mask, name='boolean_mask', axis=None)
confusion_matrix(labels, predictions, num_classes=None, dtype=tf.int32, name=None, weights=None) =math.confusion_matrix
debugging.assert_all_finite(t=None, msg=None, name=None, x=None, message=None) :t>x :msg>message
debugging.assert_scalar(tensor, name=None, message=None)
decode_csv(records, record_defaults, field_delim=',', use_quote_delim=True, name=None, na_value='', select_cols=None) =io.decode_csv
depth_to_space(input, block_size, name=None, data_format='NHWC') =nn.depth_to_space
extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None) =image.extract_patches :ksizes>sizes
feature_column.categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=tf.string)
gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0)
gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy='')
hessians(ys, xs, name='hessians', colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None) -colocate_gradients_with_ops
image.crop_and_resize(image, boxes, box_ind=None, crop_size=None, method='bilinear', extrapolation_value=0, name=None, box_indices=None) :box_ind>box_indices
image.transpose_image(image, name=None) =image.transpose
load_file_system_library(library_filename) =load_library :library_filename>library_location
linalg.norm(tensor, ord='euclidean', axis=None, keepdims=None, name=None, keep_dims=None) :keep_dims>keepdims
math.log_softmax(logits, axis=None, name=None, dim=None) =nn.log_softmax :dim>axis
math.softmax(logits, axis=None, name=None, dim=None) =nn.softmax :dim>axis
nn.avg_pool2d(value, ksize, strides, padding, data_format='NHWC', name=None, input=None) :value>input
nn.conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding='SAME', data_format='NDHWC', name=None, input=None, filters=None, dilations=None) :value>input :filter>filters
nn.crelu(features, name=None, axis=-1)
nn.safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner='mean', default_id=None, name=None, partition_strategy='div', max_norm=None, allow_fast_lookup=False) =nn.safe_embedding_lookup_sparse -partition_strategy
nn.sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None) :keep_dims>keepdims
ones_like(tensor, dtype=None, name=None, optimize=True) :tensor>input -optimize
pad(tensor, paddings, mode='CONSTANT', name=None, constant_values=0)
parse_example(serialized, features, name=None, example_names=None) =io.parse_example
parse_single_example(serialized, features, name=None, example_names=None) =io.parse_single_example
py_func(func, inp, Tout, stateful=True, name=None) =numpy_function
quantize_v2(input, min_range, max_range, T, mode='MIN_COMBINED', name=None, round_mode='HALF_AWAY_FROM_ZERO', narrow_range=False, axis=None, ensure_minimum_range=0.01) =quantization.quantize
random.poisson(lam, shape, dtype=tf.float32, seed=None, name=None)
random.stateless_multinomial(logits, num_samples, seed, output_dtype=tf.int64, name=None) =random.stateless_categorical :output_dtype>dtype
reduce_join(inputs, axis=None, keep_dims=None, separator='', name=None, reduction_indices=None, keepdims=None) =strings.reduce_join :reduction_indices>axis :keep_dims>keepdims
reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None) :seq_dim>seq_axis :batch_dim>batch_axis
serialize_many_sparse(sp_input, name=None, out_type=tf.string) =io.serialize_many_sparse
serialize_sparse(sp_input, name=None, out_type=tf.string) =io.serialize_sparse
shape(input, name=None, out_type=None)
size(input, name=None, out_type=None)
space_to_depth(input, block_size, name=None, data_format='NHWC') =nn.space_to_depth
sparse.add(a, b, threshold=None, thresh=None) :thresh>threshold
sparse.segment_mean(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False)
sparse.segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False)
sparse.segment_sum(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False)
string_to_hash_bucket(string_tensor=None, num_buckets=None, name=None, input=None) =strings.to_hash_bucket :string_tensor>input
string_to_number(string_tensor=None, out_type=tf.float32, name=None, input=None) =strings.to_number :string_tensor>input
strings.length(input, name=None, unit='BYTE')
substr(input, pos, len, name=None, unit='BYTE') =strings.substr
transpose(a, perm=None, name='transpose', conjugate=False)
tuple(tensors, name=None, control_inputs=None)
zeros_like(tensor, dtype=None, name=None, optimize=True) :tensor>input -optimize
"""
