"""tf.data in debug mode: functions of datasets run as Python code for each element."""
import tensorflow as tf

tf.data.experimental.enable_debug_mode()
Dataset = tf.data.Dataset


def double(x):
    print("double", type(x).__name__, tf.executing_eagerly())
    return x * 2


doubled = Dataset.range(3).map(double)
print(doubled)
print(list(doubled.as_numpy_iterator()))


def parts(row, number):
    print("parts", sorted(row), number.shape)
    return {"sum": row["x"] + number}, row["t"]


rows = Dataset.from_tensor_slices(({"x": [1, 2], "t": ["p", "q"]}, [10, 20])).map(parts)
print(rows.element_spec)
print(list(rows.as_numpy_iterator()))


def is_even(x):
    return x.numpy() % 2 == 0 if tf.executing_eagerly() else True


print(list(Dataset.range(4).filter(is_even).as_numpy_iterator()))
print([list(w.as_numpy_iterator()) for w in Dataset.range(3).window(2)])
print(list(Dataset.range(3).flat_map(lambda x: Dataset.from_tensors(x).repeat(2)).as_numpy_iterator()))
twice = Dataset.range(3).interleave(lambda x: Dataset.from_tensors(x).repeat(2).map(lambda y: y + 1), cycle_length=2)
print(list(twice.as_numpy_iterator()))
print(Dataset.range(4).reduce(tf.constant(0, tf.int64), lambda s, x: s + x))
print(list(Dataset.from_generator(lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)).map(double)))

calls = tf.Variable(0)


def ragged(x):
    calls.assign_add(1)
    return tf.ragged.constant([[1], [2, 3]])


made = Dataset.range(2).map(ragged)
print(made.element_spec, calls.numpy())
print([r.to_list() for r in made], calls.numpy())
try:
    with tf.Graph().as_default():
        tf.data.experimental.enable_debug_mode()
except ValueError as e:
    print(e)
