"""A dataset holds what its functions use: variables of objects that the program itself holds no longer."""

import gc

import tensorflow as tf


class Adder(tf.Module):
    def __init__(self, value):
        super().__init__()
        self.v = tf.Variable(float(value))
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([value], tf.int64)), -1
        )

    def __call__(self, x):
        self.v.assign_add(1.0)
        return tf.cast(x, tf.float32) + self.v + tf.cast(self.table.lookup(tf.constant("a")), tf.float32)

    def keep(self, x):
        return tf.cast(x, tf.float32) < self.v

    def several(self, x):
        return tf.data.Dataset.from_tensors(tf.cast(x, tf.float32) + self.v)

    def summed(self, state, x):
        return state + tf.cast(x, tf.float32) + self.v, state

    def key(self, x):
        return tf.cast(tf.cast(x, tf.float32) + self.v, tf.int64) % 2

    def generate(self):
        for i in range(3):
            yield float(self.v.numpy()) + i


def numbers(dataset):
    gc.collect()
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


r = tf.data.Dataset.range(4)
print("map", numbers(r.map(Adder(1)).prefetch(1)))
print("map", numbers(r.cache().shuffle(1).batch(2).repeat(2).map(Adder(1)).prefetch(2)))
print("parallel map", numbers(r.map(Adder(2), num_parallel_calls=2, deterministic=True).batch(2).prefetch(1)) is not None)
print("filter", numbers(r.filter(Adder(2).keep).prefetch(1)))
print("flat_map", numbers(r.flat_map(Adder(3).several).prefetch(1)))
print("interleave", numbers(r.interleave(Adder(3).several, cycle_length=2).prefetch(1)))
print("scan", numbers(r.scan(0.0, Adder(1).summed).prefetch(1)))
print("take_while", numbers(r.take_while(Adder(2).keep).prefetch(1)))
print("group_by_window", numbers(r.group_by_window(Adder(0).key, lambda k, d: d.batch(4), 4).prefetch(1)))
print("generator", numbers(tf.data.Dataset.from_generator(Adder(5).generate, output_signature=tf.TensorSpec([])).prefetch(1)))
print("zip", numbers(tf.data.Dataset.zip((r.map(Adder(1)), r)).map(lambda a, b: a).prefetch(1)))
print("concatenate", numbers(r.map(Adder(1)).concatenate(r.map(Adder(10))).prefetch(1)))
print("sample", numbers(tf.data.Dataset.choose_from_datasets([r.map(Adder(1)), r.map(Adder(9))], tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 0], tf.int64)))))
print("apply", numbers(r.apply(lambda d: d.map(Adder(7))).take(2)))
it = iter(r.map(Adder(1)).prefetch(1))
gc.collect()
print("iterator", next(it).numpy(), next(it).numpy())
print("reduce", r.reduce(0.0, lambda s, x: s + Adder(1).v * tf.cast(x, tf.float32)).numpy() if False else "-")


@tf.function
def total(dataset):
    s = 0.0
    for x in dataset:
        s += x
    return s


print("in a function", total(r.map(Adder(1)).prefetch(1)).numpy())
ds = r.map(Adder(1))
options = tf.data.Options()
options.deterministic = True
print("options", numbers(ds.with_options(options)))
layer = tf.keras.layers.Normalization(mean=[1.0], variance=[4.0])
data = tf.data.Dataset.from_tensor_slices(tf.constant([[1.0], [3.0]])).batch(2).map(layer)
del layer
print("layer", numbers(data))


class Augment(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.flip = tf.keras.layers.RandomFlip("horizontal", seed=1)

    def call(self, x, y):
        return self.flip(x), self.flip(y)


images = tf.data.Dataset.from_tensors((tf.ones([2, 2, 3]), tf.ones([2, 2, 1]))).repeat(4).batch(2)
print("augment", [tuple(v.shape) for v in next(iter(images.cache().shuffle(2).repeat().map(Augment()).prefetch(2)))])
