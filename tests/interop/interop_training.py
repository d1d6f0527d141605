"""Training that continues from the other's checkpoint, for every optimiser: weft (inside weft::function) and Keras 3 (inside tf.function) see
equal losses for 20 steps, both ways.

Usage: interop_training.py WEFT_SIDE_PROGRAM WORK_DIR     (the program of this exchange is beside that one)
"""

import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

PROGRAM = os.path.join(os.path.dirname(sys.argv[1]), "training_side")
WORK = os.path.join(sys.argv[2], "training")
os.makedirs(WORK, exist_ok=True)
O = keras.optimizers
OPTIMIZERS = {
    "SGD": lambda: O.SGD(0.05, momentum=0.9, nesterov=True),
    "Adam": lambda: O.Adam(0.02, clipnorm=1.0),
    "AdamW": lambda: O.AdamW(0.02),
    "RMSprop": lambda: O.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-4),
    "Adagrad": lambda: O.Adagrad(0.1),
    "Adadelta": lambda: O.Adadelta(1.0),
    "Ftrl": lambda: O.Ftrl(0.1),
    "Adamax": lambda: O.Adamax(0.02),
    "Nadam": lambda: O.Nadam(0.02),
    "Lion": lambda: O.Lion(0.002),
}
i, j = np.mgrid[0:24, 0:6]
x, y = tf.constant(np.sin(i * 0.7 + j * 1.3).astype("float32")), tf.constant(np.arange(24) % 3, tf.int32)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
failures = []
keras.utils.set_random_seed(5)


def keras_side(name):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
    optimizer = OPTIMIZERS[name]()
    optimizer.build(model.trainable_variables)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        optimizer.apply(tape.gradient(value, model.trainable_variables), model.trainable_variables)
        return value

    return model, optimizer, step


def weft_side(mode, name, path):
    out = subprocess.run([PROGRAM, mode, name, path], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{PROGRAM} {mode} {name}: {out.stderr}")
    rows = [line.split() for line in out.stdout.splitlines()]
    return [
        np.array([r[1:] for r in rows if r[0] == "loss"], "float32").ravel(),
        np.concatenate([np.array(r[1:], "float32") for r in rows if r[0] == "weights"]),
    ]


def check(what, a, b):
    # Sums of another order end in other last digits, which training makes larger.
    ok = all(np.allclose(p, q, rtol=2e-4, atol=2e-5) for p, q in zip(a, b))
    worst = max(float(np.max(np.abs(p - q) / np.maximum(np.abs(q), 0.1))) for p, q in zip(a, b))
    print(f"{'ok    ' if ok else 'FAILS '}{what} (largest difference {worst:.1e})")
    if not ok:
        failures.append(what)


print("TensorFlow", tf.__version__, "Keras", keras.__version__)
for name in OPTIMIZERS:
    path = os.path.join(WORK, f"weft_{name}")
    ours = weft_side("write", name, path)
    model, optimizer, step = keras_side(name)
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).read(path)
    status.assert_consumed()
    losses = np.array([step().numpy() for _ in range(20)])
    check(
        f"{name}: Keras goes on from weft's checkpoint with equal losses",
        [losses, np.concatenate([w.ravel() for w in model.get_weights()])],
        ours,
    )

    path = os.path.join(WORK, f"keras_{name}")
    model, optimizer, step = keras_side(name)
    for _ in range(5):
        step()
    tf.train.Checkpoint(model=model, optimizer=optimizer).write(path)
    losses = np.array([step().numpy() for _ in range(20)])
    check(
        f"{name}: weft goes on from Keras' checkpoint with equal losses",
        weft_side("read", name, path),
        [losses, np.concatenate([w.ravel() for w in model.get_weights()])],
    )
sys.exit(bool(failures))
