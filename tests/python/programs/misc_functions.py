"""Smaller things: tf.group, tuple, identity_n, no_op, control_dependencies, name_scope, numpy functions, version."""
import tensorflow as tf

print(tf.__version__.split(".")[0], tf.version.VERSION == tf.__version__, isinstance(tf.version.GRAPH_DEF_VERSION, int))
print(tf.identity_n([1, 2.0]), tf.no_op(), tf.group(tf.constant(1), tf.constant(2)),
      tf.tuple([tf.constant(1), tf.constant(2)]))
with tf.name_scope("scope") as name:
    print(name)
    with tf.name_scope("inner") as inner:
        print(inner)
with tf.control_dependencies([tf.constant(1)]):
    print(tf.constant(2))
print(tf.get_static_value(tf.constant([1, 2])), tf.is_tensor([1]), tf.is_symbolic_tensor(tf.constant(1)),
      tf.get_static_value(tf.Variable(1)))
print(tf.constant_initializer(3.0)([2, 2]), tf.zeros_initializer()([2]), tf.ones_initializer()([2], tf.int32),
      tf.random_uniform_initializer(0.0, 1.0, seed=1)([2]).shape)
print(tf.guarantee_const(tf.constant(1)), tf.stop_gradient(3.0),
      tf.quantization.quantize([0.0, 0.5, 1.0], 0.0, 1.0, tf.quint8).output_max)
print(tf.quantization.fake_quant_with_min_max_args([0.1, 5.9, 7.0]),
      tf.quantization.quantize_and_dequantize_v2([0.13, 0.57], 0.0, 1.0, range_given=True))
print(tf.nest.flatten([1]), tf.timestamp().dtype)
print(tf.fingerprint(["abc", "d"]), tf.unravel_index([5, 7], [3, 3]), tf.foldl(lambda a, x: a + x, tf.range(5)),
      tf.extract_volume_patches(tf.ones([1, 2, 2, 2, 1]), [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], "VALID").shape)
print(tf.tensor_scatter_nd_update([1, 2], [[0]], [9]), tf.stack([[1, 2], [3, 4]]))
print(tf.batch_to_space(tf.reshape(tf.range(4), [4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]])[0, ..., 0],
      tf.space_to_batch_nd(tf.reshape(tf.range(4), [1, 2, 2, 1]), [2, 2], [[0, 0], [0, 0]]).shape)
print(tf.case([(tf.constant(True), lambda: 1)]), tf.grad_pass_through(tf.floor)(1.5),
      tf.boolean_mask([1, 2], [True, False]), tf.rank(3))
f = tf.function(lambda x: tf.identity(x))
print(f.get_concrete_function(tf.TensorSpec([2])).function_def.signature.input_arg[0].name,
      f(tf.constant([1.0, 2.0])).shape)
with tf.device("CPU:0"):
    print(tf.add(1, 2).device)
print(tf.raw_ops.MatMul(a=[[1.0, 2.0]], b=[[3.0], [4.0]], transpose_a=False), tf.raw_ops.Unique(x=[1, 1, 2]),
      tf.raw_ops.TopKV2(input=[1, 3, 2], k=2, sorted=True))
print(tf.autodiff.ForwardAccumulator.__name__, tf.experimental.Optional.empty(tf.TensorSpec([], tf.int32)).has_value())
print(tf.types.experimental.TensorLike is not None, tf.types.experimental.TraceType.__name__,
      isinstance(f, tf.types.experimental.GenericFunction), isinstance(f, tf.types.experimental.PolymorphicFunction))
d = tf.experimental.dlpack.to_dlpack(tf.constant([1, 2, 3]))
print(tf.experimental.dlpack.from_dlpack(d), memoryview(tf.constant([1, 2])).tolist(),
      memoryview(tf.constant([1.0])).format)
