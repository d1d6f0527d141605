"""Datasets of SparseTensorValue and RaggedTensorValue; what a generator may yield for a structure."""

import collections

import numpy as np
import tensorflow as tf

sparse = tf.compat.v1.SparseTensorValue(indices=[[0, 0], [1, 0]], values=[5, 6], dense_shape=[2, 2])
rows = tf.compat.v1.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 1, 3]))
nested = tf.compat.v1.ragged.RaggedTensorValue(rows, np.array([0, 1, 2]))
Dataset = tf.data.Dataset


def show(call):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, next(line for line in str(error).splitlines() if "rror" in line or "yielded" in line))


for value in (sparse, rows, nested):
    show(lambda: tf.type_spec_from_value(value))
    show(lambda: Dataset.from_tensors({"a": value, "b": 1}).element_spec)
    show(lambda: Dataset.from_tensor_slices((value, [1, 2])).element_spec)
    show(lambda: list(Dataset.from_tensor_slices(value)))
    show(lambda: list(Dataset.from_tensors((value,))))
    one = tf.type_spec_from_value(value)
    show(lambda: list(Dataset.from_generator(lambda: iter([value]), output_signature=one)))
show(lambda: list(Dataset.range(1).map(lambda i: (sparse, i))))
show(lambda: list(Dataset.from_tensors(0).map(lambda i: sparse).window(2).flat_map(lambda y: y.batch(2))))

Pair = collections.namedtuple("Pair", "a b")
number = tf.int64
any_number = tf.TensorSpec(None, tf.int64)


def read(element, **options):
    show(lambda: list(Dataset.from_generator(lambda: iter([element]), **options)))


for leaf in (number, any_number):
    how = "output_types" if leaf is number else "output_signature"
    read((1, 2), **{how: leaf})
    read(((1, 2), 3), **{how: (leaf, leaf)})
    read([1, 2], **{how: (leaf, leaf)})
    read({"a": (1, 2), "b": 3}, **{how: {"a": leaf, "b": leaf}})
    read({"a": 1, "b": 3, "c": 4}, **{how: {"a": leaf, "b": leaf}})
    read((1, 2), **{how: {"a": leaf, "b": leaf}})
    read(Pair(1, 2), **{how: (leaf, leaf)})
    read((1, 2), **{how: Pair(leaf, leaf)})
    read((1,), **{how: (leaf, leaf)})
    read(1, **{how: (leaf, leaf)})
    read((1.5, tf.constant(2)), **{how: (leaf, leaf)})
    read(("x", 2), **{how: (leaf, leaf)})
read((1, 2), output_signature=(any_number, tf.TensorSpec([1], number)))
read((1,), output_signature=(tf.SparseTensorSpec([2], number),))
