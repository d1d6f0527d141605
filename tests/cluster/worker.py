"""One task of a cluster, on TensorFlow or (by `python -m weft`) on weft: worker.py CLUSTER_JSON JOB TASK. Says READY, then serves until it is killed."""

import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

cluster, job, task = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
config = tf.compat.v1.ConfigProto()
if "worker" in cluster:
    config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"  # of sessions' collectives
server = tf.distribute.Server(cluster, job_name=job, task_index=task, protocol="grpc", config=config)
print("READY", flush=True)
server.join()
