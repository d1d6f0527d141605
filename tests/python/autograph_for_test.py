"""for statements on tensors, ranges, ragged tensors, datasets."""

import weft as tf
from autograph_helpers import THREE, run

# --- for ---


def test_for_tensor():
    def f(x):
        total = 0
        for row in x:
            total += tf.reduce_sum(row) * 2
        return total

    def unknown_length(x):
        n = 0
        for row in x:
            n += 1
        return n, row

    assert run(f, tf.constant([[1, 2], [3, 4]])) == 20
    assert run(unknown_length, tf.constant([4, 5]), input_signature=[tf.TensorSpec([None], tf.int32)]) == (2, 5)


def test_for_range():
    def f(n):
        total = 0
        for i in tf.range(n):
            total += i
        return total, i

    def down():
        out = tf.constant(0)
        for i in tf.range(10, 0, -3):
            out = out * 100 + i
        return out

    def step(s):
        out = tf.constant(0)
        for i in tf.range(0, 6, s):
            out = out * 10 + i
        return out

    def python_range(n):
        total = 0
        for i in range(n):
            total += i
        return total

    assert run(f, tf.constant(5)) == (10, 4)
    assert run(down) == 10070401
    assert run(step, tf.constant(2)) == 24
    assert run(python_range, tf.constant(5)) == 10
    assert run(python_range, tf.constant(-5)) == 0
    graph = tf.function(f).get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    assert any(op.type in ("While", "StatelessWhile") for op in graph.get_operations())
    assert not any(op.type.startswith("TensorList") for op in graph.get_operations())


def test_for_break_continue():
    def f(n):
        total = 0
        for i in tf.range(n):
            if i == 2:
                continue
            if i > 5:
                break
            total += i
        return total

    def first_over(x, limit):
        found = -1
        for e in x:
            if e > limit:
                found = e
                break
        return found

    assert run(f, tf.constant(100)) == 0 + 1 + 3 + 4 + 5
    assert run(first_over, tf.constant([1, 5, 7]), tf.constant(4)) == 5
    assert run(first_over, tf.constant([1, 5, 7]), tf.constant(9)) == -1


def test_for_python_iterables():
    def f(x):
        out = []
        for name, scale in {"a": 1, "b": 2}.items():
            out.append(x * scale)
        for i, e in enumerate([x, x]):
            out.append(e + i)
        return out

    def static(x):
        out = []
        for i in range(4):
            if i == 1:
                continue
            if i == 3:
                break
            out.append(x + i)
        return out

    assert run(f, THREE) == [3, 6, 3, 4]
    assert run(static, THREE) == [3, 5]


def test_for_tensor_array():
    def f(n):
        ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            ta = ta.write(i, i * i)
        return ta.stack()

    assert run(f, tf.constant(4)) == [0, 1, 4, 9]


def test_for_ragged():
    def f(r):
        total = 0
        longest = tf.constant(0)
        for row in r:
            total += tf.reduce_sum(row)
            longest = tf.maximum(longest, tf.shape(row)[0])
        return total, longest

    assert run(f, tf.ragged.constant([[1, 2], [], [3, 4, 5]])) == (15, 3)


def test_for_variable_in_loop():
    v = tf.Variable([1, 2, 3])

    def f():
        total = 0
        for e in v:
            total += e
        return total

    assert run(f) == 6


def test_for_gradient():
    @tf.function
    def f(x, n):
        y = x
        for _ in tf.range(n):
            if y < 100.0:
                y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.constant(3))
    assert y.numpy() == 16.0
    assert tape.gradient(y, x).numpy() == 32.0


# --- datasets ---


def test_for_dataset():
    ds = tf.data.Dataset.range(5)

    def f():
        total = tf.constant(0, tf.int64)
        for e in ds:
            total += e
        return total

    def stops():
        total = tf.constant(0, tf.int64)
        for e in ds:
            if e == 1:
                continue
            if e > 3:
                break
            total += e
        return total

    assert run(f) == 10
    assert run(stops) == 5


def test_for_dataset_without_state():
    v = tf.Variable(0, dtype=tf.int64)

    def f():
        for e in tf.data.Dataset.range(4):
            v.assign_add(e)
        return v.read_value()

    assert run(f) == 6


def test_for_dataset_iterator():
    def f(it):
        total = tf.constant(0, tf.int64)
        for e in it:
            total += e
        return total

    def stops(it):
        total = tf.constant(0, tf.int64)
        for e in it:
            if e > 2:
                break
            total += e
        return total

    assert run(f, iter(tf.data.Dataset.range(4))) == 6
    it = iter(tf.data.Dataset.range(6))
    assert run(stops, it) == 3
    assert next(it).numpy() == 4


def test_for_dataset_pairs():
    def f():
        total = 0
        for i, (a, b) in enumerate(tf.data.Dataset.from_tensor_slices(([1, 2], [3, 4]))):
            total += tf.cast(i, tf.int32) + a * b
        return total

    assert run(f) == 0 + 3 + 1 + 8


def test_dataset_builtins():
    ds = tf.data.Dataset.range(3)

    def length():
        return len(ds)

    def zipped():
        total = tf.constant(0, tf.int64)
        for a, b in zip(ds, ds):
            total += a * b
        return total

    def mapped():
        total = tf.constant(0, tf.int64)
        for a in map(lambda e: e + 1, filter(lambda e: e > 0, ds)):
            total += a
        return total

    def any_all():
        return any(ds.map(lambda e: e > 1)), all(ds.map(lambda e: e > 1)), all(ds.map(lambda e: e >= 0))

    assert run(length) == 3
    assert run(zipped) == 5
    assert run(mapped) == 5
    assert run(any_all) == (True, False, True)
