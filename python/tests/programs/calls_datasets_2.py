"""Datasets: their reprs, specs and errors, part 2."""

import contextlib
import re

import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


D = tf.data.Dataset
ds = D.range(5)
for x in ds.batch(2, drop_remainder=True):
    print(x)
show(lambda: ds.concatenate(3))
show(lambda: ds.enumerate(start=5).element_spec)
show(lambda: list(ds.enumerate().take(2).as_numpy_iterator()))
show(lambda: ds.window(2))
show(lambda: ds.window(2).element_spec)
show(lambda: [list(w.as_numpy_iterator()) for w in ds.window(2, shift=1, drop_remainder=True)])
show(lambda: ds.window(0))
show(lambda: ds.padded_batch(2))
show(lambda: D.from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec([None], tf.int32)).padded_batch(2))
show(
    lambda: list(
        D.from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec([None], tf.int32))
        .padded_batch(2, padding_values=-1)
        .as_numpy_iterator()
    )
)
show(
    lambda: list(
        D.from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec([None], tf.int32))
        .padded_batch(2, padded_shapes=[1])
        .as_numpy_iterator()
    )
)
show(
    lambda: D.from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec([None], tf.int32))
    .ragged_batch(2)
    .element_spec
)
show(lambda: list(D.from_generator(lambda: [[1], [2, 3]], output_signature=tf.TensorSpec([None], tf.int32)).batch(2)))
show(lambda: D.from_generator(3, output_signature=tf.TensorSpec([], tf.int32)))
show(lambda: D.from_generator([1], output_signature=tf.TensorSpec([], tf.int32)))
show(lambda: D.from_generator(lambda: [1]))
show(lambda: D.from_generator(lambda: [1], tf.int32))
show(lambda: list(D.from_generator(lambda: [1], tf.int32)))
show(lambda: D.from_generator(lambda: [1], output_types=tf.int32, output_signature=tf.TensorSpec([], tf.int32)))
show(lambda: D.from_generator(lambda: [1], output_signature=3))
show(lambda: D.from_generator(lambda n: range(n), args=(3,), output_signature=tf.TensorSpec([], tf.int32)))
show(
    lambda: list(
        D.from_generator(
            lambda n: range(n), args=(3,), output_signature=tf.TensorSpec([], tf.int32)
        ).as_numpy_iterator()
    )
)
show(lambda: D.from_tensor_slices(1))
show(lambda: D.from_tensor_slices([]))
show(lambda: D.from_tensor_slices([[1], [2, 3]]))
show(lambda: D.from_tensor_slices(([1, 2], [1, 2, 3])))
show(lambda: D.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}))
show(lambda: list(D.from_tensor_slices({"a": [1, 2], "b": ["x", "y"]}).as_numpy_iterator()))
show(lambda: D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])))
show(lambda: list(D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))))
show(lambda: list(D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]]))))
show(lambda: list(D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]])).as_numpy_iterator()))
show(lambda: list(D.from_tensor_slices(tf.sparse.from_dense([[0, 1], [2, 0]])).as_numpy_iterator()))
show(lambda: D.from_tensor_slices(None))
show(lambda: D.from_tensor_slices("a"))
show(lambda: D.from_tensor_slices(object()))
show(lambda: D.from_tensors([1, 2]))
show(lambda: D.from_tensors([[1], [2, 3]]))
show(lambda: D.from_tensors((1, "a", None)))
show(lambda: list(D.from_tensors((1, "a", None))))
show(lambda: D.from_tensors({"a": D.range(2)}).element_spec)
show(lambda: D.range(1, 10, 3))
show(lambda: list(D.range(1, 10, 3).as_numpy_iterator()))
show(lambda: D.range(5, output_type=tf.float32).element_spec)
show(lambda: D.range(0, 5, 0))
show(lambda: D.range())
show(lambda: D.range(1, 2, 3, 4))
show(lambda: D.range("a"))
show(lambda: D.range(2.5))
show(lambda: D.random(seed=1))
show(lambda: list(D.random(seed=1).take(2).as_numpy_iterator()))
show(lambda: D.counter().take(2))
show(lambda: D.choose_from_datasets([ds, ds], D.from_tensor_slices([0, 1])))
show(lambda: D.choose_from_datasets([ds, ds], D.from_tensor_slices([0.0, 1.0])))
show(lambda: D.choose_from_datasets([], D.range(2)))
show(lambda: D.sample_from_datasets([ds, ds], weights=[0.5, 0.5], seed=1))
show(lambda: D.sample_from_datasets([ds, ds], weights=[0.5]))
show(lambda: D.sample_from_datasets([]))
show(lambda: ds.unique())
show(lambda: ds.unbatch())
show(lambda: ds.batch(2).unbatch())
show(lambda: list(D.from_tensor_slices([1, 2, 1]).unique().as_numpy_iterator()))
show(lambda: ds.apply(lambda d: d.take(1)))
show(lambda: ds.apply(lambda d: 3))
show(lambda: ds.apply(3))
show(lambda: ds.with_options(tf.data.Options()))
show(lambda: ds.options())
o = tf.data.Options()
show(lambda: o)
show(lambda: o.deterministic)
show(lambda: o.autotune)
show(lambda: o.threading)
show(lambda: o.experimental_optimization)
show(lambda: o.experimental_distribute)
show(lambda: o.experimental_external_state_policy)
show(lambda: o.dataset_name)
with shown():
    o.foo = 1
with shown():
    o.deterministic = "a"
with shown():
    o.threading.foo = 3
show(lambda: o == tf.data.Options())
show(lambda: o != tf.data.Options())
show(lambda: o.merge(tf.data.Options()))
show(lambda: ds.with_options(o).options().deterministic)
show(lambda: ds.get_single_element())
show(lambda: ds.take(1).get_single_element())
show(lambda: D.range(0).get_single_element())
show(lambda: ds.take_while(lambda x: x < 2))
show(lambda: list(ds.take_while(lambda x: x < 2).as_numpy_iterator()))
show(lambda: ds.take_while(lambda x: x))
show(lambda: ds.group_by_window(key_func=lambda x: x % 2, reduce_func=lambda k, w: w.batch(2), window_size=2))
