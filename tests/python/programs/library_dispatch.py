# Objects of libraries that take calls of TensorFlow's functions over, and operators that they borrow from tf.Tensor.
import inspect

import tensorflow as tf


class Symbol:
    """Knows how it was computed."""

    dtype = tf.float32

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


for name in tf.Tensor.OVERLOADABLE_OPERATORS:
    if name not in ("__eq__", "__ne__"):
        setattr(Symbol, name, getattr(tf.Tensor, name))


class Recorder(tf.__internal__.dispatch.GlobalOpDispatcher):
    def handle(self, op, args, kwargs):
        flat = tf.nest.flatten([args, kwargs])
        if not any(isinstance(x, Symbol) for x in flat):
            return self.NOT_SUPPORTED
        return Symbol(f"{op.__name__.strip('_')}({', '.join(str(x) for x in flat if x is not None)})")


Recorder().register()
x = Symbol("x")
print(tf.nn.relu(x))
print(tf.reduce_sum(x, axis=1))
print(tf.concat([x, tf.ones([1])], 0).text.split("(")[0])
print(x - 1, 2 * x, tf.abs(x))
one = tf.constant(1.0)
print(*(made.text.partition("(")[2] for made in (one + x, one - x, one * x, one / x, one % x, one**x, x + one, tf.Variable(1.0) + x)))
print(tf.reshape(x, [2]).text.split("(")[0], tf.cast(x, tf.int32).text.split("(")[0])


@tf.__internal__.dispatch.add_dispatch_support
def own(value, factor=2):
    if isinstance(value, Symbol):
        raise TypeError("not mine")
    return tf.convert_to_tensor(value) * factor


print(own(3).numpy(), own(x), inspect.getfullargspec(own).args)


class Pair:
    def __init__(self, value):
        self.value = value


class PairDispatcher(tf.__internal__.dispatch.OpDispatcher):
    def handle(self, args, kwargs):
        if args and isinstance(args[0], Pair):
            return Pair(own(args[0].value, *args[1:], **kwargs))
        return self.NOT_SUPPORTED


PairDispatcher().register(own)
print(own(Pair(4), factor=5).value.numpy())
try:
    own(object())
except (TypeError, ValueError) as e:
    print(type(e).__name__)
print(tf.constant(7).__div__(2).numpy(), tf.constant(6.0).__rdiv__(3.0).numpy())
print(inspect.getfullargspec(tf.rank).args, inspect.getfullargspec(tf.reduce_sum).args)
print(tf.__operators__.add(tf.constant(1), 2).numpy(), tf.__operators__.getitem(tf.constant([1, 2]), 1).numpy())


class Wrapped(tf.Variable, tf.__internal__.types.Tensor):
    """A variable that wraps another."""

    def __init__(self, variable):
        self._variable = variable

    def __getattr__(self, name):
        return getattr(self._variable, name)

    @property
    def dtype(self):
        return self._variable.dtype


print(issubclass(type(Wrapped), type(tf.Module)) or type(Wrapped).__name__, isinstance(Wrapped(tf.Variable(1.0)), tf.Variable))
