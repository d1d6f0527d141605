"""Variables, tables, functions and variants seen from custom ops. Prints the same with TensorFlow: state.out is its output."""

import concurrent.futures
import sys

import tensorflow as tf

ops = tf.load_op_library(sys.argv[1])

variable = tf.Variable([1.0, 2.0])
print(ops.scale_variable(variable.handle, 3.0).numpy(), variable.numpy())
print(tf.function(lambda: ops.scale_variable(variable.handle, 2.0))().numpy(), variable.numpy())
variable.assign_add([1.0, 1.0])
print(variable.numpy())

table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([3, 4], tf.int64)), 0)
print([t.numpy().tolist() for t in ops.look_up_twice(table.resource_handle, ["b", "x", "a"])])
other = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)
try:
    ops.look_up_twice(other.resource_handle, ["b"])
except tf.errors.InvalidArgumentError as e:
    print("keys are int64" in e.message)

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    handle = ops.modulo_table(shared_name="modulo")
    keys = tf.constant([1, 12, 23], tf.int64)
    insert = tf.raw_ops.LookupTableInsertV2(table_handle=handle, keys=keys, values=[1.0, 2.0, 3.0])
    size = tf.raw_ops.LookupTableSizeV2(table_handle=handle)
    find = tf.raw_ops.LookupTableFindV2(table_handle=handle, keys=tf.constant([42, 55], tf.int64), default_value=-1.0)
    remove = tf.raw_ops.LookupTableRemoveV2(table_handle=handle, keys=tf.constant([2], tf.int64))
    export = tf.raw_ops.LookupTableExportV2(table_handle=handle, Tkeys=tf.int64, Tvalues=tf.float32)
    session.run(insert)
    print(session.run(size), session.run(find))
    session.run(remove)
    print([a.tolist() for a in session.run(list(export))])


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def twice(x):
    return x * 2.0


@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def fails(x):
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_sum(x) < 0.0, ["too much"])]):
        return tf.identity(x)


print(tf.function(lambda x: ops.apply_times(x, f=twice.get_concrete_function(), n=5))(tf.constant([1.0, 3.0])).numpy())
try:
    tf.function(lambda x: ops.apply_times(x, f=fails.get_concrete_function(), n=2))(tf.constant([1.0]))
except tf.errors.InvalidArgumentError as e:
    print("assertion failed" in e.message)


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def step_of(x):
    return ops.step_of(x)


@tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
def calls_in_its_step(x):
    return ops.calls_in_its_step(x, f=step_of.get_concrete_function())


call = calls_in_its_step.get_concrete_function()
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    print([bool(same) for same in pool.map(call, [tf.constant(1.0), tf.constant(2.0)])])

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    keep = ops.keep_in_step(tf.constant(5, tf.int64))
    with tf.control_dependencies([keep]):
        kept = ops.kept_in_step()
    nothing = ops.kept_in_step()
    for _ in range(2):
        print([int(x) for x in session.run([keep, *kept])])
    print([int(x) for x in session.run(list(nothing))])

pair = ops.make_pair(5, "x")
following, text = ops.next_pair(pair)
print(text.numpy(), ops.next_pair(following).text.numpy(), ops.next_pair(pair).text.numpy())
for seed in (0, 123456789012):
    y, z = ops.philox_numbers(seed=seed)
    print(y.numpy().tolist(), z.numpy().tolist())
