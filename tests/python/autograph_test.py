"""if and while statements on tensors."""

import pytest

import weft as tf
from autograph_helpers import THREE, cause, run

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

    assert cause(dtype, THREE) == (
        TypeError,
        "TypeError: 'y' has dtype int32 in the main branch, but dtype float32 in the else branch",
    )
    assert cause(expression, THREE) == (
        TypeError,
        "TypeError: 'x > 0' has dtype int32 in the main branch, but dtype float32 in the else branch",
    )
    kind, text = cause(structure, THREE)
    assert kind is TypeError
    assert text.startswith(
        "TypeError: 'y' must have the same nested structure in the main and else branches:\n\n"
        "The two structures don't have the same nested structure."
    )


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
        ValueError,
        'ValueError: condition of if statement expected to be `tf.bool` scalar, got Tensor("x:0", shape=(), dtype=int32)'
        "; to use as boolean Tensor, use `tf.cast`; to check for None, use `is not None`",
    )
    kind, text = cause(vector, tf.constant([1, 2]))
    assert kind is ValueError
    assert text == (
        'ValueError: condition of if statement expected to be `tf.bool` scalar, got Tensor("Greater:0", shape=(2,), dtype=bool)'
        "; to check for None, use `is not None`"
    )


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
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize the function return value"
    ):
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
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(v, tf.TensorShape([None]))], parallel_iterations=1
            )
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

    assert cause(dtype, THREE) == (
        TypeError,
        "TypeError: 'y' has dtype int32 before the loop, but dtype float32 after one iteration",
    )
    assert cause(shape, THREE) == (
        ValueError,
        "ValueError: 'y' has shape (1,) before the loop, but shape (2,) after one iteration."
        " Use tf.autograph.experimental.set_loop_options to set shape invariants.",
    )
    assert cause(undefined, THREE) == (
        ValueError,
        "ValueError: 'z' must be defined before the loop\nNote: AutoGraph tried to define it"
        " automatically, but ran into a UnboundLocalError: 'z' is used before assignment",
    )
    assert cause(none, THREE) == (ValueError, "ValueError: 'y' is None at the end of the iteration.")
    kind, text = cause(structure, THREE)
    assert kind is TypeError and text.startswith(
        "TypeError: 'y' does not have the same nested structure after one iteration.\n\nThe two "
    )
    kind, text = cause(number, THREE)
    assert kind is ValueError and text.startswith(
        "ValueError: condition of while loop expected to be `tf.bool` scalar, got Tensor("
    )
    assert cause(invariant, THREE) == (
        ValueError,
        "ValueError: 'y' has shape (1,) before the loop, which does not conform with the shape invariant (2,).",
    )
    assert cause(none_before, THREE) == (ValueError, "ValueError: 'y' is not allowed to be None before the loop")
    kind, text = cause(returns_none, THREE)
    assert kind is NotImplementedError and text == (
        "NotImplementedError: a return statement cannot be placed inside this TensorFlow loop; this may happen if a return"
        " statement"
        " depends on a static Python condition such as a hyperparameter"
    )


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
        "NotImplementedError: break and return statements which depend on a TF condition are not supported in Python for"
        " loops. Did you intend"
        " to make it a TF loop?\nSee https://github.com/tensorflow/tensorflow/"
    )
    kind, text = cause(while_, THREE)
    assert kind is NotImplementedError and text.startswith(
        "NotImplementedError: The condition of while loop started as non-Tensor, then changed to Tensor. This may happen"
    )
