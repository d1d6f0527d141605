"""Extension types, specs and devices, part 2."""

import numpy as np
import tensorflow as tf
from calls import show, shown


class MT(tf.experimental.ExtensionType):
    v: tf.Tensor
    n: int = 3
    name: str = "x"

    def plus(self):
        return MT(self.v + 1)


m = MT([1, 2])


class A(tf.experimental.ExtensionType):
    x: tf.RaggedTensor
    y: "tuple[tf.Tensor, ...]"


import typing


class B(tf.experimental.ExtensionType):
    d: typing.Mapping[str, tf.Tensor]
    t: typing.Tuple[int, ...] = (1, 2)
    o: typing.Optional[tf.Tensor] = None
    u: typing.Union[tf.Tensor, int] = 3


b = B({"a": 1})
show(lambda: B({"a": 1}, t=["x"]))
show(lambda: B({1: 1}))
with shown():

    class C(tf.experimental.ExtensionType):
        x: list


with shown():

    class C(tf.experimental.ExtensionType):
        x: dict


with shown():

    class C(tf.experimental.ExtensionType):
        Spec: int


class C(tf.experimental.ExtensionType):
    _tf_x: int


class C(tf.experimental.ExtensionType):
    x: int

    def __init__(self, q):
        self.x = q * 2

    def __validate__(self):
        if self.x > 10:
            raise ValueError("too big")

    def __repr__(self):
        return f"C<{self.x}>"


show(lambda: C(3))
show(lambda: C(3).x)
show(lambda: C(30))


class D(tf.experimental.ExtensionType):
    x: tf.TensorSpec([2], tf.float32) if False else tf.Tensor

    @property
    def shape(self):
        return self.x.shape


show(lambda: D([1.0, 2.0]).shape)


class E(tf.experimental.ExtensionType):
    a: int
    b: tf.Tensor = 5


show(lambda: E(1))


class F(E):
    c: float = 2.5


show(lambda: F(1))
show(lambda: F(1).b)
show(lambda: tf.add(m, m))
show(lambda: m + m)
with shown():

    @tf.experimental.dispatch_for_api(tf.add)
    def add3(x, y):
        return 1


with shown():

    @tf.experimental.dispatch_for_api(3)
    def add4(x):
        return 1


@tf.experimental.dispatch_for_unary_elementwise_apis(MT)
def un(api, x):
    return MT(api(x.v))


show(lambda: tf.abs(MT([-1])))
show(lambda: tf.negative(m))
with shown():

    @tf.experimental.dispatch_for_unary_elementwise_apis(MT)
    def un2(api, x):
        return 1


show(lambda: tf.experimental.unregister_dispatch_for(un))
show(lambda: tf.abs(MT([-1])))
show(
    lambda: tf.experimental.dispatch_for_binary_elementwise_apis(MT, MT)(lambda api, x, y: MT(api(x.v, y.v)))(
        tf.add, m, m
    )
)
show(lambda: tf.multiply(m, m))


class Bt(tf.experimental.BatchableExtensionType):
    v: tf.Tensor


show(lambda: tf.data.Dataset.from_tensor_slices(Bt([1, 2, 3])).batch(2).element_spec)
show(lambda: list(tf.data.Dataset.from_tensor_slices(Bt([1, 2, 3])).batch(2)))
show(lambda: tf.map_fn(lambda x: Bt(x.v * 2), Bt([1, 2]), fn_output_signature=Bt.Spec(tf.TensorSpec([], tf.int32))))
show(lambda: tf.data.Dataset.from_tensors(m).element_spec)
show(lambda: tf.data.Dataset.from_tensor_slices(m))
with tf.GradientTape() as t:
    q = MT([1.0, 2.0])
    t.watch(q)
    y = q.v * 2
show(lambda: tf.cond(tf.constant(True), lambda: m, lambda: MT([5, 6])))
show(lambda: tf.cond(tf.constant(True), lambda: m, lambda: MT([5, 6], n=7)))
import pickle, copy

show(lambda: copy.copy(m))
show(lambda: copy.deepcopy(m))
show(lambda: pickle.loads(pickle.dumps(m)))
ts = tf.TensorSpec([None, 2], tf.int32, name="t")
show(lambda: ts)
show(lambda: ts.shape)
show(lambda: ts.dtype)
show(lambda: ts.name)
show(lambda: ts.is_compatible_with(tf.ones([3, 2], tf.int32)))
show(lambda: ts.is_compatible_with(tf.ones([3, 3], tf.int32)))
show(lambda: ts.is_compatible_with(np.ones([3, 2])))
show(lambda: ts == tf.TensorSpec([None, 2], tf.int32))
show(lambda: ts == tf.TensorSpec([None, 2], tf.int32, name="t"))
show(lambda: hash(ts) == hash(tf.TensorSpec([None, 2], tf.int32, name="t")))
show(lambda: ts.is_subtype_of(tf.TensorSpec(None, tf.int32)))
show(lambda: ts.most_specific_common_supertype([tf.TensorSpec([3, 3], tf.int32)]))
show(lambda: ts.most_specific_compatible_type(tf.TensorSpec([3, 2], tf.int32)))
show(lambda: tf.TensorSpec.from_tensor(tf.ones([2])))
show(lambda: tf.TensorSpec.from_spec(ts, name="z"))
show(lambda: ts.value_type)
show(lambda: ts.most_specific_compatible_type(tf.TensorSpec([3, 2], tf.float32)))
show(lambda: tf.TensorSpec([2], "foo"))
show(lambda: tf.TensorSpec("a"))
show(lambda: tf.TensorSpec.from_tensor(3))
show(lambda: tf.TensorSpec([2], tf.int32, name=3))
