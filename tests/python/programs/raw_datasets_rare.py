"""Dataset ops that few programs call: races between datasets, readers of snapshots, statistics into event files, models of iterators."""
import glob
import os
import tempfile

import tensorflow as tf

raw = tf.raw_ops
folder = tempfile.mkdtemp()
SCALAR = {"output_types": [tf.int64], "output_shapes": [[]]}
one = tf.constant(1, tf.int64)


def num(v):
    return tf.constant(v, tf.int64)


def count(n):
    return raw.RangeDataset(start=num(0), stop=num(n), step=one, **SCALAR)


def elements(variant, kind=SCALAR, limit=None):
    iterator = raw.AnonymousIteratorV3(**kind)
    raw.MakeIterator(dataset=variant, iterator=iterator)
    values = []
    while (limit is None or len(values) < limit) and raw.OptionalHasValue(optional=(value := raw.IteratorGetNextAsOptional(iterator=iterator, **kind))):
        values.append([p.numpy() if p.dtype == tf.string else p.numpy().tolist() for p in raw.OptionalGetValue(optional=value, **kind)])
    return values


def show(label, make):
    try:
        print(label, make())
    except (tf.errors.OpError, ValueError, TypeError) as e:
        print(label, type(e).__name__, str(getattr(e, "message", e)).split("\n")[0].split("}} ")[-1].split(" [Op:")[0].split(" (hash code")[0].replace(folder, "F"))


def fastest(op, n, experiments, types=None, shapes=None):
    kind = {"output_types": types or [tf.int64], "output_shapes": shapes or [[]]}
    return elements(op(input_datasets=[count(n) for _ in range(3)], num_experiments=experiments, **kind), kind)


# Datasets that race.
for op in (raw.ChooseFastestDataset, raw.ExperimentalChooseFastestDataset):
    for n, experiments in ((7, 2), (3, 5), (0, 2), (1, 1)):
        show(f"{op.__name__} {n} {experiments}", lambda: fastest(op, n, experiments))
show("ChooseFastest other types", lambda: fastest(raw.ChooseFastestDataset, 3, 1, [tf.float32]))
show("ChooseFastest other shapes", lambda: fastest(raw.ChooseFastestDataset, 3, 1, [tf.int64], [[2]]))
show("ChooseFastest of different types", lambda: elements(raw.ChooseFastestDataset(
    input_datasets=[count(2), raw.TensorSliceDataset(components=[[1.0]], output_shapes=[[]])], num_experiments=1, **SCALAR)))
show("ChooseFastest of different lengths", lambda: len(elements(raw.ChooseFastestDataset(input_datasets=[count(5), count(5), count(6)], num_experiments=1, **SCALAR))) in (5, 6))


def branch(n, numerator=1, denominator=1, per_branch=2, lengths=(0, 0), branches=None, other=(), kind=SCALAR):
    @tf.function(input_signature=[tf.TensorSpec([], tf.variant)])
    def same(v):
        return v

    return elements(raw.ChooseFastestBranchDataset(
        input_dataset=count(n), ratio_numerator=num(numerator), ratio_denominator=num(denominator), other_arguments=list(other), num_elements_per_branch=per_branch,
        branches=branches or [same.get_concrete_function(), same.get_concrete_function()], other_arguments_lengths=list(lengths), **kind), kind)


@tf.function(input_signature=[tf.TensorSpec([], tf.variant)])
def batched(v):
    return raw.BatchDatasetV2(input_dataset=v, batch_size=num(2), drop_remainder=False, output_types=[tf.int64], output_shapes=[[None]])


@tf.function(input_signature=[tf.TensorSpec([], tf.variant), tf.TensorSpec([], tf.int64)])
def first_of(v, n):
    return raw.TakeDataset(input_dataset=v, count=n, **SCALAR)


show("ChooseFastestBranch", lambda: branch(7))
show("ChooseFastestBranch one element at a time", lambda: branch(5, per_branch=1))
show("ChooseFastestBranch short", lambda: branch(1, per_branch=3))
show("ChooseFastestBranch empty", lambda: branch(0))
show("ChooseFastestBranch of batches", lambda: branch(9, numerator=2, per_branch=1, branches=[batched.get_concrete_function()] * 2, kind={"output_types": [tf.int64], "output_shapes": [[None]]}))
show("ChooseFastestBranch with arguments", lambda: branch(9, per_branch=2, branches=[first_of.get_concrete_function()] * 2, lengths=(1, 1), other=(num(2), num(2))))
show("ChooseFastestBranch that ends early", lambda: branch(9, per_branch=2, branches=[first_of.get_concrete_function()] * 2, lengths=(1, 1), other=(num(1), num(1))))
for numerator, denominator in ((0, 1), (1, 0), (-1, 1)):
    show(f"ChooseFastestBranch ratio {numerator} {denominator}", lambda: branch(4, numerator, denominator))
show("ChooseFastestBranch ratio 1 3", lambda: branch(4, 1, 3, per_branch=2))
show("ChooseFastestBranch lengths", lambda: branch(4, lengths=(0,)))

# Snapshots: a dataset of readers.
shard = tf.function(lambda x: num(0), input_signature=[tf.TensorSpec([], tf.int64)]).get_concrete_function()
saved = os.path.join(folder, "saved")
raw.SaveDataset(input_dataset=count(4), path=saved, shard_func_other_args=[], compression="", shard_func=shard, use_shard_func=False)
run = next(n for n in os.listdir(saved) if n.isdigit())
reader = raw.SnapshotDatasetReader(shard_dir=os.path.join(saved, run, "00000000.shard"), start_index=num(0), compression="", version=2, **SCALAR)


def nested(inputs, types=(tf.int64,)):
    return raw.SnapshotNestedDatasetReader(inputs=inputs, output_types=list(types), output_shapes=[[]] * len(types))


# (Reading an element ends TensorFlow's process: it lets go of the dataset twice.)
show("SnapshotNestedDatasetReader", lambda: (nested([reader, count(3)]).shape, nested([count(1)]).dtype.name))
show("SnapshotNestedDatasetReader of no datasets", lambda: nested([raw.TensorListReserve(element_shape=-1, num_elements=1, element_dtype=tf.int64)]))
show("SnapshotNestedDatasetReader cardinality", lambda: raw.DatasetCardinality(input_dataset=nested([count(2), count(3)])).numpy())


# Snapshots of the data service: names of chunks.
def chunks(path):
    return raw.ListSnapshotChunksDataset(snapshot_path=path, output_types=[tf.string], output_shapes=[[]])


def names(path):
    return sorted(os.path.basename(v[0].decode()) for v in elements(chunks(path), {"output_types": [tf.string], "output_shapes": [[]]}))


def one_name(path):
    return os.path.basename(raw.DatasetToSingleElement(dataset=chunks(path), output_types=[tf.string], output_shapes=[[]])[0].numpy().decode())


def snapshot(name, files, done=True, error=None):
    path = os.path.join(folder, name)
    os.makedirs(os.path.join(path, "chunks"))
    for f in files:
        open(os.path.join(path, "chunks", f), "w").close()
    if done:
        open(os.path.join(path, "DONE"), "w").close()
    if error is not None:
        open(os.path.join(path, "ERROR"), "w").write(error)
    return path


two = snapshot("two", ["chunk_0_0_2", "chunk_1_0_3"])
single = snapshot("single", ["chunk_0_0_2"])
for label, path in (("one chunk", single), ("two chunks", two), ("no chunk", snapshot("none", []))):
    show("ListSnapshotChunksDataset single " + label, lambda: one_name(path))
    show("ListSnapshotChunksDataset " + label, lambda: names(path))
show("ListSnapshotChunksDataset a vector", lambda: chunks([two]).dtype.name)
show("ListSnapshotChunksDataset cardinality", lambda: raw.DatasetCardinality(input_dataset=chunks(two)).numpy())

# Statistics into an event file.
for make, prefix in ((raw.StatsAggregatorHandleV2, "v2"), (raw.StatsAggregatorHandle, "v1")):
    logs = os.path.join(folder, prefix)
    writer = raw.SummaryWriter(shared_name=prefix)
    raw.CreateSummaryFileWriter(writer=writer, logdir=logs, max_queue=10, flush_millis=1000, filename_suffix="")
    aggregator = make(shared_name=prefix)
    show(prefix + " set", lambda: raw.StatsAggregatorSetSummaryWriter(stats_aggregator=aggregator, summary=writer))
    reporting = raw.BytesProducedStatsDataset(input_dataset=count(3), tag="bytes", **SCALAR)
    print(elements(raw.SetStatsAggregatorDataset(input_dataset=reporting, stats_aggregator=aggregator, tag="t", counter_prefix="c", **SCALAR)))
    show(prefix + " summary", lambda: [v.tag for v in tf.compat.v1.Summary.FromString(raw.StatsAggregatorSummary(iterator=aggregator).numpy()).value])
    raw.FlushSummaryWriter(writer=writer)
    raw.CloseSummaryWriter(writer=writer)
    for path in glob.glob(os.path.join(logs, "*")):
        for record in tf.data.TFRecordDataset(path):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                print(event.step, value.tag, value.WhichOneof("value"), value.histo.num, value.histo.min, value.histo.max, value.histo.sum)
show("no aggregator", lambda: raw.StatsAggregatorSetSummaryWriter(stats_aggregator=raw.SummaryWriter(shared_name="w"), summary=raw.SummaryWriter(shared_name="w")))
show("no writer", lambda: raw.StatsAggregatorSetSummaryWriter(stats_aggregator=raw.StatsAggregatorHandleV2(shared_name="x"), summary=raw.SummaryWriter(shared_name="never made")))

# The model that TensorFlow tunes by.
iterator = raw.AnonymousIteratorV3(**SCALAR)
show("IteratorGetModelProto without a dataset", lambda: raw.IteratorGetModelProto(iterator=iterator).shape)
options = tf.data.Options()
options.autotune.enabled = False
untuned = iter(tf.data.Dataset.range(3).with_options(options))
show("IteratorGetModelProto where nothing is tuned", lambda: raw.IteratorGetModelProto(iterator=untuned._iterator_resource).shape)
show("IteratorGetModelProto of no iterator", lambda: raw.IteratorGetModelProto(iterator=raw.StatsAggregatorHandleV2(shared_name="y")).shape)
