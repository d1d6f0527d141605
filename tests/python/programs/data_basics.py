"""Datasets: from slices, tensors, ranges, generators; element_spec; iteration; map, filter, reduce, take, skip."""
import tensorflow as tf

dataset = tf.data.Dataset.from_tensor_slices([8, 3, 0, 8, 2, 1])
print(dataset)
for elem in dataset:
    print(elem.numpy())
it = iter(dataset)
print(next(it).numpy(), it.get_next().numpy(), type(it).__name__)
print(dataset.reduce(0, lambda state, value: state + value).numpy())
dataset1 = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(40), [4, 10]))
print(dataset1.element_spec)
dataset2 = tf.data.Dataset.from_tensor_slices((tf.range(4.0), tf.reshape(tf.range(12), [4, 3])))
print(dataset2.element_spec)
dataset3 = tf.data.Dataset.zip((dataset1, dataset2))
print(dataset3.element_spec)
for a, (b, c) in dataset3.take(2):
    print(f"shapes: {a.shape}, {b.shape}, {c.shape}", a.numpy().sum(), b.numpy(), c.numpy())
dataset4 = tf.data.Dataset.from_tensors(tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4]))
print(dataset4.element_spec, dataset4.element_spec.value_type.__name__)
d = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]})
print(d.element_spec, list(d.as_numpy_iterator()))
print(list(tf.data.Dataset.range(5).as_numpy_iterator()), list(tf.data.Dataset.range(2, 10, 3).as_numpy_iterator()),
      list(tf.data.Dataset.range(5, 1, -2, output_type=tf.int32)))
print(list(tf.data.Dataset.range(6).map(lambda x: x * x).filter(lambda x: x % 2 == 0).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).skip(3).take(4).as_numpy_iterator()),
      list(tf.data.Dataset.range(3).repeat(2).as_numpy_iterator()))
print(list(tf.data.Dataset.range(3).concatenate(tf.data.Dataset.range(8, 10)).as_numpy_iterator()))
print([(i.numpy(), x.numpy()) for i, x in tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate(start=5)])
print(list(tf.data.Dataset.from_tensors([1, 2]).repeat(2)), len(dataset), dataset.cardinality().numpy(),
      dataset.repeat().cardinality() == tf.data.INFINITE_CARDINALITY)
print(dataset.filter(lambda x: x > 2).cardinality().numpy() == tf.data.UNKNOWN_CARDINALITY,
      tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY)
print(list(tf.data.Dataset.range(8).shard(3, 1).as_numpy_iterator()))
print(list(tf.data.Dataset.range(10).take_while(lambda x: x < 4).as_numpy_iterator()),
      tf.data.Dataset.from_tensors(7).get_single_element())
print(list(tf.data.Dataset.from_tensor_slices([1, 2, 3, 2, 1]).unique().as_numpy_iterator()),
      isinstance(dataset, tf.data.Dataset), dataset.prefetch(1).element_spec)
try:
    len(dataset.repeat())
except TypeError as e:
    print(e)
try:
    tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3]))
except Exception as e:
    print(type(e).__name__, e)
try:
    next(iter(dataset.take(0)))
except StopIteration:
    print("StopIteration")
try:
    iter(dataset.take(0)).get_next()
except tf.errors.OutOfRangeError as e:
    print(type(e).__name__)
