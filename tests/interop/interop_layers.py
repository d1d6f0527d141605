"""Layers and models exchanged with Keras through checkpoints, both ways, with equal outputs.

Usage: interop_layers.py WEFT_SIDE_PROGRAM WORK_DIR     (the program of this exchange is beside that one)
       interop_layers.py record DIR                     writes what the tests read without TensorFlow
"""

import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf

L = keras.layers


def floats(*shape):
    i = np.arange(int(np.prod(shape)))
    return ((i % 13) / 8 - (i % 5) / 4).astype("float32").reshape(shape)


def text():
    model = keras.Sequential(
        [
            L.Embedding(9, 4),
            L.Bidirectional(L.LSTM(3, return_sequences=True)),
            L.LayerNormalization(),
            L.TimeDistributed(L.Dense(4, "relu")),
            L.Dropout(0.2),
            L.GRU(3, return_sequences=True),
            L.SimpleRNN(3),
            L.Dense(2),
        ]
    )
    model.build((None, 4))
    return model, [np.array([[1, 2, 3, 8], [0, 4, 5, 7]], "int32")]


def vision():
    a, b = keras.Input((6, 6, 2)), keras.Input((5,))
    x = L.Conv2D(4, 3, padding="same")(a)
    x = L.BatchNormalization()(x)
    x = L.PReLU(shared_axes=[1, 2])(x)
    x = L.DepthwiseConv2D(3)(x)
    x = L.GroupNormalization(2)(x)
    x = L.SeparableConv2D(6, 2)(x)
    x = L.Conv2DTranspose(4, 2, strides=2)(x)
    rows = L.Reshape((9, 16))(x)
    rows = L.MultiHeadAttention(2, 3)(rows, rows)
    y = L.Add()([L.Dense(3)(L.Flatten()(rows)), L.Dense(3)(b)])
    return keras.Model([a, b], [y, L.Dense(1)(y)]), [floats(2, 6, 6, 2), floats(2, 5)]


def outputs(model, inputs):
    out = model(inputs[0] if len(inputs) == 1 else inputs, training=False)
    return np.concatenate([np.ravel(o) for o in (out if isinstance(out, (list, tuple)) else [out])])


def write(make, prefix):
    model, inputs = make()
    rng = np.random.RandomState(3)
    for w in model.weights:
        v = rng.standard_normal(w.shape).astype("float32") * 0.4
        w.assign(np.abs(v) + 0.5 if "variance" in w.path else v)
    tf.train.Checkpoint(model=model).write(prefix)
    return outputs(model, inputs)


if sys.argv[1] == "record":
    for make in (text, vision):
        values = write(make, f"{sys.argv[2]}/{make.__name__}")
        np.savetxt(f"{sys.argv[2]}/{make.__name__}.txt", values, "%.9g")
    raise SystemExit

PROGRAM = os.path.join(os.path.dirname(sys.argv[1]), "layer_checkpoints")
WORK = os.path.join(sys.argv[2], "layers")
os.makedirs(WORK, exist_ok=True)
failures = 0


def weft(*args):
    out = subprocess.run([PROGRAM, *args], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{PROGRAM} {args}: {out.stderr}")
    return np.array(out.stdout.split(), "float32")


def same(what, a, b):
    global failures
    ok = a.shape == b.shape and np.allclose(a, b, rtol=1e-5, atol=1e-5)
    print(("ok    " if ok else "FAILS ") + what + ("" if ok else f"\n  {a[:6]}\n  {b[:6]}"))
    failures += not ok


for make in (text, vision):
    name = make.__name__
    same(
        f"layers: Keras writes {name}, weft reads",
        write(make, f"{WORK}/{name}_keras"),
        weft("read", name, f"{WORK}/{name}_keras"),
    )
    values = weft("write", name, f"{WORK}/{name}_weft")
    model, inputs = make()
    tf.train.Checkpoint(model=model).read(f"{WORK}/{name}_weft").assert_consumed()
    same(f"layers: weft writes {name}, Keras reads", values, outputs(model, inputs))
raise SystemExit(failures != 0)
