"""Branches, loops, maps, scans, py_function: eager and in functions. Expected values are TensorFlow's."""

import gc

import numpy as np
import pytest

import weft as tf


def both(code):
    """The results of code() eagerly and as a function's."""
    return code(), tf.function(code, autograph=False)()


def message(call, kind):
    with pytest.raises(kind) as e:
        call()
    return str(e.value)


def graph_error(code, kind):
    return message(tf.function(code, autograph=False), kind)


ONE = tf.constant(1)
YES = tf.constant(True)


def test_cond():
    for p, want in ((True, 1), (False, 2)):
        for result in both(
            lambda: tf.cond(tf.constant(p), lambda: {"a": ONE, "b": None}, lambda: {"a": ONE + 1, "b": None})
        ):
            assert int(result["a"]) == want and result["b"] is None
    for result in both(lambda: tf.cond(tf.constant([True]), lambda: [1], lambda: [2])):
        assert int(result[0]) == 1
    v = tf.Variable(1.0)

    @tf.function
    def write(p):
        tf.cond(p, lambda: v.assign(5.0), lambda: v.assign(6.0))
        return v.read_value()

    assert write(YES).numpy() == 5 and write(tf.constant(False)).numpy() == 6


def test_cond_errors():
    assert (
        graph_error(lambda: tf.cond(True, lambda: ONE, lambda: ONE), TypeError)
        == "('pred must not be a Python bool', True)"
    )
    for code, text in (
        (lambda: tf.cond(YES, ONE, lambda: ONE), "'true_fn' must be callable."),
        (lambda: tf.cond(YES, lambda: ONE, None), "cond(): 'false_fn' argument required"),
    ):
        assert message(code, TypeError) == text and graph_error(code, TypeError) == text
    text = graph_error(lambda: tf.cond(YES, lambda: ONE + 1, lambda: tf.cast(ONE, tf.float32)), TypeError)
    assert text.startswith(
        "true_fn and false_fn arguments to tf.cond must have the same number, type, and overall structure of return values.\n\ntrue_fn output: Tensor("
    )
    assert "\n\nError details:\n" in text and text.endswith("have different types")
    text = graph_error(lambda: tf.cond(YES, lambda: {"a": ONE}, lambda: {"b": ONE}), TypeError)
    assert "The two dictionaries don't have the same set of keys." in text
    assert graph_error(lambda: tf.cond(YES, lambda: None, lambda: ONE), ValueError) == (
        "Lengths of branch outputs of cond must match.\nlen(graphs[0].outputs): 0\nlen(graphs[1].outputs): 1\n"
    )


def test_cond_gradients():
    f = tf.function(lambda x: tf.cond(x > 1.0, lambda: x * x, lambda: 3.0 * x))
    for value, want in ((2.0, 4.0), (0.5, 3.0)):
        x = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert tape.gradient(y, x).numpy() == want


def test_switch_case():
    for index, want in ((0, 10), (1, 20), (5, 30), (-1, 30)):
        for result in both(
            lambda: tf.switch_case(tf.constant(index), {1: lambda: 20, 0: lambda: 10}, default=lambda: 30)
        ):
            assert int(result) == want
    for code, kind, text in (
        (
            lambda: tf.switch_case(tf.constant(1.0), [lambda: 1]),
            TypeError,
            "'branch_index' must be an integer Tensor, got <dtype: 'float32'>",
        ),
        (lambda: tf.switch_case(ONE, 3), TypeError, "'branch_fns' must be a list, tuple, or dict"),
        (lambda: tf.switch_case(1, [lambda: 1]), TypeError, "'branch_index' must be a Tensor, got <class 'int'>"),
        (lambda: tf.switch_case(ONE, []), ValueError, "Must provide at least one item in 'branch_fns'"),
        (
            lambda: tf.switch_case(ONE, [(0, lambda: 1), (3, lambda: 2)]),
            ValueError,
            "branch indices (keys) must form contiguous range of [0 to 2) but found {0,3}",
        ),
    ):
        assert message(code, kind) == text and graph_error(code, kind) == text
    assert "branches[0] and branches[1] arguments to tf.switch_case must" in graph_error(
        lambda: tf.switch_case(ONE, [lambda: 1, lambda: 2.0]), TypeError
    )


def test_case():
    no = tf.constant(False)
    assert [int(r) for r in both(lambda: tf.case([(no, lambda: 1), (YES, lambda: 2)], default=lambda: 3))] == [2, 2]
    assert [int(r) for r in both(lambda: tf.case([(no, lambda: 1), (no, lambda: 2)], default=lambda: 3))] == [3, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        tf.case([(no, lambda: 1), (no, lambda: 2)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated as True"):
        tf.function(lambda: tf.case([(no, lambda: 1), (no, lambda: 2)]), autograph=False)()
    assert (
        message(lambda: tf.case(5), TypeError)
        == "'pred_fn_pairs' must be a list, tuple, or dict. Received: <class 'int'>"
    )


def test_while_loop():
    for i, d in both(
        lambda: tf.while_loop(lambda i, d: i < 3, lambda i, d: (i + 1, {"a": d["a"] * 2}), (0, {"a": 2.0}))
    ):
        assert int(i) == 3 and float(d["a"]) == 16
    grow = dict(
        cond=lambda i, x: i < 3, body=lambda i, x: (i + 1, tf.concat([x, x], 0)), loop_vars=(ONE, tf.constant([1]))
    )
    for _, x in both(lambda: tf.while_loop(**grow, shape_invariants=(ONE.shape, tf.TensorShape([None])))):
        assert x.numpy().tolist() == [1] * 4
    assert [
        int(r[0]) for r in both(lambda: tf.while_loop(lambda i: True, lambda i: [i + 1], [ONE], maximum_iterations=4))
    ] == [5, 5]
    text = graph_error(lambda: tf.while_loop(**grow), ValueError)
    assert text.endswith(
        "enters the loop with shape (1,), but has shape (2,) after one iteration. To allow the shape to vary across iterations, use the "
        "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
    )
    assert (
        "enters the loop with type <dtype: 'int32'> but has type <dtype: 'float32'> after 1 iteration."
        in graph_error(lambda: tf.while_loop(lambda i: i < 3, lambda i: tf.constant(1.0), [ONE]), TypeError)
    )
    assert "The two structures don't have the same nested structure." in graph_error(
        lambda: tf.while_loop(lambda i: i < 3, lambda i: [i + 1, i], [ONE]), ValueError
    )
    for code, text in (
        (lambda: tf.while_loop(1, lambda i: i, [ONE]), "'cond' must be callable."),
        (lambda: tf.while_loop(lambda i: i, 1, [ONE]), "'body' must be callable."),
        (
            lambda: tf.while_loop(lambda i: i, lambda i: i, [ONE], parallel_iterations=0),
            "'parallel_iterations' must be a positive integer.",
        ),
    ):
        assert message(code, TypeError) == text and graph_error(code, TypeError) == text


def test_while_gradient():
    @tf.function
    def power(x, n):
        return tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (0, 1.0))[1]

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(5))
    assert y.numpy() == 32 and tape.gradient(y, x).numpy() == 80


def test_map_fn():
    assert [r.numpy().tolist() for r in both(lambda: tf.map_fn(lambda x: x * 2, tf.constant([1, 2, 3])))] == [
        [2, 4, 6]
    ] * 2
    for a, b in both(
        lambda: tf.map_fn(
            lambda x: (x, tf.cast(x, tf.float32) / 2), tf.constant([1, 2]), fn_output_signature=(tf.int32, tf.float32)
        )
    ):
        assert a.numpy().tolist() == [1, 2] and b.numpy().tolist() == [0.5, 1.0]
    for r in both(
        lambda: tf.map_fn(
            lambda x: x["a"] + x["b"],
            {"a": tf.constant([1, 2]), "b": tf.constant([3, 4])},
            fn_output_signature=tf.TensorSpec([], tf.int32),
        )
    ):
        assert r.numpy().tolist() == [4, 6] and r.shape == [2]
    for code, text in (
        (
            lambda: tf.map_fn(lambda x: x, tf.constant(1)),
            "Elements in elems must be 1+ dimensional Tensors, not scalars",
        ),
        (
            lambda: tf.map_fn(lambda x: x, ()),
            "elems must be a Tensor or (possibly nested) sequence of Tensors. Got (), which does not contain any Tensors.",
        ),
        (
            lambda: tf.map_fn(lambda x: x[0], (tf.constant([1, 2]), tf.constant([3])), dtype=tf.int32),
            "Dimensions 2 and 1 are not compatible",
        ),
    ):
        assert message(code, ValueError) == text and graph_error(code, ValueError) == text
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="TensorArray dtype is int32 but Op is trying to write dtype float32"
    ):
        tf.map_fn(lambda x: tf.cast(x, tf.float32), tf.constant([1, 2]))
    for r in both(
        lambda: tf.map_fn(tf.range, tf.constant([1, 2]), fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))
    ):
        assert r.to_list() == [[0], [0, 1]]
    for r in both(lambda: tf.map_fn(tf.reduce_sum, tf.ragged.constant([[1, 2], [3]]), fn_output_signature=tf.int32)):
        assert r.numpy().tolist() == [3, 3]


def test_map_fn_gradient_and_unknown_size():
    f = tf.function(
        lambda x: tf.reduce_sum(tf.map_fn(lambda r: r * r, x)), input_signature=[tf.TensorSpec([None, 2], tf.float32)]
    )
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 30 and tape.gradient(y, x).numpy().tolist() == [[2, 4], [6, 8]]
    assert f(tf.zeros([0, 2])).numpy() == 0


def test_scan_and_folds():
    x = tf.constant([1, 2, 3])
    for code, want in (
        (lambda: tf.scan(lambda a, b: a + b, x), [1, 3, 6]),
        (lambda: tf.scan(lambda a, b: a + b, x, initializer=10), [11, 13, 16]),
        (lambda: tf.scan(lambda a, b: a * b, x, reverse=True), [6, 6, 3]),
        (lambda: tf.foldl(lambda a, b: a - b, x), -4),
        (lambda: tf.foldr(lambda a, b: a - b, x), 0),
        (lambda: tf.foldl(lambda a, b: a + b[0] * b[1], (x, x), initializer=0), 14),
    ):
        assert [r.numpy().tolist() for r in both(code)] == [want, want]
    for a, b in both(lambda: tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.zeros([5]), initializer=(0, 1))):
        assert a.numpy().tolist() == [1, 1, 2, 3, 5] and b.numpy().tolist() == [1, 2, 3, 5, 8]


def test_vectorized_map():
    x = tf.constant([1, 2])
    assert [r.numpy().tolist() for r in both(lambda: tf.vectorized_map(lambda e: e * 2, x))] == [[2, 4]] * 2
    for a, b in both(lambda: tf.vectorized_map(lambda e: (e[0] + e[1], e[0]), (x, tf.constant([3, 4])))):
        assert a.numpy().tolist() == [4, 6] and b.numpy().tolist() == [1, 2]
    assert tf.vectorized_map(lambda e: 5.0, x).numpy().tolist() == [5, 5]
    assert tf.vectorized_map(lambda e: e[0] + e[1], (x, tf.constant([3]))).numpy().tolist() == [4, 5]


def test_order_and_assertions():
    v = tf.Variable(0)

    @tf.function
    def f():
        done = tf.group(v.assign(3), v.assign_add(1))
        with tf.control_dependencies([done]):
            return tf.identity(v)

    assert f().numpy() == 4 and tf.group(ONE) is None and tf.no_op() is None
    a, none, b = tf.function(lambda x: tf.tuple([x, None, x + 1]))(ONE)
    assert a.numpy() == 1 and none is None and b.numpy() == 2
    assert message(lambda: tf.Assert(tf.constant(False), [ONE, "a"]), tf.errors.InvalidArgumentError) == (
        "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1\nb'a'"
    )

    @tf.function
    def check(x):
        tf.Assert(x > 0, [x, "not positive"])
        return x

    assert check(ONE).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed: .*-3.*not positive"):
        check(tf.constant(-3))


def test_py_function():
    for r in both(lambda: tf.py_function(lambda x: x + 1, [ONE], tf.int32)):
        assert r.numpy() == 2
    for a, b in both(lambda: tf.py_function(lambda x: (x + 1, 2.5), [ONE], [tf.int32, tf.float32])):
        assert a.numpy() == 2 and b.numpy() == 2.5
    eager = []
    tf.function(
        lambda x: tf.py_function(lambda y: eager.append((tf.executing_eagerly(), y.numpy())), [x], []) and None
    )(tf.constant(7))
    assert eager == [(True, 7)]

    def bad(x):
        raise KeyError("oops")

    text = message(lambda: tf.py_function(bad, [ONE], tf.int32), tf.errors.UnknownError)
    assert text.startswith(
        "{{function_node __wrapped__EagerPyFunc_Tin_1_Tout_1_device_/job:localhost/replica:0/task:0/device:CPU:0}} KeyError: 'oops'\nTraceback (most"
    )
    assert text.endswith("KeyError: 'oops'\n\n [Op:EagerPyFunc] name: ")
    assert "KeyError: 'oops'\nTraceback" in graph_error(
        lambda: tf.py_function(bad, [ONE], tf.int32), tf.errors.UnknownError
    )
    assert "TypeError: Cannot convert 1.5 to EagerTensor of dtype int32" in graph_error(
        lambda: tf.py_function(lambda x: 1.5, [ONE], tf.int32), tf.errors.InvalidArgumentError
    )
    assert "returns 0 values, but expects to see 1 values." in graph_error(
        lambda: tf.py_function(lambda x: None, [ONE], tf.int32), tf.errors.InvalidArgumentError
    )
    assert (
        message(lambda: tf.py_function(3, [ONE], tf.int32), ValueError)
        == "Expected func to be callable. Received func=3 of type <class 'int'>."
    )


def test_py_function_gradients():
    def cube(x):
        return x * x * x

    x = tf.constant(2.0)
    f = tf.function(lambda x: tf.py_function(cube, [x], tf.float32) * 2.0)
    for code in (lambda: tf.py_function(cube, [x], tf.float32) * 2.0, lambda: f(x), lambda: f(x)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = code()
        assert tape.gradient(y, x).numpy() == 24

    @tf.function
    def in_a_loop(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(
                lambda i, a: i < 3,
                lambda i, a: (i + 1, tf.py_function(lambda v: v * v, [a], tf.TensorSpec([]))),
                (0, x),
            )[1]
        return tape.gradient(y, x)

    assert in_a_loop(x).numpy() == 8 * 2.0**7


def test_numpy_function():
    for r in both(
        lambda: tf.numpy_function(
            lambda a, b: np.outer(a, b), [tf.constant([1.0, 2.0]), tf.constant([3.0])], tf.float32
        )
    ):
        assert r.numpy().tolist() == [[3], [6]]
    assert [r.numpy() for r in both(lambda: tf.numpy_function(lambda x: "abc", [ONE], tf.string))] == [b"abc"] * 2
    text = graph_error(lambda: tf.numpy_function(lambda x: 1.5, [ONE], tf.int32), tf.errors.InvalidArgumentError)
    assert "-th value returned by pyfunc_" in text and "is double, but expects int32" in text
    with pytest.raises(ValueError, match="^oops$"):
        tf.numpy_function(lambda x: (_ for _ in ()).throw(ValueError("oops")), [ONE], tf.int32)


def test_py_functions_go_with_their_graphs():
    from weft._src.function import py_func

    gc.collect()
    before = len(py_func._functions)
    for _ in range(5):
        f = tf.function(lambda x: tf.numpy_function(lambda v: v, [x], tf.int32))
        assert f(ONE).numpy() == 1
    del f
    gc.collect()
    assert len(py_func._functions) <= before + 1


def test_indices_of_slices_that_branches_give_may_be_of_two_types():
    @tf.function
    def f(x):
        slices = [tf.IndexedSlices(x, tf.constant([0], t), tf.constant([2, 2])) for t in (tf.int32, tf.int64)]
        return tf.cond(x[0, 0] > 0, lambda: slices[0], lambda: slices[1])

    result = f(tf.ones([1, 2]))
    assert result.indices.dtype == tf.int64 and result.values.numpy().tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("pred, kind", [(1, "int32"), (0.5, "float"), ("a", "string"), (np.float64(1), "double")])
def test_a_condition_of_a_graph_must_be_a_boolean(pred, kind):
    """TensorFlow's If takes any type, but not the Switch that it becomes."""

    @tf.function
    def f(p):
        return tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))

    with pytest.raises(
        tf.errors.InvalidArgumentError, match=f"Input 'pred' passed {kind} expected bool while building"
    ):
        f(tf.constant(pred))
    assert tf.cond(tf.constant(pred), lambda: 1, lambda: 2) == 1
    with pytest.raises(ValueError, match="Attempt to convert a value .None."):
        tf.cond(None, lambda: 1, lambda: 2)


def test_what_may_fail_stays_in_a_loop_that_does_not_run():
    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([], tf.int32)])
    def f(text, times):
        def body(i, total):
            return i + 1, total + tf.strings.to_number(text) + tf.cast(
                tf.strings.length(tf.io.decode_base64(text)), tf.float32
            )

        return tf.while_loop(lambda i, _: i < times, body, (0, 0.0))[1]

    assert f("no number!", 0) == 0.0
    assert f("1234", 2) == 2 * (1234.0 + 3)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f("no number!", 1)
