"""Extension types, specs and devices, part 1."""

import tensorflow as tf
from calls import show, shown


class MT(tf.experimental.ExtensionType):
    v: tf.Tensor
    n: int = 3
    name: str = "x"

    def plus(self):
        return MT(self.v + 1)


m = MT([1, 2])
show(lambda: m)
show(lambda: print(m))
show(lambda: m.v)
show(lambda: m.n)
show(lambda: m.name)
show(lambda: m.plus())
with shown():
    m.v = 3
show(lambda: m.foo)
with shown():
    m.foo = 2
with shown():
    del m.v
show(lambda: m == MT([1, 2]))
show(lambda: m != MT([1, 2]))
show(lambda: m == 3)
show(lambda: hash(m))
show(lambda: MT())
show(lambda: MT(1, 2, 3, 4))
show(lambda: MT(1, n="a"))
show(lambda: MT(1, foo=3))
show(lambda: MT("a").v.dtype)
show(lambda: MT(object()))
show(lambda: MT(None))
show(lambda: MT.Spec)
show(lambda: tf.type_spec_from_value(m))
show(lambda: MT.Spec(tf.TensorSpec([2], tf.int32), 3, "x"))
show(lambda: MT.Spec(v=tf.TensorSpec(None, tf.int32)))
show(lambda: tf.nest.flatten(m))
show(lambda: tf.nest.flatten(m, expand_composites=True))


@tf.function
def f(x):
    return x.plus()


show(lambda: f(m))
show(lambda: f(m).n)
show(lambda: tf.stack([m, m]))
show(lambda: tf.abs(m))
show(lambda: m + 1)
show(lambda: tf.convert_to_tensor(m))
show(lambda: len(m))
show(lambda: iter(m))
with shown():

    class B(tf.experimental.ExtensionType):
        d: typing.Mapping[str, tf.Tensor]


import typing


class B(tf.experimental.ExtensionType):
    d: typing.Mapping[str, tf.Tensor]
    t: typing.Tuple[int, ...] = (1, 2)
    o: typing.Optional[tf.Tensor] = None
    u: typing.Union[tf.Tensor, int] = 3


b = B({"a": 1})
show(lambda: b)
show(lambda: b.d)
show(lambda: b.t)
show(lambda: b.o)
show(lambda: b.u)
show(lambda: b.d["a"])
with shown():
    b.d["z"] = 1
show(lambda: B([1]))
