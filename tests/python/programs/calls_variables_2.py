"""What variables do and refuse, part 2."""

import numpy as np
import tensorflow as tf
from calls import show, shown

v = tf.Variable([1.0, 2.0], name="my_var")
with shown():
    v.name = "x"
show(lambda: v.sparse_read([0]))
show(lambda: v.gather_nd([[1]]))
show(lambda: v.sparse_read([7]))
show(lambda: v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))))
show(lambda: v.scatter_update(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_sub(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_mul(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_div(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_max(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_min(tf.IndexedSlices([10.0], [1])))
show(lambda: v.batch_scatter_update(tf.IndexedSlices([10.0], [1])))
show(lambda: v.scatter_add([1.0]))
show(lambda: v.scatter_nd_add([[0]], [1.0]))
show(lambda: v.scatter_nd_sub([[0]], [1.0]))
show(lambda: v.scatter_nd_update([[0]], [1.0]))
show(lambda: v.scatter_nd_update([[3]], [1.0]))
show(lambda: v.scatter_nd_max([[0]], [100.0]))
show(lambda: v.count_up_to(3))
c = tf.Variable(0)
show(lambda: c.count_up_to(1))
show(lambda: c.count_up_to(1))
show(lambda: np.array(v))
show(lambda: np.add(v, 1))
show(lambda: np.sum(v))
import copy, pickle

show(lambda: copy.deepcopy(v))
show(lambda: copy.copy(v))
show(lambda: v.to_proto())
show(lambda: v.shape.rank)
show(lambda: tf.is_tensor(v))
show(lambda: isinstance(v, tf.Tensor))
show(lambda: isinstance(v, tf.Variable))
show(lambda: type(v))
show(lambda: tf.convert_to_tensor(v))
show(lambda: tf.convert_to_tensor(v, dtype=tf.int32))
show(lambda: tf.identity(v))
show(lambda: tf.Variable(v))
show(lambda: tf.Variable(v, dtype=tf.int32))
show(lambda: v.assign(v + 1))
with shown():
    v += 1
show(lambda: v)
w = tf.Variable(1)
with shown():
    w -= 1
show(lambda: type(w))
show(lambda: tf.Variable(1, name="a/b"))
show(lambda: tf.Variable(1, name="a b"))
show(lambda: tf.Variable(1, name=""))
with tf.name_scope("sc"):
    print(tf.Variable(1).name, tf.Variable(1, name="q").name)
show(lambda: tf.Variable(1.5) // 1)
show(lambda: abs(tf.Variable(-1)))
show(lambda: -tf.Variable(1))
show(lambda: ~tf.Variable(True))
show(lambda: tf.Variable(2) ** 2)
show(lambda: 2 ** tf.Variable(2))
show(lambda: tf.Variable([True, False]) & [True, True])
show(lambda: tf.VariableAggregation.SUM)
show(lambda: tf.VariableAggregation("sum"))
show(lambda: list(tf.VariableAggregation))
show(lambda: list(tf.VariableSynchronization))
show(lambda: tf.VariableSynchronization.ON_READ.value)
with tf.device("/cpu:0"):
    print(tf.Variable(2).device)
with tf.device("/gpu:7"):
    tf.Variable(2)
with shown():
    with tf.device("foo"):
        tf.Variable(2)
