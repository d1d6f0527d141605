"""A client of a tf.data service whose servers are killed and started again meanwhile: data_faults.py DISPATCHER_ADDRESS FOLDER."""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402
from tasks import ask  # noqa: E402

address, folder = sys.argv[1:3]
service = tf.data.experimental.service
Dataset, target = tf.data.Dataset, "grpc://" + address


def read(mode, count, first, what):
    """Elements of a dataset; after the first ones there is a pause."""
    walk = iter(Dataset.range(count).apply(service.distribute(mode, target, max_outstanding_requests=1, job_name=what)))
    got = [int(next(walk)) for _ in range(first)]
    time.sleep(1)  # nothing is on its way any more
    ask("restart", what, 0)
    return got + [int(x) for x in walk]


# A worker that was killed begins its part again: every element comes from both.
got = read("parallel_epochs", 30, 5, "worker")
print("worker", sorted(set(got)) == list(range(30)), all(got.count(x) >= 2 for x in range(30)), flush=True)
# The journal knows which splits are given.
got = read("distributed_epoch", 40, 5, "dispatcher")
print("dispatcher", sorted(got) == list(range(40)), flush=True)
print("afterwards", sorted(int(x) for x in Dataset.range(7).apply(service.distribute("distributed_epoch", target))))
known = service.register_dataset(target, Dataset.range(3), dataset_id="kept")
ask("restart", "dispatcher", 0)
print("kept", sorted(int(x) for x in service.from_dataset_id("distributed_epoch", target, "kept")))
path = os.path.join(folder, "saved")
tf.data.experimental.distributed_save(Dataset.range(50).map(lambda x: (x, tf.as_string(x))), path, address)
print(
    "saved",
    sorted((int(a), b.numpy().decode()) for a, b in Dataset.load(path, wait=True)) == [(i, str(i)) for i in range(50)],
)
try:
    tf.data.experimental.distributed_save(Dataset.range(5), path, address)
except tf.errors.AlreadyExistsError:
    print("saved once")
