"""What a program makes and drops is freed: functions, gradients, datasets, models. And what is still used lives on: whoever runs a function, reads an iterator or asks for a
gradient holds what it needs. bench/soak.py is the long form."""

import ctypes
import gc
import logging
import threading

import numpy as np
import pytest

import weft as tf
from weft import _weft, keras

_libc = ctypes.CDLL(None)


@pytest.fixture(autouse=True)
def _quiet():
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)  # functions are traced often here
    yield
    logger.setLevel(level)


def _resident():
    gc.collect()
    _libc.malloc_trim(0)
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4


def _functions():
    gc.collect()
    return len(_weft.library_functions())


def _check(work, times, most):
    """Resident memory grows by less than `most` KiB a call, and the library of functions not at all. A heap grows in steps: what is kept for good
    grows in every round."""
    for _ in range(max(5, times // 5)):
        work()
    for _ in range(6):
        functions, before = _functions(), _resident()
        for _ in range(times):
            work()
        grown = (_resident() - before) / times
        assert _functions() == functions
        if grown < most:
            return
    raise AssertionError(f"{grown:.1f} KiB a call")


x = tf.ones([4, 4])


def _function():
    captured = tf.ones([1000])

    @tf.function
    def f(a):
        if tf.reduce_sum(a) > 0:
            return a + captured[0]
        return a - 1.0

    f(x)


def _gradient():
    @tf.function
    def f(a):
        i = 0
        while i < 3:
            a = tf.tanh(a) * 2.0
            i += 1
        return tf.reduce_sum(a)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)


def _called_by_another():
    inner = tf.function(lambda a: tf.sin(a) * 2.0)
    outer = tf.function(lambda a: tf.reduce_sum(inner(a)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    tape.gradient(y, x)


def _custom_gradient():
    @tf.custom_gradient
    def g(a):
        return tf.exp(a), lambda d: d * 2.0

    f = tf.function(lambda a: tf.reduce_sum(g(a)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)


def _python_function():
    big = np.ones(20_000, np.float32)
    f = tf.function(lambda a: tf.py_function(lambda b: b * big[0], [a], tf.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)


def _by_name():
    f = tf.function(lambda a: a + 1.0).get_concrete_function(x)
    tf.raw_ops.StatefulPartitionedCall(args=[x], Tout=[tf.float32], f=f)


@pytest.mark.parametrize(
    "work",
    [_function, _gradient, _called_by_another, _custom_gradient, _python_function, _by_name],
    ids=lambda f: f.__name__.strip("_"),
)
def test_functions(work):
    _check(work, 150, 4)


def _map():
    table = tf.constant(np.ones(10_000, np.float32))
    for _ in tf.data.Dataset.range(3).map(lambda i: table[i] + 1.0).filter(lambda v: v > 0.0).batch(2):
        pass


def _inner_datasets():
    for _ in tf.data.Dataset.range(3).interleave(
        lambda i: tf.data.Dataset.range(2).map(lambda j: j + i), cycle_length=2
    ):
        pass


def _generator():
    def numbers():
        yield from range(3)

    for _ in tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int32)):
        pass


@pytest.mark.parametrize("work", [_map, _inner_datasets, _generator], ids=lambda f: f.__name__.strip("_"))
def test_datasets(work):
    _check(work, 150, 4)


def test_dataset_in_function():
    """The plan of what it maps by stays with the function that makes the dataset."""

    @tf.function
    def total(n):
        return tf.data.Dataset.range(n).map(lambda i: i * 2).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    _check(lambda: total(tf.constant(5, tf.int64)), 150, 1)


class _Module(tf.Module):
    def __init__(self, rows):
        super().__init__()
        self.table = tf.Variable(tf.zeros([rows]))
        self.w = tf.Variable(tf.ones([4, 4]))

    @tf.function(input_signature=[tf.TensorSpec([None, 4])])
    def __call__(self, a):
        return tf.tanh(a @ self.w) + self.table[0]


def test_loaded_models(tmp_path):
    tf.saved_model.save(_Module(500_000), str(tmp_path))

    def work():
        model = tf.saved_model.load(str(tmp_path))
        with tf.GradientTape() as tape:
            y = model(x)
        tape.gradient(y, model.w)

    _check(work, 25, 40)


def test_imported_graphs():
    @tf.function
    def f(a):
        return tf.cond(tf.reduce_sum(a) > 0, lambda: a + 1.0, lambda: a)

    graph_def = f.get_concrete_function(x).graph.as_graph_def()
    for function in graph_def.library.function:  # as from a file of another program
        name = function.signature.name
        function.signature.name = "from_a_file_" + name
        for node in graph_def.node:
            for value in node.attr.values():
                if value.func.name == name:
                    value.func.name = "from_a_file_" + name

    def work():
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def)

    _check(work, 60, 4)


def test_keras_fit():
    model = keras.Sequential([keras.layers.Dense(4), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    a, b = np.ones((8, 4), np.float32), np.ones((8, 1), np.float32)

    def work():
        data = tf.data.Dataset.from_tensor_slices((a, b)).map(lambda u, v: (u * 2.0, v)).batch(4)
        model.fit(data, verbose=0)
        model.predict(a, verbose=0)

    _check(work, 40, 12)


def test_kernels_by_attribute():
    """Kernels of calls that never come again do not pile up."""
    n = 0

    def work():
        nonlocal n
        n += 1
        tf.raw_ops.PlaceholderWithDefault(input=x, shape=[None, 4] if n % 2 else [4, None])
        tf.debugging.check_numerics(x, f"message {n}")

    for _ in range(12_000):
        work()
    _check(work, 4000, 0.3)


def test_session_plans():
    with tf.Graph().as_default():
        a = tf.compat.v1.placeholder(tf.float32, [None])
        outputs = [a * float(i) for i in range(700)]
        with tf.compat.v1.Session() as session:
            for y in outputs[:300]:
                session.run(y, {a: [1.0]})
            before = _resident()
            for i, y in enumerate(outputs[300:], 300):
                assert session.run(y, {a: [1.0]}) == [float(i)]
            assert (_resident() - before) / 400 < 4
            assert session.run(outputs[3], {a: [1.0]}) == [3.0]  # its plan went; it is made again


# ---- what is used stays ----------------------------------------------------------------------------------


def test_gradient_after_the_function():
    def forward():
        inner = tf.function(lambda a: a * a * a)

        @tf.function
        def f(a):
            if tf.reduce_sum(a) > 0:
                return tf.reduce_sum(inner(a))
            return tf.reduce_sum(a)

        return f(a)

    a = tf.constant([2.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(a)
        with tf.GradientTape() as tape:
            tape.watch(a)
            y = forward()
        gc.collect()
        first = tape.gradient(y, a)
    gc.collect()
    np.testing.assert_allclose(first, [12.0, 27.0])
    np.testing.assert_allclose(outer.gradient(first, a), [12.0, 18.0])
    np.testing.assert_allclose(outer.gradient(y, a), [12.0, 27.0])


def test_caller_outlives_callee():
    """A trace calls functions whose Python objects were freed: a branch that was never taken, Python code, a gradient of the program's."""

    def make():
        @tf.custom_gradient
        def tripled(a):
            return a * 3.0, lambda d: d * 30.0

        inner = tf.function(lambda a: tripled(a) + tf.numpy_function(lambda b: b * 0.0, [a], tf.float32))

        @tf.function
        def f(a):
            if tf.reduce_sum(a) > 0:
                return inner(a)
            return inner(a) * 2.0

        return f.get_concrete_function(tf.TensorSpec([2]))

    inner = make()
    outer = tf.function(lambda a: inner(a) + 1.0).get_concrete_function(tf.TensorSpec([2]))
    del inner
    gc.collect()
    np.testing.assert_allclose(outer(tf.constant([1.0, 1.0])), [4.0, 4.0])
    np.testing.assert_allclose(outer(tf.constant([-1.0, -1.0])), [-5.0, -5.0])
    a = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = outer(a)
    np.testing.assert_allclose(tape.gradient(y, a), [30.0, 30.0])


def test_trace_outlives_the_trace_around():
    """A function that was first called while another one was traced."""
    doubled = tf.function(lambda a: tf.numpy_function(lambda b: b * np.float32(2.0), [a], tf.float32))

    def around():
        return tf.function(lambda a: doubled(a) + 1.0)(tf.constant([1.0]))

    np.testing.assert_allclose(around(), [3.0])
    gc.collect()
    np.testing.assert_allclose(doubled(tf.constant([4.0])), [8.0])


def test_iterator_outlives_dataset():
    def make():
        late = tf.function(lambda i: i * 100)

        def f(i):
            if i > 2:
                return late(i)
            return i

        return iter(tf.data.Dataset.range(6).map(f, num_parallel_calls=2).prefetch(1))

    iterator = make()
    gc.collect()
    assert [int(v) for v in iterator] == [0, 1, 2, 300, 400, 500]


def test_variant_outlives_dataset():
    """The engine alone holds the dataset."""

    def make():
        late = tf.function(lambda i: i * 100)
        return tf.data.Dataset.range(4).map(lambda i: late(i) if i > 1 else i)._variant_tensor

    variant = make()
    gc.collect()
    spec = dict(output_types=[tf.int64], output_shapes=[[]])
    iterator = tf.raw_ops.AnonymousIteratorV3(**spec)
    tf.raw_ops.MakeIterator(dataset=variant, iterator=iterator)
    del variant
    gc.collect()
    assert [int(tf.raw_ops.IteratorGetNext(iterator=iterator, **spec)[0]) for _ in range(4)] == [0, 1, 200, 300]


def test_function_of_dropped_model(tmp_path):
    tf.saved_model.save(_Module(10), str(tmp_path))
    model = tf.saved_model.load(str(tmp_path))
    call, variables = model.__call__, [model.w, model.table]
    outer = tf.function(lambda a: tf.reduce_sum(call(a))).get_concrete_function(tf.TensorSpec([1, 4]))
    del model, call
    gc.collect()
    a = tf.zeros([1, 4])
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = outer(a)
    np.testing.assert_allclose(y, 0.0)
    np.testing.assert_allclose(tape.gradient(y, a), [[4.0] * 4])
    variables[0].assign(2.0 * variables[0])
    np.testing.assert_allclose(outer(a + 1.0), 4.0 * np.tanh(8.0), rtol=1e-6)


def test_dropped_while_it_runs():
    """Threads call functions that the main thread drops and makes again."""
    failures, current, stop = [], {}, threading.Event()

    def make(n):
        inner = tf.function(lambda a: a + float(n) if tf.reduce_sum(a) > 0 else a)

        @tf.function
        def f(a):
            for _ in tf.range(20):
                a = inner(a) - float(n)
            return a

        return f

    def run():
        a = tf.constant([1.0, 2.0])
        try:
            while not stop.is_set():
                f = current["f"]
                with tf.GradientTape() as tape:
                    tape.watch(a)
                    y = f(a)
                del f
                np.testing.assert_allclose(y, [1.0, 2.0])
                np.testing.assert_allclose(tape.gradient(y, a), [1.0, 1.0])
        except BaseException as e:
            failures.append(e)

    current["f"] = make(0)
    threads = [threading.Thread(target=run) for _ in range(3)]
    for t in threads:
        t.start()
    for n in range(1, 15):
        current["f"] = make(n)
        gc.collect()
    stop.set()
    for t in threads:
        t.join(60)
    assert not failures
    assert not any(t.is_alive() for t in threads)
