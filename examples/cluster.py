"""One program for all tasks of a cluster: workers serve, the chief uses their devices.

weft launch -n 2 --chief python examples/cluster.py     all tasks on this machine
python examples/cluster.py cluster.json                 a client of workers that run already (`weft server`)
"""

import json
import os
import sys

import weft as tf

config = json.loads(os.environ.get("TF_CONFIG") or "{}")
task = config.get("task", {})
if task.get("type") == "worker":
    tf.distribute.Server(config["cluster"], job_name="worker", task_index=task["index"]).join()

if sys.argv[1:]:
    with open(sys.argv[1]) as f:
        config = {"cluster": json.load(f)}
workers = config["cluster"]["worker"]
tf.config.experimental_connect_to_cluster(tf.train.ClusterSpec({"worker": workers}))

STEPS = 1_000_000


@tf.function
def part(begin, end):
    """The area below 4 / (1 + x^2) from begin to end."""
    width = (end - begin) / STEPS
    x = begin + width * (tf.range(STEPS, dtype=tf.float64) + 0.5)
    return tf.reduce_sum(4.0 / (1.0 + x * x)) * width


parts = []
for i in range(len(workers)):  # all are on their way before the first is waited for
    with tf.device(f"/job:worker/task:{i}"):
        parts.append(part(tf.constant(i / len(workers), tf.float64), tf.constant((i + 1) / len(workers), tf.float64)))
print(f"pi = {float(tf.add_n(parts)):.9f}, from {', '.join(p.device for p in parts)}")
