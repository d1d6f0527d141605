"""tf.data: sources, transformations, iterators, errors. Programs of data_* compare longer pipelines with TensorFlow."""

import threading

import numpy as np
import pytest

import weft as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [v.tolist() if isinstance(v, np.ndarray) else v for v in dataset.as_numpy_iterator()]


def test_sources_and_their_specs():
    assert (
        repr(Dataset.from_tensor_slices([1, 2]))
        == "<_TensorSliceDataset element_spec=TensorSpec(shape=(), dtype=tf.int32, name=None)>"
    )
    assert Dataset.from_tensors({"a": [1.0, 2.0]}).element_spec == {"a": tf.TensorSpec([2], tf.float32)}
    assert values(Dataset.range(2, 9, 3)) == [2, 5, 8]
    assert values(Dataset.zip((Dataset.range(3), Dataset.range(10, 20)))) == [(0, 10), (1, 11), (2, 12)]


def test_transformations():
    ds = Dataset.range(6)
    assert values(ds.map(lambda x: x * x)) == [0, 1, 4, 9, 16, 25]
    assert values(ds.map(lambda x: x + 1, num_parallel_calls=2, deterministic=True)) == [1, 2, 3, 4, 5, 6]
    assert values(ds.filter(lambda x: x % 2 == 0).repeat(2)) == [0, 2, 4, 0, 2, 4]
    assert values(ds.batch(4)) == [[0, 1, 2, 3], [4, 5]]
    assert values(ds.batch(4, drop_remainder=True)) == [[0, 1, 2, 3]]
    assert values(ds.batch(4).unbatch()) == [0, 1, 2, 3, 4, 5]
    assert values(ds.skip(2).take(2).concatenate(Dataset.range(1))) == [2, 3, 0]
    assert values(ds.scan(np.int64(0), lambda s, x: (s + x, s + x))) == [0, 1, 3, 6, 10, 15]
    assert int(ds.reduce(np.int64(0), lambda s, x: s + x)) == 15
    assert values(ds.window(3).flat_map(lambda w: w.batch(3))) == [[0, 1, 2], [3, 4, 5]]
    assert values(ds.interleave(lambda x: Dataset.from_tensors(x).repeat(2), cycle_length=2, block_length=1))[:4] == [
        0,
        1,
        0,
        1,
    ]
    assert values(Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(3)) == [
        [[1, 0, 0], [2, 2, 0], [3, 3, 3]]
    ]
    assert sorted(values(ds.shuffle(6, seed=3))) == [0, 1, 2, 3, 4, 5]
    assert values(ds.shard(3, 1)) == [1, 4]


def test_structures_go_to_functions_as_arguments():
    ds = Dataset.from_tensor_slices(({"a": [1, 2]}, [3, 4]))
    assert values(ds.map(lambda d, y: d["a"] * y)) == [3, 8]
    assert ds.map(lambda d, y: [d["a"], y]).element_spec == (tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.int32))


def test_generators_call_python_for_each_element():
    seen = []

    def numbers(n):
        for i in range(n):
            seen.append(i)
            yield i, [float(i)] * i

    ds = Dataset.from_generator(
        numbers, args=[3], output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    )
    assert [(int(i), v.shape[0]) for i, v in ds] == [(0, 0), (1, 1), (2, 2)]
    assert seen == [0, 1, 2]

    def bad():
        yield 1
        raise ValueError("no more")

    with pytest.raises(tf.errors.InvalidArgumentError, match="no more"):
        list(Dataset.from_generator(bad, output_signature=tf.TensorSpec([], tf.int32)))


def test_iterators_in_functions():
    @tf.function
    def total(ds):
        s = tf.constant(0, tf.int64)
        for x in ds:
            if x > 3:
                break
            s += x
        return s

    assert int(total(Dataset.range(10))) == 6
    it = iter(Dataset.range(3))
    step = tf.function(lambda i: next(i) * 10)
    assert [int(step(it)) for _ in range(3)] == [0, 10, 20]
    with pytest.raises(tf.errors.OutOfRangeError):
        step(it)


def test_functions_capture():
    v = tf.Variable(10, dtype=tf.int64)
    ds = Dataset.range(3).map(lambda x: x + v)
    assert values(ds) == [10, 11, 12]
    v.assign(20)
    assert values(ds) == [20, 21, 22]


def test_cardinality_and_length():
    assert len(Dataset.range(10).batch(3)) == 4
    assert int(Dataset.range(3).repeat().cardinality()) == tf.data.INFINITE_CARDINALITY
    with pytest.raises(TypeError, match="The dataset is infinite."):
        len(Dataset.range(3).repeat())
    with pytest.raises(TypeError, match="The dataset length is unknown."):
        len(Dataset.range(3).filter(lambda x: x > 1))


def test_errors_name_what_is_wrong():
    with pytest.raises(ValueError, match="Unbatching a tensor is only supported for rank >= 1"):
        Dataset.from_tensor_slices(5)
    with pytest.raises(ValueError, match="`predicate` must return a `tf.bool` scalar tensor"):
        Dataset.range(3).filter(lambda x: x)
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute '_name'"):  # as TensorFlow 2.21
        Dataset.range(3).flat_map(lambda x: x)
    with pytest.raises(TypeError, match="must return a `Dataset` object"):
        Dataset.range(3).flat_map(lambda x: (x, x))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"):
        list(Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).batch(2))


def test_two_threads_read_two_iterators():
    ds = Dataset.range(200).map(lambda x: x * 2, num_parallel_calls=2).batch(10)
    results = {}

    def read(k):
        results[k] = sum(int(tf.reduce_sum(b)) for b in ds)

    threads = [threading.Thread(target=read, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(results.values()) == {200 * 199}


def test_options_merge():
    a, b = tf.data.Options(), tf.data.Options()
    a.deterministic, b.threading.private_threadpool_size = False, 2
    ds = Dataset.range(2).with_options(a).with_options(b)
    assert ds.options().deterministic is False and ds.options().threading.private_threadpool_size == 2
    with pytest.raises(TypeError):
        a.deterministic = 3
    with pytest.raises(AttributeError):
        a.no_such_option = 1


def test_random_numbers_of_functions_begin_anew_with_each_walk():
    """The numbers are TensorFlow's."""
    tf.random.set_seed(7)

    def number(_):
        return tf.random.uniform([], maxval=1000, dtype=tf.int32)

    def twice(ds):
        return [[int(x) for x in ds] for _ in range(2)]

    assert twice(Dataset.range(2).map(number).repeat(3)) == [[437, 823, 266, 277, 316, 706]] * 2
    assert twice(Dataset.range(2).flat_map(lambda i: Dataset.range(2).map(number))) == [[437, 823, 266, 277]] * 2
    assert [sorted(x) for x in twice(Dataset.range(4).map(number, num_parallel_calls=2))] == [[266, 277, 437, 823]] * 2
    inner = tf.function(lambda: tf.random.uniform([], maxval=1000, dtype=tf.int32))
    assert twice(Dataset.range(2).map(lambda i: inner()).prefetch(1)) == [[437, 823]] * 2
    first, second = iter(Dataset.range(3).map(number)), iter(Dataset.range(3).map(number))
    assert [int(next(first)), int(next(second)), int(next(first))] == [437, 437, 823]
    ds = Dataset.range(2).map(number)
    assert [int(ds.reduce(0, lambda a, b: a * 1000 + b)) for _ in range(2)] == [437823] * 2
    tf.random.set_seed(None)
    ds = Dataset.range(8).map(number)
    assert twice(ds)[0] != twice(ds)[1]


def test_more_is_captured_than_a_function_takes():
    """TensorFlow's iterators over devices keep their resource alive that way."""
    start = tf.function(lambda: tf.constant(5, tf.int64)).get_concrete_function()
    scalar = tf.TensorSpec([], tf.int64)
    step = tf.function(lambda state, by: state + by).get_concrete_function(scalar, scalar)
    end = tf.function(lambda state: state).get_concrete_function(scalar)

    def made(*captured):
        variant = tf.raw_ops.GeneratorDataset(
            init_func_other_args=[],
            next_func_other_args=captured,
            finalize_func_other_args=[],
            init_func=start,
            next_func=step,
            finalize_func=end,
            output_types=[tf.int64],
            output_shapes=[[]],
        )
        return tf.data.experimental.from_variant(variant, scalar)

    two, name = tf.constant(2, tf.int64), tf.constant("kept")
    assert values(made(two).take(2)) == [7, 7]
    assert values(made(two, name).take(2)) == [7, 7]
    with pytest.raises(tf.errors.InvalidArgumentError):
        values(made(name).take(1))
