"""Graphs with function calls, branches and loops, and the gradients that TensorFlow finds in them.

Each NAME.pb is a GraphDef without gradients. The node init, if there is one, is run first. y_0, y_1 ... are what is differentiated,
x_0, x_1 ... with respect to what. The constants value_0 ... are the ys, expect_0 ... the gradients, second_0 ... those of the sum of all
their squares and third_0 ... those of the sum of the squares of these (where there are any). A constant without_0 stands for "no
gradient". Needs TensorFlow: python make_graphs.py [NAME...]
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function as defun
from tensorflow.python.ops import functional_ops

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.enable_control_flow_v2()
tf1.enable_resource_variables()

CASES = {}
rng = np.random.RandomState(7)


def case(f):
    CASES[f.__name__] = f
    return f


def first_order_only(f):
    f.second = False
    return f


def third_order_too(f):
    f.third = True
    return f


class Builder:
    def __init__(self):
        self.xs = []

    def x(self, *shape, static=True, dtype=np.float64, scale=1.0):
        """An input of the gradient that no pass may take for a constant."""
        value = np.asarray(rng.uniform(-1, 1, shape) * scale, dtype)
        t = tf1.placeholder_with_default(value, value.shape if static else [None] * value.ndim, name=f"x_{len(self.xs)}")
        self.xs.append(t)
        return t

    def variable(self, *shape, dtype=np.float64):
        value = np.asarray(rng.uniform(-1, 1, shape), dtype)
        v = tf1.get_variable(f"x_{len(self.xs)}", initializer=value, use_resource=True)
        self.xs.append(v.handle)
        return v


def given(value):
    return tf1.placeholder_with_default(value, np.shape(value))


# ---- calls


@case
@third_order_too
def a_call(b):
    @tf.function
    def f(a, w):
        h = tf.tanh(tf.matmul(a, w))
        return tf.reduce_sum(h * h), h, tf.shape(h)

    total, h, _ = f(b.x(3, 4), b.x(4, 2))
    return [total, tf.sin(h)]


@case
def unknown_shapes(b):
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64), tf.TensorSpec([None], tf.float64)])
    def f(a, bias):
        return tf.exp(a) * bias + tf.reduce_mean(a, 0, keepdims=True), tf.concat([a, a + bias], 0)

    y, z = f(b.x(3, 4, static=False), b.x(4, static=False))
    return [y, tf.square(z)]


@case
def one_result_of_two(b):
    @tf.function
    def f(a, c):
        return tf.sin(a) * c, tf.cos(a)

    return [f(b.x(5), b.x(5))[1]]


@case
def calls_in_calls(b):
    @tf.function
    def inner(a, k):
        return tf.sigmoid(a * k)

    @tf.function
    def outer(a, k):
        first = inner(a, k)
        return first * inner(first + a, k) + tf.stop_gradient(k) * a

    a, k = b.x(4), b.x()
    return [outer(a, k) + outer(k, a)]


@case
def a_call_with_a_variable(b):
    v = b.variable(3, 3)
    x = b.x(2, 3)

    @tf.function
    def f(a):
        return tf.nn.relu(tf.matmul(a, v)) + tf.reduce_sum(v)

    return [f(f(x))]


@case
def rows_of_a_variable(b):
    v = b.variable(6, 3)

    @tf.function
    def f(i):
        return tf.gather(v, i) * tf.gather(v, i[:1])

    return [f(given(np.int32([4, 0, 4]))), tf.gather(v, given(np.int32([5])))]


@case
def a_call_with_effects(b):
    v = tf1.get_variable("counter", initializer=np.float64(0), use_resource=True)
    x = b.x(3)

    @tf.function
    def f(a):
        v.assign_add(1.0)
        return a * a * a

    return [f(x)]


@case
def complex_numbers(b):
    @tf.function
    def f(a, c):
        z = tf.complex(a, c)
        return tf.math.real(tf.exp(z) * z)

    return [f(b.x(3), b.x(3))]


@case
@first_order_only
def a_call_by_name(b):
    @defun.Defun(tf.float64, tf.float64)
    def f(a, c):
        return tf.sin(a) * c, tf.exp(c)

    y, z = f(b.x(3), b.x(3))
    return [y, z]


@case
@first_order_only
def a_gradient_of_the_users(b):
    @defun.Defun(tf.float64, tf.float64)
    def grad(a, dy):
        return dy * 100.0 * a

    @defun.Defun(tf.float64, grad_func=grad)
    def f(a):
        return tf.sin(a)

    x = b.x(3)
    return [f(x)], lambda: [100.0 * x]


@case
@first_order_only
def a_symbolic_gradient(b):
    @defun.Defun(tf.float64, tf.int32)
    def f(a, n):
        return tf.sin(a) * a * tf.cast(n, tf.float64), n + 1

    x, dy, n = b.x(3), b.x(3), given(np.int32(3))
    f(x, n)  # puts it into the graph
    out = functional_ops.symbolic_gradient(input=[x, n, dy, n], Tout=[tf.float64, tf.int32], f=f)

    def expected():
        first = tf1.gradients(tf.sin(x) * x * 3, x, dy)[0]
        return tf1.gradients(first, [x, dy])

    return [out[0]], expected


# ---- branches


@case
@third_order_too
def branches(b):
    a, c = b.x(3), b.x(3)
    out = []
    for p in (True, False):
        out.append(tf.cond(given(np.bool_(p)), lambda: tf.sin(a) * tf.exp(c), lambda: tf.square(a) * a))
    return out


@case
def branches_in_branches(b):
    a, c = b.x(3), b.x()

    def choose(p, q):
        return tf.cond(p, lambda: tf.cond(q, lambda: tf.tanh(a) * c, lambda: a / (2 + c * c)), lambda: tf.tanh(tf.tanh(a)))

    return [choose(given(np.bool_(p)), given(np.bool_(q))) for p in (True, False) for q in (True, False)]


@case
def branches_of_variables(b):
    v, w = b.variable(3), b.variable(3)
    a = b.x(3)

    def choose(p):
        return tf.cond(p, lambda: tf.sin(v * a), lambda: tf.gather(w, [0, 2, 2]) * a)

    return [choose(given(np.bool_(True))), choose(given(np.bool_(False)))]


@case
def many_branches(b):
    a, c = b.x(2, 3), b.x(3)
    branches = [lambda: tf.sin(a) + c, lambda: tf.cos(c) * a, lambda: tf.exp(a * c), lambda: tf.zeros([2, 3], tf.float64)]
    return [tf.switch_case(given(np.int32(k)), branches) for k in (0, 1, 2, 3, 7)]


@case
def branches_of_other_shapes(b):
    a = b.x(4, static=False)

    def choose(p):
        return tf.reduce_sum(tf.cond(p, lambda: tf.exp(a[:2] * a[1]), lambda: tf.sin(tf.concat([a, a], 0)) * 2))

    return [choose(given(np.bool_(True))), choose(given(np.bool_(False)))]


@case
def a_call_in_a_branch(b):
    a, v = b.x(3), b.variable(3)

    @tf.function
    def f(u):
        return tf.exp(u) * v

    return [tf.cond(given(np.bool_(p)), lambda: f(a) * f(a * 2), lambda: f(-a)) for p in (True, False)]


@case
def branches_with_effects(b):
    a = b.x(3)
    count = tf1.get_variable("count", initializer=np.float64(0), use_resource=True)

    def yes():
        with tf.control_dependencies([count.assign_add(1.0)]):
            return tf.sin(a) * a

    return [tf.cond(given(np.bool_(p)), yes, lambda: tf.exp(a)) for p in (True, False)]


@case
def lists_out_of_branches(b):
    a = b.x(4, 2)

    def choose(p):
        def yes():
            return tf.TensorArray(tf.float64, size=4, element_shape=[2]).unstack(tf.sin(a)).flow

        def no():
            return tf.TensorArray(tf.float64, size=4, element_shape=[2]).unstack(a * a).write(1, a[0] * 3).flow

        flow = tf.cond(p, yes, no)
        return tf.raw_ops.TensorListStack(input_handle=flow, element_shape=[2], element_dtype=tf.float64)

    return [choose(given(np.bool_(p))) * tf.reshape(tf.range(8, dtype=tf.float64), [4, 2]) for p in (True, False)]


# ---- loops


@case
@third_order_too
def a_loop(b):
    a, k = b.x(3), b.x()
    return [tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, tf.sin(v * k) + a), [0, a])[1]]


@case
def a_bounded_loop(b):
    a = b.x(3)
    out = tf.while_loop(lambda i, v: tf.reduce_sum(tf.abs(v)) < 100, lambda i, v: (i + 1, v * v + v), [0, a + 2], maximum_iterations=given(np.int32(3)))
    return [out[1]]


@case
def until_it_is_large(b):
    a = b.x(3)
    return [tf.while_loop(lambda v: tf.reduce_sum(v * v) < 20, lambda v: (v * 1.5,), [a])[0]]


@case
def no_iterations(b):
    a, k = b.x(3), b.x()
    return [tf.while_loop(lambda i, v: i < given(np.int32(0)), lambda i, v: (i + 1, v * k), [0, a])[1]]


@case
def what_does_not_depend(b):
    """The next value of one variable does not depend on its last."""
    a, c = b.x(3), b.x(3)
    out = tf.while_loop(lambda i, u, v: i < 4, lambda i, u, v: (i + 1, tf.sin(v) * c, u + v), [0, a, c])
    return [out[1], out[2]]


@case
def unused_variables(b):
    a, c = b.x(3), b.x(3)
    out = tf.while_loop(lambda i, u, v, n: i < 4, lambda i, u, v, n: (i + 1, tf.sin(u), v * c, n * 2), [0, a, c, 1])
    return [out[1]]


@case
def loops_in_loops(b):
    a, k = b.x(2), b.x()

    def outer(i, v):
        return i + 1, tf.while_loop(lambda j, u: j < i + 1, lambda j, u: (j + 1, tf.tanh(u * k) + v), [0, v])[1]

    return [tf.while_loop(lambda i, v: i < 3, outer, [0, a])[1]]


@case
@third_order_too
def branches_in_a_loop(b):
    a, k = b.x(3), b.x()

    def body(i, v):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(v) * k, lambda: tf.exp(-v * v) + a)

    return [tf.while_loop(lambda i, v: i < 5, body, [0, a])[1]]


@case
def a_loop_in_a_branch(b):
    a, k = b.x(3), b.x()

    def loop():
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) * k), [0, a])[1]

    return [tf.cond(given(np.bool_(p)), loop, lambda: a * k) for p in (True, False)]


@case
@third_order_too
def calls_in_a_loop(b):
    a, k = b.x(3), b.x()

    @tf.function
    def f(v, s):
        return tf.tanh(v) * s, v * v

    def body(i, v):
        p, q = f(v, k)
        return i + 1, p + 0.1 * q

    return [tf.while_loop(lambda i, v: i < 4, body, [0, a])[1]]


@case
def a_loop_in_a_call(b):
    v = b.variable(2, 2)

    @tf.function
    def f(a, n):
        return tf.while_loop(lambda i, u: i < n, lambda i, u: (i + 1, tf.tanh(tf.matmul(u, v)) + a), [0, a])[1]

    return [f(b.x(3, 2), given(np.int32(4)))]


@case
@third_order_too
def a_variable_in_a_loop(b):
    v = b.variable(3)
    a = b.x(3)
    return [tf.while_loop(lambda i, u: i < 4, lambda i, u: (i + 1, tf.sin(u * v)), [0, a])[1]]


@case
def rows_of_a_variable_in_a_loop(b):
    v = b.variable(5, 2)
    rows = given(np.int32([3, 0, 3, 1]))
    return [tf.while_loop(lambda i, u: i < 4, lambda i, u: (i + 1, tf.sin(u * tf.gather(v, rows[i]))), [0, b.x(2)])[1]]


@case
def growing_shapes(b):
    a = b.x(1, 2)
    return [tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.concat([v, tf.sin(v) * 2], 0)), [0, a], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])[1]]


@case
def a_map(b):
    a, k = b.x(4, 3), b.x(3)
    return [tf.map_fn(lambda r: tf.sin(r * k), a)]


@case
def a_scan(b):
    a, k = b.x(4, 3), b.x(3)
    return [tf.scan(lambda s, r: tf.tanh(s * k) + r, a, initializer=tf.zeros([3], tf.float64))]


@case
def a_fold_of_unknown_length(b):
    return [tf.foldl(lambda s, r: s * r + tf.sin(r), b.x(5, 2, static=False))]


@case
def a_stack_of_results(b):
    a = b.x(3)

    def body(i, v, out):
        return i + 1, tf.sin(v), out.write(i, v * v)

    ta = tf.TensorArray(tf.float64, size=4, element_shape=[3])
    _, last, out = tf.while_loop(lambda i, v, o: i < 4, body, [0, a, ta])
    return [out.stack() * tf.range(12, dtype=tf.float64)[:4, None], last]


@case
def a_recurrent_net(b):
    seq, batch, units = 6, 2, 3
    x = b.x(seq, batch, units)
    kernel, recurrent, bias = b.variable(units, 4 * units), b.variable(units, 4 * units), b.variable(4 * units)

    def step(t, h, c, out):
        z = tf.matmul(tf.gather(x, t), kernel) + tf.matmul(h, recurrent) + bias
        i, f, g, o = tf.split(z, 4, 1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
        h = tf.sigmoid(o) * tf.tanh(c)
        return t + 1, h, c, out.write(t, h)

    zero = tf.zeros([batch, units], tf.float64)
    ta = tf.TensorArray(tf.float64, size=seq, element_shape=[batch, units])
    _, h, _, out = tf.while_loop(lambda t, *_: t < seq, step, [0, zero, zero, ta], maximum_iterations=seq)
    return [h, out.stack()]


@case
def a_loop_with_effects(b):
    a = b.x(3)
    count = tf1.get_variable("count", initializer=np.float64(0), use_resource=True)

    def body(i, v):
        with tf.control_dependencies([count.assign_add(1.0)]):
            return i + 1, tf.sin(v) * v

    return [tf.while_loop(lambda i, v: i < 3, body, [0, a])[1]]


@case
def loops_in_calls_in_loops(b):
    a, k = b.x(2), b.x()

    @tf.function
    def f(u, n):
        return tf.while_loop(lambda j, w: j < n, lambda j, w: (j + 1, tf.cond(tf.equal(j, 1), lambda: w * k, lambda: tf.tanh(w))), [0, u])[1] + u

    return [tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, f(v, i + 1)), [0, a])[1]]


@case
def counting_down(b):
    a = b.x(3)
    return [tf.while_loop(lambda i, v: i > 0, lambda i, v: (i - 1, v * tf.cast(i, tf.float64) + tf.sin(v)), [given(np.int64(4)), a])[1]]


@case
def a_loop_of_several_types(b):
    a, c = b.x(3, dtype=np.float32), b.x(3)

    def body(i, u, v, text):
        return i + 1, u * tf.cast(tf.sin(v), tf.float32) + 1, v * tf.cast(u, tf.float64), tf.strings.join([text, "x"])

    out = tf.while_loop(lambda i, *_: i < 3, body, [0, a, c, ""])
    return [out[1], out[2]]


@case
def a_result_of_every_step(b):
    """A loop whose variable is an array that grows, read again in the same loop."""
    a = b.x(2)

    def body(i, out):
        return i + 1, out.write(i, tf.sin(out.read(i - 1)) * a)

    first = tf.TensorArray(tf.float64, size=4, element_shape=[2], clear_after_read=False).write(0, a)
    return [tf.while_loop(lambda i, o: i < 4, body, [1, first])[1].stack()]


@case
@first_order_only
def a_loop_without_a_counter(b):
    """A bare While, of a form that TensorFlow's own gradient does not know."""
    a, k = b.x(3), b.x()

    def cond(v, _):
        return tf.reduce_sum(v * v) < 30

    def body(v, s):
        return tf.sin(v) + v * 1.5 + s, s

    spec = [tf.TensorSpec([3], tf.float64), tf.TensorSpec([], tf.float64)]
    c, f = (tf.function(g).get_concrete_function(*spec) for g in (cond, body))
    for g in (c, f):
        g.add_to_graph()
    out = tf.raw_ops.StatelessWhile(input=[a, k], cond=c, body=f, output_shapes=[[3], []], parallel_iterations=10)
    return [out[0]], lambda: tf1.gradients(tf.while_loop(cond, body, [a, k])[0], [a, k])


@case
@first_order_only
def random_numbers(b):
    """The backward pass sees the numbers that the forward pass drew."""
    a = b.x(4)

    @tf.function
    def f(v):
        r = tf.random.stateless_uniform([4], [1, 2], dtype=tf.float64)
        return v * r + tf.while_loop(lambda i, u: i < 2, lambda i, u: (i + 1, u * tf.random.stateless_uniform([], [3, i], dtype=tf.float64)), [0, v])[1]

    return [f(a)]


def make(name, build):
    global rng
    rng = np.random.RandomState(sum(map(ord, name)))
    graph = tf1.Graph()
    with graph.as_default():
        b = Builder()
        ys, expected = build(b), None
        if isinstance(ys, tuple):
            ys, expected = ys
        ys = [tf.identity(y, name=f"y_{k}") for k, y in enumerate(ys)]
        if tf1.global_variables():
            tf1.global_variables_initializer()
        text = graph.as_graph_def().SerializeToString(deterministic=True)
        init = "init" in [o.name for o in graph.get_operations()]
        grads = expected() if expected else tf1.gradients(ys, b.xs)
        grads = [None if g is None else tf.convert_to_tensor(g) for g in grads]

        def next_order(grads):
            more = tf1.gradients(sum(tf.cast(tf.reduce_sum(g * g), tf.float64) for g in grads if g is not None), b.xs)
            return [None if g is None else tf.convert_to_tensor(g) for g in more]

        second = next_order(grads) if getattr(build, "second", True) else [None] * len(grads)
        third = next_order(second) if hasattr(build, "third") else [None] * len(grads)
        with tf1.Session() as session:
            if init:
                session.run("init")
            values = session.run(ys)
            values += session.run([g for g in grads + second + third if g is not None])
    graph_def = tf1.GraphDef.FromString(text)
    values = iter(values)
    with tf1.Graph().as_default() as extra:
        for prefix, list_ in (("value", ys), ("expect", grads), ("second", second), ("third", third)):
            for k, g in enumerate(list_):
                if g is not None:
                    tf1.constant(next(values), name=f"{prefix}_{k}")
                elif prefix == "expect":
                    tf1.constant(0, name=f"without_{k}")
        graph_def.node.extend(extra.as_graph_def().node)
    text = graph_def.SerializeToString(deterministic=True)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".pb"), "wb") as f:
        f.write(text)
    print(name, len(text), sum(g is not None for g in grads), sum(g is not None for g in second))


for name in sys.argv[1:] or CASES:
    try:
        make(name, CASES[name])
    except Exception as e:
        print(name, "FAILED", repr(e)[:600])
