"""tf.autograph: every expected value and text was checked on TensorFlow, where this file runs as well (with `weft` naming it)."""

import collections
import functools
import io
import os
import subprocess
import sys
import contextlib

import numpy as np
import pytest

import weft as tf

Feature = tf.autograph.experimental.Feature
on_weft = pytest.mark.skipif(tf.__name__ != "weft", reason="about weft itself")


def run(f, *args, **options):
    """The result of `f` as a function, in numpy."""
    result = tf.function(f, **options)(*args)
    return tf.nest.map_structure(lambda t: np.asarray(t.numpy()).tolist() if tf.is_tensor(t) else t, result)


def error(f, *args, **options):
    """Type and text of what `f` raises when it is traced."""
    with pytest.raises(Exception) as info:
        tf.function(f, **options)(*args)
    return type(info.value), str(info.value)


def cause(f, *args, **options):
    """Type and last part of the text, after the lines of source."""
    kind, text = error(f, *args, **options)
    assert text.startswith("in user code:\n\n    File ")
    lines = text.rstrip("\n").split("\n")
    last_code = max(i for i, line in enumerate(lines) if line.startswith('    File "'))
    return kind, "\n".join(line[4:] for line in lines[last_code + 3:])


THREE = tf.constant(3)


# --- if ---


def test_if_else():

    def f(x):
        if x > 2:
            y = x * 10
        elif x > 1:
            y = x * 100
        else:
            y = -x
        return y

    assert [run(f, tf.constant(n)) for n in (1, 2, 3)] == [-1, 200, 30]


def test_if_is_staged():

    def f(x):
        if x > 2:
            x = x + 1
        return x

    graph = tf.function(f).get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    assert any(op.type in ("If", "StatelessIf") for op in graph.get_operations())
    assert run(f, THREE) == 4


def test_if_without_outputs():
    v = tf.Variable(0)

    def f(x):
        if x > 0:
            v.assign_add(5)
        return x

    run(f, tf.constant(1))
    run(f, tf.constant(-1))
    assert v.numpy() == 5


def test_if_nested_and_structures():

    def f(x):
        pair = (x, {"a": x})
        if x > 0:
            if x > 2:
                pair = (x + 1, {"a": x * 2})
            else:
                pair = (x + 2, {"a": x * 3})
        return pair

    assert run(f, THREE) == (4, {"a": 6})
    assert run(f, tf.constant(1)) == (3, {"a": 3})
    assert run(f, tf.constant(-1)) == (-1, {"a": -1})


def test_if_python_value():

    def f(x, flag):
        if flag:
            return x + 1
        else:
            return "no"

    assert run(f, THREE, True) == 4


def test_if_object_attribute():

    class Box:
        pass

    def f(x):
        box = Box()
        box.value = x
        if x > 1:
            box.value = x * 2
        return box.value

    assert run(f, THREE) == 6
    assert run(f, tf.constant(1)) == 1


def test_if_shapes_differ():

    def f(x):
        if x > 0:
            y = tf.ones([2])
        else:
            y = tf.ones([3])
        return y

    assert run(f, THREE) == [1, 1]
    shape = tf.function(f).get_concrete_function(tf.TensorSpec([], tf.int32)).structured_outputs.shape
    assert shape.as_list() == [None]


def test_if_condition_of_one_element():

    def f(x):
        if x:
            return 1
        else:
            return 2

    assert run(f, tf.constant([[True]])) == 1


def test_early_returns():

    def f(x):
        if x > 5:
            return x
        if x > 2:
            return x * 10
        y = x + 100
        return y

    assert [run(f, tf.constant(n)) for n in (6, 3, 1)] == [6, 30, 101]


def test_return_none_everywhere():

    def f(x):
        if x > 5:
            tf.print("")
        return

    assert run(f, THREE) is None


def test_conditional_expression():

    def f(x):
        return (x if x > 0 else -x) + (1 if True else 2)

    assert run(f, tf.constant(-3)) == 4


# --- errors of if ---


def test_undefined_in_branch():

    def without_else(x):
        if x > 0:
            y = 1
        return y

    def other_variable(x):
        if x > 0:
            y = 1
        else:
            z = 2
        return y

    def main(x):
        if x > 0:
            pass
        else:
            y = 2
        return y

    assert cause(without_else, THREE) == (ValueError, "ValueError: 'y' must also be initialized in the else branch")
    assert cause(other_variable, THREE) == (ValueError, "ValueError: 'y' must also be initialized in the else branch")
    assert cause(main, THREE) == (ValueError, "ValueError: 'y' must also be initialized in the main branch")


def test_missing_return():

    def f(x):
        if x > 0:
            return 1

    assert cause(f, THREE) == (ValueError, "ValueError: the else branch must also have a return statement.")


def test_none_in_branch():

    def f(x):
        y = None
        if x > 0:
            y = 1
        return y

    assert cause(f, THREE) == (ValueError, "ValueError: 'y' is None at the end of the else branch.")


def test_branches_differ():

    def dtype(x):
        if x > 0:
            y = 1
        else:
            y = 2.0
        return y

    def structure(x):
        if x > 0:
            y = (1, 2)
        else:
            y = (1, 2, 3)
        return y

    def expression(x):
        return 1 if x > 0 else 2.0

    assert cause(dtype, THREE) == (TypeError, "TypeError: 'y' has dtype int32 in the main branch, but dtype float32 in the else branch")
    assert cause(expression, THREE) == (
        TypeError, "TypeError: 'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch")
    kind, text = cause(structure, THREE)
    assert kind is TypeError
    assert text.startswith("TypeError: 'y' must have the same nested structure in the main and else branches:\n\n"
                           "The two structures don't have the same nested structure.")


def test_bad_conditions():

    def number(x):
        if x:
            pass
        return x

    def vector(x):
        if x > 0:
            pass
        return x

    assert cause(number, THREE) == (
        ValueError, 'ValueError: condition of if statement expected to be `tf.bool` scalar, got Tensor("x:0", shape=(), dtype=int32)'
        "; to use as boolean Tensor, use `tf.cast`; to check for None, use `is not None`")
    kind, text = cause(vector, tf.constant([1, 2]))
    assert kind is ValueError
    assert text == ('ValueError: condition of if statement expected to be `tf.bool` scalar, got Tensor("Greater:0", shape=(2,), dtype=bool)'
                    "; to check for None, use `is not None`")


# --- while ---


def test_while():

    def f(x):
        total = 0
        while x > 0:
            total += x
            x -= 1
        return total, x

    assert run(f, tf.constant(4)) == (10, 0)


def test_while_python():

    def f(x, n):
        while n > 0:
            x += n
            n -= 1
        return x, n

    result, n = tf.function(f)(THREE, 3)
    assert result.numpy() == 9 and n.numpy() == 0


def test_while_break_continue():

    def f(x):
        total = 0
        i = 0
        while i < x:
            i += 1
            if i % 2 == 0:
                continue
            if i > 6:
                break
            total += i
        return total, i

    assert run(f, tf.constant(20)) == (9, 7)


def test_return_in_loop():

    def f(x):
        while x < 100:
            x *= 2
            return x

    def conditional(x):
        while x < 100:
            x *= 2
            if x > 30:
                return x
        return -x

    assert run(f, THREE) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize the function return value"):
        run(f, tf.constant(200))
    assert cause(conditional, THREE)[0] is NotImplementedError


def test_while_defines_variable():

    def f(x):
        while x > 0:
            z = x
            x -= 1
        return z

    assert run(f, THREE) == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize z"):
        tf.function(f)(tf.constant(0))


def test_while_nested():

    def f(n):
        total = 0
        i = 0
        while i < n:
            j = 0
            while j < i:
                total += j
                j += 1
            i += 1
        return total

    assert run(f, tf.constant(5)) == sum(j for i in range(5) for j in range(i))


def test_while_condition_and():

    def f(x, y):
        while x > 0 and y > 0:
            x -= 1
            y -= 2
        return x, y

    assert run(f, tf.constant(10), tf.constant(5)) == (7, -1)


def test_while_condition_is_traced_without_leftovers():
    seen = []

    def f(x):
        while g(x):
            x -= 1
        return x

    def g(x):
        seen.append(1)
        return x > 0

    graph = tf.function(f).get_concrete_function(tf.TensorSpec([], tf.int32)).graph
    assert "Greater" not in [op.type for op in graph.get_operations()]
    assert len(seen) == 2


def test_loop_options():

    def f(x):
        v = tf.constant([0])
        i = 0
        while i < x:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(v, tf.TensorShape([None]))], parallel_iterations=1)
            v = tf.concat([v, [i]], 0)
            i += 1
        return v

    def limited():
        n = 0
        for _ in tf.range(10):
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            n += 1
        return n

    assert run(f, THREE) == [0, 0, 1, 2]
    assert run(limited) == 3


def test_loop_errors():

    def dtype(x):
        y = 1
        while x > 0:
            y = 2.0
            x = x - 1
        return y

    def shape(x):
        y = tf.zeros([1])
        while x > 0:
            y = tf.concat([y, y], 0)
            x = x - 1
        return y

    def undefined(x):
        while x > 0:
            z = z + 1
            x = x - 1
        return z

    def none(x):
        y = 1
        while x > 0:
            y = None
            x = x - 1
        return y

    def structure(x):
        y = [1]
        while x > 0:
            y = [1, 2]
            x = x - 1
        return y

    def number(x):
        while x:
            x -= 1
        return x

    def invariant(x):
        y = tf.zeros([1])
        while x > 0:
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([2]))])
            x -= 1
            y = y + 1
        return y

    def none_before(x):
        y = None
        while x > 0:
            x -= 1
            if y is not None:
                y = x
        return y

    def returns_none(x):
        for i in tf.range(x):
            return None

    assert cause(dtype, THREE) == (TypeError, "TypeError: 'y' has dtype int32 before the loop, but dtype float32 after one iteration")
    assert cause(shape, THREE) == (ValueError, "ValueError: 'y' has shape (1,) before the loop, but shape (2,) after one iteration."
                                   " Use tf.autograph.experimental.set_loop_options to set shape invariants.")
    assert cause(undefined, THREE) == (ValueError, "ValueError: 'z' must be defined before the loop\nNote: AutoGraph tried to define it"
                                       " automatically, but ran into a UnboundLocalError: 'z' is used before assignment")
    assert cause(none, THREE) == (ValueError, "ValueError: 'y' is None at the end of the iteration.")
    kind, text = cause(structure, THREE)
    assert kind is TypeError and text.startswith("TypeError: 'y' does not have the same nested structure after one iteration.\n\nThe two ")
    kind, text = cause(number, THREE)
    assert kind is ValueError and text.startswith("ValueError: condition of while loop expected to be `tf.bool` scalar, got Tensor(")
    assert cause(invariant, THREE) == (ValueError, "ValueError: 'y' has shape (1,) before the loop, which does not conform with the shape"
                                       " invariant (2,).")
    assert cause(none_before, THREE) == (ValueError, "ValueError: 'y' is not allowed to be None before the loop")
    kind, text = cause(returns_none, THREE)
    assert kind is NotImplementedError and text == (
        "NotImplementedError: a return statement cannot be placed inside this TensorFlow loop; this may happen if a return statement"
        " depends on a static Python condition such as a hyperparameter")


def test_python_loops_that_tensors_would_end():

    def for_(x):
        for i in range(3):
            if x > 0:
                break
        return i

    def while_(x):
        i = 0
        while i < 3:
            i += 1
            if x > 0:
                break
        return i

    kind, text = cause(for_, THREE)
    assert kind is NotImplementedError and text.startswith(
        "NotImplementedError: break and return statements which depend on a TF condition are not supported in Python for loops. Did you intend"
        " to make it a TF loop?\nSee https://github.com/tensorflow/tensorflow/")
    kind, text = cause(while_, THREE)
    assert kind is NotImplementedError and text.startswith(
        "NotImplementedError: The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either")


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


# --- what is converted ---


def double_if_positive(x):
    if x > 0:
        return x * 2
    else:
        return x


class Callable:

    def __init__(self, x):
        if x > 2:  # a constructor is not converted
            self.scale = 2
        else:
            self.scale = 3

    def method(self, x):
        return double_if_positive(x) * self.scale

    def __call__(self, x):
        if x > 0:
            return x + self.scale
        else:
            return x

    @classmethod
    def of_class(cls, x):
        if x > 0:
            x = -x
        return x

    @staticmethod
    def static(x):
        if x > 0:
            x = -x
        return x


class Derived(Callable):

    def __call__(self, x):
        y = super().__call__(x)
        if y > 4:
            y = y * 10
        return y


def test_recursive_conversion():
    c = Callable(5)

    def f(x):
        return double_if_positive(x), c(x), c.method(x), Callable.of_class(x), Callable.static(x), Derived(1)(x)

    assert run(f, THREE) == (6, 5, 12, -3, -3, 60)


def test_partial_lambda_closure():
    scale = 10

    def scaled(x, by, plus=0):
        if x > 0:
            x = x * by * scale + plus
        return x

    part = functools.partial(scaled, by=2, plus=1)
    choose = lambda x: x if x > 100 else -x

    def f(x):
        return functools.partial(part, plus=3)(x), part(x), choose(x)

    assert run(f, THREE) == (63, 61, -3)
    assert run(functools.partial(scaled, by=2), THREE) == 60
    assert run(lambda x: x if x > 2 else -x, THREE) == 3


def test_closure_is_read_at_call():
    value = [1]

    def make(k):

        def g(x):
            if x > 0:
                x = x + k
            return x

        return g

    one, two = make(1), make(2)
    assert run(one, THREE) == 4
    assert run(two, THREE) == 5
    assert value == [1]


def test_recursion():

    def power(x, n):
        if n == 0:
            return tf.constant(1)
        if x > 100:
            return tf.constant(-1)
        return x * power(x, n - 1)

    assert run(power, THREE, 3) == 27


def test_decorated():

    def twice(g):

        @functools.wraps(g)
        def wrapper(x):
            if x > 0:
                x = g(x)
            return g(x)

        return wrapper

    @twice
    def f(x):
        if x > 3:
            return x + 10
        else:
            return x + 1

    assert run(f, THREE) == 14


def test_do_not_convert():

    @tf.autograph.experimental.do_not_convert
    def g(x):
        if x > 0:
            return 1
        return 2

    @tf.autograph.experimental.do_not_convert()
    def h(x):
        return double_if_positive(x)

    assert error(lambda x: g(x), THREE)[0] is tf.errors.OperatorNotAllowedInGraphError
    assert error(lambda x: h(x), THREE)[0] is tf.errors.OperatorNotAllowedInGraphError
    assert error(double_if_positive, THREE, autograph=False)[0] is tf.errors.OperatorNotAllowedInGraphError
    assert g(1) == 1


def test_namedtuples_and_generators():
    Pair = collections.namedtuple("Pair", ("a", "b"))

    def generate(x):
        for i in range(2):
            yield x + i

    def f(x):
        p = Pair(x, b=x + 1)._replace(a=x * 2)
        return p, list(generate(x)), [e for e in generate(x)], np.prod([1, 2])

    result = tf.function(f)(THREE)
    assert type(result[0]) is Pair and result[0].a.numpy() == 6 and result[0].b.numpy() == 4
    assert [t.numpy() for t in result[1] + result[2]] == [3, 4, 3, 4]


def test_frame_functions():

    def f(x):
        y = x + 1
        z = eval("y * 2")
        if x > 0:
            w = z
        else:
            w = y
        return w, "y" in locals(), "THREE" in globals()

    result = tf.function(f)(THREE)
    assert result[0].numpy() == 8 and bool(result[1]) and bool(result[2])


def test_nested_function_and_tf_function():

    @tf.function
    def inner(x):
        if x > 0:
            return x + 1
        else:
            return x

    def f(x):

        def local(y):
            if y > 3:
                y = inner(y)
            return y

        return local(x + 1) + inner(x)

    assert run(f, THREE) == 9


def test_functions_given_to_functions():

    def f(x):
        mapped = tf.map_fn(lambda e: e * 2 if e > 1 else e, x)
        chosen = tf.cond(x[0] > 0, lambda: double_if_positive(x[1]), lambda: 0)
        return mapped, chosen

    assert run(f, tf.constant([1, 2, 3])) == ([1, 4, 6], 4)
    ds = tf.data.Dataset.range(3).map(lambda e: e * 10 if e > 1 else e)
    assert [e.numpy() for e in ds] == [0, 1, 20]


def test_with_try_del():

    def f(x):
        with tf.name_scope("a"):
            if x > 0:
                x = x + 1
        try:
            if x > 0:
                y = x
            else:
                y = -x
        finally:
            x = x + 1
        z = 1
        del z
        return x, y

    assert run(f, THREE) == (5, 4)


def test_comprehensions_and_star_arguments():

    def g(*args, **kwargs):
        return sum(args) + kwargs["k"]

    def f(x):
        values = [x + i for i in range(2)]
        return g(*values, k=1), g(x, *values, **{"k": 2}), {i: x for i in range(1)}

    assert run(f, THREE) == (8, 12, {0: 3})


# --- errors in the user's code ---


def failing(x):
    return tf.reshape(x, [7])


def test_error_points_at_source():

    def f(x):
        y = x + 1
        return failing(y)

    kind, text = error(f, tf.constant([1, 2]))
    here = f.__code__.co_firstlineno
    there = failing.__code__.co_firstlineno
    file = __file__
    assert kind is ValueError
    assert text.startswith(f'in user code:\n\n    File "{file}", line {here + 2}, in f  *\n        return failing(y)\n'
                           f'    File "{file}", line {there + 1}, in failing  *\n        return tf.reshape(x, [7])\n\n    ValueError: ')


def test_error_in_unconverted_function():

    @tf.autograph.experimental.do_not_convert
    def g(x):
        raise ValueError("from g")

    def f(x):
        if x > 0:
            x = g(x)
        return x

    kind, text = error(f, THREE)
    line = f.__code__.co_firstlineno
    inner = g.__wrapped__.__code__.co_firstlineno
    assert kind is ValueError
    assert f'    File "{__file__}", line {line + 2}, in f  *\n        x = g(x)\n' in text
    assert f'    File "{__file__}", line {inner + 2}, in g\n        raise ValueError("from g")\n' in text or \
        f'    File "{__file__}", line {inner + 2}, in g  **\n        raise ValueError("from g")\n' in text
    assert text.endswith("\n\n    ValueError: from g\n")


class Simple(Exception):
    pass


class Special(Exception):

    def __init__(self, a, b):
        super().__init__(a)


def test_error_types():

    def raises(e):

        def f(x):
            raise e

        return f

    assert cause(raises(Simple("a")), THREE) == (Simple, "Simple: a")
    kind, text = cause(raises(Special(1, 2)), THREE)
    assert kind.__name__ == "StagingError" and text == "Special: 1"
    kind, text = cause(raises(KeyError("k")), THREE)
    assert issubclass(kind, KeyError) and text == "KeyError: 'k'"
    assert cause(raises(NameError("n")), THREE) == (NameError, "NameError: n")
    assert cause(raises(IndexError("i")), THREE)[0].__name__ == "StagingError"
    kind, text = cause(raises(tf.errors.NotFoundError(None, None, "lost")), THREE)
    assert kind is tf.errors.NotFoundError and text == "NotFoundError: lost"
    assert cause(lambda x: x + undefined_name, THREE) == (NameError, "NameError: name 'undefined_name' is not defined")  # noqa: F821


def test_use_before_assignment():

    def f(x, flag):
        if flag:
            y = 1
        return y

    assert cause(f, THREE, False) == (UnboundLocalError, "UnboundLocalError: 'y' is used before assignment")


# --- to_graph, to_code and the rest of the interface ---


def test_to_graph():
    g = tf.autograph.to_graph(double_if_positive)
    assert g.__name__ == "tf__double_if_positive"
    assert g(tf.constant(4)).numpy() == 8
    assert g(-4) == -4

    def count(x):
        while x > 0:
            x -= 2
        return x

    assert tf.autograph.to_graph(count)(tf.constant(5)).numpy() == -1
    assert tf.autograph.to_graph(Callable(5).method)(Callable(1), THREE).numpy() == 18


def test_to_graph_errors():
    with pytest.raises(Exception, match="Cannot apply autograph to a function that doesn't expose a __code__ object") as info:
        tf.autograph.to_graph(tf.function(double_if_positive))
    assert info.type.__name__ == "ConversionError"


def test_to_code():
    code = tf.autograph.to_code(double_if_positive)
    # The order within nonlocal is that of a set.
    assert code.replace("nonlocal retval_, do_return", "nonlocal do_return, retval_") == """def tf__double_if_positive(x):
    with ag__.FunctionScope('double_if_positive', 'fscope', ag__.ConversionOptions(recursive=True, user_requested=True, \
optional_features=(), internal_convert_user_code=True)) as fscope:
        do_return = False
        retval_ = ag__.UndefinedReturnValue()

        def get_state():
            return (do_return, retval_)

        def set_state(vars_):
            nonlocal do_return, retval_
            do_return, retval_ = vars_

        def if_body():
            nonlocal do_return, retval_
            try:
                do_return = True
                retval_ = ag__.ld(x) * 2
            except:
                do_return = False
                raise

        def else_body():
            nonlocal do_return, retval_
            try:
                do_return = True
                retval_ = ag__.ld(x)
            except:
                do_return = False
                raise
        ag__.if_stmt(ag__.ld(x) > 0, if_body, else_body, get_state, set_state, ('do_return', 'retval_'), 2)
        return fscope.ret(retval_, do_return)
"""


def test_features():
    assert [f.name for f in Feature] == ["ALL", "AUTO_CONTROL_DEPS", "ASSERT_STATEMENTS", "BUILTIN_FUNCTIONS", "EQUALITY_OPERATORS", "LISTS",
                                         "NAME_SCOPES"]
    assert Feature.LISTS not in Feature.all_but(Feature.LISTS) and len(Feature.all()) == 7

    def named(x):
        return tf.identity(x, name="here")

    options = {"experimental_autograph_options": Feature.NAME_SCOPES}
    graph = tf.function(named, **options).get_concrete_function(tf.TensorSpec([])).graph
    assert "named/here" in [op.name for op in graph.get_operations()]


def test_trace(capsys):

    def f(x):
        tf.autograph.trace("traced", 1)
        return x

    g = tf.function(f)
    g(THREE)
    g(THREE)
    assert capsys.readouterr().out == "traced 1\n"


def test_no_source():
    space = {"tf": tf}
    exec("def f(x):\n    if x > 0:\n        return x\n    return -x\n", space)
    assert error(lambda x: space["f"](x), THREE)[0] is tf.errors.OperatorNotAllowedInGraphError


@on_weft
def test_import_is_lazy():
    code = ("import weft.autograph as ag, sys\n"
            "ag.experimental.do_not_convert, ag.to_graph, ag.tf_convert, ag.convert_for_tracing(lambda x: x)\n"
            "assert 'malt' not in sys.modules\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
