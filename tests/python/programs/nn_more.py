"""Less usual members of tf.nn, tf.quantization, tf.raw_ops: values as they come."""
import tensorflow as tf

print(tf.nn.avg_pool3d(tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1]), 2, 2, "VALID"),
      tf.nn.avg_pool(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), 2, 2, "VALID"))
print(tf.nn.conv_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 2).shape,
      tf.nn.conv1d_transpose(tf.ones([1, 2, 1]), tf.ones([2, 1, 1]), [1, 4, 1], 2)[0, :, 0])
print(tf.nn.atrous_conv2d_transpose(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 4, 4, 1], 1, "VALID")[0, ..., 0],
      tf.nn.conv3d_transpose(tf.ones([1, 1, 1, 1, 1]), tf.ones([2, 2, 2, 1, 1]), [1, 2, 2, 2, 1], 2).shape)
decoded, log_probability = tf.nn.ctc_beam_search_decoder(tf.math.log([[[0.1, 0.6, 0.3]], [[0.2, 0.7, 0.1]],
    [[0.3, 0.3, 0.4]]]), [3], beam_width=4, top_paths=2)
print([tf.sparse.to_dense(d).numpy().tolist() for d in decoded], log_probability)
print(tf.quantization.fake_quant_with_min_max_vars([-1.0, 0.3, 9.0], 0.0, 6.0),
      tf.quantization.fake_quant_with_min_max_vars_per_channel([[0.11, 0.23]], [0.0, 0.0], [1.0, 2.0]))
print(tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8),
      tf.quantization.dequantize(tf.quantization.quantize([0.0, 1.0], 0.0, 1.0, tf.quint8).output, 0.0, 1.0))
print(tf.raw_ops.Bucketize(input=[1.0, 5.0, 9.0], boundaries=[2.0, 6.0]),
      tf.raw_ops.UniqueV2(x=[[1, 2], [1, 2]], axis=[0]), tf.raw_ops.UniqueWithCountsV2(x=[1, 1], axis=[0]))
print(tf.raw_ops.ImageProjectiveTransformV3(images=tf.reshape(tf.range(9.0), [1, 3, 3, 1]),
                                            transforms=[[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]], output_shape=[3, 3],
                                            fill_value=0.0, interpolation="NEAREST")[0, ..., 0])
print(tf.required_space_to_batch_paddings([5, 5], [2, 2]),
      tf.sparse.cross_hashed([tf.sparse.from_dense([["a"]])], 10).values.shape,
      tf.math.segment_min([3, 1, 2], [0, 0, 1]))
print(tf.nn.with_space_to_batch(tf.ones([1, 4, 4, 1]), [1, 1], "VALID", lambda x, num_spatial_dims, padding: x * 2.0)[0,
    0, 0], tf.nn.erosion2d(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), tf.zeros([1, 1, 1]), [1, 1, 1, 1], "VALID", "NHWC",
                           [1, 1, 1, 1])[0, ..., 0])
print(tf.nn.fractional_max_pool(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2.0, seed=1).output.shape,
      tf.nn.isotonic_regression([3.0, 1.0, 2.0], decreasing=False)[0], tf.nn.softmax(tf.constant([[1.0, 2.0]]), axis=0))
print(tf.nn.sampled_softmax_loss(tf.ones([5, 2]), tf.zeros([5]), tf.constant([[1]], tf.int64), tf.ones([1, 2]), 2, 5,
                                 sampled_values=(tf.constant([0, 3], tf.int64), tf.constant([[0.5]]),
                                                 tf.constant([0.5, 0.5])), remove_accidental_hits=False))
print(tf.nn.collapse_repeated([[1, 1, 2]], [3]), tf.nn.ctc_unique_labels([[1, 2, 1]]),
      tf.nn.all_candidate_sampler([[0, 1]], 2, 2, True, seed=1).sampled_candidates)
print(tf.data.experimental.AutoShardPolicy.OFF, tf.OptionalSpec(tf.TensorSpec([], tf.int32)),
      isinstance(iter(tf.data.Dataset.range(1)), tf.data.Iterator),
      isinstance(tf.sysconfig.get_build_info(), dict) or "cpu")
print(tf.dtypes.complex(1.0, 2.0), tf.math.minimum(1, 2), tf.math.sqrt(4.0), tf.math.floor(1.5), tf.less_equal(1, 1),
      tf.math.logical_or(True, False), tf.image.decode_image(tf.io.encode_png(tf.zeros([1, 1, 1], tf.uint8))).shape)
