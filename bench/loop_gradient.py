"""The gradient of an LSTM written as a loop (tf.while_loop, 100 steps), as a graph, beside TensorFlow.

  python loop_gradient.py LIBRARY [--steps 100] [--batch 32] [--units 64] [--rounds 7]

Needs TensorFlow in Python. The loop without its gradient is built there and handed to the library, which adds the gradients with
TF_AddGradients; TensorFlow adds its own (tf.gradients). Both run turn by turn; printed are how far the numbers are apart, the median
over the rounds of the fastest run in each, and the ratio.
"""

import argparse
import ctypes as C
import os
import statistics
import subprocess
import sys
import tempfile
import time

from packages import need

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def time_of(run, seconds=0.7):
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


class Output(C.Structure):
    _fields_ = [("oper", C.c_void_p), ("index", C.c_int)]


def child(library, path, count):
    """Times the library whenever a line comes in; the first answer is the sums of the gradients."""
    c = C.CDLL(library)
    for name in "TF_NewStatus TF_Message TF_NewGraph TF_NewSessionOptions TF_NewBufferFromString TF_NewImportGraphDefOptions TF_NewSession TF_GraphOperationByName TF_TensorData".split():
        getattr(c, name).restype = C.c_void_p
    c.TF_TensorElementCount.restype = C.c_int64
    status = C.c_void_p(c.TF_NewStatus())

    def call(name, *arguments):
        result = getattr(c, name)(*arguments, status)
        if c.TF_GetCode(status):
            sys.exit(f"{name}: {C.string_at(c.TF_Message(status)).decode()}")
        return result

    graph = C.c_void_p(c.TF_NewGraph())
    text = open(path, "rb").read()
    call(
        "TF_GraphImportGraphDef",
        graph,
        C.c_void_p(c.TF_NewBufferFromString(text, C.c_size_t(len(text)))),
        C.c_void_p(c.TF_NewImportGraphDefOptions()),
    )
    end = lambda name: Output(c.TF_GraphOperationByName(graph, name.encode()), 0)
    xs, ys, grads = (
        (Output * count)(*[end(f"x_{i}") for i in range(count)]),
        (Output * 1)(end("y_0")),
        (Output * count)(),
    )
    start = time.perf_counter()
    c.TF_AddGradients(graph, ys, 1, xs, count, None, status, grads)
    if c.TF_GetCode(status):
        sys.exit(C.string_at(c.TF_Message(status)).decode())
    print(f"gradients added in {1000 * (time.perf_counter() - start):.1f} ms", file=sys.stderr)
    session = C.c_void_p(call("TF_NewSession", graph, C.c_void_p(c.TF_NewSessionOptions())))
    init = (C.c_void_p * 1)(c.TF_GraphOperationByName(graph, b"init"))
    call("TF_SessionRun", session, None, None, None, 0, None, None, 0, init, 1, None)

    def run(fetches=grads, n=count, keep=False):
        out = (C.c_void_p * n)()
        call("TF_SessionRun", session, None, None, None, 0, fetches, out, n, None, 0, None)
        sums = []
        for t in out:
            if keep:
                size = c.TF_TensorElementCount(C.c_void_p(t))
                sums.append(sum((C.c_float * size).from_address(c.TF_TensorData(C.c_void_p(t)))))
            c.TF_DeleteTensor(C.c_void_p(t))
        return sums

    print(*run(keep=True), flush=True)
    forward = Output(ys[0].oper, 0)
    for line in sys.stdin:
        what = line.split()[0]
        print(time_of(run if what == "back" else lambda: run((Output * 1)(forward), 1)), flush=True)


def main():
    if sys.argv[1:2] == ["--child"]:
        return child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    for name, value in dict(steps=100, batch=32, units=64, rounds=7).items():
        parser.add_argument("--" + name, type=int, default=value)
    o = parser.parse_args()
    need("numpy", "tensorflow")
    import numpy as np
    import tensorflow as tf

    tf1 = tf.compat.v1
    tf1.disable_eager_execution()
    tf1.enable_control_flow_v2()
    rng = np.random.RandomState(1)
    draw = lambda *shape: np.float32(rng.uniform(-0.1, 0.1, shape))
    x = tf1.placeholder_with_default(draw(o.steps, o.batch, o.units), [o.steps, o.batch, o.units], name="x_0")
    shapes = [(o.units, 4 * o.units), (o.units, 4 * o.units), (4 * o.units,)]
    kernel, recurrent, bias = variables = [
        tf1.get_variable(f"x_{i + 1}", initializer=draw(*s), use_resource=True) for i, s in enumerate(shapes)
    ]
    rows = tf.TensorArray(tf.float32, size=o.steps).unstack(x)

    def step(t, h, c, out):
        z = tf.matmul(rows.read(t), kernel) + tf.matmul(h, recurrent) + bias
        i, f, g, q = tf.split(z, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(q) * tf.tanh(c)
        return t + 1, h, c, out.write(t, h)

    zero = tf.zeros([o.batch, o.units])
    out = tf.while_loop(
        lambda t, *_: t < o.steps,
        step,
        [0, zero, zero, tf.TensorArray(tf.float32, size=o.steps, element_shape=[o.batch, o.units])],
        maximum_iterations=o.steps,
    )[3]
    y = tf.reduce_sum(tf.square(out.stack()), name="y_0")
    tf1.global_variables_initializer()
    path = os.path.join(tempfile.gettempdir(), f"loop_gradient.{os.getpid()}.pb")
    with open(path, "wb") as f:
        f.write(tf1.get_default_graph().as_graph_def().SerializeToString())
    grads = tf1.gradients(y, [x] + [v.handle for v in variables])
    session = tf1.Session()
    session.run("init")
    other = subprocess.Popen(
        [sys.executable, __file__, "--child", o.library, path, "4"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    sums = [float(s) for s in other.stdout.readline().split()]
    want = [float(g.sum(dtype=np.float64)) for g in session.run(grads)]
    print("sums of the gradients differ by", max(abs(a - b) / max(1e-3, abs(b)) for a, b in zip(sums, want)))
    ours, theirs = {"back": [], "forth": []}, {"back": [], "forth": []}
    back, forth = session.make_callable(grads), session.make_callable(y)
    for _ in range(o.rounds):
        for what, run in (("forth", forth), ("back", back)):
            other.stdin.write(what + "\n")
            other.stdin.flush()
            ours[what].append(float(other.stdout.readline()))
            theirs[what].append(time_of(run))
    os.remove(path)
    for what, text in (("forth", "the loop"), ("back", "with its gradient")):
        a, b = statistics.median(ours[what]), statistics.median(theirs[what])
        print(f"{text}: {1000 * a:.2f} ms, TensorFlow {1000 * b:.2f} ms, ratio {b / a:.2f}")
    other.stdin.close()


main()
