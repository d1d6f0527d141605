"""Errors that name the user's lines; to_graph, to_code and the rest of the interface."""

import os
import subprocess
import sys

import pytest

import weft as tf
from autograph_helpers import Feature, THREE, cause, error, on_weft


def double_if_positive(x):
    if x > 0:
        return x * 2
    else:
        return x


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
    assert text.startswith(
        f'in user code:\n\n    File "{file}", line {here + 2}, in f  *\n        return failing(y)\n'
        f'    File "{file}", line {there + 1}, in failing  *\n        return tf.reshape(x, [7])\n\n    ValueError: '
    )


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
    assert (
        f'    File "{__file__}", line {inner + 2}, in g\n        raise ValueError("from g")\n' in text
        or f'    File "{__file__}", line {inner + 2}, in g  **\n        raise ValueError("from g")\n' in text
    )
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


def test_error_at_run_time_points_at_source():
    def pick(x):
        return tf.gather(x, [5])

    @tf.function
    def f(x):
        if x[0] > 0:
            x = pick(x)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        f(tf.constant([1, 2]))
    text = str(info.value)
    assert text.startswith(
        "Graph execution error:\n\nDetected at node cond/GatherV2 defined at (most recent call last):\n"
    )
    line = f.python_function.__code__.co_firstlineno
    inner = pick.__code__.co_firstlineno
    assert (
        f'  File "{__file__}", line {line + 2}, in f\n\n  File "{__file__}", line {line + 3}, in f\n\n'
        f'  File "{__file__}", line {inner + 1}, in pick\n\nindices[0] = 5 is not in [0, 2)\n'
    ) in text


def test_tensors_kept_from_loops_and_branches():
    def loop(n):
        kept = []
        for i in tf.range(n):
            kept.append(i * 2)
        return kept[0] + 1

    def branch(x):
        kept = []
        if x > 0:
            kept.append(x * 2)
        return kept

    line = loop.__code__.co_firstlineno
    kind, text = cause(loop, THREE)
    assert kind.__name__ == "InaccessibleTensorError" and issubclass(kind, ValueError)
    assert "<tf.Tensor 'while/mul:0' shape=() dtype=int32> is out of scope and cannot be used here. Use return" in text
    assert f'    File "{__file__}", line {line + 2}, in loop\n' in text
    assert error(branch, THREE)[0].__name__ == "InaccessibleTensorError"


def test_use_before_assignment():
    def f(x, flag):
        if flag:
            y = 1
        return y

    assert cause(f, THREE, False) == (UnboundLocalError, "UnboundLocalError: 'y' is used before assignment")


# --- to_graph, to_code and the rest of the interface ---


class Scaled:
    scale = 2

    def method(self, x):
        if x > 0:
            x = x * self.scale
        return x


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
    assert tf.autograph.to_graph(Scaled().method)(Scaled(), THREE).numpy() == 6


def test_to_graph_errors():
    with pytest.raises(
        Exception, match="Cannot apply autograph to a function that doesn't expose a __code__ object"
    ) as info:
        tf.autograph.to_graph(tf.function(double_if_positive))
    assert info.type.__name__ == "ConversionError"


def test_to_code():
    code = tf.autograph.to_code(double_if_positive)
    # The order within nonlocal is that of a set.
    assert (
        code.replace("nonlocal retval_, do_return", "nonlocal do_return, retval_")
        == """def tf__double_if_positive(x):
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
    )


def test_features():
    assert [f.name for f in Feature] == [
        "ALL",
        "AUTO_CONTROL_DEPS",
        "ASSERT_STATEMENTS",
        "BUILTIN_FUNCTIONS",
        "EQUALITY_OPERATORS",
        "LISTS",
        "NAME_SCOPES",
    ]
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
    code = (
        "import weft.autograph as ag, weft._src.autograph as inside, sys\n"
        "ag.experimental.do_not_convert, ag.to_graph, inside.tf_convert, inside.convert_for_tracing(lambda x: x)\n"
        "assert 'malt' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


@on_weft
def test_long_python_loops_are_warned_of(monkeypatch, caplog):
    from weft._src.autograph import control_flow

    monkeypatch.setattr(control_flow, "UNROLLED_ITERATIONS", 12)
    monkeypatch.setattr(tf.get_logger(), "propagate", True)

    def adds(x, n):
        for _ in range(n):
            x = x + 1
        return x

    def counts(x, n):
        i = 0
        while i < n:
            i += 1
        return x

    tf.function(counts)(THREE, 14)
    tf.function(adds)(THREE, 11)
    assert not caplog.records
    tf.function(adds)(THREE, 14)
    assert len(caplog.records) == 1
    text = caplog.records[0].getMessage()
    assert text.startswith(
        "Large unrolled loop detected. Did you mean to use a TF loop? The following ops were created"
    )


def test_unconverted_functions_are_warned_of(caplog):
    tf.get_logger().propagate = True

    def g(x):
        for i in range(2):
            x = x + i
        else:
            x = x * 2
        return x

    assert tf.function(lambda x: g(x))(THREE).numpy() == 8
    text = caplog.records[-1].getMessage()
    assert text.startswith(
        "AutoGraph could not transform <function test_unconverted_functions_are_warned_of.<locals>.g at 0x"
    )
    assert text.endswith(
        " and will run it as-is.\nCause: for/else statement not yet supported\nTo silence this warning, decorate the"
        " function with @tf.autograph.experimental.do_not_convert"
    )
