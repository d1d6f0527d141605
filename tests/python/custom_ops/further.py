"""What the ops of further.cc do; further.out is what it prints with TensorFlow."""

import re
import sys

import numpy as np
import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])


def attempt(f):
    try:
        print(f())
    except (tf.errors.OpError, ValueError) as e:
        print(type(e).__name__, re.sub(r"^\{\{.*?\}\} ", "", str(e).split("\n")[0].split(" [Op")[0]))


print(ops.describe_all([1, 2.5, "text", [[True]]]).numpy())
print(ops.describe_all([np.zeros((2, 0), np.int8), [1.5, 2, 3, 4]], names=["a", "b"], mode="long", weights=[]).numpy())
print(ops.describe_all(values=[1], shapes=[None, [2, None], []]).numpy())
attempt(lambda: ops.describe_all([1, 2], names=["only one"]))
attempt(lambda: ops.describe_all([1], mode="other"))

x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
y, filled, rest = ops.repeat_rows(x, [2, 0, 1], [1, 2])
print(y.numpy().tolist(), filled.numpy().tolist(), rest.numpy().tolist())
print([np.asarray(t).tolist() for t in ops.repeat_rows(["a", "b"], [1, 2], [])])
attempt(lambda: ops.repeat_rows(x, [1, 1, -1], [1]))
attempt(lambda: ops.repeat_rows(x, tf.constant([1, 1], tf.int64), [1]))


@tf.function
def shapes(x, counts, n):
    outputs = ops.repeat_rows(x, counts, tf.stack([n, 7]))
    print([str(o.shape) for o in outputs])
    constant = ops.repeat_rows(x, counts, [3, 4])
    print([str(o.shape) for o in constant])
    return outputs


for spec in (tf.TensorSpec([3, 2]), tf.TensorSpec([None, 5, None]), tf.TensorSpec(None)):
    shapes.get_concrete_function(spec, tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.int32))
attempt(
    lambda: (
        shapes.get_concrete_function(tf.TensorSpec([3, 2]), tf.TensorSpec([4], tf.int64), tf.TensorSpec([], tf.int32))
        and 0
    )
)
print([t.numpy().tolist() for t in shapes(x, tf.constant([0, 1, 0], tf.int64), 2)])


@tf.function
def sparse_parts(indices, values, shape):
    ops.sparse_parts(indices, values, shape)
    return shape


def parts_fit(*sizes):
    specs = [tf.TensorSpec(s, t) for s, t in zip(sizes, (tf.int64, tf.float32, tf.int64))]
    try:
        sparse_parts.get_concrete_function(*specs)
        print("they fit")
    except ValueError as e:
        print(re.search(r"(Number of elements|Index rank|Shape must be).*?(match\.|is rank \d)", str(e)).group())


for sizes in (([3, 2], [3], [2]), ([3, 2], [4], [2]), ([3, 2], [3], [3]), ([None, 2], [4], [None]), ([3], [3], [1])):
    parts_fit(*sizes)
parts_fit([3, 2], None, [1])

print(ops.histogram_add(["a", "b", "a"], name_of_it="one").numpy().tolist())
print(tf.function(lambda k: ops.histogram_add(k, name_of_it="one"))(tf.constant([["a"]])).numpy().tolist())
print(ops.histogram_add(["a"], name_of_it="two").numpy().tolist())

for value in ([1, 2, 3], [["a"], ["b"]], np.zeros((0, 2), np.float32)):
    y, told = ops.halves(value)
    print(y.numpy().tolist(), told.numpy().decode().split(" using ")[0])
attempt(lambda: ops.halves(1.5))
