"""Checkpoints exchanged with real TensorFlow, both ways: all values arrive, and training continues with equal losses.

Usage: interop_checkpoints.py WEFT_SIDE_PROGRAM WORK_DIR     (the program of this exchange is beside that one)
"""

import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

PROGRAM = os.path.join(os.path.dirname(sys.argv[1]), "checkpoint_side")
WORK = os.path.join(sys.argv[2], "checkpoints")
os.makedirs(WORK, exist_ok=True)
failures = []


def weft(*args):
    out = subprocess.run([PROGRAM, *args], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{PROGRAM} {args}: {out.stderr}")
    rows = [line.split() for line in out.stdout.splitlines()]
    return {
        k: np.array([r[1:] for r in rows if r[0] == k], "float32").squeeze() for k in dict.fromkeys(r[0] for r in rows)
    }


def check(what, ok, detail=""):
    print(("ok    " if ok else "FAILS ") + what + ("" if ok else f"\n  {detail}"))
    if not ok:
        failures.append(what)


def same(what, a, b, rtol=0.0):
    a, b = np.asarray(a).ravel(), np.asarray(b).ravel()
    check(
        what,
        a.shape == b.shape and (np.allclose(a, b, rtol=rtol, atol=rtol / 10) if rtol else np.array_equal(a, b)),
        f"{a[:6]}\n  {b[:6]}",
    )


def grid(shape, step, start):
    i = np.arange(int(np.prod(shape)))
    return np.float32(
        np.float32(start) + np.float32(step) * np.float32(i % 11) - np.float32(0.02) * np.float32(i % 7)
    ).reshape(shape)


class Layer(tf.Module):
    def __init__(self, n, start):
        super().__init__()
        self.w, self.b = (
            tf.Variable(grid((n, n), 0.5, start), name="w"),
            tf.Variable(grid((n,), 0.25, -start), name="b"),
        )

    def clear(self):
        self.w.assign(tf.zeros_like(self.w))
        self.b.assign(tf.zeros_like(self.b))
        return self


class Nested(tf.Module):
    def __init__(self):
        super().__init__()
        self.first = Layer(2, 1.0)
        self.layers = [Layer(1, 2.0), Layer(3, 4.0)]
        self.table = {"left": tf.Variable(1.5, name="left"), "with/slash.dot": tf.Variable(-2.5, name="odd")}
        self.again = self.layers[1]

    def clear(self):
        for layer in (self.first, *self.layers):
            layer.clear()
        for v in self.table.values():
            v.assign(0.0)
        return self


X, Y = grid((16, 4), 0.1, -0.5), grid((16, 1), 0.07, -0.3)


class Training:
    def __init__(self):
        self.model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
        self.optimizer = tf.keras.optimizers.Adam(0.01)
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer)

    def build(self):
        self.model(X)
        self.optimizer.build(self.model.trainable_variables)
        return self

    def step(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(X) - Y))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss.numpy()


# What weft wrote.
wrote = weft("write", WORK)
nested, step = Nested().clear(), tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(step=step, model=nested)
checkpoint.restore(tf.train.latest_checkpoint(WORK)).assert_consumed()
same("nested objects: step, counter", [step.numpy(), checkpoint.save_counter.numpy()], [3, 2])
same("nested objects: values", nested.first.w, grid((2, 2), 0.5, 1.0) + 1)
same("nested objects: values of a list", nested.layers[1].b, grid((3,), 0.25, -4.0))
same("nested objects: values of a map", nested.table["with/slash.dot"], -2.5)

nested.clear()
step.assign(0)
tf.train.Checkpoint(nested, step=step).read(WORK + "/rooted").assert_consumed()
same("a root with an attached child", [step.numpy(), nested.first.b.numpy()[0]], [3, -1.0])

tf.train.Checkpoint(step=step, model=nested.clear()).read(
    WORK + "/over"
).expect_partial().assert_existing_objects_matched()
same("one that was written over (two data files)", [step.numpy(), nested.first.b.numpy()[0]], [4, -1.0])

later = tf.Module()
status = tf.train.Checkpoint(model=later).read(WORK + "/over")
later.first = Layer(2, 0.0).clear()
same("objects that TensorFlow makes later", later.first.b, grid((2,), 0.25, -1.0))
status.expect_partial()

manager = tf.train.CheckpointManager(checkpoint, WORK + "/managed", max_to_keep=2)
check(
    "a managed folder", [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-5", "ckpt-6"], manager.checkpoints
)
check("restore_or_initialize of it", manager.restore_or_initialize() == WORK + "/managed/ckpt-6")
manager.save()
check(
    "TensorFlow's manager goes on in it",
    sorted(f for f in os.listdir(WORK + "/managed") if f.endswith(".index")) == ["ckpt-6.index", "ckpt-7.index"],
    os.listdir(WORK + "/managed"),
)

types = tf.Module()
names = "half bfloat16 float32 float64 int8 uint8 int16 uint16 int32 uint32 int64 uint64 complex64 complex128".split()
for name in names:
    setattr(types, name, tf.Variable(tf.zeros([3], getattr(tf, name))))
types.bool, types.string = tf.Variable([False, False]), tf.Variable(["x", "x", "x"])
types.empty, types.open = tf.Variable(tf.ones([0, 3])), tf.Variable(tf.zeros([1, 3]), shape=[None, 3])
tf.train.Checkpoint(types).read(WORK + "/types").assert_consumed()
for name in names:
    same(f"type {name}", tf.cast(getattr(types, name), tf.complex128), [1, 2, 3])
same("type bool", types.bool, [True, False])
check("type string", types.string.numpy().tolist() == [b"", b"a", b"b" * 300])
same("an open shape", types.open, grid((2, 3), 1.0, 0.0))

model, optimizer = Layer(2, 1.0), tf.compat.v1.train.AdamOptimizer(0.1)
optimizer.minimize(lambda: tf.reduce_sum(tf.square(model.w)) + tf.reduce_sum(model.b), var_list=[model.w, model.b])
tf.train.Checkpoint(model=model, optimizer=optimizer).read(WORK + "/slots").assert_consumed()
same(
    "slot variables",
    [optimizer.get_slot(model.w, "m"), optimizer.get_slot(model.w, "v")],
    [2 * model.w.numpy(), 3 * model.w.numpy()],
)
same("slot variables of another", optimizer.get_slot(model.b, "v"), 3 * model.b.numpy())
late_model, late_optimizer = Layer(2, 1.0).clear(), tf.compat.v1.train.AdamOptimizer(0.1)
status = tf.train.Checkpoint(model=late_model, optimizer=late_optimizer).read(WORK + "/slots")
late_optimizer.minimize(
    lambda: tf.reduce_sum(tf.square(late_model.w)) + tf.reduce_sum(late_model.b), var_list=[late_model.w, late_model.b]
)
status.assert_consumed()
check("slot variables that TensorFlow makes later", np.all(late_optimizer.get_slot(late_model.b, "m").numpy() != 0.1))

training = Training().build()
training.checkpoint.read(WORK + "/keras").assert_existing_objects_matched().expect_partial()
same("a Sequential with Adam: predictions", training.model(X), wrote["predictions"], 1e-5)
same("a Sequential with Adam: 20 more losses", [training.step() for _ in range(20)], wrote["loss"], 2e-5)

# What TensorFlow wrote.
nested, step = Nested(), tf.Variable(7, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(step=step, model=nested)
read = weft("values", checkpoint.save(WORK + "/theirs"))
same(
    "weft reads nested objects",
    np.concatenate([read["step"][None], read["first"], read["last"], read["odd"][None]]),
    np.concatenate([[7], nested.first.w.numpy().ravel(), nested.layers[1].b.numpy(), [-2.5]]),
)
training = Training().build()
for _ in range(5):
    training.step()
training.checkpoint.write(WORK + "/their_keras")
predictions = training.model(X).numpy()
losses = [training.step() for _ in range(20)]
for how in ("train", "train_late"):
    mine = weft(how, WORK + "/their_keras")
    same(f"weft's {how}: predictions", mine["predictions"], predictions, 1e-5)
    same(f"weft's {how}: 20 more losses", mine["loss"], losses, 2e-5)
print(
    f"checkpoints: TensorFlow {tf.__version__}, Keras {tf.keras.__version__}:",
    "all agree" if not failures else f"{len(failures)} differ",
)
sys.exit(bool(failures))
