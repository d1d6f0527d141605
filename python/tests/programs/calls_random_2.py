"""Random numbers, part 2."""

import contextlib
import re

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


show(lambda: tf.random.stateless_uniform([2], [1, 2]))
show(lambda: tf.random.stateless_uniform([2], [1, 2], maxval=9, dtype=tf.int64))
show(lambda: tf.random.stateless_uniform([2], [1, 2], None, None, tf.int32))
show(lambda: tf.random.stateless_normal([2], [1, 2]))
show(lambda: tf.random.stateless_truncated_normal([2], [1, 2]))
show(lambda: tf.random.stateless_gamma([2], [1, 2], 2.0))
show(lambda: tf.random.stateless_poisson([2], [1, 2], 3.0))
show(lambda: tf.random.stateless_binomial([2], [1, 2], 5.0, 0.5))
show(lambda: tf.random.stateless_categorical([[0.0, 1.0]], 3, [1, 2]))
show(lambda: tf.random.stateless_parameterized_truncated_normal([2], [1, 2], 0.0, 1.0, -1.0, 1.0))
show(lambda: tf.random.stateless_uniform([2], 1))
show(lambda: tf.random.stateless_uniform([2], [1]))
show(lambda: tf.random.stateless_uniform([2], [1, 2, 3]))
show(lambda: tf.random.stateless_uniform([2], [1.5, 2]))
show(lambda: tf.random.stateless_uniform([2], "ab"))
show(lambda: tf.random.stateless_uniform([2], [1, 2], dtype=tf.int32))
show(lambda: tf.random.stateless_uniform([2], [1, 2], alg="philox"))
show(lambda: tf.random.stateless_uniform([2], [1, 2], alg="threefry"))
show(lambda: tf.random.stateless_uniform([2], [1, 2], alg=tf.random.Algorithm.PHILOX))
show(lambda: tf.random.stateless_uniform([2], [1, 2], alg="foo"))
show(lambda: tf.random.stateless_uniform([2], [1, 2], alg=9))
show(lambda: tf.random.split([1, 2], 3))
show(lambda: tf.random.fold_in([1, 2], 3))
show(lambda: tf.random.experimental.stateless_split([1, 2]))
show(lambda: tf.random.experimental.index_shuffle(1, [1, 2, 3], 5))
show(lambda: tf.random.experimental.stateless_shuffle([1, 2, 3], [1, 2]))
g = tf.random.Generator.from_seed(1)
show(lambda: g)
show(lambda: g.state)
show(lambda: g.key)
show(lambda: g.algorithm)
show(lambda: g.normal([2]))
show(lambda: g.uniform([2]))
show(lambda: g.uniform([2], maxval=5, dtype=tf.int32))
show(lambda: g.uniform_full_int([2]))
show(lambda: g.binomial([2], 5.0, 0.5))
show(lambda: g.truncated_normal([2]))
show(lambda: g.make_seeds(2))
show(lambda: g.split(2))
show(lambda: g.uniform([2], dtype=tf.int32))
show(lambda: g.normal([2], dtype=tf.int32))
show(lambda: g.skip(5))
show(lambda: g.state)
show(lambda: g.reset_from_seed(3))
show(lambda: g.state)
show(lambda: g.reset([1, 2, 3]))
show(lambda: g.state)
show(lambda: g.reset([1]))
show(lambda: g.reset_from_key_counter(1, [2, 3]))
show(lambda: g.state)
show(lambda: tf.random.Generator.from_state([1, 2, 3], "philox").state)
show(lambda: tf.random.Generator.from_key_counter(1, [2, 3], "philox").state)
show(lambda: tf.random.Generator.from_seed([1, 2]).state)
show(lambda: tf.random.Generator.from_seed(1, alg="threefry").state)
show(lambda: tf.random.Generator.from_state([1], "philox"))
show(lambda: tf.random.Generator.from_seed("a"))
show(lambda: tf.random.Generator.from_seed(1, alg="x"))
show(lambda: tf.random.Generator())
show(lambda: tf.random.Generator(copy_from=g).state)
show(lambda: tf.random.create_rng_state(1, "philox"))
show(lambda: tf.random.create_rng_state([1, 2], "threefry"))
with shown():
    tf.random.set_global_generator(g)
    tf.random.get_global_generator() is g
show(lambda: tf.random.set_global_generator(3))
