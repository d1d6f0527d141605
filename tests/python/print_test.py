"""tf.print. The expected text was recorded from TensorFlow."""

import collections
import sys

import numpy as np
import pytest

import weft as tf

Point = collections.namedtuple("Point", "x y")


def show(*args, **kwargs):
    tf.print(*args, output_stream=sys.stdout, **kwargs)


def everything():
    show("hello", 1, 2.5, True, None, "x")
    show(tf.constant(1), tf.constant([1, 2, 3]), tf.constant(2.5), tf.constant("s"), tf.constant(["a", "b"]))
    show(tf.constant("alone"))
    show(tf.range(10), summarize=2)
    show(tf.range(10))
    show(tf.range(10), summarize=-1)
    show(tf.reshape(tf.range(8), [2, 2, 2]))
    show(
        [1, 2, tf.constant(3)],
        (tf.constant(1), "a"),
        {"k": tf.constant([1.0, 2.0]), "b": [1, {"z": tf.constant(True)}]},
    )
    show("a", "b", sep="|")
    show(tf.constant(1), tf.constant(2), sep=", ", end="<>\n")
    show()
    show("%s %d {}", "{}", tf.constant(1))
    show(
        tf.constant(1e10),
        tf.constant(1e-5),
        tf.constant(0.1, tf.float64),
        tf.constant(1 / 3),
        tf.constant([1.0, 100000.0, 1e6, 1e7]),
    )
    show(np.array([1, 2]), object, int)
    show([], (), {}, [[]])
    show(Point(tf.constant(1), 2), collections.OrderedDict(b=tf.constant(1), a=2))
    show(tf.constant([["a", "bb"], ["c", "d"]]))
    show("n:", tf.constant([1]), [tf.constant([1, 2])])


EXPECTED = """hello 1 2.5 True None x
1 [1 2 3] 2.5 "s" ["a" "b"]
alone
[0 1 ... 8 9]
[0 1 2 ... 7 8 9]
[0 1 2 3 4 5 6 7 8 9]
[[[0 1]
  [2 3]]

 [[4 5]
  [6 7]]]
[1, 2, 3] (1, 'a') {'b': [1, {'z': 1}], 'k': [1 2]}
a|b
1, 2<>

%s %d {} {} 1
1e+10 1e-05 0.1 0.333333343 [1 100000 1e+06 1e+07]
array([1, 2]) <class 'object'> <class 'int'>
[] () {} [[]]
Point(x=1, y=2) OrderedDict([('b', 1), ('a', 2)])
[["a" "bb"]
 ["c" "d"]]
n: [1] [[1 2]]
""".replace(
    "OrderedDict([('b', 1), ('a', 2)])",
    repr(collections.OrderedDict(b=1, a=2)),  # Python 3.12 writes it otherwise
)


def test_text(capsys):
    everything()
    assert capsys.readouterr().out == EXPECTED
    tf.function(everything, autograph=False)()
    assert capsys.readouterr().out == EXPECTED


def test_order_with_python(capsys):
    @tf.function
    def f(x):
        print("traced")
        tf.print("run", x, output_stream=sys.stdout)
        return x

    print("before")
    f(tf.constant(1))
    print("after")
    assert capsys.readouterr().out == "before\ntraced\nrun 1\nafter\n"


def test_streams(capsys, tmp_path):
    tf.print("to stderr")
    assert capsys.readouterr().err == "to stderr\n"
    path = tmp_path / "out.txt"
    tf.print("one", tf.constant(1), output_stream=f"file://{path}")
    tf.function(lambda: tf.print("two", output_stream=f"file://{path}") and None)()
    assert path.read_text() == "one 1\ntwo\n"


def test_errors():
    for options, kind, text in (
        (
            dict(output_stream=3),
            ValueError,
            "Unsupported output stream, logging level, or file.3. Supported streams are sys.stdout, "
            "sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in the form of 'file://<filepath>'.",
        ),
        (dict(foo=1), ValueError, "Unrecognized keyword arguments for tf.print: {'foo': 1}"),
        (dict(summarize="a"), TypeError, "Expected int for argument 'summarize' not 'a'."),
        (dict(sep=3), AttributeError, "'int' object has no attribute 'join'"),
    ):
        with pytest.raises(kind) as e:
            tf.print("x", **options)
        assert str(e.value) == text


def test_ragged_and_sparse(capsys):
    def code():
        show(tf.ragged.constant([[1, 2], [3]]), tf.sparse.from_dense([[0, 1], [2, 0]]))

    want = "[[1, 2], [3]] 'SparseTensor(indices=[[0 1]\n [1 0]], values=[1 2], shape=[2 2])'\n"
    code()
    assert capsys.readouterr().out == want
    tf.function(code, autograph=False)()
    assert capsys.readouterr().out == want
