"""Version 1: variables in parts: partitioners, scopes, reuse, embeddings, optimisers, checkpoints of the whole."""
import os
import tempfile

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def show(label, code):
    try:
        print(label, code())
    except (ValueError, TypeError, IndexError) as e:
        print(label, type(e).__name__, e)


folder = tempfile.mkdtemp()
with tf.Graph().as_default(), v1.Session() as s:
    w = v1.get_variable("w", initializer=tf.reshape(tf.range(14.0), [7, 2]), partitioner=v1.fixed_size_partitioner(3))
    print(type(w).__name__, w.name, w.dtype, w.shape, len(w), [(v.name, v.shape.as_list()) for v in w])
    print([v.name for v in v1.global_variables()], [v.name for v in v1.trainable_variables()])
    s.run(v1.global_variables_initializer())
    whole = tf.convert_to_tensor(w)
    print(whole.name, whole.shape, s.run(whole).tolist())
    print(s.run(tf.reduce_sum(w)), s.run(tf.matmul(tf.ones([1, 7]), w)).tolist())
    print(s.run(tf.nn.embedding_lookup(w, [0, 3, 6, 4])).tolist())
    print(s.run(v1.nn.embedding_lookup(w, [0, 3, 6, 4], partition_strategy="div")).tolist())
    gradients = tf.gradients(tf.reduce_sum(tf.convert_to_tensor(w)**2), list(w))
    print([g.tolist() for g in s.run(gradients)])
    show("plus", lambda: w + 1)
    show("index", lambda: w[0])
    s.run(w.assign([np.ones([3, 2]), 2 * np.ones([2, 2]), 3 * np.ones([2, 2])]))
    print([part.tolist() for part in s.run(list(w))])
    path = v1.train.Saver().save(s, os.path.join(folder, "parts"))
    print(tf.train.list_variables(path), tf.train.load_checkpoint(path).get_tensor("w").tolist())
for count in (0, 2, 7):
    with tf.Graph().as_default(), v1.Session() as s:
        partitioner = v1.fixed_size_partitioner(count) if count else None
        w = v1.get_variable("w", [7, 2], initializer=v1.zeros_initializer(), partitioner=partitioner)
        v1.train.Saver().restore(s, path)
        print([part.tolist() for part in s.run(list(w) if count else [w])])
        if not count:
            other = v1.train.Saver().save(s, os.path.join(folder, "whole"))
with tf.Graph().as_default(), v1.Session() as s:
    w = v1.get_variable("v", [7, 2], initializer=v1.zeros_initializer(), partitioner=v1.fixed_size_partitioner(2))
    v1.train.Saver({"w": w}).restore(s, other)
    print([part.shape for part in s.run(list(w))], s.run(w.as_tensor()).tolist())
with tf.Graph().as_default(), v1.Session() as s:
    with v1.variable_scope("scope", partitioner=v1.fixed_size_partitioner(2, axis=1)) as scope:
        w = v1.get_variable("w", [2, 5], initializer=v1.ones_initializer())
        print([(v.name, v.shape.as_list()) for v in w], scope.partitioner is not None)
        print(v1.get_variable("scalar", [], initializer=v1.zeros_initializer()).name)
    with v1.variable_scope("scope", reuse=True):
        print(v1.get_variable("w", [2, 5]) is w)
        show("other parts", lambda: v1.get_variable("w", [2, 5], partitioner=v1.fixed_size_partitioner(3, axis=1)))
        show("other shape", lambda: v1.get_variable("w", [2, 6], partitioner=v1.fixed_size_partitioner(2, axis=1)))
    show("again", lambda: v1.get_variable("scope/w", [2, 5], partitioner=v1.fixed_size_partitioner(2, axis=1)))
    show("without", lambda: v1.get_variable("scope/w", [2, 5]))
    for bad in ([2, 2], [2], [0, 1], 3, [5, 1]):
        show(f"bad {bad}", lambda: v1.get_variable(f"bad{len(str(bad))}", [4, 4], partitioner=lambda shape, dtype: bad))
    show("no function", lambda: v1.get_variable("number", [2, 4], partitioner=5))
    for partitioner in (v1.variable_axis_size_partitioner(64), v1.variable_axis_size_partitioner(64, max_shards=2),
                        v1.min_max_variable_partitioner(max_partitions=4, min_slice_size=32), v1.min_max_variable_partitioner()):
        print([partitioner(shape=tf.TensorShape(shape), dtype=dtype)
               for shape, dtype in (([10, 4], tf.float32), ([3, 16], tf.float64), ([100], tf.int8), ([100], tf.string))])
    show("bytes", lambda: v1.variable_axis_size_partitioner(0))
    show("axis", lambda: v1.min_max_variable_partitioner(axis=1)(shape=tf.TensorShape([4]), dtype=tf.float32))
    parts = v1.create_partitioned_variables([5, 2], [2, 1], tf.zeros([5, 2]))
    print(type(parts).__name__, [(v.name, v.shape.as_list()) for v in parts])

    def first(shape, dtype=None, partition_info=None):
        print("first", shape, dtype, partition_info.full_shape, partition_info.var_offset)
        return tf.zeros(shape, dtype)

    v1.get_variable("informed", [5, 2], initializer=first, partitioner=v1.fixed_size_partitioner(2))
    x = v1.get_variable("x", [4, 2], initializer=v1.ones_initializer(), regularizer=tf.reduce_sum, partitioner=v1.fixed_size_partitioner(2))
    print(len(v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)))
    optimizer = v1.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.minimize(tf.reduce_sum(tf.convert_to_tensor(x)**2), var_list=list(x))
    print([v.name for v in v1.global_variables() if v.name.startswith("x")])
    s.run(v1.global_variables_initializer())
    s.run(step)
    s.run(step)
    print(np.round(s.run(tf.convert_to_tensor(x)), 4).tolist())
    path = v1.train.Saver(list(x) + [optimizer.get_slot(v, "momentum") for v in x]).save(s, os.path.join(folder, "slots"))
    print(tf.train.list_variables(path))
