"""tf.custom_gradient: with tapes, in functions that are differentiated from outside, second order. Values were read off
TensorFlow 2.21 or follow from arithmetic."""

import pytest

import weft as tf

x = tf.constant(2.0)
v = tf.Variable(3.0)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


def first(f):
    def g(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return g


D1, D2 = 0.8807971, 0.10499358


@pytest.mark.parametrize(
    "f, want",
    [
        (first(log1pexp), D1),
        (first(first(log1pexp)), D2),
        (first(tf.function(log1pexp)), D1),
        (first(first(tf.function(log1pexp))), D2),
        (tf.function(first(log1pexp)), D1),
        (tf.function(first(first(log1pexp))), D2),
        (first(tf.function(first(log1pexp))), D2),
        (tf.function(first(tf.function(log1pexp))), D1),
        (tf.function(first(first(tf.function(log1pexp)))), D2),
    ],
)
def test_orders_and_functions(f, want):
    assert f(x).numpy() == pytest.approx(want, rel=1e-6)


def test_in_branches_and_loops():
    branch = tf.function(lambda x: tf.cond(x > 0, lambda: log1pexp(x), lambda: x))
    assert first(branch)(x).numpy() == pytest.approx(D1) and first(first(branch))(x).numpy() == pytest.approx(D2)
    loop = tf.function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, log1pexp(y)), [0, x])[1])
    assert first(loop)(x).numpy() == pytest.approx(0.7112346)


@tf.custom_gradient
def with_variable(x):
    def grad(dy, variables=None):
        assert len(variables) == 1 and variables[0] is v
        return dy * v * 10.0, [dy * x * 100.0]

    return x * v, grad


@pytest.mark.parametrize("f", [with_variable, tf.function(with_variable)])
@pytest.mark.parametrize("wrap", [lambda g: g, tf.function])
def test_variables(f, wrap):
    def both():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v])

    assert [g.numpy() for g in wrap(both)()] == [30.0, 200.0]


def test_a_variable_as_the_argument():
    @tf.custom_gradient
    def f(w):
        return w * 2.0, lambda dy: dy * 50.0

    def g():
        with tf.GradientTape() as tape:
            y = f(v)
        return tape.gradient(y, v)

    assert g().numpy() == 50.0 and tf.function(g)().numpy() == 50.0


def test_several_results_and_no_gradient():
    @tf.custom_gradient
    def f(a, b):
        return (a + b, a * b), lambda da, db: (da * 10.0 + db, None)

    y = tf.constant(5.0)
    for code in (f, tf.function(f)):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            s, _ = code(x, y)
        got = tape.gradient(s, [x, y])
        assert got[0].numpy() == 10.0 and got[1] is None


def test_errors():
    @tf.custom_gradient
    def forgot(x):
        return x * v, lambda dy: dy

    with pytest.raises(
        TypeError,
        match="@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses variables",
    ):
        forgot(x)

    @tf.custom_gradient
    def wrong(x):
        return x * 2.0, lambda dy: (dy, dy)

    for f, text in (
        (wrong, "custom_gradient function expected to return 1 gradients, but returned 2 instead."),
        (tf.function(wrong), "Num gradients 3 generated for op name: .*do not match num inputs 2"),
    ):
        assert f(x).numpy() == 4.0
        with pytest.raises(ValueError, match=f"(?s){text}"):
            first(f)(x)


def test_methods_and_keywords():
    class C:
        @tf.custom_gradient
        def m(self, x, scale=2.0):
            return x * scale, lambda dy: dy * 11.0

    for f in (lambda x: C().m(x), lambda x: C().m(x, scale=1.0), tf.function(lambda x: C().m(x))):
        assert first(f)(x).numpy() == 11.0
    with pytest.raises(ValueError, match="supports keywords arguments only when eager execution is enabled"):
        tf.function(lambda x: C().m(x, scale=1.0))(x)


def test_nested():
    @tf.custom_gradient
    def outer(x):
        @tf.custom_gradient
        def inner(y):
            return y * y, lambda dy: dy * 7.0 * y

        return inner(x), lambda dy: dy * inner(x)

    for f in (outer, tf.function(outer)):
        assert first(f)(x).numpy() == 4.0 and first(first(f))(x).numpy() == 14.0


def test_pass_through_and_recompute():
    f = tf.grad_pass_through(lambda x: tf.round(x * 1.3))
    assert first(f)(x).numpy() == 1.0 and first(tf.function(f))(x).numpy() == 1.0
    calls = []

    def block(x):
        calls.append(1)
        return tf.sin(x * v) * v

    again = tf.recompute_grad(block)
    for code in (again, tf.function(again)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = code(x)
        got = tape.gradient(y, [x, v])
        assert [g.numpy() for g in got] == pytest.approx([8.641533, 5.481606])
    assert len(calls) >= 4
