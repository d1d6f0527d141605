"""input_signature: what is accepted, what is refused, structured signatures, relaxed shapes."""
import tensorflow as tf


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print("Tracing with", x)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
print(next_collatz([5, 6, 7]))


def attempt(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, str(e).strip().splitlines()[0])


attempt(lambda: next_collatz(tf.constant([[1, 2], [3, 4]])))
attempt(lambda: next_collatz(tf.constant([1.0, 2.0])))
attempt(lambda: next_collatz())
attempt(lambda: next_collatz(tf.constant([1]), tf.constant([2])))
attempt(lambda: next_collatz(y=tf.constant([1])))
print(next_collatz.experimental_get_tracing_count(), next_collatz.input_signature)


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def g(x):
    print("Tracing with", x)
    return x


print(g(tf.constant([1, 2, 3])))
print(g(tf.constant([1, 2, 3, 4, 5])))


@tf.function(input_signature=[{"a": tf.TensorSpec([], tf.float32),
                               "b": [tf.TensorSpec([None, 2], tf.int32, name="bees")]},
                              tf.TensorSpec(None, tf.string)])
def structured(d, s):
    print(d, s)
    return d["a"], d["b"][0], s


print(structured({"a": 1.0, "b": [[[1, 2], [3, 4]]]}, tf.constant(["x", "y"])))
print(structured.get_concrete_function())
attempt(lambda: structured({"a": 1.0}, "s"))


@tf.function(input_signature=[])
def empty():
    return tf.constant(1)


print(empty())
spec = tf.TensorSpec([None, 3], tf.float32, name="in")
print(spec, repr(spec), spec.shape, spec.dtype, spec.name, spec.is_compatible_with(tf.zeros([2, 3])))
print(tf.TensorSpec.from_tensor(tf.zeros([2])), tf.TensorSpec([1]) == tf.TensorSpec([1]), tf.type_spec_from_value(3.0))
print(spec.most_specific_compatible_type(tf.TensorSpec([2, 3], name="in")))
attempt(lambda: tf.function(lambda x: x, input_signature=tf.TensorSpec([]))(1.0))
attempt(lambda: tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])(1.0, 2.0))
