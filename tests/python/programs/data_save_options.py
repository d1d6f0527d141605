"""Datasets in files: compression, shards, readers, checkpoints while they are written, snapshots, errors."""
import os
import tempfile
import tensorflow as tf

Dataset = tf.data.Dataset
folder = tempfile.mkdtemp()


def path(name):
    return os.path.join(folder, name)


def layout(name):
    """The files without the number of the run."""
    out = []
    for where, _, files in os.walk(path(name)):
        parts = [p for p in os.path.relpath(where, path(name)).split(os.sep) if not p.isdigit() and p != "."]
        out += ["/".join([*parts, f]) for f in files]
    return sorted(out)


rows = Dataset.from_tensor_slices({"n": tf.range(6), "t": ["a", "bb", "", "dddd", "e", "f"]})
for compression in (None, "GZIP", "SNAPPY"):
    name = f"rows_{compression}"
    rows.save(path(name), compression=compression)
    loaded = Dataset.load(path(name), compression=compression)
    print(compression, layout(name), loaded.cardinality().numpy(), sorted(loaded.element_spec))
    print([(r["n"], r["t"]) for r in loaded.as_numpy_iterator()])

rows.save(path("sharded"), shard_func=lambda row: tf.cast(row["n"] % 3, tf.int64))
print(layout("sharded"))
read = Dataset.load(path("sharded"), reader_func=lambda shards: shards.flat_map(lambda shard: shard))
print([r["n"] for r in read.as_numpy_iterator()])
read = Dataset.load(path("sharded"), reader_func=lambda shards: shards.flat_map(lambda shard: shard.take(1)))
print([r["n"] for r in read.as_numpy_iterator()])

big = Dataset.from_tensors(tf.random.stateless_uniform([200, 200], seed=[1, 2]))
big.save(path("big"), compression="SNAPPY")
print(all(tf.reduce_all(a == b).numpy() for a, b in zip(big, Dataset.load(path("big"), compression="SNAPPY"))))

sparse = Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]]))
sparse.save(path("sparse"))
print([(s.indices.numpy().tolist(), s.values.numpy().tolist()) for s in Dataset.load(path("sparse"))])

Dataset.range(3).save(path("again"))
Dataset.range(5).map(lambda x: x * 10).save(path("again"))
print(list(Dataset.load(path("again")).as_numpy_iterator()))
Dataset.range(0).save(path("empty"))
print(list(Dataset.load(path("empty"))), Dataset.load(path("empty")).cardinality().numpy())

steps = tf.Variable(0, dtype=tf.int64)
arguments = dict(directory=path("checkpoints"), max_to_keep=2, checkpoint_interval=2, step_counter=steps)
Dataset.range(7).save(path("with_checkpoints"), checkpoint_args=dict(arguments))
print(steps.numpy(), len(tf.train.get_checkpoint_state(path("checkpoints")).all_model_checkpoint_paths))

calls = tf.Variable(0)


def counted(x):
    calls.assign_add(1)
    return x * x


squares = Dataset.range(5).map(counted).snapshot(path("snapshot"))
print(list(squares.as_numpy_iterator()), calls.numpy())
print(list(squares.as_numpy_iterator()), calls.numpy())
print(list(squares.take(2).as_numpy_iterator()), squares.cardinality().numpy())
kept = Dataset.range(6).snapshot(
    path("kept"),
    compression="GZIP",
    shard_func=lambda x: x % 2,
    reader_func=lambda shards: shards.flat_map(lambda x: x),
)
print(list(kept.as_numpy_iterator()), list(kept.as_numpy_iterator()))
print(list(Dataset.range(3).apply(tf.data.experimental.snapshot(path("apply"))).as_numpy_iterator()))
tf.data.experimental.save(Dataset.range(2), path("former"))
print(list(tf.data.experimental.load(path("former")).as_numpy_iterator()))


def attempt(what, action):
    try:
        print(what, action())
    except Exception as e:
        print(what, type(e).__name__, str(e).replace(folder, "FOLDER").split("}} ")[-1].split(" [Op:")[0])


spec = tf.TensorSpec([], tf.int64)
attempt("no spec", lambda: Dataset.load(path("nothing")))
attempt("no metadata", lambda: Dataset.load(path("nothing"), element_spec=spec))
attempt("type", lambda: list(Dataset.load(path("again"), element_spec=tf.TensorSpec([], tf.string))))
attempt("shape", lambda: list(Dataset.load(path("again"), element_spec=tf.TensorSpec([2], tf.int64))))
attempt("plain as gzip", lambda: list(Dataset.load(path("again"), compression="GZIP")))
attempt("gzip as plain", lambda: list(Dataset.load(path("rows_GZIP"))))
attempt("shard", lambda: Dataset.range(2).save(path("bad"), shard_func=lambda x: tf.constant("a")))
attempt("snapshot shard", lambda: Dataset.range(2).snapshot(path("bad2"), shard_func=lambda x: tf.constant("a")))
attempt("snapshot shard type", lambda: list(Dataset.range(2).snapshot(path("bad3"), shard_func=lambda x: 1)))
attempt("reader", lambda: list(Dataset.load(path("again"), reader_func=lambda shards: shards)))
