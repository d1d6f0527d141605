"""Dataset ops by their own names, those that later versions replaced among them: what they give one after the other."""
import os
import tempfile

import tensorflow as tf

raw = tf.raw_ops
SCALAR = {"output_types": [tf.int64], "output_shapes": [[]]}
MANY = {"output_types": [tf.int64], "output_shapes": [[None]]}
one, two, three, five = (tf.constant(v, tf.int64) for v in (1, 2, 3, 5))


def count(n):
    return raw.RangeDataset(start=tf.constant(0, tf.int64), stop=tf.constant(n, tf.int64), step=one, **SCALAR)


def elements(variant, *specs):
    kind = {"output_types": [s.dtype for s in specs], "output_shapes": [s.shape for s in specs]}
    iterator = raw.AnonymousIteratorV3(**kind)
    raw.MakeIterator(dataset=variant, iterator=iterator)
    values = []
    while raw.OptionalHasValue(optional=(value := raw.IteratorGetNextAsOptional(iterator=iterator, **kind))):
        parts = raw.OptionalGetValue(optional=value, **kind)
        values.append([p.numpy() if p.dtype == tf.string else p.numpy().tolist() for p in parts])
    return values


def show(label, make, *specs):
    try:
        print(label, elements(make(), *(specs or [tf.TensorSpec([], tf.int64)])))
    except (tf.errors.OpError, ValueError, TypeError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0])


rows = tf.TensorSpec([None], tf.int64)
batched = lambda n: raw.BatchDatasetV2(input_dataset=count(n), batch_size=two, drop_remainder=False, **MANY)
# TensorFlow cannot write these as graphs, which an iterator asks for.
single = lambda d, **kind: [v.numpy().tolist() for v in raw.DatasetToSingleElement(dataset=d, **(kind or MANY))]
print("BatchDataset", single(raw.BatchDataset(input_dataset=count(3), batch_size=five, **MANY)))
print("PaddedBatchDataset", single(raw.PaddedBatchDataset(input_dataset=batched(3), batch_size=two, padded_shapes=[tf.constant([3], tf.int64)], padding_values=[five],
                                                          output_shapes=[[None, 3]]), output_types=[tf.int64], output_shapes=[[None, 3]]))
dense = {"batch_size": two, "row_shape": tf.constant([3], tf.int64), "output_types": [tf.int64], "output_shapes": [[None, 3]]}
for op in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):
    d = tf.data.experimental.from_variant(getattr(raw, op)(input_dataset=batched(5), **dense), tf.SparseTensorSpec([None, 3], tf.int64))
    print(op, [tf.sparse.to_dense(v).numpy().tolist() for v in d])
show("ExperimentalUnbatchDataset", lambda: raw.ExperimentalUnbatchDataset(input_dataset=batched(5), **SCALAR))
odd = lambda: raw.ConcatenateDataset(input_dataset=count(4), another_dataset=count(3), **SCALAR)
show("ExperimentalUniqueDataset", lambda: raw.ExperimentalUniqueDataset(input_dataset=odd(), **SCALAR))
show("ExperimentalRebatchDataset", lambda: raw.ExperimentalRebatchDataset(input_dataset=batched(6), num_replicas=two, **MANY), rows)
show("ExperimentalSleepDataset", lambda: raw.ExperimentalSleepDataset(input_dataset=count(3), sleep_microseconds=one, **SCALAR))
show("ExperimentalIgnoreErrorsDataset", lambda: raw.ExperimentalIgnoreErrorsDataset(input_dataset=count(3), **SCALAR))
show("ExperimentalMaxIntraOpParallelismDataset", lambda: raw.ExperimentalMaxIntraOpParallelismDataset(input_dataset=count(3), max_intra_op_parallelism=one, **SCALAR))
show("ExperimentalPrivateThreadPoolDataset", lambda: raw.ExperimentalPrivateThreadPoolDataset(input_dataset=count(3), num_threads=two, **SCALAR))
show("ExperimentalNonSerializableDataset", lambda: raw.ExperimentalNonSerializableDataset(input_dataset=count(3), **SCALAR))
show("ExperimentalAssertNextDataset", lambda: raw.ExperimentalAssertNextDataset(input_dataset=count(3), transformations=tf.constant([], tf.string), **SCALAR))
show("AssertPrevDataset", lambda: raw.AssertPrevDataset(input_dataset=count(3), transformations=tf.constant([], tf.string), **SCALAR))
show("ExperimentalAutoShardDataset", lambda: raw.ExperimentalAutoShardDataset(input_dataset=count(6), num_workers=two, index=one, auto_shard_policy=2, **SCALAR))
show("ExperimentalLatencyStatsDataset", lambda: raw.ExperimentalLatencyStatsDataset(input_dataset=count(3), tag="t", **SCALAR))
show("LatencyStatsDataset", lambda: raw.LatencyStatsDataset(input_dataset=count(3), tag="t", **SCALAR))
show("ExperimentalBytesProducedStatsDataset", lambda: raw.ExperimentalBytesProducedStatsDataset(input_dataset=count(3), tag="t", **SCALAR))
show("BytesProducedStatsDataset", lambda: raw.BytesProducedStatsDataset(input_dataset=count(3), tag="t", **SCALAR))
show("ExperimentalDirectedInterleaveDataset",
     lambda: raw.ExperimentalDirectedInterleaveDataset(selector_input_dataset=count(2), data_input_datasets=[count(2), odd()], **SCALAR))
print("ExperimentalDatasetCardinality", raw.ExperimentalDatasetCardinality(input_dataset=batched(5)).numpy())
print("GetElementAtIndex", [raw.GetElementAtIndex(dataset=count(5), index=tf.constant(i, tf.int64), **SCALAR)[0].numpy() for i in (0, 4)])
print("ExperimentalRandomDataset", single(raw.TakeDataset(input_dataset=raw.ExperimentalRandomDataset(seed=one, seed2=two, **SCALAR), count=one, **SCALAR), **SCALAR))
show("OptimizeDatasetV2", lambda: raw.OptimizeDatasetV2(input_dataset=count(3), optimizations_enabled=tf.constant([], tf.string), optimizations_disabled=tf.constant([], tf.string),
                                                        optimizations_default=tf.constant([], tf.string), **SCALAR))
print("DatasetFingerprint", (raw.DatasetFingerprint(input_dataset=count(3)) == raw.DatasetFingerprint(input_dataset=count(3))).numpy(),
      (raw.DatasetFingerprint(input_dataset=count(3)) == raw.DatasetFingerprint(input_dataset=count(4))).numpy())

folder = tempfile.mkdtemp()
path = os.path.join(folder, "rows.csv")
with open(path, "w") as f:
    f.write("1,2\n3,4\n5,6\n")
csv = {"filenames": path, "compression_type": "", "buffer_size": tf.constant(100, tf.int64), "header": False, "field_delim": ",", "use_quote_delim": True, "na_value": "",
       "select_cols": tf.constant([], tf.int64), "record_defaults": [tf.constant([], tf.int64)] * 2, "output_shapes": [[], []]}
show("ExperimentalCSVDataset", lambda: raw.ExperimentalCSVDataset(**csv), *[tf.TensorSpec([], tf.int64)] * 2)
names = lambda: [e[0].decode()[len(folder) + 1:] for e in elements(raw.ExperimentalMatchingFilesDataset(patterns=[os.path.join(folder, "*.csv")]), tf.TensorSpec([], tf.string))]
print("ExperimentalMatchingFilesDataset", names())
text = tf.data.Dataset.from_tensor_slices([b"abcd", b"efgh"])
for i, op in enumerate(("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")):
    file = os.path.join(folder, f"{i}.tfrecord")
    getattr(raw, op)(input_dataset=tf.data.experimental.to_variant(text), filename=file, compression_type="")
    show(op, lambda: raw.TFRecordDataset(filenames=[file], compression_type="", buffer_size=tf.constant(100, tf.int64)), tf.TensorSpec([], tf.string))
    second = raw.TFRecordDatasetV2(filenames=[file], compression_type="", buffer_size=tf.constant(100, tf.int64), byte_offsets=tf.constant([20], tf.int64))
    print("TFRecordDatasetV2", raw.DatasetToSingleElement(dataset=second, output_types=[tf.string], output_shapes=[[]])[0].numpy())
fixed = {"header_bytes": one, "record_bytes": three, "footer_bytes": two, "buffer_size": tf.constant(100, tf.int64)}
short = os.path.join(folder, "short")
with open(short, "w") as f:
    f.write("1abc22")
print("FixedLengthRecordDataset", raw.DatasetToSingleElement(dataset=raw.FixedLengthRecordDataset(filenames=short, **fixed), output_types=[tf.string], output_shapes=[[]])[0].numpy())
