"""tf.SparseTensor: the places and values of the elements that are there."""

import collections

from weft._src.raw import raw
from weft._src.framework import dtypes, type_spec_registry
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import register_api_name, register_on_sparse_values
from weft._src.framework.static_value import constant_value_as_shape
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import BatchableTypeSpec, TensorSpec

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


def _same_size(a, b):
    if a is not None and b is not None and a != b:
        raise ValueError(f"Dimensions {a} and {b} are not compatible")


class SparseTensor(CompositeTensor):
    """values[i] stands at indices[i] of a tensor of dense_shape; all else is zero."""

    _is_tensor_like = True
    __array_priority__ = 101

    def __init__(self, indices, values, dense_shape):
        indices = convert_to_tensor(indices, dtypes.int64)
        values = convert_to_tensor(values)
        static = _static_shape(dense_shape)
        dense_shape = convert_to_tensor(dense_shape, dtypes.int64)
        places = indices.shape.with_rank(2)
        _same_size(places[0], values.shape.with_rank(1)[0])
        _same_size(places[1], dense_shape.shape.with_rank(1)[0])
        self._indices, self._values, self._dense_shape = indices, values, dense_shape
        self._static_shape = static

    indices = property(lambda self: self._indices)
    values = property(lambda self: self._values)
    dense_shape = property(lambda self: self._dense_shape)
    dtype = property(lambda self: self._values.dtype)
    op = property(lambda self: self._values.op)
    graph = property(lambda self: self._values.graph)

    @classmethod
    def from_value(cls, sparse_tensor_value):
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not isinstance(sparse_tensor_value, tuple):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(*sparse_tensor_value)

    @property
    def shape(self):
        found = _static_shape(self._dense_shape)
        return (
            found.merge_with(self._static_shape)
            if found.rank is not None and self._static_shape.rank is not None
            else found
            if found.rank is not None
            else self._static_shape
        )

    def get_shape(self):
        return self.shape

    def set_shape(self, shape):
        self._static_shape = self.shape.merge_with(shape)

    def with_values(self, new_values):
        """The same places with other values."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def consumers(self):
        return self._consumers()

    def eval(self, feed_dict=None, session=None):
        from weft._src.compat import session as v1

        return SparseTensorValue(
            *v1.default_session(session, "eval").run([self._indices, self._values, self._dense_shape], feed_dict)
        )

    @property
    def _type_spec(self):
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape):
        return SparseTensorSpec(shape, self.dtype)

    def _cwise(self, op, other):
        other = convert_to_tensor(other, self.dtype)
        return self.with_values(
            op(sp_indices=self._indices, sp_values=self._values, sp_shape=self._dense_shape, dense=other)
        )

    def __mul__(self, other):
        return self._cwise(raw.SparseDenseCwiseMul, other)

    def __truediv__(self, other):
        if self.dtype.is_integer:
            return self.with_values(raw.Cast(x=self._values, DstT=dtypes.float64))._cwise(
                raw.SparseDenseCwiseDiv, other
            )
        return self._cwise(raw.SparseDenseCwiseDiv, other)

    __div__ = __truediv__

    def __rmul__(self, other):
        # TensorFlow multiplies tensors, but not plain numbers, from the left.
        return self._cwise(raw.SparseDenseCwiseMul, other) if isinstance(other, Tensor) else NotImplemented

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _unpickled, (self._indices, self._values, self._dense_shape)

    def __repr__(self):
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    __str__ = __repr__


def _unpickled(indices, values, dense_shape):
    return SparseTensor(indices, values, dense_shape)


def _static_shape(value):
    if isinstance(value, Tensor):
        found = constant_value(value)
        if found is None:
            return constant_value_as_shape(value) if value.shape.rank == 1 else TensorShape(None)
        return TensorShape([None if d < 0 else int(d) for d in found])
    if isinstance(value, TensorShape):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        known = [constant_value(d) if isinstance(d, Tensor) else d for d in value]
        if any(isinstance(d, (list, tuple)) for d in known):
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return TensorShape([None if d is None or d < 0 else int(d) for d in known])
    return TensorShape(None)


@type_spec_registry.register("tf.SparseTensorSpec")
class SparseTensorSpec(BatchableTypeSpec):
    """The type of a tf.SparseTensor."""

    value_type = property(lambda self: SparseTensor)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape, self._dtype = as_shape(shape), dtypes.as_dtype(dtype)

    @classmethod
    def from_value(cls, value):
        if isinstance(value, SparseTensor):
            return cls(value.shape, value.dtype)
        if isinstance(value, SparseTensorValue):
            import numpy as np

            values = np.asarray(value.values)
            return cls(value.dense_shape, values.dtype)
        raise TypeError(
            f"Expected SparseTensor or SparseTensorValue. Received: {value} of type {type(value).__name__}."
        )

    def _serialize(self):
        return self._shape, self._dtype

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value):
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        result = SparseTensor(*components)
        result._static_shape = (
            result._static_shape.merge_with(self._shape)
            if result._static_shape.is_compatible_with(self._shape)
            else result._static_shape
        )
        return result

    # ---- as an element of a dataset: one variant

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _to_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        made = raw.SerializeSparse(
            sparse_indices=value.indices,
            sparse_values=value.values,
            sparse_shape=value.dense_shape,
            out_type=dtypes.variant,
        )
        return [made]

    def _to_batched_tensor_list(self, value):
        value = SparseTensor.from_value(value)
        if value.shape.rank == 0:
            raise ValueError(f"Unbatching a sparse tensor is only supported for rank >= 1. Obtained input: {value}.")
        return [
            raw.SerializeManySparse(
                sparse_indices=value.indices,
                sparse_values=value.values,
                sparse_shape=value.dense_shape,
                out_type=dtypes.variant,
            )
        ]

    def _from_compatible_tensor_list(self, tensor_list):
        indices, values, shape = raw.DeserializeSparse(serialized_sparse=tensor_list[0], dtype=self._dtype)
        rank = self._shape.rank
        indices.set_shape([None, rank])
        # What the spec knows of the shape is a constant, which shape rules of ops on the element see.
        if self._shape.is_fully_defined():
            shape = convert_to_tensor(self._shape.as_list(), dtypes.int64, name="shape")
        elif rank is not None and any(size is not None for size in self._shape):
            sizes = raw.Unpack(value=shape, num=rank)
            shape = raw.Pack(values=[d if s is None else s for s, d in zip(self._shape, sizes)], name="stack")
        else:
            shape.set_shape([rank])
        result = SparseTensor(indices, values, shape)
        result._static_shape = self._shape
        return result

    def _from_tensor_list(self, tensor_list):
        return self._from_compatible_tensor_list(tensor_list)

    def _batch(self, batch_size):
        return SparseTensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape


def _unary(op, arguments):
    name = next(iter(arguments))
    value = arguments.pop(name)
    return value.with_values(op(**{name: value.values}, **arguments))


register_on_sparse_values(SparseTensor, _unary)


def _for_sparse(function):
    def handle(args, kwargs):
        value = args[0] if args else next(iter(kwargs.values()), None)
        return function(*args, **kwargs) if isinstance(value, SparseTensor) else NotImplemented

    return handle


def _shape(input, out_type=None, name=None):
    return raw.Cast(x=input.dense_shape, DstT=dtypes.int32 if out_type is None else dtypes.as_dtype(out_type))


def _on_values(name):
    def call(x, **kwargs):
        from weft._src.ops import math_ops

        return x.with_values(getattr(math_ops, name)(x.values))

    return call


register_api_name("weft._src.ops.array_ops", "shape", _for_sparse(_shape))
for _name in ("abs", "sign"):
    register_api_name("weft._src.ops.math_ops", _name, _for_sparse(_on_values(_name)))
