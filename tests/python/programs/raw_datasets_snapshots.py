"""Snapshots and saved datasets by the ops' own names, windows that slide, datasets that are rewritten."""
import os
import tempfile

import tensorflow as tf

raw = tf.raw_ops
folder = tempfile.mkdtemp()
SCALAR = {"output_types": [tf.int64], "output_shapes": [[]]}
one, two, three = (tf.constant(v, tf.int64) for v in (1, 2, 3))


def count(n):
    return raw.RangeDataset(start=tf.constant(0, tf.int64), stop=tf.constant(n, tf.int64), step=one, **SCALAR)


def elements(variant, *specs):
    kind = {"output_types": [s.dtype for s in specs], "output_shapes": [s.shape for s in specs]}
    iterator = raw.AnonymousIteratorV3(**kind)
    raw.MakeIterator(dataset=variant, iterator=iterator)
    values = []
    while raw.OptionalHasValue(optional=(value := raw.IteratorGetNextAsOptional(iterator=iterator, **kind))):
        values.append([p.numpy() if p.dtype in (tf.string, tf.variant) else p.numpy().tolist() for p in raw.OptionalGetValue(optional=value, **kind)])
    return values


def show(label, make, *specs):
    try:
        print(label, elements(make(), *(specs or [tf.TensorSpec([], tf.int64)])))
    except (tf.errors.OpError, ValueError, TypeError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0].split("}} ")[-1].split(" [Op:")[0].replace(folder, "F"))


def under(name):
    return os.path.join(folder, name)


for compression in ("", "GZIP"):
    first = lambda n: raw.SnapshotDataset(input_dataset=count(n), path=under("first" + compression), compression=compression, snapshot_name="s", **SCALAR)
    show("SnapshotDataset writes " + compression, lambda: first(5))
    show("SnapshotDataset reads " + compression, lambda: first(5))
show("SnapshotDataset passes", lambda: raw.SnapshotDataset(input_dataset=count(3), path=under("p"), mode="passthrough", **SCALAR))
show("SnapshotDataset bad mode", lambda: raw.SnapshotDataset(input_dataset=count(3), path=under("p"), mode="sideways", **SCALAR))
show("SnapshotDataset bad compression", lambda: raw.SnapshotDataset(input_dataset=count(3), path=under("p"), compression="LZ", **SCALAR))

shard = tf.function(lambda x: tf.constant(0, tf.int64), input_signature=[tf.TensorSpec([], tf.int64)]).get_concrete_function()
raw.SaveDataset(input_dataset=count(4), path=under("saved"), shard_func_other_args=[], compression="", shard_func=shard, use_shard_func=False)
saved = sorted(os.listdir(under("saved")))
print("SaveDataset", len(saved), [n for n in saved if not n.isdigit()])
print([v.numpy().tolist() for v in tf.data.Dataset.load(under("saved"), tf.TensorSpec([], tf.int64))])
runs = [n for n in saved if n.isdigit()]
inside = [os.path.join(under("saved"), n) for n in runs]
shards = [os.path.join(i, s) for i in inside for s in sorted(os.listdir(i))]
print(len(runs), [os.path.basename(s) for s in shards], [sorted(os.listdir(s)) for s in shards])

def single(label, make):
    """TensorFlow cannot write these as graphs, which an iterator asks for."""
    try:
        print(label, [v.numpy().tolist() for v in raw.DatasetToSingleElement(dataset=make(), **SCALAR)])
    except tf.errors.OpError as e:
        print(label, type(e).__name__, e.message.split("\n")[0].split("}} ")[-1].split(" [Op:")[0].replace(folder, "F"))


raw.SaveDataset(input_dataset=count(1), path=under("one"), shard_func_other_args=[], compression="", shard_func=shard, use_shard_func=False)
run = next(n for n in os.listdir(under("one")) if n.isdigit())
reader = lambda of, version=2: raw.SnapshotDatasetReader(shard_dir=of, start_index=one * 0, compression="", version=version, **SCALAR)
single("SnapshotDatasetReader", lambda: reader(os.path.join(under("one"), run, "00000000.shard")))
single("SnapshotDatasetReader of four", lambda: reader(shards[0]))
nested = raw.SnapshotNestedDatasetReader(inputs=[reader(shards[0]), count(2)], output_types=[tf.int64], output_shapes=[[]])
print("SnapshotNestedDatasetReader", nested.shape, nested.dtype.name)

for name, values in (("a", [7]), ("b", [7, 8]), ("c", [])):
    with tf.io.TFRecordWriter(under(name)) as w:
        for v in values:
            w.write(tf.io.serialize_tensor(tf.constant(v, tf.int64)).numpy())
    single("SnapshotChunkDataset", lambda: raw.SnapshotChunkDataset(chunk_file=under(name), compression="", **SCALAR))

sliding = lambda size, shift, stride, **more: raw.SlidingWindowDataset(
    input_dataset=count(7), window_size=tf.constant(size, tf.int64), window_shift=tf.constant(shift, tf.int64), window_stride=tf.constant(stride, tf.int64),
    output_types=[tf.int64], output_shapes=[[None]], **more)
rows = tf.TensorSpec([None], tf.int64)
for arguments in ((3, 1, 1), (3, 2, 1), (2, 1, 3), (3, 4, 2), (9, 1, 1)):
    show("SlidingWindowDataset" + str(arguments), lambda: sliding(*arguments), rows)
show("SlidingWindowDataset with the rest", lambda: sliding(3, 3, 1, drop_remainder=False), rows)
for arguments in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
    show("SlidingWindowDataset" + str(arguments), lambda: sliding(*arguments), rows)
show("RewriteDataset", lambda: raw.RewriteDataset(input_dataset=count(3), rewrite_name="replicate_on_split", **SCALAR))
show("RewriteDataset by another name", lambda: raw.RewriteDataset(input_dataset=count(3), rewrite_name="nothing", **SCALAR))
