"""tf.function on methods, static and class methods, properties, callables, inherited methods, wrapped functions."""
import functools
import tensorflow as tf


class Base:
    factor = 2

    def __init__(self, k):
        self.k = k

    @tf.function
    def scale(self, x):
        print("tracing scale", type(self).__name__, self.k)
        return x * self.k * self.factor

    @staticmethod
    @tf.function
    def plus_one(x):
        return x + 1

    @classmethod
    def make(cls, k):
        return cls(k)

    @property
    def doubler(self):
        return tf.function(lambda x: x * 2)

    @tf.function
    def chained(self, x):
        return self.scale(x) + self.plus_one(x)


class Derived(Base):
    factor = 10

    @tf.function
    def chained(self, x):
        return super().chained(x) * 100


base, derived = Base(3), Derived.make(5)
x = tf.constant(1)
print(base.scale(x).numpy(), base.scale(x + 1).numpy(), derived.scale(x).numpy())
print(Base.plus_one(x).numpy(), derived.plus_one(x).numpy(), base.doubler(x).numpy())
print(base.chained(x).numpy(), derived.chained(x).numpy())
base.k = 100
print(base.scale(x).numpy())
print(base.scale.get_concrete_function(tf.TensorSpec([], tf.int32))(tf.constant(4)).numpy())
print(Base.scale(derived, x).numpy(), base.scale.python_function.__name__)


class Callable:
    def __call__(self, x, power=2):
        return x**power


square = tf.function(Callable())
print(square(tf.constant(3)).numpy(), square(tf.constant(3), power=3).numpy())


def traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        print("calling", f.__name__)
        return f(*args, **kwargs)
    return wrapper


@tf.function
@traced
def inside(x):
    if x > 0:
        return x
    return -x


@traced
@tf.function
def outside(x):
    return x + 1


print(inside(tf.constant(-3)).numpy(), inside(tf.constant(3)).numpy(), outside(x).numpy(), outside(x).numpy())


@tf.function
def variadic(first, *rest, scale=1, **named):
    total = first
    for r in rest:
        total += r
    for key in sorted(named):
        total += named[key] * 10
    return total * scale


print(variadic(x).numpy(), variadic(x, x, x).numpy(), variadic(x, scale=5).numpy(), variadic(x, a=x, b=x + 1).numpy())
partial = functools.partial(variadic, x, scale=3)
print(partial(x).numpy(), partial.func is variadic, variadic.__name__)
fs = [tf.function(lambda v, i=i: v * i) for i in range(3)]
print([f(x).numpy() for f in fs])
