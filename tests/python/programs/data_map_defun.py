"""Ops of input pipelines without a Python door: MapDefun, compressed elements, batch sizes, parsed Examples."""

import tensorflow as tf

raw = tf.raw_ops


def show(call):
    try:
        print(tf.nest.map_structure(lambda t: t.numpy().tolist(), call()))
    except (tf.errors.OpError, ValueError) as e:
        print(type(e).__name__, str(e).split("\n")[0].split("}} ")[-1].split(" [Op:")[0])


@tf.function(input_signature=[tf.TensorSpec(None, tf.int32), tf.TensorSpec(None, tf.int32), tf.TensorSpec([], tf.int32)])
def f(x, y, k):
    return x * 2 + k, tf.reduce_sum(y)


def map_defun(x, y, shapes=((), ()), k=10):
    return raw.MapDefun(
        arguments=[tf.constant(x, tf.int32), tf.constant(y, tf.int32)],
        captured_inputs=[tf.constant(k)],
        output_types=[tf.int32, tf.int32],
        output_shapes=shapes,
        f=f.get_concrete_function(),
    )


show(lambda: map_defun([1, 2, 3], [[1, 2], [3, 4], [5, 6]]))
show(lambda: map_defun([[1, 2], [3, 4]], [[1], [2]], ([2], [])))
show(lambda: map_defun([[1, 2], [3, 4]], [[1], [2]], ([None], [])))
show(lambda: map_defun([[1, 2], [3, 4]], [[1], [2]], (None, None)))
show(lambda: map_defun([1], [5]))
show(lambda: map_defun([], []))
show(lambda: map_defun([1, 2], [3]))
show(lambda: map_defun(1, [3]))
show(lambda: map_defun([1, 2], [3, 4], ([2], [])))


@tf.function
def shapes(x, y):
    a, b = raw.MapDefun(
        arguments=[x, y], captured_inputs=[10], output_types=[tf.int32, tf.int32], output_shapes=[[None], []], f=f.get_concrete_function()
    )
    print(a.shape, b.shape)
    return a, b


shapes.get_concrete_function(tf.TensorSpec([3, 2], tf.int32), tf.TensorSpec(None, tf.int32))
shapes.get_concrete_function(tf.TensorSpec([None, 2], tf.int32), tf.TensorSpec([None], tf.int32))
for first in ([3, 2], []):
    try:
        tf.function(shapes.python_function).get_concrete_function(tf.TensorSpec(first, tf.int32), tf.TensorSpec([4], tf.int32))
        print("traced")
    except ValueError as e:
        print(str(e).strip().split("\n")[-1].strip().split(" for '")[0])

compressed = raw.CompressElement(components=[tf.constant([1.5, 2.5]), tf.constant(["a", "bc"]), tf.constant(True)])
print(compressed.shape, compressed.dtype)
show(lambda: raw.UncompressElement(compressed=compressed, output_types=[tf.float32, tf.string, tf.bool], output_shapes=[[2], [2], []]))
show(lambda: raw.UncompressElement(compressed=compressed, output_types=[tf.float32], output_shapes=[[2]]))
show(lambda: raw.UncompressElement(compressed=tf.stack([compressed, compressed]), output_types=[tf.float32], output_shapes=[[2]]))


@tf.function
def through_a_function(x):
    return raw.UncompressElement(compressed=raw.CompressElement(components=[x]), output_types=[x.dtype], output_shapes=[x.shape])[0]


show(lambda: through_a_function(tf.constant([[1, 2], [3, 4]])))

batches = tf.data.Dataset.range(10).batch(4)
for d in (batches, batches.map(lambda x: x), batches.prefetch(1).take(1), tf.data.Dataset.range(3)):
    show(lambda: raw.ComputeBatchSize(input_dataset=tf.data.experimental.to_variant(d)))


def example(**features):
    make = {
        float: lambda v: tf.train.Feature(float_list=tf.train.FloatList(value=v)),
        int: lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v)),
        bytes: lambda v: tf.train.Feature(bytes_list=tf.train.BytesList(value=v)),
    }
    return tf.train.Example(
        features=tf.train.Features(feature={k: make[type(v[0])](v) for k, v in features.items()})
    ).SerializeToString()


examples = tf.data.Dataset.from_tensor_slices(
    [example(a=[1.5], b=[1, 2], c=[b"x"]), example(a=[2.5], b=[3]), example(a=[0.5], c=[b"y", b"z"])]
)
features = {
    "a": tf.io.FixedLenFeature([], tf.float32),
    "b": tf.io.VarLenFeature(tf.int64),
    "c": tf.io.RaggedFeature(tf.string),
}
for parsed in examples.batch(2).apply(tf.data.experimental.parse_example_dataset(features, num_parallel_calls=2)):
    print(parsed["a"].numpy(), parsed["b"].indices.numpy().tolist(), parsed["b"].values.numpy(), parsed["c"].to_list())
print(examples.batch(2).apply(tf.data.experimental.parse_example_dataset(features)).element_spec)
