"""Writes datasets/: what Dataset.save and Dataset.snapshot of TensorFlow leave on the disk.

TENSORFLOW_PYTHON make_datasets.py"""

import os
import pathlib
import shutil
import tempfile
import time

import tensorflow as tf

FOLDER = pathlib.Path(__file__).parent / "datasets"
shutil.rmtree(FOLDER, ignore_errors=True)
Dataset = tf.data.Dataset
rows = Dataset.from_tensor_slices(
    {"n": tf.range(4), "t": ["a", "bb", "", "dddd"], "x": tf.reshape(tf.range(8.0), [4, 2])}
)
for compression in ("", "GZIP", "SNAPPY"):
    rows.save(str(FOLDER / f"rows{compression}"), compression=compression)
rows.save(str(FOLDER / "shards"), shard_func=lambda row: tf.cast(row["n"] % 2, tf.int64))
Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], [], [3]])).save(str(FOLDER / "ragged"))
Dataset.from_tensor_slices(tf.ragged.constant([[[1, 2], []], [[3]]])).save(str(FOLDER / "nested_ragged"))
Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0], [0, 0]])).save(str(FOLDER / "sparse"))
# One block of more than 256 KiB, which TensorFlow itself does not read.
Dataset.from_tensors(tf.ones([300, 300])).save(str(FOLDER / "large"), compression="SNAPPY")
# Chunks, cut where checkpoints were written; TensorFlow itself stumbles over the end of the first.
checkpoints = dict(directory=tempfile.mkdtemp(), max_to_keep=1, checkpoint_interval=2, step_counter=tf.Variable(0))
Dataset.range(5).save(str(FOLDER / "chunks"), checkpoint_args=checkpoints)
(FOLDER / "chunks" / "dataset_spec.pb").exists() or print("chunks has no spec")
list(Dataset.range(4).snapshot(str(FOLDER / "snapshot"), shard_func=lambda x: x % 2))
# The first form of snapshots, by the op alone.
pairs = Dataset.from_tensor_slices((tf.range(3), ["a", "bb", ""]))
for compression in ("", "GZIP", "SNAPPY"):
    variant = tf.raw_ops.SnapshotDataset(
        input_dataset=tf.data.experimental.to_variant(pairs),
        path=str(FOLDER / "first"),
        compression=compression,
        snapshot_name="x" + compression,
        output_types=[tf.int32, tf.string],
        output_shapes=[[], []],
    )
    list(tf.data.experimental.from_variant(variant, pairs.element_spec))
for graph in (FOLDER / "first").glob("*.pbtxt"):
    graph.unlink()
# What workers of a service wrote: the chunks, without what only matters while they are written.
service = tf.data.experimental.service
dispatcher = service.DispatchServer(service.DispatcherConfig(work_dir=tempfile.mkdtemp(), fault_tolerant_mode=True))
worker = service.WorkerServer(service.WorkerConfig(dispatcher_address=dispatcher.target.split("://")[1]))
tf.data.experimental.distributed_save(Dataset.range(5), str(FOLDER / "distributed"), dispatcher.target.split("://")[1])
while not (FOLDER / "distributed" / "DONE").exists():
    time.sleep(0.1)
shutil.rmtree(FOLDER / "distributed" / "streams")
(FOLDER / "distributed" / "dataset_def.proto").unlink()
for where, _, files in os.walk(FOLDER):
    print(os.path.relpath(where, FOLDER), files)
