"""Dataset ops that call functions, by their own names: what they give one after the other."""
import tensorflow as tf

raw = tf.raw_ops
SCALAR = {"output_types": [tf.int64], "output_shapes": [[]]}
MANY = {"output_types": [tf.int64], "output_shapes": [[None]]}


def function(f, *kinds):
    return tf.function(f, autograph=False).get_concrete_function(*[tf.TensorSpec([], k) for k in kinds or (tf.int64,)])


def count(n):
    return raw.RangeDataset(start=tf.constant(0, tf.int64), stop=tf.constant(n, tf.int64), step=tf.constant(1, tf.int64), **SCALAR)


def show(label, make, shape=[]):
    kind = {"output_types": [tf.int64], "output_shapes": [shape]}
    try:
        iterator = raw.AnonymousIteratorV3(**kind)
        raw.MakeIterator(dataset=make(), iterator=iterator)
        values = []
        while raw.OptionalHasValue(optional=(value := raw.IteratorGetNextAsOptional(iterator=iterator, **kind))):
            values.append(raw.OptionalGetValue(optional=value, **kind)[0].numpy().tolist())
        print(label, values)
    except (tf.errors.OpError, ValueError) as e:
        print(label, type(e).__name__, getattr(e, "message", e))


square = function(lambda x: x * x)
even = function(lambda x: tf.equal(x % 2, 0))
several = function(lambda x: raw.RangeDataset(start=x * 10, stop=x * 10 + 3, step=tf.constant(1, tf.int64), **SCALAR))
two, three, five = (tf.constant(v, tf.int64) for v in (2, 3, 5))
none = []

show("MapDataset", lambda: raw.MapDataset(input_dataset=count(4), other_arguments=none, f=square, **SCALAR))
show("ParallelMapDataset", lambda: raw.ParallelMapDataset(input_dataset=count(4), other_arguments=none, num_parallel_calls=2, f=square, **SCALAR))
show("ParallelMapDatasetV2", lambda: raw.ParallelMapDatasetV2(input_dataset=count(4), other_arguments=none, num_parallel_calls=two, f=square, deterministic="true", **SCALAR))
show("FilterDataset", lambda: raw.FilterDataset(input_dataset=count(6), other_arguments=none, predicate=even, **SCALAR))
# TensorFlow cannot write this one as a graph, which an iterator asks for.
print("ParallelFilterDataset", raw.DatasetToSingleElement(dataset=raw.ParallelFilterDataset(
    input_dataset=count(2), other_arguments=none, num_parallel_calls=two, predicate=even, deterministic="true", **SCALAR), **SCALAR))
show("FlatMapDataset", lambda: raw.FlatMapDataset(input_dataset=count(3), other_arguments=none, f=several, **SCALAR))
show("InterleaveDataset", lambda: raw.InterleaveDataset(input_dataset=count(3), other_arguments=none, cycle_length=two, block_length=two, f=several, **SCALAR))
lengths = {"cycle_length": two, "block_length": two}
show("ParallelInterleaveDatasetV2", lambda: raw.ParallelInterleaveDatasetV2(input_dataset=count(3), other_arguments=none, num_parallel_calls=two, f=several, **lengths, **SCALAR))
show("ParallelInterleaveDatasetV3", lambda: raw.ParallelInterleaveDatasetV3(input_dataset=count(3), other_arguments=none, num_parallel_calls=two, f=several, deterministic="true", **lengths, **SCALAR))
show("ParallelInterleaveDatasetV4", lambda: raw.ParallelInterleaveDatasetV4(input_dataset=count(3), other_arguments=none, buffer_output_elements=two, prefetch_input_elements=two,
                                                                           num_parallel_calls=two, f=several, deterministic="true", **lengths, **SCALAR))
old = {"buffer_output_elements": two, "prefetch_input_elements": two, "f": several, **lengths, **SCALAR}
show("ParallelInterleaveDataset", lambda: raw.ParallelInterleaveDataset(input_dataset=count(3), other_arguments=none, sloppy=False, **old))
show("ExperimentalParallelInterleaveDataset", lambda: raw.ExperimentalParallelInterleaveDataset(input_dataset=count(3), other_arguments=none, sloppy=False, **old))
show("LegacyParallelInterleaveDatasetV2", lambda: raw.LegacyParallelInterleaveDatasetV2(input_dataset=count(3), other_arguments=none, deterministic="true", **old))
mapped = {"batch_size": two, "drop_remainder": False, "f": square, **MANY}
show("MapAndBatchDataset", lambda: raw.MapAndBatchDataset(input_dataset=count(5), other_arguments=none, num_parallel_calls=two, **mapped), [None])
show("ExperimentalMapAndBatchDataset", lambda: raw.ExperimentalMapAndBatchDataset(input_dataset=count(5), other_arguments=none, num_parallel_calls=two, **mapped), [None])
running = function(lambda state, x: (state + x, state), tf.int64, tf.int64)
show("ScanDataset", lambda: raw.ScanDataset(input_dataset=count(5), initial_state=[five], other_arguments=none, f=running, **SCALAR))
show("ExperimentalScanDataset", lambda: raw.ExperimentalScanDataset(input_dataset=count(5), initial_state=[five], other_arguments=none, f=running, **SCALAR))
small = function(lambda x: x < 3)
show("TakeWhileDataset", lambda: raw.TakeWhileDataset(input_dataset=count(9), other_arguments=none, predicate=small, **SCALAR))
show("ExperimentalTakeWhileDataset", lambda: raw.ExperimentalTakeWhileDataset(input_dataset=count(9), other_arguments=none, predicate=small, **SCALAR))
plus = function(lambda a, b: a + b, tf.int64, tf.int64)
print("ReduceDataset", [v.numpy() for v in raw.ReduceDataset(input_dataset=count(5), initial_state=[five], other_arguments=none, f=plus, output_types=[tf.int64], output_shapes=[[]])])

key = function(lambda x: x % 2)
window = tf.function(lambda k, d: raw.BatchDatasetV2(input_dataset=d, batch_size=tf.constant(2, tf.int64), drop_remainder=False, **MANY), autograph=False).get_concrete_function(
    tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.variant))
size = function(lambda k: tf.constant(2, tf.int64))
grouped = {"key_func_other_arguments": none, "reduce_func_other_arguments": none, "window_size_func_other_arguments": none, "key_func": key, "reduce_func": window,
           "window_size_func": size, **MANY}
show("GroupByWindowDataset", lambda: raw.GroupByWindowDataset(input_dataset=count(7), **grouped), [None])
show("ExperimentalGroupByWindowDataset", lambda: raw.ExperimentalGroupByWindowDataset(input_dataset=count(7), **grouped), [None])
start = function(lambda k: tf.constant(0, tf.int64))
add = function(lambda a, b: a + b, tf.int64, tf.int64)
done = function(lambda a: a)
reducer = {"key_func_other_arguments": none, "init_func_other_arguments": none, "reduce_func_other_arguments": none, "finalize_func_other_arguments": none, "key_func": key,
           "init_func": start, "reduce_func": add, "finalize_func": done, **SCALAR}
show("GroupByReducerDataset", lambda: raw.GroupByReducerDataset(input_dataset=count(7), **reducer))
show("ExperimentalGroupByReducerDataset", lambda: raw.ExperimentalGroupByReducerDataset(input_dataset=count(7), **reducer))
