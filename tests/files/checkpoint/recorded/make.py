"""Writes the checkpoints of this folder with TensorFlow, and what they hold as text. Run from this folder; needs TensorFlow 2."""
import os
import shutil

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def describe(prefix):
    """PREFIX.txt: one line for each tensor: key, type, shape, values (strings in hex)."""
    reader = tf.train.load_checkpoint(prefix)
    with open(prefix + ".txt", "w") as f:
        for key in sorted(reader.get_variable_to_shape_map()):
            value = reader.get_tensor(key)
            dtype = reader.get_variable_to_dtype_map()[key].name
            shape = ",".join(map(str, np.shape(value)))
            flat = np.asarray(value).reshape(-1)
            if dtype == "string":
                values = [bytes(v).hex() for v in flat.tolist()]
            elif dtype.startswith("complex"):
                values = [f"{p!r}" for v in flat for p in (float(v.real), float(v.imag))]
            else:
                values = [repr(float(v)) for v in flat.astype(np.float64)]
            f.write(f"{key}\t{dtype}\t{shape}\t{' '.join(values)}\n")


def ramp(shape, start=0.0, dtype=tf.float32):
    return tf.cast(tf.reshape(tf.range(np.prod(shape), dtype=tf.float32) + start, shape), dtype)


class Layer(tf.Module):
    def __init__(self, n, start):
        super().__init__()
        self.w = tf.Variable(ramp([n, n], start), name="w")
        self.b = tf.Variable(ramp([n], -start), name="b")


class Model(tf.Module):
    """Nested, with a list, a dict, a tuple, names that need escaping, an object that is held twice, and one without values."""

    def __init__(self):
        super().__init__()
        self.first = Layer(2, 1.0)
        self.layers = [Layer(1, 2.0), Layer(3, 4.0)]
        self.table = {"left": tf.Variable(1.5, name="left"), "with/slash.dot": tf.Variable(-2.5, name="odd")}
        self.again = self.layers[1]
        self.empty = tf.Module()
        self.pair = (tf.Variable([7, 8], dtype=tf.int32, name="pair"), Layer(1, 9.0))


class Types(tf.Module):
    def __init__(self):
        super().__init__()
        for t in "half bfloat16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64".split():
            setattr(self, t, tf.Variable(ramp([3], 1.0, getattr(tf, t)), name=t))
        self.bool = tf.Variable([True, False], name="bool")
        self.complex64 = tf.Variable([1 + 2j], dtype=tf.complex64, name="complex64")
        self.complex128 = tf.Variable([3 - 4j], dtype=tf.complex128, name="complex128")
        self.string = tf.Variable(["", "a", "\u00e4\u00f6" * 40], name="string")
        self.scalar = tf.Variable(5.0, name="scalar")
        self.empty = tf.Variable(tf.zeros([0, 3]), name="empty")
        self.open = tf.Variable(ramp([2, 3]), shape=[None, 3], name="open")
        self.unknown = tf.Variable(ramp([4]), shape=tf.TensorShape(None), name="unknown")


def modules():
    model, step = Model(), tf.Variable(0, dtype=tf.int64, name="step")
    checkpoint = tf.train.Checkpoint(step=step, model=model)
    checkpoint.save("modules/ckpt")
    step.assign(3)
    model.first.w.assign_add(tf.ones([2, 2]))
    describe(checkpoint.save("modules/ckpt"))
    tf.train.Checkpoint(model, step=step).write("modules/rooted")
    describe("modules/rooted")
    tf.train.Checkpoint(Types()).write("modules/types")
    describe("modules/types")


def slots():
    """Optimisers that keep slot variables, as Keras' did before version 3."""
    model = Layer(2, 1.0)
    unused = tf.Variable(1.0, name="unused")
    for name, optimizer in (("momentum", tf.compat.v1.train.MomentumOptimizer(0.1, 0.9)), ("adam", tf.compat.v1.train.AdamOptimizer(0.1))):
        for _ in range(2):
            optimizer.minimize(lambda: tf.reduce_sum(tf.square(model.w)) + tf.reduce_sum(model.b), var_list=[model.w, model.b])
        tf.train.Checkpoint(model=model, optimizer=optimizer, unused=unused).write(f"slots/{name}")
        describe(f"slots/{name}")


def keras():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    model.compile(optimizer, "mse")
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2)
    model.fit(x, x.sum(1, keepdims=True), epochs=2, verbose=0)
    tf.train.Checkpoint(model=model, optimizer=optimizer).write("keras/ckpt")
    describe("keras/ckpt")


def names():
    """A checkpoint without an object graph; one variable is in two parts."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.compat.v1.get_variable("scope/w", initializer=ramp([2, 2], 1.0))
        tf.compat.v1.get_variable("b", initializer=ramp([3], 5.0))
        tf.compat.v1.get_variable("parts", shape=[4, 2], 
                                  initializer=lambda shape, partition_info=None, **_: ramp(shape, 2.0 * partition_info.var_offset[0]),
                                  partitioner=tf.compat.v1.fixed_size_partitioner(2))
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.train.Saver().save(session, "names/model.ckpt", write_meta_graph=False)
    describe("names/model.ckpt")


def manager():
    v = tf.Variable(0.0, name="v")
    m = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), "manager", max_to_keep=2)
    for _ in range(4):
        v.assign_add(1.0)
        m.save()


for f in (modules, slots, keras, names, manager):
    shutil.rmtree(f.__name__, ignore_errors=True)
    os.makedirs(f.__name__)
    f()
