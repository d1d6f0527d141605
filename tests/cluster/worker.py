"""One task of a cluster, on TensorFlow or (by `python -m weft`) on weft: worker.py CLUSTER_JSON JOB TASK. Says READY, then serves until it is killed."""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
server = tf.distribute.Server(cluster, job_name=job, task_index=task, protocol="grpc")
print("READY", flush=True)
server.join()
