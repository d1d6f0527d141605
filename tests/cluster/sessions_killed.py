"""A client whose second worker dies in mid step: sessions_killed.py CLUSTER_JSON."""

import json
import os
import sys
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tasks import ask  # noqa: E402

v1 = tf.compat.v1
v1.disable_eager_execution()
master = "grpc://" + json.loads(sys.argv[1])["worker"][0]
with tf.device("/job:worker/task:0"):
    near = tf.constant(1.0) + 2.0
with tf.device("/job:worker/task:1"):
    x = v1.placeholder(tf.float32, [])
    far = x + 1.0
    waits = v1.FIFOQueue(1, tf.float32, shared_name="empty").dequeue()
with tf.device("/job:worker/task:0"):
    reads = waits + 1.0

s = v1.Session(master)
print("before", s.run(far, {x: 1.0}), flush=True)
threading.Timer(1.0, ask, ("kill", "worker", 1)).start()  # the step waits by then
begin = time.time()
try:
    s.run(reads)
    print("no error")
except tf.errors.OpError as e:
    print(
        type(e).__name__,
        "/job:worker/replica:0/task:1" in str(e),
        "soon" if time.time() - begin < 11 else "late",
        flush=True,
    )
print("near", s.run(near), flush=True)  # the master goes on
ask("start", "worker", 1)
for _ in range(100):  # the master finds the way to it again
    try:
        s.run(far, {x: 1.0})
        print("no error")
        break
    except tf.errors.UnavailableError:
        time.sleep(0.1)
    except tf.errors.OpError as e:
        print("again", type(e).__name__, flush=True)  # it knows nothing of the session
        break
s.close()
with v1.Session(master) as s:
    print("new session", s.run(far, {x: 1.0}))
print("end", flush=True)
