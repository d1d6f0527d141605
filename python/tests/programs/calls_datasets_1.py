"""Datasets: their reprs, specs and errors, part 1."""

import contextlib
import re

import numpy as np
import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


D = tf.data.Dataset
ds = D.range(5)
show(lambda: ds)
show(lambda: print(ds))
show(lambda: ds.element_spec)
show(lambda: len(ds))
show(lambda: len(ds.filter(lambda x: x > 1)))
show(lambda: len(ds.repeat()))
show(lambda: bool(ds))
show(lambda: bool(D.range(0)))
show(lambda: ds.cardinality())
show(lambda: ds.repeat().cardinality().numpy())
show(lambda: ds.filter(lambda x: True).cardinality().numpy())
show(lambda: tf.data.experimental.cardinality(ds.batch(2)))
show(lambda: tf.data.INFINITE_CARDINALITY)
show(lambda: tf.data.UNKNOWN_CARDINALITY)
show(lambda: tf.data.AUTOTUNE)
show(lambda: iter(ds))
show(lambda: next(iter(ds)))
show(lambda: list(ds))
show(lambda: list(ds.as_numpy_iterator()))
show(lambda: ds.as_numpy_iterator())
show(lambda: ds[0])
show(lambda: ds + ds)
show(lambda: ds == ds)
show(lambda: hash(ds) == hash(ds))
show(lambda: {ds: 1}[ds])
for x in ds.batch(2, drop_remainder=True):
    print(x)
show(lambda: ds.batch(2).element_spec)
show(lambda: ds.batch(2, drop_remainder=True).element_spec)
show(lambda: ds.batch(0))
show(lambda: ds.batch(-1))
show(lambda: ds.batch("a"))
show(lambda: ds.batch(2.5))
show(lambda: ds.batch([2]))
show(lambda: ds.take(-1).cardinality().numpy())
show(lambda: ds.skip(-1).cardinality().numpy())
show(lambda: ds.take(2))
show(lambda: ds.skip(2))
show(lambda: ds.take("a"))
show(lambda: ds.repeat(2.5))
show(lambda: ds.shard(2, 0))
show(lambda: list(ds.shard(2, 1).as_numpy_iterator()))
show(lambda: ds.shard(2, 3))
show(lambda: ds.shard(0, 0))
show(lambda: ds.shuffle(0))
show(lambda: ds.shuffle(3))
show(lambda: ds.shuffle(3, seed=1))
show(lambda: ds.prefetch(-2))
show(lambda: ds.prefetch(tf.data.AUTOTUNE))
show(lambda: ds.cache())
show(lambda: ds.map(lambda x: x * 2))
show(lambda: ds.map(lambda x: x * 2, num_parallel_calls=2))
show(lambda: ds.map(lambda x: (x, {"a": x})))
show(lambda: ds.map(lambda x: "a").element_spec)
show(lambda: ds.map(lambda x: [x, x]).element_spec)
show(lambda: ds.map(lambda x: np.array([1, 2])).element_spec)
show(lambda: ds.map(lambda x: tf.ragged.constant([[1], [2, 3]])).element_spec)
show(lambda: ds.map(lambda x: tf.sparse.from_dense([0, 1])).element_spec)
show(lambda: ds.map(lambda x: D.range(3)).element_spec)
show(lambda: ds.map(lambda x: object()))
show(lambda: ds.map(lambda x, y: x))
show(lambda: ds.map(3))
show(lambda: ds.map(None))
show(lambda: ds.filter(lambda x: x))
show(lambda: ds.filter(lambda x: [x > 1]))
show(lambda: ds.filter(lambda x: 1))
show(lambda: ds.filter(3))
show(lambda: ds.flat_map(lambda x: x))
show(lambda: ds.flat_map(lambda x: D.range(x)))
show(lambda: ds.interleave(lambda x: D.range(x), cycle_length=2, block_length=2))
show(lambda: ds.interleave(lambda x: x))
show(lambda: ds.interleave(lambda x: D.range(x), cycle_length=0))
show(lambda: list(ds.interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=2).as_numpy_iterator()))
show(lambda: ds.reduce(np.int64(0), lambda s, x: s + x))
show(lambda: ds.reduce((0, 0), lambda s, x: s))
show(lambda: ds.reduce(np.int64(0), lambda s: s))
show(lambda: ds.scan(np.int64(0), lambda s, x: (s + x, s)))
show(lambda: list(ds.scan(np.int64(0), lambda s, x: (s + x, s)).as_numpy_iterator()))
show(lambda: ds.scan(0, lambda s, x: s))
show(lambda: D.zip(ds, ds))
show(lambda: D.zip((ds, ds)).element_spec)
show(lambda: D.zip({"a": ds, "b": ds}).element_spec)
show(lambda: D.zip([ds, ds]))
show(lambda: D.zip(3))
show(lambda: D.zip())
show(lambda: ds.zip(ds))
show(lambda: ds.concatenate(D.range(3)).cardinality().numpy())
show(lambda: ds.concatenate(D.from_tensors("a")))
