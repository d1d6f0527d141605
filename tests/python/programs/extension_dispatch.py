"""Dispatch: dispatch_for_api, unary and binary elementwise APIs, unregister."""
from typing import List, Union
import tensorflow as tf


class MaskedTensor(tf.experimental.BatchableExtensionType):
    values: tf.Tensor
    mask: tf.Tensor

    def __repr__(self):
        return f"<MaskedTensor {tf.where(self.mask, tf.strings.as_string(self.values), '_').numpy().tolist()}>"

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)


def convert_to_masked_tensor(x):
    if isinstance(x, MaskedTensor):
        return x
    x = tf.convert_to_tensor(x)
    return MaskedTensor(x, tf.ones_like(x, tf.bool))


@tf.experimental.dispatch_for_api(tf.stack)
def masked_stack(values: List[Union[MaskedTensor, tf.Tensor]], axis=0, name="stack"):
    values = [convert_to_masked_tensor(v) for v in values]
    return MaskedTensor(tf.stack([v.values for v in values], axis), tf.stack([v.mask for v in values], axis))


@tf.experimental.dispatch_for_api(tf.concat, {"values": List[MaskedTensor]})
def masked_concat(values, axis, name="concat"):
    return MaskedTensor(tf.concat([v.values for v in values], axis), tf.concat([v.mask for v in values], axis))


@tf.experimental.dispatch_for_unary_elementwise_apis(MaskedTensor)
def masked_unary(api_func, x):
    return MaskedTensor(api_func(x.values), x.mask)


@tf.experimental.dispatch_for_binary_elementwise_apis(Union[MaskedTensor, tf.Tensor], Union[MaskedTensor, tf.Tensor])
def masked_binary(api_func, x, y):
    x, y = convert_to_masked_tensor(x), convert_to_masked_tensor(y)
    return MaskedTensor(api_func(x.values, y.values), x.mask & y.mask)


x = MaskedTensor([1, 2, 3], [True, True, False])
y = MaskedTensor([-4, 5, 6], [True, False, True])
print(tf.stack([x, y]))
print(tf.concat([x, y], axis=0))
print(tf.abs(y), tf.math.negative(x), tf.ones_like(y), tf.square(x))
print(tf.add(x, y), tf.multiply(x, tf.constant(10)), tf.math.maximum(y, tf.constant(0)),
      tf.equal(x, tf.constant([1, 0, 3])))
masks = MaskedTensor(tf.reshape(tf.range(6), [3, 2]), [[True, False], [True, True], [False, False]])
print(tf.map_fn(lambda m: tf.add(m, tf.constant(1)), masks,
                fn_output_signature=MaskedTensor.Spec(tf.TensorSpec([2], tf.int32), tf.TensorSpec([2], tf.bool))))
for m in tf.data.Dataset.from_tensor_slices(masks):
    print(m)
for m in tf.data.Dataset.from_tensor_slices(masks).batch(2):
    print(m)
print(tf.constant([1, 2]) + tf.constant([3, 4]))
tf.experimental.unregister_dispatch_for(masked_unary)
tf.experimental.unregister_dispatch_for(masked_binary)
try:
    tf.abs(y)
except Exception as e:
    print(type(e).__name__)
try:
    tf.add(x, y)
except Exception as e:
    print(type(e).__name__)


class Weird:
    def __init__(self, value):
        self.value = value

    @classmethod
    def __tf_dispatch__(cls, *args):
        return NotImplemented

    def __tf_tensor__(self, dtype=None, name=None):
        return tf.convert_to_tensor(self.value, dtype)


print(tf.add(Weird([1, 2]), 3), tf.convert_to_tensor(Weird(2.5)))
