"""Files exchanged with real TensorFlow, both ways: predictions equal, training continues with equal losses.

Usage: interop.py WEFT_SIDE_PROGRAM WORK_DIR     (python with tensorflow; `make interop` calls it)
"""

import os
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

PROGRAM, WORK = sys.argv[1], sys.argv[2]
failures = []


def weft(*args):
    out = subprocess.run([PROGRAM, *args], capture_output=True, text=True)
    if out.returncode:
        raise SystemExit(f"{PROGRAM} {args}: {out.stderr}")
    rows = [line.split() for line in out.stdout.splitlines()]
    return {k: [np.array(r[1:], "float32") for r in rows if r[0] == k] for k in {r[0] for r in rows}}


def same(what, a, b, rtol=2e-5):
    a, b = np.asarray(a).ravel(), np.asarray(b).ravel()
    ok = a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=1e-6)
    print(("ok    " if ok else "FAILS ") + what + ("" if ok else f"\n  {a[:6]}\n  {b[:6]}"))
    if not ok:
        failures.append(what)


def grid(shape, step, start):
    n = int(np.prod(shape))
    i = np.arange(n)
    return np.float32(
        np.float32(start) + np.float32(step) * np.float32(i % 11) - np.float32(0.02) * np.float32(i % 7)
    ).reshape(shape)


X, Y = grid((16, 4), 0.1, -0.5), grid((16, 2), 0.07, -0.3)


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = tf.Variable(grid((4, 8), 0.05, -0.2), name="w1"), tf.Variable(grid((8,), 0.01, 0), name="b1")
        self.w2, self.b2 = tf.Variable(grid((8, 2), 0.04, -0.1), name="w2"), tf.Variable(grid((2,), 0, 0), name="b2")
        self.scale = tf.constant(grid((300,), 0, 1))

    def forward(self, x):
        return tf.matmul(tf.tanh(tf.matmul(x, self.w1) + self.b1), self.w2) + self.b2 * tf.reduce_mean(self.scale)

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, "x")])
    def predict(self, x):
        return {"y": self.forward(x)}

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32, "x"), tf.TensorSpec((None, 2), tf.float32, "y")])
    def train(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.forward(x) - y))
        variables = [self.w1, self.b1, self.w2, self.b2]
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.1 * g)
        return loss


print("TensorFlow", tf.version.VERSION)

# Written by weft, read by TensorFlow: as objects, by signature, and by version 1's loader.
ours = weft("write", f"{WORK}/from_weft")
loaded = tf.saved_model.load(f"{WORK}/from_weft")
same("TensorFlow loads weft's SavedModel: predict", loaded.predict(X)["y"], ours["predict"][0])
same("  its signature", loaded.signatures["serving_default"](x=tf.constant(X))["y"], ours["predict"][0])
same("  train on, 20 losses", [loaded.train(X, Y).numpy() for _ in range(20)], np.concatenate(ours["loss"]))
same("  predict after", loaded.predict(X)["y"], ours["after"][0])
same("  the step counter", [loaded.extra[0].numpy()], [20])
animals = tf.constant(["cat", "dog", "emu"])
WORDS, LINES = [10, 20, -1], [1, -1, 0]
same("  tables", tf.stack(loaded.ids(animals)), [WORDS, LINES])
same("  tables, by signature", loaded.signatures["ids"](x=animals)["line"], LINES)
same("  tables, in weft again", ours["ids"], [WORDS, LINES, LINES])
loaded = tf.saved_model.load(f"{WORK}/from_weft")
variables = [loaded.w1, loaded.b1, loaded.w2, loaded.b2]
losses = []
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(loaded.predict(X)["y"] - Y))
    for v, g in zip(variables, tape.gradient(loss, variables)):
        v.assign_sub(0.1 * g)
    losses.append(loss.numpy())
same("  a tape over its function, 20 losses", losses, np.concatenate(ours["loss"]))
with tf.compat.v1.Session(graph=tf.Graph()) as session:
    meta = tf.compat.v1.saved_model.load(session, ["serve"], f"{WORK}/from_weft")
    s = meta.signature_def["serving_default"]
    got = session.run(s.outputs["y"].name, {s.inputs["x"].name: X})
    s = meta.signature_def["ids"]
    same(
        "  tables, version 1's loader",
        session.run([s.outputs["word"].name, s.outputs["line"].name], {s.inputs["x"].name: ["cat", "dog", "emu"]}),
        [WORDS, LINES],
    )
same("  version 1's loader (the way of TF Serving)", got, ours["predict"][0])
tf.saved_model.save(loaded, f"{WORK}/resaved")
again = tf.saved_model.load(f"{WORK}/resaved")
same("  saved again by TensorFlow and loaded", again.predict(X)["y"], loaded.predict(X)["y"])
out = subprocess.run(
    [os.path.join(os.path.dirname(sys.executable), "saved_model_cli"), "show", "--dir", f"{WORK}/from_weft", "--all"],
    capture_output=True,
    text=True,
)
same(
    "  saved_model_cli show",
    [out.returncode, "serving_default" in out.stdout, "'predict'" in out.stdout or "predict" in out.stdout],
    [0, 1, 1],
)

# Written by TensorFlow, read by weft.
net = Net()
tf.saved_model.save(net, f"{WORK}/from_tensorflow", signatures={"serving_default": net.predict, "train": net.train})
before = net.predict(X)["y"].numpy()
losses = [net.train(X, Y).numpy() for _ in range(20)]
after = net.predict(X)["y"].numpy()
for way in ("train", "tape"):
    theirs = weft(way, f"{WORK}/from_tensorflow")
    same(f"weft loads TensorFlow's SavedModel ({way}): predict", theirs["predict"][0], before)
    same("  train on, 20 losses", np.concatenate(theirs["loss"]), losses)
    same("  predict after", theirs["after"][0], after)

print(f"{len(failures)} failures" if failures else "all exchanged files agree")
sys.exit(bool(failures))
