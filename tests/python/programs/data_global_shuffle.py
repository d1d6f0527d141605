"""Datasets in global random order, of pipelines whose elements can be found by index, and those that refuse."""

import os
import tempfile

import numpy as np
import tensorflow as tf

folder = tempfile.mkdtemp()
R, raw = tf.data.Dataset.range, tf.raw_ops


plain = tf.data.Options()
plain.experimental_optimization.apply_default_optimizations = False


def flat(spec):
    return [s.dtype for s in tf.nest.flatten(spec)], [s.shape for s in tf.nest.flatten(spec)]


def global_shuffle(dataset, seed=1, seed2=2, reshuffle=True):
    types, shapes = flat(dataset.element_spec)
    variant = raw.GlobalShuffleDataset(
        input_dataset=tf.data.experimental.to_variant(dataset),
        seed=tf.constant(seed, tf.int64),
        seed2=tf.constant(seed2, tf.int64),
        seed_generator=raw.DummySeedGenerator(),
        reshuffle_each_iteration=reshuffle,
        output_types=types,
        output_shapes=shapes,
    )
    return tf.data.experimental.from_variant(variant, dataset.element_spec)


def show(name, make):
    try:
        dataset = global_shuffle(make()).with_options(plain)
        for _ in range(2):
            print(name, [tf.nest.map_structure(lambda t: np.asarray(t).tolist(), e) for e in dataset])
    except tf.errors.OpError as e:
        print(name, type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])


def plus(x):
    return x + 100


def pair(x):
    return x, -x


def many(x):
    return R(3)


show("map", lambda: R(9).map(plus))
show("map twice", lambda: R(9).map(plus).map(pair))
show("parallel map", lambda: R(9).map(plus, num_parallel_calls=2))
show("batch of map", lambda: R(9).map(plus).batch(2, drop_remainder=True))
show("map of batch", lambda: R(9).batch(2, drop_remainder=True).map(plus))
show("slices", lambda: tf.data.Dataset.from_tensor_slices({"a": np.arange(5), "b": np.arange(10).reshape(5, 2)}))
show("list", lambda: tf.data.experimental.from_list([(1, "a"), (2, "b"), (3, "c")]))
show("zip", lambda: tf.data.Dataset.zip((R(5), R(7).map(plus))))
show("concatenate", lambda: R(3).concatenate(R(10, 14)).map(plus))
show("cache", lambda: R(6).cache())
show("prefetch", lambda: R(6).map(plus).prefetch(2))
show("repeat", lambda: R(3).repeat(2))
show("take skip shard", lambda: R(30).skip(2).take(20).shard(3, 1))
show("again", lambda: global_shuffle(R(6), 5, 6).map(plus))
show("filter", lambda: R(9).filter(lambda x: x > 2))
show("flat_map", lambda: R(4).flat_map(many))
show("interleave", lambda: R(4).interleave(many))
show("shuffle", lambda: R(4).shuffle(2))
show("unbatch", lambda: R(4).batch(2).unbatch())
show("batch", lambda: R(4).batch(2))
show("padded_batch", lambda: R(4).padded_batch(2))
show("enumerate", lambda: R(4).enumerate())
show("scan", lambda: R(4).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)))
show("take_while", lambda: R(4).take_while(lambda x: x < 2))
show("group_by_window", lambda: R(4).group_by_window(lambda x: x % 2, lambda k, d: d.batch(2), 2))
show("cache in a file", lambda: R(4).cache(os.path.join(folder, "c")))
show("empty", lambda: R(4).take(0))
show("forever", lambda: R(4).repeat())

print([x.numpy() for x in global_shuffle(R(5), reshuffle=False).repeat(2)])
print([x.numpy().tolist() for x in global_shuffle(R(5)).repeat(2).batch(4)])

# Where an iterator stands is kept by checkpoints.
dataset = global_shuffle(R(8)).repeat(2)
iterator = iter(dataset)
before = [next(iterator).numpy() for _ in range(5)]
checkpoint = tf.train.Checkpoint(iterator=iterator)
path = checkpoint.save(os.path.join(folder, "ckpt"))
rest = [x.numpy() for x in iterator]
checkpoint.restore(path)
print(before, rest, [x.numpy() for x in iterator] == rest)


# Rows of elements that a function finds by their index.
@tf.function(input_signature=[tf.TensorSpec([], tf.string)])
def numbers(line):
    return tf.strings.to_number(tf.strings.split(line, " "), tf.int64)


@tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
def place(index):
    row = tf.gather(tf.constant([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 0], [3, 0]], tf.int64), tf.minimum(index, 6))
    return row[0], row[1]


def index_flat_map(lines, index_map, cardinality):
    variant = raw.IndexFlatMapDataset(
        input_dataset=tf.data.experimental.to_variant(tf.data.Dataset.from_tensor_slices(lines)),
        map_func_other_args=[],
        index_map_func_other_args=[],
        output_cardinality=tf.constant(cardinality, tf.int64),
        map_func=numbers.get_concrete_function(),
        index_map_func=index_map.get_concrete_function(),
        output_types=[tf.int64],
        output_shapes=[[]],
    )
    return tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64))


lines = ["0 1", "2 3 4", "5", "6"]
for cardinality in (7, -2):
    rows = index_flat_map(lines, place, cardinality)
    print(rows.cardinality().numpy(), [x.numpy() for x in rows.take(7)])
show("index_flat_map", lambda: index_flat_map(lines, place, 7))
show("index_flat_map of unknown length", lambda: index_flat_map(lines, place, -2))


@tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
def one(index):
    return index


@tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
def floats(index):
    return tf.cast(index, tf.float32), index


for bad in (one, floats):
    try:
        print([x.numpy() for x in index_flat_map(lines, bad, 7)])
    except tf.errors.OpError as e:
        print(type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])
