"""Ops behind version 1's linear learners: SDCA, k-means, vocabularies and matrices put in another order; wrong calls."""
import os
import tempfile

import numpy as np

import tensorflow as tf

raw, tf1 = tf.raw_ops, tf.compat.v1
folder = tempfile.mkdtemp()


def show(label, code):
    try:
        got = code()
        print(label, [t.numpy().tolist() for t in tf.nest.flatten(got)])
    except tf.errors.OpError as e:
        text = e.message.split("}} ")[-1].split(" [Op:")[0].replace(folder, "F")
        print(label, type(e).__name__, text)


def path(name, *lines):
    where = os.path.join(folder, name)
    if lines:
        with open(where, "w") as f:
            f.write("\n".join(lines) + "\n")
    return where


old, new = path("old", "cat", "dog", "bird", "fish"), path("new", "dog", "horse", "fish", "cat")
show("all", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=0, num_new_vocab=4))
show("part", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=1, num_new_vocab=2))
show("old part", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=0, num_new_vocab=4, old_vocab_size=2))
show("none", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=4, num_new_vocab=0))
show("too many", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=3, num_new_vocab=2))
show("no name", lambda: raw.GenerateVocabRemapping(new_vocab_file="", old_vocab_file=old, new_vocab_offset=0, num_new_vocab=1))
show("names", lambda: raw.GenerateVocabRemapping(new_vocab_file=[new], old_vocab_file=old, new_vocab_offset=0, num_new_vocab=1))
show("missing", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=path("nothing"), new_vocab_offset=0, num_new_vocab=1))
show("too few", lambda: raw.GenerateVocabRemapping(new_vocab_file=new, old_vocab_file=old, new_vocab_offset=0, num_new_vocab=1, old_vocab_size=9))

prefix = path("ckpt")
raw.SaveV2(
    prefix=prefix,
    tensor_names=["m", "ints", "vector"],
    shape_and_slices=["", "", ""],
    tensors=[tf.reshape(tf.range(12.0), [4, 3]), tf.constant([[1]]), tf.constant([1.0])],
)


def load(rows, cols, fill, num_rows=None, num_cols=3, name="m", where=prefix, most=-1):
    return raw.LoadAndRemapMatrix(
        ckpt_path=where, old_tensor_name=name, row_remapping=tf.constant(rows, tf.int64), col_remapping=tf.constant(cols, tf.int64),
        initializing_values=tf.constant(fill, tf.float32), num_rows=len(rows) if num_rows is None else num_rows, num_cols=num_cols,
        max_rows_in_memory=most,
    )  # fmt: skip


show("rows", lambda: load([2, -1, 0], [], [-1, -2, -3]))
show("in parts", lambda: load([3, 1, 0], [], [], most=1))
show("columns", lambda: load([1, 3], [2, -1, 0, 1], [50, 60], num_cols=4))
show("nothing", lambda: load([-1, -1], [], [1, 2, 3, 4, 5, 6]))
show("more to fill", lambda: load([0, -1], [], [1]))
show("less to fill", lambda: load([0, 1], [], [1]))
show("twice", lambda: load([1, 1], [], []))
show("rows", lambda: load([0], [], [], num_rows=2))
show("columns", lambda: load([0], [1, 2], [], num_cols=3))
show("width", lambda: load([0], [], [], num_cols=2))
show("type", lambda: load([0], [], [], num_cols=1, name="ints"))
show("rank", lambda: load([0], [], [], num_cols=1, name="vector"))
show("name", lambda: load([0], [], [], name="other"))

i64 = lambda v: tf.constant(v, tf.int64)
points = tf.constant([[0.0, 0.0], [10.0, 0.0], [0.0, 20.0]])
show("kmeans", lambda: raw.KmeansPlusPlusInitialization(points=points, num_to_sample=i64(3), seed=i64(1), num_retries_per_sample=i64(0)))
for args in ((points[0], i64(1), i64(1), i64(0)), (points, i64([1]), i64(1), i64(0)), (points, i64(0), i64(1), i64(0)), (points, i64(4), i64(1), i64(0)),
             (points[:0], i64(1), i64(1), i64(0)), (points, i64(1), i64([1]), i64(0)), (points, i64(1), i64(1), i64([0]))):  # fmt: skip
    show("kmeans", lambda: raw.KmeansPlusPlusInitialization(points=args[0], num_to_sample=args[1], seed=args[2], num_retries_per_sample=args[3]))
show("chain", lambda: raw.KMC2ChainInitialization(distances=[1.0, 5.0, 0.0], seed=i64(3)))
show("chain", lambda: raw.KMC2ChainInitialization(distances=points, seed=i64(3)))
show("chain", lambda: raw.KMC2ChainInitialization(distances=tf.zeros([0]), seed=i64(3)))
show("chain", lambda: raw.KMC2ChainInitialization(distances=[1.0], seed=i64([3])))
show("fingerprint", lambda: raw.SdcaFprint(input="a"))


def sdca(loss="squared_loss", examples=([0, 1],), features=([3, 4],), weights=(1.0, 1.0), labels=(1.0, 0.0), indices=([3, 4],), state=((0,) * 4,) * 2, dense=()):
    return raw.SdcaOptimizerV2(
        sparse_example_indices=[i64(e) for e in examples], sparse_feature_indices=[i64(f) for f in features], sparse_feature_values=[],
        dense_features=[tf.constant(d) for d in dense], example_weights=tf.constant(weights), example_labels=tf.constant(labels),
        sparse_indices=[i64(i) for i in indices], sparse_weights=[tf.constant([0.5, -0.5]) for _ in indices],
        dense_weights=[tf.constant([1.0]) for _ in dense], example_state_data=tf.constant(state, tf.float32), loss_type=loss, l1=0.0, l2=1.0,
        num_loss_partitions=1, num_inner_iterations=1, adaptive=False,
    )  # fmt: skip


show("sdca", lambda: sdca(examples=([0],), features=([3],), weights=(1.0,), labels=(1.0,), state=((0,) * 4,)))
show("label", lambda: sdca("logistic_loss", labels=(0.5, 0.5)))
show("label", lambda: sdca("poisson_loss", labels=(-1.0, -1.0)))
show("labels", lambda: sdca(labels=(1.0,)))
show("feature", lambda: sdca(features=([3, 9],)))
show("features", lambda: sdca(features=([3],)))
show("twice", lambda: sdca(examples=([0, 0],), features=([3, 3],)))
show("state", lambda: sdca(state=((0,) * 4,)))
show("state", lambda: sdca(state=(0, 0)))
show("none", lambda: sdca(examples=(), features=(), indices=()))
show("dense", lambda: sdca(dense=([1.0, 2.0],)))
show("dense", lambda: sdca(dense=([[1.0, 2.0], [1.0, 2.0]],)))
with tf1.Graph().as_default(), tf1.Session() as session:
    v = raw.VariableV2(shape=[4], dtype=tf.float32)
    w = raw.VariableV2(shape=[], dtype=tf.float32)
    session.run([raw.Assign(ref=v, value=[3.0, -3.0, 0.25, -0.5]), raw.Assign(ref=w, value=-2.0)])
    session.run(raw.SdcaShrinkL1(weights=[v, w], l1=1.0, l2=2.0))
    print(session.run([v, w]))
