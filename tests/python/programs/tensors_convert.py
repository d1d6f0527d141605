"""convert_to_tensor and numpy: both ways, dtype hints, nested lists of tensors, what cannot be converted."""
import numpy as np
import tensorflow as tf

print(tf.convert_to_tensor(5), tf.convert_to_tensor([1.0, 2]), tf.convert_to_tensor(np.eye(2)))
print(tf.convert_to_tensor([tf.constant(1), tf.constant(2)]))
print(tf.convert_to_tensor([[tf.constant(1.0), 2.0], [3, tf.constant(4.0)]]))
print(tf.convert_to_tensor(3, dtype_hint=tf.float32), tf.convert_to_tensor("x", dtype_hint=tf.float32))
print(tf.convert_to_tensor(3, dtype=tf.float64), tf.convert_to_tensor(tf.Variable([1, 2])))
print(tf.convert_to_tensor(np.array(["a", "bc"])), tf.convert_to_tensor(np.float16(1.5)))
print(tf.convert_to_tensor((1, 2, 3)), tf.convert_to_tensor(range(4)))
print(tf.constant([1, 2, 3, 4], shape=[2, 2]), tf.constant(7, shape=[2, 3]))
a = np.arange(6, dtype=np.float32).reshape(2, 3)
t = tf.constant(a)
a[0, 0] = 100
print(t, np.add(t, 1), t * a, type(t * a).__name__, type(a * t).__name__)
print(np.sum(t), np.asarray(t).dtype, np.mean(t, axis=0), np.stack([t, t]).shape)
print(t.numpy().tolist(), t.shape.as_list(), np.array([tf.constant(1), tf.constant(2)]))
print(np.float64(2) * tf.constant([1.0, 2.0], tf.float64))
print(tf.identity([1, 2]), tf.stack([1, 2, tf.constant(3)]))


def attempt(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, "|", e)


attempt(lambda: tf.convert_to_tensor([[1, 2], [3]]))
attempt(lambda: tf.convert_to_tensor(None))
attempt(lambda: tf.convert_to_tensor(object))
attempt(lambda: tf.convert_to_tensor([1, "a"]))
attempt(lambda: tf.convert_to_tensor(tf.constant(1), dtype=tf.float32))
attempt(lambda: tf.convert_to_tensor({1: 2}))
attempt(lambda: tf.constant([1, 2, 3], shape=[2, 2]))
attempt(lambda: tf.convert_to_tensor(2**80))
attempt(lambda: tf.convert_to_tensor([1.5], dtype=tf.int32))
attempt(lambda: tf.zeros([2, -1]))
attempt(lambda: tf.fill([2], value="x"))
