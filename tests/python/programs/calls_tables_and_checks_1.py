"""Arrays of tensors, tables, structures and checks, part 1."""

import tensorflow as tf
from calls import show

ta = tf.TensorArray(tf.float32, size=3)
show(lambda: ta)
show(lambda: ta.dtype)
show(lambda: ta.dynamic_size)
show(lambda: ta.element_shape)
show(lambda: ta.flow)
show(lambda: ta.handle)
show(lambda: ta.size())
ta = ta.write(0, 1.0)
show(lambda: ta.read(0))
show(lambda: ta.read(1))
show(lambda: ta.read(5))
show(lambda: ta.read(-1))
show(lambda: ta.write(5, 1.0))
show(lambda: ta.write(1, [1.0, 2.0]))
show(lambda: ta.write(1, "a"))
show(lambda: ta.write(1, tf.constant(1)))
show(lambda: ta.stack())
show(lambda: ta.unstack([1.0, 2.0, 3.0]).stack())
show(lambda: ta.unstack([1.0, 2.0]).stack())
show(lambda: ta.concat())
show(lambda: ta.gather([0, 1]))
show(lambda: ta.scatter([0, 1], [5.0, 6.0]).stack())
show(lambda: ta.split([1.0, 2.0, 3.0], [1, 2]))
show(lambda: tf.TensorArray(tf.float32, size=2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2]).read(1))
show(lambda: tf.TensorArray(tf.float32, size=2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2]).concat())
show(lambda: ta.close())
show(lambda: ta.identity())
show(lambda: ta.grad("a"))
show(lambda: tf.TensorArray(tf.float32))
show(lambda: tf.TensorArray(tf.float32, 0, dynamic_size=True).write(0, 1.0).write(1, 2.0).stack())
show(lambda: tf.TensorArray(tf.float32, 0, dynamic_size=True).write(3, 2.0).stack())
show(lambda: tf.TensorArray("foo", 1))
show(lambda: tf.TensorArray(tf.float32, -1))
show(lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, [1.0, 2.0, 3.0]))
show(lambda: tf.TensorArray(tf.float32, 2, element_shape=[2]).stack())
show(lambda: tf.TensorArray(tf.string, 1).write(0, "a").stack())
t1 = tf.TensorArray(tf.int32, 1, clear_after_read=True).write(0, 1)
show(lambda: t1.read(0))
show(lambda: t1.read(0))
t2 = tf.TensorArray(tf.int32, 1, clear_after_read=False).write(0, 1)
show(lambda: t2.read(0))
show(lambda: t2.read(0))
show(lambda: tf.type_spec_from_value(ta))
show(lambda: tf.TensorArraySpec([2], tf.int32, True))
show(lambda: tf.TensorArraySpec([2]) == tf.TensorArraySpec([2]))


@tf.function
def f(n):
    t = tf.TensorArray(tf.int32, 0, dynamic_size=True)
    for i in tf.range(n):
        t = t.write(i, i * i)
    return t.stack(), t.size()


show(lambda: f(4))


@tf.function
def g(n):
    t = tf.TensorArray(tf.int32, 2)
    t.write(0, 1)
    return t.stack()


show(lambda: g(4))


@tf.function
def h():
    t = tf.TensorArray(tf.int32, 2).unstack([1, 2])
    return t.read(5)


t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
show(lambda: t)
show(lambda: t.lookup(tf.constant(["a", "z"])))
show(lambda: t["a"])
show(lambda: t.size())
show(lambda: t.key_dtype)
show(lambda: t.value_dtype)
show(lambda: t.default_value)
show(lambda: t.name)
show(lambda: t.lookup(1))
show(lambda: t.lookup(tf.ragged.constant([["a"], ["b", "c"]])))
show(lambda: t.lookup(tf.sparse.from_dense([["a", ""]])))
show(lambda: t["x"])
show(lambda: t.insert(["c"], [3]))
show(lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1))
show(lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1]), -1))
show(lambda: tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), "x"))
show(lambda: tf.lookup.KeyValueTensorInitializer(["a"], [1], key_dtype=tf.int32))
m = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
show(lambda: m)
show(lambda: m.insert(["a", "b"], [1, 2]))
show(lambda: m.insert(["a"], ["x"]))
show(lambda: m.insert([1], [1]))
show(lambda: m.insert(["a", "b"], [1]))
show(lambda: m.lookup("b", dynamic_default_values=9))
show(lambda: m.insert_or_assign(["b"], [7]))
show(lambda: tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, [0, 0]).lookup(["a"]))
show(lambda: tf.lookup.experimental.MutableHashTable("foo", tf.int64, 0))
dn = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
show(lambda: dn.insert([-1], [3]))
