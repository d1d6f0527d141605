"""Expressions, built-in functions, lists, print and assert on tensors."""

import contextlib
import io

import pytest

import weft as tf
from autograph_helpers import Feature, THREE, cause, error, run

# --- expressions ---


def test_logic():
    def f(x, y):
        return (x > 0 and y > 0), (x > 0 or y > 0), not x > 0, not (x > 0 and True)

    assert run(f, tf.constant(1), tf.constant(-1)) == (False, True, False, False)


def test_logic_python():
    def f(x):
        return (None or x), ([] and x), (not [])

    result = tf.function(f)(THREE)
    assert result[0].numpy() == 3 and result[1] == [] and bool(result[2])


def test_chained_comparison():
    def f(x):
        if 0 < x < 5:
            return 1
        else:
            return 2

    assert run(f, THREE) == 1
    assert run(f, tf.constant(7)) == 2


def test_equality():
    def f(x):
        if x == 3:
            return x != 4
        else:
            return x != 3

    assert run(f, THREE) is True
    assert run(f, THREE, experimental_autograph_options=Feature.EQUALITY_OPERATORS) is True


def test_builtins():
    def f(x):
        return len(x), abs(x), float(x[0]), int(2.5), range(3)[1], len([1, 2]), sorted([2, 1])

    def strings(s):
        return int(s), float(s)

    def order(x):
        return sorted(x), sorted(x, key=lambda e: -e), sorted(x, reverse=True)

    def dynamic(x):
        return len(x)

    result = tf.function(f)(tf.constant([-1, 2]))
    assert result[0].numpy() == 2
    assert result[1].numpy().tolist() == [1, 2]
    assert result[2].dtype == tf.float32 and result[2].numpy() == -1.0
    assert run(strings, tf.constant("12")) == (12, 12.0)
    assert run(order, tf.constant([3, 1, 2])) == ([1, 2, 3], [3, 2, 1], [3, 2, 1])
    assert run(dynamic, tf.zeros([4, 2]), input_signature=[tf.TensorSpec(None)]) == 4
    assert run(dynamic, tf.zeros([4, 2]), input_signature=[tf.TensorSpec([None, 2])]) == 4
    with pytest.raises(tf.errors.InvalidArgumentError, match="len requires non-zero rank, got 0"):
        run(dynamic, tf.zeros([]), input_signature=[tf.TensorSpec(None)])
    kind, text = cause(dynamic, tf.zeros([]))
    assert kind is ValueError and text.startswith("ValueError: len requires a non-scalar tensor, got one of shape")


def test_python_max_is_not_converted():
    def f(x):
        return max(x, tf.constant(5))

    assert error(f, THREE)[0] is tf.errors.OperatorNotAllowedInGraphError


def test_print():
    def f(x):
        print("at", x)
        return x

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(f, THREE)
    assert out.getvalue() == 'at Tensor("x:0", shape=(), dtype=int32)\n'
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(f, THREE, experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)
    assert out.getvalue() == "at 3\n"


def test_assert():
    def f(x):
        assert x > 0, "must be positive"
        return x

    def python(x, flag):
        assert flag, "no"
        return x

    with_asserts = {"experimental_autograph_options": Feature.ASSERT_STATEMENTS}
    assert error(f, THREE)[0] is tf.errors.OperatorNotAllowedInGraphError
    assert run(f, THREE, **with_asserts) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
        run(f, tf.constant(-1), **with_asserts)
    assert cause(python, THREE, False, **with_asserts) == (AssertionError, "AssertionError: no")


# --- lists and items ---


def test_lists():
    def f(n):
        out = []
        for i in tf.range(n):
            out.append(i)
        return len(out)

    def python(x):
        out = [x]
        out.append(x + 1)
        last = out.pop()
        return last, len(out)

    lists = {"experimental_autograph_options": Feature.LISTS}
    assert run(python, THREE) == (4, 1)
    assert run(python, THREE, **lists) == (4, 1)


def test_items():
    def f(x, i):
        y = x[i]
        x[i] = 10
        return x, y

    def text(s):
        return s[1]

    lists = {"experimental_autograph_options": Feature.LISTS}
    assert run(f, tf.constant([1, 2, 3]), tf.constant(1), **lists) == ([1, 10, 3], 2)
    assert run(text, tf.constant("abc"), **lists) == b"b"
    assert "does not support item assignment" in error(f, tf.constant([1, 2, 3]), tf.constant(1))[1]


def test_numbers_that_do_not_fit():
    def expected(f):
        return cause(f, THREE)[1]

    fits = "Expected int32, but got 1.5 of type 'float'."
    assert expected(lambda x: x * 1.5) == (
        f"TypeError: Expected int32 passed to parameter 'y' of op 'Mul', got 1.5 of type 'float' instead. Error: {fits}"
    )
    assert expected(lambda x: x > 1.5).startswith(
        "TypeError: Expected int32 passed to parameter 'y' of op 'Greater', got 1.5"
    )
    assert expected(lambda x: 1.5 * x) == f"TypeError: {fits}"
    assert expected(lambda x: x * [1, 1.5]).endswith(f"got [1, 1.5] of type 'list' instead. Error: {fits}")
    assert expected(lambda x: x + None) == "ValueError: None values not supported."
    assert expected(lambda x: x - None) == (
        "ValueError: Tried to convert 'y' to a tensor and failed. Error: None values not supported."
    )
    assert run(lambda x: (x * 2, 2 * x, x > 1, [1, 2] * x), THREE) == (6, 6, True, [3, 6])
