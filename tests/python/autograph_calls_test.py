"""Which functions are converted when converted code calls them."""

import collections
import functools

import numpy as np

import weft as tf
from autograph_helpers import THREE, error, on_weft, run

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


@on_weft  # TensorFlow cannot tell the two apart
def test_lambdas_on_one_line():
    pair = (lambda x: x if x > 2 else -x), (lambda x: x if x > 2 else -x * 10)
    constants = (lambda: 3), (lambda: 4), (lambda: None)
    assert [run(f, tf.constant(1)) for f in pair] == [-1, -10]
    assert [run(f) for f in constants] == [3, 4, None]
    made = [lambda x, k=k: x + k for k in (1, 2)]
    assert [run(f, THREE) for f in made] == [4, 5]


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
