"""copy, deepcopy and numpy views of tensors, variables and modules; pickles; hashes of refs; format; bytes."""
import copy
import pickle
import numpy as np
import tensorflow as tf

t = tf.constant([1.0, 2.0])
print(copy.copy(t), copy.deepcopy(t), copy.deepcopy({"a": [t]}))
v = tf.Variable([1, 2], name="v")
w = copy.deepcopy(v)
w.assign([5, 6])
print(v.numpy(), w.numpy(), w.name, w.trainable)


class M(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(1.0)
        self.l = [tf.Variable(2.0)]


m = M()
n = copy.deepcopy(m)
n.v.assign(10.0)
print(m.v.numpy(), n.v.numpy(), len(n.variables))
print(pickle.loads(pickle.dumps(t)), pickle.loads(pickle.dumps(tf.float32)),
      pickle.loads(pickle.dumps(tf.TensorShape([1, None]))), pickle.loads(pickle.dumps(tf.TensorSpec([2], tf.int32))))
a = np.asarray(t)
print(a.flags.writeable, a.dtype, t.numpy().flags.owndata in (True, False))
b = np.array([1, 2, 3])
c = tf.constant(b)
b[0] = 99
print(c.numpy(), tf.convert_to_tensor(np.ones([2, 2], order="F"))[0], tf.constant(np.arange(10)[::2]),
      tf.constant(np.float16(2.5)))
print(f"{tf.constant(3.14159):.2f}", int(tf.constant(7)), "{:.1f}".format(tf.Variable(2.25).numpy()),
      round(float(tf.constant(2.567)), 2))
print(bytes(tf.constant("abc").numpy()), tf.constant("abc").numpy().decode(), str(tf.constant(b"x").numpy()),
      np.array(tf.constant(["a", "b"])).tolist())
print([*tf.constant([1, 2])], dict(zip("ab", tf.constant([1, 2]).numpy().tolist())), sum(tf.constant([1, 2, 3])),
      max(tf.constant([1, 9, 3])), sorted(tf.constant([3, 1, 2]).numpy()))
print(any(bool(x == 3) for x in tf.constant([1, 3])), range(5)[tf.constant(2)], [10, 20, 30][tf.constant(1)],
      tf.constant(2).__index__())
print(np.where(tf.constant([True, False]), 1, 2), np.concatenate([t, t]), np.multiply(t, 3),
      t * np.array([2.0, 3.0], np.float32), np.dot(t, t), np.isnan(t), np.shape(t), np.ndim(t), np.size(t))
print(isinstance(t.numpy(), np.ndarray), type(tf.constant(1).numpy()).__name__, type(tf.constant("s").numpy()).__name__,
      t.numpy() is t.numpy(), t.shape == a.shape)
x = tf.range(6)
print(memoryview(x).shape, np.frombuffer(memoryview(x), np.int32))
