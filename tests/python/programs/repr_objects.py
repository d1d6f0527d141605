"""What objects say of themselves: specs, shapes, variables in graphs, symbolic tensors, ragged and sparse ones."""
import tensorflow as tf

print(tf.TensorSpec([]), tf.TensorSpec(None, tf.string), tf.TensorSpec([1, None], tf.int8, name="n"))
print(tf.RaggedTensorSpec([2, None]), tf.SparseTensorSpec([None, 3]), tf.IndexedSlicesSpec([None, 2]))
print(tf.TensorArraySpec([2], tf.int32), tf.OptionalSpec(tf.TensorSpec([])), tf.type_spec_from_value(tf.Variable(1.0)))
print(tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape(None), [tf.TensorShape([1, 2])], tf.TensorShape((3,)))
print(tf.float32, [tf.float32, tf.string], {tf.int32: 1}, tf.qint8, tf.variant, tf.resource)
print(tf.Variable([[1.0, 2.0]], name="v"), [tf.Variable(1)], tf.Variable("s", name="text"))
print([tf.constant([1.5]), tf.constant("s")], {"t": tf.constant([[True]])}, (tf.constant([], tf.int64),))


@tf.function
def show(x, r, s, d):
    print(x, [x], x.shape)
    print(r, s, d)
    y = x + 1
    print(y, y.op.type, repr(y), y.dtype)
    v_read = v.read_value()
    print(v, v_read, tf.zeros([2, 2]), tf.constant("c"), tf.shape(x))
    for i in tf.range(2):
        print(i.shape, i.dtype, "in loop")
    if x[0] > 0:
        print(x[0], "in branch")
    return y


v = tf.Variable(1.0, name="state")
show(tf.constant([1, 2]), tf.ragged.constant([[1], []]), tf.sparse.from_dense([[0, 1]]),
     {"k": (tf.constant(1.0), None, "text")})
with tf.Graph().as_default():
    p = tf.compat.v1.placeholder(tf.float32, [None, 2], name="p")
    print(p, [p], p.op.type, p.graph is tf.compat.v1.get_default_graph())
    w = tf.compat.v1.get_variable("w", [2])
    print(w, w.name)
print(tf.ragged.constant([[1.0], []]), [tf.ragged.constant([["a"]])], tf.ragged.constant([[[1], []], []]).shape)
print(tf.sparse.from_dense([[1.5, 0.0]]), tf.IndexedSlices(tf.constant([1.0]), tf.constant([3])))
print(tf.GradientTape.__name__, tf.Module(name="m").name, tf.UnconnectedGradients.ZERO, tf.VariableAggregation.SUM)
print(tf.constant(2**31), tf.constant(-1, tf.int64), tf.constant(1e100, tf.float64), tf.constant([1e-8, 1.0]),
      tf.constant(-0.0))
print(tf.random.Algorithm.PHILOX, tf.data.AUTOTUNE, tf.io.VarLenFeature(tf.int64), tf.saved_model.SERVING,
      tf.saved_model.GPU)
print(tf.config.list_logical_devices(), tf.DeviceSpec(device_type="CPU", device_index=0), tf.constant(1).device)
