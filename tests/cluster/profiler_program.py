"""A process whose profile others ask for, and one that asks, on TensorFlow or (by `python -m weft`) on weft.

profiler_program.py serve PORT [idle]            says READY, then multiplies matrices, or does nothing, until it is killed
profiler_program.py ask BUSY IDLE NOBODY FOLDER  ports
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

profiler = tf.profiler.experimental


def serve(port, idle=""):
    tf.matmul(tf.ones([8, 8]), tf.ones([8, 8]))
    profiler.server.start(int(port))
    print("READY", flush=True)
    while True:
        if not idle:
            tf.matmul(tf.ones([8, 8]), tf.ones([8, 8]))
        time.sleep(0.01)


def ask(busy, idle, nobody, folder):
    names = {busy: "BUSY", idle: "IDLE", nobody: "NOBODY"}

    def attempt(what, f):
        try:
            print(what, repr(f()), flush=True)
        except (RuntimeError, tf.errors.OpError) as e:
            print(what, type(e).__name__, str(e).split(": failed to connect")[0].split("; last error")[0], flush=True)

    def trace(what, *addresses, **more):
        logdir = pathlib.Path(folder, what)
        attempt(what, lambda: profiler.client.trace(",".join(addresses), str(logdir), 200, **more))
        found = {p.name.partition(".")[0]: p.read_bytes() for p in logdir.glob("plugins/profile/*/*.xplane.pb")}
        for port, name in names.items():
            if f"localhost_{port}" in found:
                print(" ", name, b"MatMul" in found.pop(f"localhost_{port}"))
        print("  others", list(found))

    trace("busy", f"grpc://localhost:{busy}")
    trace("both", f"localhost:{idle}", f"grpc://localhost:{busy}", num_tracing_attempts=1)
    trace("options", f"localhost:{busy}", options=profiler.ProfilerOptions(host_tracer_level=2, delay_ms=10))
    trace("idle", f"grpc://localhost:{idle}", num_tracing_attempts=2)
    trace("nobody", f"grpc://localhost:{nobody}", num_tracing_attempts=1)
    trace("no address", "")
    trace("no port", f"localhost:{busy}", "somewhere")
    attempt("monitor", lambda: profiler.client.monitor(f"grpc://localhost:{busy}", 100))
    attempt("monitor no port", lambda: profiler.client.monitor("somewhere", 100))
    attempt("no time", lambda: profiler.client.trace(f"grpc://localhost:{busy}", folder, 0))
    attempt("a port that is taken", lambda: profiler.server.start(int(busy)))
    print("end")


{"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
