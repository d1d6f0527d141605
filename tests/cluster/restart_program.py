"""A worker that trains twelve steps with checkpoints, and may come to harm: restart_program.py FOLDER, with TF_CONFIG. HARM="kill 5": worker 1
is killed in step 5; "term 5": it is told to end then. Ends with code 42 after a checkpoint for that, with 3 when another worker was lost."""

import json
import os
import signal
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

tf.get_logger().setLevel("FATAL")
folder = os.path.join(sys.argv[1], "checkpoints")
index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
harm, at = (os.environ.get("HARM") or "none 0").split()
strategy = tf.distribute.MultiWorkerMirroredStrategy()
x = np.random.RandomState(1).uniform(-1, 1, [96, 3]).astype(np.float32)
y = x @ np.float32([1, -2, 0.5])
with strategy.scope():
    w = tf.Variable([0.1, 0.2, 0.3])
    done = tf.Variable(0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
checkpoint = tf.train.Checkpoint(w=w, done=done)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(strategy.cluster_resolver, checkpoint, folder)
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)


@tf.function
def step(x, y):
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((tf.linalg.matvec(x, w) - y) ** 2) / 8.0
        (g,) = tf.distribute.get_replica_context().all_reduce("SUM", [tape.gradient(loss, w)])
        w.assign_sub(0.2 * g)
        done.assign_add(1)

    strategy.run(replica, args=(x, y))


try:
    first = int(done.numpy())
    for i in range(first, 12):
        if harm != "none" and index == 1 and i == int(at):
            os.kill(os.getpid(), signal.SIGKILL if harm == "kill" else signal.SIGTERM)
        rows = slice(8 * i + 4 * index, 8 * i + 4 * index + 4)
        handler.run(step, tf.constant(x[rows]), tf.constant(y[rows]))
        if harm == "kill" and i % 2 == 1 and strategy.extended.should_checkpoint:
            manager.save()
except tf.errors.OpError as e:
    print("lost", type(e).__name__, flush=True)
    os._exit(3)
print(np.round(w.numpy().astype(np.float64), 5).tolist(), int(done.numpy()), "from", first, flush=True)
strategy.reduce("SUM", tf.constant(0.0), axis=None)  # nobody leaves before all are here
