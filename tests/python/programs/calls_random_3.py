"""Random numbers, part 3."""

import tensorflow as tf
from calls import show

g = tf.random.Generator.from_seed(1)


@tf.function
def f():
    return g.normal([2])


show(lambda: f())
show(lambda: f())
show(lambda: tf.random.set_seed(5))


@tf.function
def h():
    return tf.random.uniform([1]), tf.random.uniform([1])


show(lambda: h())
show(lambda: h())
show(lambda: tf.random.set_seed(5))


@tf.function
def h2():
    return tf.random.uniform([1], seed=1), tf.random.uniform([1], seed=1)


show(lambda: h2())
show(lambda: h2())
show(lambda: tf.random.set_seed(5))
show(lambda: h())
show(lambda: tf.random.set_seed(5))
show(lambda: [tf.random.uniform([]).numpy() for _ in range(3)])
show(lambda: tf.random.set_seed(5))
ds = tf.data.Dataset.range(5).shuffle(5)
show(lambda: list(ds.as_numpy_iterator()))
show(lambda: list(ds.as_numpy_iterator()))
show(
    lambda: list(
        tf.data.Dataset.range(5).shuffle(5, seed=2, reshuffle_each_iteration=False).repeat(2).as_numpy_iterator()
    )
)
show(lambda: list(tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([], seed=1)).as_numpy_iterator()))
show(lambda: tf.nn.dropout(tf.ones([4]), 0.5, seed=1))
show(lambda: tf.nn.experimental.stateless_dropout(tf.ones([4]), 0.5, seed=[1, 2]))
show(lambda: tf.nn.dropout(tf.ones([4]), 1.5))
show(lambda: tf.nn.dropout(tf.ones([4], tf.int32), 0.5))
show(lambda: tf.nn.dropout([1, 2], 0.5))
show(lambda: tf.nn.dropout(tf.ones([4]), "a"))
show(lambda: tf.image.random_flip_left_right(tf.reshape(tf.range(4.0), [1, 4, 1]), seed=1))
show(lambda: tf.image.stateless_random_brightness(tf.zeros([1, 1, 3]), 0.2, [1, 2]))
show(lambda: tf.image.random_crop(tf.reshape(tf.range(9), [3, 3]), [2, 2], seed=1))
show(lambda: tf.image.stateless_random_crop(tf.reshape(tf.range(9), [3, 3]), [2, 2], [1, 2]))
show(lambda: tf.random.log_uniform_candidate_sampler([[0]], 1, 2, True, 10, seed=1))
show(lambda: tf.keras_seed if hasattr(tf, "keras_seed") else None)
show(lambda: tf.random.Algorithm.AUTO_SELECT)
show(lambda: list(tf.random.Algorithm))
show(lambda: tf.random.Algorithm.PHILOX.value)
show(lambda: tf.random_normal_initializer(seed=1)([2]))
show(lambda: tf.random_uniform_initializer(seed=1)([2]))
show(lambda: tf.zeros_initializer()([2]))
show(lambda: tf.ones_initializer()([2], dtype=tf.int32))
show(lambda: tf.constant_initializer(3)([2]))
show(lambda: tf.constant_initializer([1, 2])([2]))
show(lambda: tf.constant_initializer([1, 2])([3]))
show(lambda: tf.zeros_initializer()([2], dtype=tf.string))
show(lambda: tf.random_normal_initializer()([2], dtype=tf.int32))
show(lambda: tf.random_uniform_initializer().get_config())
show(lambda: tf.constant_initializer(3).get_config())
show(lambda: tf.random_normal_initializer(1.0, 2.0, 3).get_config())
show(lambda: tf.zeros_initializer.from_config({}))
import copy

show(lambda: copy.deepcopy(g).state)
