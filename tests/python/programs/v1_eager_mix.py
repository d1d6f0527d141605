"""v1 names used from eager programs: v1.train optimisers with tapes, wrap_function, layers by hand."""
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

v1 = tf.compat.v1
print(v1.executing_eagerly(), v1.executing_eagerly_outside_functions(), v1.control_flow_v2_enabled(),
      v1.resource_variables_enabled(), tf.compat.forward_compatible(2020, 1, 1))
w = tf.Variable([1.0, 2.0])
opt = v1.train.GradientDescentOptimizer(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w**2)
    opt.apply_gradients([(tape.gradient(loss, w), w)])
print(w.numpy())
adam = v1.train.AdamOptimizer(0.1)
for _ in range(3):
    adam.minimize(lambda: tf.reduce_sum((w - 1.0) ** 2), var_list=[w])
print(w.numpy(), [v.name for v in adam.variables()])


@tf.function
def f(x):
    return tf.matmul(x, tf.reshape(w, [2, 1])) + 1.0


frozen = convert_variables_to_constants_v2(f.get_concrete_function(tf.TensorSpec([None, 2])))
print(frozen(tf.constant([[1.0, 1.0]]))[0],
      sorted({n.op for n in frozen.graph.as_graph_def().node} - {"Identity", "NoOp"}))


def old_style(x):
    v = v1.get_variable("v", initializer=3.0)
    return x * v


wrapped = v1.wrap_function(old_style, [tf.TensorSpec([], tf.float32)])
print(wrapped(tf.constant(2.0)).numpy(), [v.name for v in wrapped.variables])
wrapped.variables[0].assign(10.0)
print(wrapped(tf.constant(2.0)).numpy())
pruned = wrapped.prune(feeds=wrapped.inputs[:1], fetches=wrapped.outputs[0])
print(pruned(tf.constant(1.0)).numpy())


print(tf.compat.as_bytes("é"), tf.compat.as_text(b"abc"), tf.compat.as_str("s"), tf.compat.path_to_str("p"))
print(v1.to_float([1]), v1.to_int32([1.7]), v1.reduce_sum([1, 2], reduction_indices=0),
      v1.argmax([1, 3, 2], dimension=0))
print(v1.random_uniform([2], seed=1).shape, v1.div(7, 2), v1.floor_div(7, 2), v1.squeeze([[1]], squeeze_dims=[0]),
      v1.expand_dims([1], dim=0), v1.where([True, False]))
print(v1.nn.softmax([[1.0, 2.0]], dim=-1),
      v1.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[1.0, 2.0]]),
      v1.nn.max_pool([[[[1.0], [2.0]]]], [1, 1, 2, 1], [1, 1, 1, 1], "VALID"))
print(v1.string_to_number(["5"]), v1.tensor_scatter_update([1, 2], [[0]], [5]),
      v1.sparse_tensor_to_dense(tf.sparse.from_dense([[0, 1]])), v1.unsorted_segment_sum([1, 2], [0, 0], 1))
with tf.Graph().as_default():
    print(tf.executing_eagerly(), tf.constant(1.0) + 1.0)
    with tf.init_scope():
        print(tf.executing_eagerly(), tf.constant(1.0) + 1.0)
