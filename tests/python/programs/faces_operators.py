"""Operators with foreign objects, the metaclass of variables, dispatch, classes of other people."""

import re

import numpy as np
import tensorflow as tf


def attempt(name, call):
    try:
        print(name, call())
    except Exception as e:
        print(name, type(e).__name__, re.sub(" at 0x[0-9a-f]+", "", str(e))[:100])


class Foreign:
    """Takes over every operator."""

    __array_priority__ = 1000

    def _take(name):
        return lambda self, other=None: f"{name} {type(other).__name__}"

    for _name in "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul and rand or ror xor rxor lt le gt ge eq ne".split():
        locals()[f"__{_name}__"] = _take(_name)
    __hash__ = object.__hash__


class Refusing:
    pass


t, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
i = tf.constant([1, 2])
for name, left in (("tensor", t), ("variable", v)):
    f = Foreign()
    for symbol in "+ - * / // % ** @ < <= > >= == !=".split():
        attempt(f"{name} {symbol}", lambda: eval(f"left {symbol} f", {"left": left, "f": f}))
        attempt(f"{symbol} {name}", lambda: eval(f"f {symbol} left", {"left": left, "f": f}))
for symbol in "+ - * / == <".split():
    attempt(f"refusing {symbol}", lambda: eval(f"t {symbol} r", {"t": t, "r": Refusing()}))
print(t.__add__(Refusing()) if hasattr(t, "x") else "-", tf.Tensor.__array_priority__, v.__array_priority__)
print(type(np.array([1.0, 2.0]) + t).__name__, type(t + np.array([1.0, 2.0])).__name__, type(np.float32(1) + t).__name__, type(np.array([1.0, 2.0]) * v).__name__)
attempt("div", lambda: tf.Tensor.__div__(t, t).numpy())
attempt("rdiv", lambda: tf.Tensor.__rdiv__(t, 3.0).numpy())
attempt("bool", lambda: (bool(tf.constant(True)), bool(tf.constant([]))))
attempt("bool of many", lambda: bool(t))
attempt("index", lambda: [1, 2, 3][tf.constant(1)])
attempt("len", lambda: (len(t), len(tf.constant(1))))
attempt("iter", lambda: [float(x) for x in t])
attempt("format", lambda: f"{tf.constant(1.5):.2f}")
attempt("contains", lambda: 1.0 in t)
print(type(tf.Variable).__name__, isinstance(v, tf.Variable), issubclass(type(v), tf.Variable))


class Wrapping(tf.Variable):
    """A variable around another, as libraries write them."""

    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        return getattr(self._inner, name)

    @property
    def shape(self):
        return self._inner.shape

    @property
    def dtype(self):
        return self._inner.dtype

    def value(self):
        return self._inner.value()

    def read_value(self):
        return self._inner.read_value()

    @property
    def name(self):
        return "wrapped"

    def numpy(self):
        return self._inner.numpy()

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        return self._inner.value()


attempt("wrapping", lambda: type(Wrapping(v)).__name__)
wrapped = Wrapping(v)
attempt("is variable", lambda: isinstance(wrapped, tf.Variable))
attempt("wrapped name", lambda: (wrapped.name, wrapped.shape, wrapped.dtype))
attempt("wrapped value", lambda: wrapped.value().numpy())
attempt("wrapped numpy", lambda: wrapped.numpy())




class Box(tf.experimental.ExtensionType):
    value: tf.Tensor


@tf.experimental.dispatch_for_api(tf.add, {"x": Box}, {"y": Box})
def _add(x, y, name=None):
    x, y = (o.value if isinstance(o, Box) else o for o in (x, y))
    return Box(x + y)


@tf.experimental.dispatch_for_unary_elementwise_apis(Box)
def _unary(api, x):
    print("unary", api.__name__)
    return Box(api(x.value))


@tf.experimental.dispatch_for_binary_elementwise_apis(Box, Box)
def _binary(api, x, y):
    print("binary", api.__name__)
    return Box(api(x.value, y.value))


box = Box(tf.constant([1.0, 4.0]))
attempt("add", lambda: tf.add(box, 1.0).value.numpy())
attempt("sqrt", lambda: tf.sqrt(box).value.numpy())
attempt("relu", lambda: tf.nn.relu(box).value.numpy())
attempt("multiply", lambda: tf.multiply(box, box).value.numpy())
attempt("equal boxes", lambda: box == Box(tf.constant([1.0, 4.0])))
attempt("matmul", lambda: tf.matmul(box, box))
attempt("not an api", lambda: tf.experimental.dispatch_for_api(len))
attempt("bad signature", lambda: tf.experimental.dispatch_for_api(tf.add, {"q": Box})(lambda x, y, name=None: 1))
attempt("bad target", lambda: tf.experimental.dispatch_for_api(tf.add, {"x": Box})(lambda a: 1))
tf.experimental.unregister_dispatch_for(_add)
attempt("after", lambda: tf.add(box, box).value.numpy())


class PairSpec(tf.TypeSpec):
    """A TypeSpec and its values, written by others."""

    value_type = property(lambda self: Pair)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def _serialize(self):
        return (self.a, self.b)

    @property
    def _component_specs(self):
        return (self.a, self.b)

    def _to_components(self, value):
        return (value.a, value.b)

    def _from_components(self, components):
        return Pair(*components)


class Pair(tf.__internal__.CompositeTensor):
    def __init__(self, a, b):
        self.a, self.b = tf.convert_to_tensor(a), tf.convert_to_tensor(b)

    @property
    def _type_spec(self):
        return PairSpec(tf.TensorSpec.from_tensor(self.a), tf.TensorSpec.from_tensor(self.b))


pair = Pair([1, 2], 3.0)
print(tf.nest.flatten(pair, expand_composites=True)[1].numpy(), len(tf.nest.flatten(pair)))
print(pair._type_spec.is_compatible_with(pair), pair._type_spec == Pair([5, 6], 7.0)._type_spec, tf.type_spec_from_value(pair) == pair._type_spec)
swap = tf.function(lambda p: Pair(p.a + 1, p.b * 2))
made = swap(pair)
print(type(made).__name__, made.a.numpy(), made.b.numpy(), swap.experimental_get_tracing_count(), swap(Pair([3, 4], 5.0)).a.numpy(), swap.experimental_get_tracing_count())
loop = tf.while_loop(lambda p: p.b < 20.0, lambda p: [Pair(p.a, p.b * 2)], [pair])
print(loop[0].b.numpy())
print(tf.cond(tf.constant(True), lambda: pair, lambda: Pair([0, 0], 0.0)).a.numpy())
print(repr(PairSpec(tf.TensorSpec([2]), tf.TensorSpec([]))), tf.is_tensor(pair), tf.is_tensor(box))
attempt("compatible", lambda: pair._type_spec.most_specific_compatible_type(Pair([1, 2, 3], 4.0)._type_spec))


class Like:
    """A tensor-like of another library."""

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.constant([7.0, 8.0], dtype or tf.float32)


attempt("like", lambda: (tf.add(Like(), 1.0).numpy(), tf.convert_to_tensor(Like()).numpy(), (t + Like()).numpy()))


class Arrays:
    def __array__(self, dtype=None, copy=None):
        return np.array([3.0, 4.0], np.float32)


attempt("array", lambda: (tf.convert_to_tensor(Arrays()).numpy(), (t * Arrays()).numpy()))
tf.register_tensor_conversion_function(Refusing, lambda value, dtype=None, name=None, as_ref=False: tf.constant([9.0, 9.0]))
attempt("converted", lambda: (t + Refusing()).numpy())
attempt("reflected", lambda: (Refusing() + t).numpy())
attempt("numpy first", lambda: np.add(t, np.array([1.0, 1.0])))
