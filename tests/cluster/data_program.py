"""What clients of a tf.data service with two workers do: data_program.py DISPATCHER_ADDRESS FOLDER. Prints what does not depend on who is faster."""

import os
import sys
import threading

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

address, folder = sys.argv[1:3]
service = tf.data.experimental.service
Dataset, Policy = tf.data.Dataset, service.ShardingPolicy
target = "grpc://" + address


def through(dataset, policy, **options):
    return dataset.apply(service.distribute(policy, target, **options))


def show(label, dataset):
    def plain(x):
        return tuple(plain(y) for y in x) if isinstance(x, tuple) else x.tolist() if hasattr(x, "tolist") else x

    print(label, sorted(plain(x) for x in dataset.as_numpy_iterator()), flush=True)


def attempt(label, action):
    try:
        print(label, action(), flush=True)
    except Exception as e:  # noqa: BLE001
        text = getattr(e, "message", str(e)).split("}} ")[-1].split(" [Op:")[0].split("\n")[0]
        print(
            label,
            type(e).__name__,
            text.split("localhost:")[0].split(" with id ")[0].split("goo.gle")[0].strip(),
            flush=True,
        )


numbers = Dataset.range(10)
show("off", through(numbers, Policy.OFF))
show("dynamic", through(numbers, Policy.DYNAMIC))
show("parallel_epochs", through(numbers, "parallel_epochs"))
show("distributed_epoch", through(numbers, "distributed_epoch"))
show("data", through(numbers, Policy.DATA))
show("hint", through(numbers.shard(tf.data.experimental.SHARD_HINT, tf.data.experimental.SHARD_HINT), Policy.HINT))
show("no hint", through(numbers, Policy.HINT))
show("file or data", through(numbers, Policy.FILE_OR_DATA))
files = [os.path.join(folder, f"lines_{i}.txt") for i in range(4)]
for i, name in enumerate(files):
    with open(name, "w") as f:
        f.writelines(f"line {j} of {i}\n" for j in range(3))
show("file", through(tf.data.TextLineDataset(files), Policy.FILE))
show(
    "file, shuffled",
    through(Dataset.from_tensor_slices(files).shuffle(10).interleave(tf.data.TextLineDataset), Policy.FILE),
)
show("file, dynamic", through(tf.data.TextLineDataset(files), Policy.DYNAMIC))
attempt("too few files", lambda: list(through(tf.data.TextLineDataset(files[:1]), Policy.FILE)))

# What travels: functions, types, structures.
show("map, filter", through(numbers.map(lambda x: x * x).filter(lambda x: x % 3 == 0), Policy.DYNAMIC))
show("batch", through(numbers.batch(3).map(tf.reduce_sum), Policy.OFF))
show("shuffle, repeat", through(numbers.shuffle(5).repeat(3), Policy.DYNAMIC))
show("flat_map", through(Dataset.range(4).flat_map(lambda x: Dataset.range(x)), Policy.DYNAMIC))
show("zip", through(Dataset.zip((numbers, numbers)), Policy.OFF))
show("concatenate", through(numbers.concatenate(Dataset.range(100, 104)), Policy.DYNAMIC))
show("strings", through(Dataset.from_tensor_slices(["a", "", "long" * 100]), Policy.OFF))
show("floats", through(Dataset.from_tensor_slices([0.5, -1.25]).map(tf.sqrt).map(tf.math.is_nan), Policy.OFF))
show("not compressed", through(numbers, Policy.DYNAMIC, compression=None))
show("forced", through(numbers, Policy.DYNAMIC, compression="SNAPPY"))
show(
    "structure",
    through(
        Dataset.from_tensor_slices(([1, 2], ["x", "y"])).map(lambda a, b: (a, (b, tf.shape(b)))), Policy.DYNAMIC
    ).map(lambda a, b: (a, b[0])),
)
for row in through(Dataset.from_tensors({"a": tf.zeros([2, 0]), "b": tf.range(300000)}), Policy.OFF).take(1):
    print("dictionary", row["a"].shape, int(tf.reduce_sum(row["b"])), row["b"].dtype)
table = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(tf.range(3, dtype=tf.int64), tf.constant(["x", "y", "z"])), "?"
)
show("table", through(Dataset.range(4).map(table.lookup), Policy.DYNAMIC))
variable = tf.Variable(7, dtype=tf.int64)
show("variable", through(Dataset.range(3).map(lambda x: x + variable), Policy.DYNAMIC))

# Jobs.
show("named", through(numbers, Policy.DYNAMIC, job_name="one"))
shared, got = through(Dataset.range(200), Policy.DYNAMIC, job_name="shared"), [[], []]
other = through(Dataset.range(200), Policy.DYNAMIC, job_name="shared")
threads = [
    threading.Thread(target=lambda d=d, out=out: out.extend(int(x) for x in d)) for d, out in zip((shared, other), got)
]
[t.start() for t in threads]
[t.join() for t in threads]
print("shared", sorted(got[0] + got[1]) == list(range(200)))
show("second epoch", shared)
attempt("other mode", lambda: list(through(numbers, Policy.OFF, job_name="one")))
show("outstanding", through(numbers, Policy.DYNAMIC, max_outstanding_requests=1))
show("any", through(numbers, Policy.DYNAMIC, target_workers="ANY"))
print("left early", len(list(through(numbers.repeat(), Policy.OFF).take(25))))
identifier = service.register_dataset(target, numbers, dataset_id="numbers")
known = service.from_dataset_id(Policy.DYNAMIC, target, identifier, job_name="known")
print("registered", identifier.numpy(), known.element_spec)
show("from_dataset_id", known)
attempt(
    "unknown id",
    lambda: list(service.from_dataset_id(Policy.OFF, target, "nobody", element_spec=tf.TensorSpec([], tf.int64))),
)
attempt("other structure", lambda: service.register_dataset(target, Dataset.range(3), dataset_id="numbers"))
print("cardinality", [int(through(d, Policy.OFF).cardinality()) for d in (numbers, numbers.repeat(), Dataset.range(0))])


# Coordinated reads: in a round both consumers have elements of one worker, so of one size.
def bucket(i):
    return through(
        Dataset.range(1000).repeat().map(lambda x: tf.fill([x // 2 % 5 + 1], x)),
        Policy.OFF, job_name="rounds", consumer_index=i, num_consumers=2, max_outstanding_requests=4,
    ).take(40)  # fmt: skip


sizes = [[], []]
threads = [threading.Thread(target=lambda i=i: sizes[i].extend(int(tf.size(x)) for x in bucket(i))) for i in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
print("rounds", sizes[0] == sizes[1], len(sizes[0]))
attempt(
    "finite rounds", lambda: list(through(numbers, Policy.OFF, job_name="finite", consumer_index=0, num_consumers=1))
)
first, second = [
    [
        int(x)
        for x in through(
            numbers.repeat(),
            Policy.OFF,
            job_name="trainers",
            max_outstanding_requests=1,
            cross_trainer_cache=service.CrossTrainerCache(t),
        ).take(8)
    ]
    for t in "ab"
]
print("trainers", [sorted(x) == sorted(x) and len(x) for x in (first, second)], set(first) <= set(range(10)))

# Errors of workers.
bad = Dataset.range(4).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "here"))
attempt("error", lambda: list(through(bad, Policy.OFF)))
attempt("no protocol", lambda: list(through(numbers, Policy.OFF, data_transfer_protocol="smoke")))
print("last", len(list(through(Dataset.range(1000).map(lambda x: tf.fill([1000], x)), Policy.DYNAMIC))))
