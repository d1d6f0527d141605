"""ExtensionType: fields, checks, printing, functions, nested types, defaults, methods, specs, equality, datasets."""
from typing import Mapping, Tuple, Union
import tensorflow as tf


class MaskedTensor(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def replace_mask(self, new_mask):
        self.values.shape.assert_is_compatible_with(new_mask.shape)
        return MaskedTensor(self.values, new_mask)

    def with_default(self, default):
        return tf.where(self.mask, self.values, default)

    __name__ = "tf.demo.MaskedTensor"


x = MaskedTensor([1, 2, 3], [True, True, False])
print(x)
print(x.values, x.mask)
print(x.with_default(0), x.replace_mask(tf.constant([True, False, False])).mask)


class TensorGraph(tf.experimental.ExtensionType):
    num_nodes: tf.Tensor
    edge_src: tf.Tensor
    edge_dst: tf.Tensor


class Named(tf.experimental.ExtensionType):
    name: str
    size: int = 3
    scores: Mapping[str, tf.Tensor] = {}
    shape: tf.TensorShape = tf.TensorShape([])
    pair: Tuple[tf.Tensor, int] = (0.0, 1)
    either: Union[str, int] = "s"

    def __validate__(self):
        if self.size < 0:
            raise ValueError("size must not be negative")


print(Named("n"), Named("n", 5, {"a": 1.5}).scores["a"])
for bad in (lambda: Named(5), lambda: Named("n", size="x"), lambda: Named("n", size=-1), lambda: MaskedTensor([1]),
            lambda: Named("a", unknown=1)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
try:
    x.values = 5
except AttributeError as e:
    print(e)
try:
    del x.mask
except AttributeError as e:
    print(e)


@tf.function
def increment(m):
    print("tracing", type(m).__name__, m.values.shape)
    return MaskedTensor(m.values + 1, m.mask)


print(increment(x))
print(increment(x).values.numpy())
spec = MaskedTensor.Spec(tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.bool))
print(spec)
print(tf.type_spec_from_value(x), spec.is_compatible_with(x))


@tf.function(input_signature=[spec])
def total(m):
    return tf.reduce_sum(m.with_default(0))


print(total(x).numpy(), total(MaskedTensor([5], [True])).numpy())
print(tf.nest.flatten(x, expand_composites=True))
print(tf.nest.map_structure(lambda t: t * 2 if t.dtype == tf.int32 else t, x, expand_composites=True))
n = Named("q", either=4)
print(n == Named("q", either=4), n == Named("r"), n.either, n.shape, n.pair)
ds = tf.data.Dataset.from_tensors(x)
for e in ds:
    print(type(e).__name__, e.values.numpy())
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    m = MaskedTensor(v * 2.0, [True, False])
    y = tf.reduce_sum(m.with_default(0.0))
print(tape.gradient(y, v))
r = tf.cond(tf.constant(True), lambda: x, lambda: MaskedTensor([0, 0, 0], [True] * 3))
print(r.values)
