"""A SavedModel of a variable in parts: it has one variable of the whole shape, and functions that use that one."""

import numpy as np
import tensorflow as tf
from tensorflow.python.distribute.sharded_variable import ShardedVariable


class Model(tf.Module):
    def __init__(self):
        parts = [np.arange(6).reshape(3, 2), np.arange(6, 10).reshape(2, 2)]
        self.table = ShardedVariable([tf.Variable(p.astype(np.float32)) for p in parts], name="table")
        self.bias = tf.Variable(1.0, name="bias")

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def look(self, i):
        return tf.nn.embedding_lookup(self.table, i) + self.bias

    @tf.function(input_signature=[tf.TensorSpec([None, 5], tf.float32)])
    def __call__(self, x):
        return tf.matmul(x, tf.convert_to_tensor(self.table)) + self.bias


def show(m):
    print(m(tf.ones([1, 5])).numpy().tolist(), m.look(tf.constant([1, 4], tf.int64)).numpy().tolist())


model = Model()
show(model)
tf.saved_model.save(model, "saved")
print(tf.train.list_variables("saved/variables/variables")[1:])
print(tf.train.load_variable("saved/variables/variables", "table/.ATTRIBUTES/VARIABLE_VALUE").tolist())
loaded = tf.saved_model.load("saved")
show(loaded)
print(loaded.table.shape, loaded.table.dtype.name, loaded.table.numpy().tolist())
print(len(model.table.variables), [v.shape.as_list() for v in model.table.variables])
model.table.assign(tf.zeros([5, 2]))
show(model)
show(loaded)
tf.saved_model.save(model, "again")
show(tf.saved_model.load("again"))
