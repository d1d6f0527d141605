"""Datasets of C++ classes in tf.data's pipelines. Usage: datasets.py LIBRARY."""

import os
import sys
import tempfile

import numpy as np
import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])
COUNT = (tf.TensorSpec([], tf.int64), tf.TensorSpec([1], tf.string))


def count(limit, what=""):
    return tf.data.experimental.from_variant(ops.test_count_dataset(limit, what=what), COUNT)


def variant(dataset):
    return tf.data.experimental.to_variant(dataset)


def every(dataset, step):
    spec = dataset.element_spec
    types = [s.dtype for s in tf.nest.flatten(spec)]
    shapes = [s.shape for s in tf.nest.flatten(spec)]
    made = ops.test_every_dataset(variant(dataset), np.int64(step), output_types=types, output_shapes=shapes)
    return tf.data.experimental.from_variant(made, spec)


def turns(a, b):
    return tf.data.experimental.from_variant(ops.test_turns_dataset(variant(a), variant(b)), a.element_spec)


def show(name, dataset):
    try:
        rows = [tf.nest.map_structure(lambda t: t.numpy().tolist(), row) for row in dataset]
    except tf.errors.OpError as e:
        rows = (type(e).__name__, e.message.splitlines()[0].split(" [Op:")[0].split("}} ")[-1])
    print(name, rows)


show("source", count(3))
show("pipeline", count(7).map(lambda i, s: (i * 2, s[0] + b"!")).filter(lambda i, s: i != 4).batch(3).prefetch(1))
show("twice", count(2).repeat(2))
show("shuffled", count(5).shuffle(5, seed=3).map(lambda i, s: i).batch(5).map(tf.sort))
print(
    "cardinality",
    int(count(4).cardinality()),
    int(every(count(7), 3).cardinality()),
    int(every(tf.data.Dataset.range(10), 4).cardinality()),
)
show("every second of ours", every(count(5), 2))
show("every third of theirs", every(tf.data.Dataset.range(10), 3))
show("one upon another", every(every(tf.data.Dataset.range(20).map(lambda x: x + 100), 2), 3).enumerate())
show("in turns", turns(tf.data.Dataset.range(3), tf.data.Dataset.range(10, 20)))
show("in turns, ours", turns(count(2), every(count(9), 4)).map(lambda i, s: i))
show("flat map", tf.data.Dataset.range(3).flat_map(lambda n: tf.data.Dataset.range(n).map(lambda x: x * 10)).take(2))
show("interleaved", tf.data.Dataset.range(1, 3).interleave(lambda n: count(n).map(lambda i, s: i)))
print(
    "described",
    [
        ops.test_describe(variant(d)).numpy()
        for d in (count(4), tf.data.Dataset.range(5).batch(2), turns(count(1), count(1)))
    ],
)

# Errors.
show("an element fails", count(4, "fail"))
show("errors are ignored", count(4, "fail").take(2).ignore_errors())
show("out of range", count(4, "out of range"))
for name, make in (
    ("negative", lambda: count(-1)),
    ("not a scalar", lambda: ops.test_count_dataset(np.array([1, 2]))),
    ("no dataset", lambda: ops.test_describe(np.float32(1))),
    ("other types", lambda: turns(count(1), tf.data.Dataset.range(2))),
):
    try:
        make()
        print(name, "no error")
    except (tf.errors.OpError, TypeError, ValueError) as e:
        print(name, type(e).__name__, getattr(e, "message", "").split("}} ")[-1].split(" [Op:")[0])


# In functions, and as a reduction.
@tf.function
def total(n):
    out = tf.constant(0, tf.int64)
    for i, _ in every(count(n), 2):
        out += i
    return out


print("function", int(total(tf.constant(9, tf.int64))), int(total(tf.constant(4, tf.int64))))
print("reduced", int(tf.function(lambda: count(5).reduce(np.int64(0), lambda a, row: a + row[0]))()))

# In a graph of version 1.
with tf.Graph().as_default():
    iterator = tf.compat.v1.data.make_one_shot_iterator(every(tf.data.Dataset.range(5), 2))
    value = iterator.get_next()
    with tf.compat.v1.Session() as session:
        print("session", [int(session.run(value)) for _ in range(3)])

# As a graph, and an iterator in a checkpoint.
graph = tf.raw_ops.DatasetToGraphV2(input_dataset=variant(every(count(5), 2)), external_state_policy=2)
again = tf.data.experimental.from_variant(tf.raw_ops.DatasetFromGraph(graph_def=graph), COUNT)
show("from its graph", again)
try:
    tf.raw_ops.DatasetToGraphV2(input_dataset=variant(count(5, "external")), external_state_policy=2)
except tf.errors.OpError as e:
    print("external state", type(e).__name__, "the moon is not in the graph" in e.message)
iterator = iter(every(count(9), 2))
print("before", [int(next(iterator)[0]) for _ in range(2)])
path = tf.train.Checkpoint(iterator=iterator).save(os.path.join(tempfile.mkdtemp(), "at"))
print("on", [int(next(iterator)[0]) for _ in range(2)])
tf.train.Checkpoint(iterator=iterator).restore(path)
print("restored", [int(row[0]) for row in iterator])
