"""Functions that call themselves or nest deeply, and loops that cannot be compiled: an answer or an error, never the end of the process."""

import threading

import numpy as np
import pytest

import weft as tf


def test_a_loop_in_a_branch_that_cannot_be_compiled_is_an_error():
    @tf.function(jit_compile=True)
    def f(x):
        if tf.reduce_sum(x) > 0.0:
            for _ in tf.range(3):
                x += tf.cast(tf.reduce_sum(tf.range(tf.cast(x[0], tf.int32))), tf.float32)
        return x

    for _ in range(2):
        with pytest.raises(tf.errors.UnimplementedError, match="Range"):
            f(tf.constant([1.0, 2.0]))
    # The compiler continues to work for others.
    g = tf.function(lambda x: x * 2.0, jit_compile=True)
    np.testing.assert_array_equal(g(tf.constant([1.0, 2.0])), [2.0, 4.0])


def _nested(depth, step):
    """f_depth -> ... -> f_0, traced from the inside."""
    f = tf.function(lambda x: x * 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    for _ in range(depth):
        inner = f
        f = tf.function(lambda x, inner=inner: step(inner, x)).get_concrete_function(tf.TensorSpec([], tf.float32))
    return f


def test_a_thousand_calls_inside_each_other():
    f = _nested(1000, lambda g, x: g(x) + 1.0)
    assert float(f(tf.constant(2.0))) == 1002.0


def test_branches_five_hundred_deep():
    f = _nested(500, lambda g, x: tf.cond(x > 0.0, lambda: g(x) + 1.0, lambda: x))
    assert float(f(tf.constant(2.0))) == 502.0
    assert float(f(tf.constant(-2.0))) == -2.0


def test_gradients_of_calls_inside_each_other():
    f = _nested(100, lambda g, x: g(x) + x)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(y) == 202.0
    assert float(tape.gradient(y, x)) == 101.0


def test_a_function_that_calls_the_last_one_twice():
    # 2^16 calls in all: every function is planned once, and only some calls are inlined.
    f = _nested(16, lambda g, x: (g(x) + g(x)) * 0.5)
    assert float(f(tf.constant(2.0))) == 2.0


def test_deep_calls_on_a_thread_with_a_small_stack():
    f = _nested(150, lambda g, x: tf.cond(x > 0.0, lambda: g(x) + 1.0, lambda: x))
    found = []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(float(f(tf.constant(2.0)))))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert found == [152.0]


def test_branches_are_compiled_inside_each_other():
    g = _nested(60, lambda g, x: tf.cond(x > 0.0, lambda: g(x) + 1.0, lambda: x))
    f = tf.function(lambda x: g(x) * 2.0, jit_compile=True)
    assert float(f(tf.constant(2.0))) == 124.0
    assert float(f(tf.constant(-2.0))) == -4.0


def test_lists_that_grow_stay_with_the_engine_where_compiling_is_a_choice():
    # Compiled lists do not grow: with jit_compile that is an error, and clusters leave such functions alone.
    @tf.function(jit_compile=True)
    def f(x):
        a = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(3):
            a = a.write(i, x)
        return a.stack()

    with pytest.raises(tf.errors.OpError):
        f(tf.constant([1.0]))


def test_a_function_with_the_name_of_an_op_is_refused():
    # As TensorFlow says it.
    definition = tf.compat.v1.GraphDef()
    f = definition.library.function.add()
    f.signature.name = "Neg"
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="Cannot add function 'Neg' because an op with the same name already exists."),
    ):
        tf.import_graph_def(definition)


def test_loops_are_compiled_inside_each_other():
    # The plan of a loop asks twice what is inside; inside loops inside loops that was 2^depth questions.
    def turn(g, x):
        return tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, g(y) + 1.0), (tf.constant(0), x))[1]

    g = _nested(40, turn)
    f = tf.function(lambda x: g(x) * 2.0, jit_compile=True)
    assert float(f(tf.constant(2.0))) == 84.0


def _tree_of_loops(depth, turns):
    """Each function loops over the one below and then calls it: what it saves for its gradient is twice what that one saves."""
    f = tf.function(lambda x: x * (1.0 + 1e-4 * x), input_signature=[tf.TensorSpec([])], autograph=False)
    for _ in range(depth):

        def above(x, below=f):
            y = tf.while_loop(lambda i, y: i < turns, lambda i, y: (i + 1, below(y)), (tf.constant(0), x))[1]
            return below(y)

        f = tf.function(above, input_signature=[tf.TensorSpec([])], autograph=False)
    return f


@pytest.mark.parametrize("depth, turns", [(16, 0), (10, 1), (4, 3)])
def test_gradient_of_a_tree_of_loops(depth, turns):
    f, x = _tree_of_loops(depth, turns), tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, x)
    value, slope = 0.5, 1.0
    for _ in range((turns + 1) ** depth):
        value, slope = value * (1.0 + 1e-4 * value), slope * (1.0 + 2e-4 * value)
    assert abs(float(y) - value) < 1e-4 and abs(float(found) - slope) < 1e-3


@pytest.mark.parametrize("compiled", [False, True])
def test_gradient_of_calls_that_save_much(compiled):
    # What the two calls save is kept in lists, which compiled code has, too.
    def chain(x):
        for _ in range(70):
            x = x * (1.0 + 1e-3 * x)
        return x

    first, second = (tf.function(chain, autograph=False) for _ in range(2))
    both = tf.function(lambda x: first(x) * second(2.0 * x), autograph=False)

    @tf.function(autograph=False, jit_compile=compiled)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = both(x)
        return tape.gradient(y, x)

    def by_hand(x):
        d = 1.0
        for _ in range(70):
            x, d = x * (1.0 + 1e-3 * x), d * (1.0 + 2e-3 * x)
        return x, d

    (a, da), (b, db) = by_hand(0.5), by_hand(1.0)
    assert abs(float(slope(tf.constant(0.5))) - (da * b + 2.0 * a * db)) < 1e-4


def _loops_of_one_body(depth, turns):
    """Each body loops twice over the one below."""
    signature = [tf.TensorSpec([], tf.int32), tf.TensorSpec([])]
    concrete = lambda f: tf.function(f, input_signature=signature, autograph=False).get_concrete_function()
    condition = concrete(lambda i, x: i < turns)
    body = concrete(lambda i, x: (i + 1, x * (1.0 + 1e-4 * x)))
    loop = lambda x, body: tf.raw_ops.StatelessWhile(input=[tf.constant(0), x], cond=condition, body=body)[1]
    for _ in range(depth):
        body = concrete(lambda i, x, below=body: (i + 1, loop(loop(x, below), below)))
    return tf.function(lambda x: loop(x, body), input_signature=signature[1:], autograph=False)


@pytest.mark.parametrize("depth, turns", [(40, 0), (5, 1), (3, 2)])
def test_gradient_of_loops_that_share_their_bodies(depth, turns):
    # 2^40 loops in all: how each body is differentiated is found once.
    f, x = _loops_of_one_body(depth, turns), tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    found = tape.gradient(y, x)
    value, slope = 0.5, 1.0
    for _ in range(turns * (2 * turns) ** depth):
        value, slope = value * (1.0 + 1e-4 * value), slope * (1.0 + 2e-4 * value)
    assert abs(float(y) - value) < 1e-4 and abs(float(found) - slope) < 1e-3


def test_a_tree_of_loops_that_is_too_large_to_compile():
    # 2^15 copies of the innermost function: LLVM would take minutes for them.
    f = tf.function(_tree_of_loops(15, 1), jit_compile=True)
    with pytest.raises(tf.errors.UnimplementedError, match="is too large to compile"):
        f(tf.constant(0.5))
