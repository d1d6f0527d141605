"""Equality: elementwise, of references, in lists and dicts, tensor equality switched off and on."""
import tensorflow as tf

a = tf.constant([1.0, 2.0])
b = tf.constant([1.0, 3.0])
print(a == b, a != b, a == a, a is a)
print(a == [1.0, 2.0], a == 1.0, a == None)
print(tf.constant([[1.0, 2.0]]) == a)
x, y = tf.Variable(1.0), tf.Variable(1.0)
print(x == y, x != y, x == 1.0)
print(a.ref() == a.ref(), a.ref() == b.ref(), a.ref().deref() is a, x.ref() in {x.ref()}, y.ref() in {x.ref()})
try:
    {a}
except TypeError as e:
    print(e)
try:
    {x: 1}
except TypeError as e:
    print(e)
print(any(v is x for v in [y, x]), tf.reduce_all(a == a).numpy(), bool(tf.reduce_any(a != b)))

tf.compat.v1.disable_tensor_equality()
print(a == b, a == a, a != b, x == x, x == y, hash(x) == hash(y))
tf.compat.v1.enable_tensor_equality()
print(a == b)

nan = tf.constant(float("nan"))
print(nan == nan, nan != nan)
print(tf.constant(True) == True, tf.constant("a") == b"a", tf.constant([1, 2]) == tf.constant([1, 2], tf.int32))
print(tf.constant(1.0) == 1)
print(tf.constant(1) < 2, tf.constant(2) >= 2, 3 > tf.constant(2), tf.less(1, 2), tf.greater_equal([1, 2], 2))
