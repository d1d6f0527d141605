"""tf.IndexedSlices: some rows of a tensor, as gradients of gathers have them."""

from weft._src.framework import dtypes
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import TensorSpec, TypeSpec


class IndexedSlices(CompositeTensor):
    """values[i] is the row indices[i] of a larger tensor; rows may occur more than once and are then added."""

    _is_tensor_like = True

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices, self._dense_shape = values, indices, dense_shape

    @property
    def values(self):
        return self._values

    @property
    def indices(self):
        return self._indices

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def shape(self):
        if self._dense_shape is None:
            return TensorShape(None)
        return _static_shape(self._dense_shape)

    @property
    def name(self):
        return self._values.name

    @property
    def device(self):
        return self._values.device

    @property
    def op(self):
        return self._values.op

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def graph(self):
        return self._values.graph

    @property
    def _type_spec(self):
        shape = self._values.shape[1:]
        if self._dense_shape is None:
            shape = TensorShape([None]).concatenate(shape)
        else:
            shape = _static_shape(self._dense_shape, default=TensorShape([None]).concatenate(shape))
        return IndexedSlicesSpec(
            shape,
            self.dtype,
            self._indices.dtype,
            None if self._dense_shape is None else self._dense_shape.dtype,
            self._indices.shape,
        )

    def _shape_invariant_to_type_spec(self, shape):
        return IndexedSlicesSpec(
            shape,
            self.dtype,
            self._indices.dtype,
            None if self._dense_shape is None else self._dense_shape.dtype,
            shape[:1],
        )

    def consumers(self):
        return self._consumers()

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __tf_tensor__(self, dtype=None, name=None):
        """The whole tensor; needs dense_shape."""
        from weft._src.raw import raw

        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {dtype.name} for IndexedSlices "
                f"({self}) with dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: {self}"
            )
        rows = raw.GatherV2(params=self._dense_shape, indices=0, axis=0)
        return raw.UnsortedSegmentSum(data=self._values, segment_ids=self._indices, num_segments=rows, name=name)

    def __str__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


def _static_shape(tensor, default=None):
    from weft._src.framework.convert import constant_value

    value = constant_value(tensor)
    if value is None:
        return (
            default
            if default is not None
            else TensorShape([None] * tensor.shape[0] if tensor.shape.rank and tensor.shape[0] is not None else None)
        )
    return TensorShape([None if d < 0 else int(d) for d in value])


class IndexedSlicesSpec(TypeSpec):
    """The type of tf.IndexedSlices."""

    def __init__(
        self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None, indices_shape=None
    ):
        self._shape = as_shape(shape)
        self._values_dtype = dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self):
        return IndexedSlices

    def _serialize(self):
        return self._shape, self._values_dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    @property
    def _component_specs(self):
        specs = (
            TensorSpec(self._indices_shape.concatenate(self._shape[1:]), self._values_dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([self._shape.rank], self._dense_shape_dtype))

    def _to_components(self, value):
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, components):
        return IndexedSlices(*components)


def as_indexed_slices(value):
    """A tensor as slices of all its rows; slices as they are."""
    from weft._src.raw import raw
    from weft._src.framework.convert import convert_to_tensor

    if isinstance(value, IndexedSlices):
        return value
    value = convert_to_tensor(value)
    shape = raw.Shape(input=value, out_type=dtypes.int32)
    return IndexedSlices(value, raw.Range(start=0, limit=shape[0], delta=1), shape)
