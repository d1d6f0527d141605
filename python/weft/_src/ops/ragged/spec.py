"""RaggedTensorSpec: the type of a ragged tensor."""

from weft._src.raw import raw
from weft._src.framework import dtypes, type_spec_registry
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec


@type_spec_registry.register("tf.RaggedTensorSpec")
class RaggedTensorSpec(BatchableTypeSpec):
    """Shape, element type and number of ragged dimensions (0 of them: a plain tensor)."""

    def __init__(
        self, shape=None, dtype=dtypes.float32, ragged_rank=None, row_splits_dtype=dtypes.int64, flat_values_spec=None
    ):
        self._shape = as_shape(shape)
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            dtype = flat_values_spec.dtype if dtype is None else dtype
            if not dtypes.as_dtype(dtype).is_compatible_with(flat_values_spec.dtype):
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        elif dtype is None:
            raise ValueError("At least one of dtype or flat_values_spec must be provided")
        self._dtype, self._flat_values_spec = dtypes.as_dtype(dtype), flat_values_spec
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank = ragged_rank

    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    flat_values_spec = property(lambda self: self._flat_values_spec)

    @property
    def value_type(self):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor, RaggedTensorValue

        if isinstance(value, (RaggedTensor, RaggedTensorValue)):
            return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
        return cls(value.shape, value.dtype, 0)

    def _serialize(self):
        base = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return base if self._flat_values_spec is None else (*base, self._flat_values_spec)

    def is_compatible_with(self, spec_or_value):
        if self._ragged_rank == 0:
            if not isinstance(spec_or_value, (Tensor, TensorSpec, RaggedTensorSpec)) or (
                isinstance(spec_or_value, RaggedTensorSpec) and spec_or_value._ragged_rank
            ):
                return False
            return self._dtype == spec_or_value.dtype and self._shape.is_compatible_with(spec_or_value.shape)
        if not isinstance(spec_or_value, TypeSpec) and not getattr(type(spec_or_value), "_is_composite", False):
            return False
        return super().is_compatible_with(spec_or_value)

    @property
    def _component_specs(self):
        if self._ragged_rank <= 0:
            return [self._flat_values_spec or TensorSpec(self._shape, self._dtype)]
        flat = self._flat_values_spec or TensorSpec(
            TensorShape([None]).concatenate(self._shape[self._ragged_rank + 1 :]), self._dtype
        )
        rows = self._shape[0] if self._shape.rank is not None else None
        outer = TensorSpec([None if rows is None else rows + 1], self._row_splits_dtype)
        return [flat, outer, *[TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)]

    def _to_components(self, value):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        result = (
            RaggedTensor.from_nested_row_splits(components[0], components[1:], validate=False)
            if len(components) > 1
            else components[0]
        )
        if self._shape.rank is not None and isinstance(result, RaggedTensor):
            result._set_shape(self._shape)
        return result

    # ---- as an element of a dataset: one variant

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(None, dtypes.variant)]

    def _check_rank(self, value):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        rank = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if rank != self._ragged_rank:
            raise ValueError(f"Ragged rank of value {rank} does not match ragged rank of type {self._ragged_rank}.")
        return rank

    def _to_tensor_list(self, value):
        if not self._check_rank(value):
            return [raw.RaggedTensorToVariant(rt_nested_splits=[], rt_dense_values=value, batched_input=False)]
        return [value._to_variant(batched_input=False)]

    def _to_batched_tensor_list(self, value):
        if not self._check_rank(value):
            raise ValueError("Batching is not yet supported for ragged_rank=0.")
        return [value._to_variant(batched_input=True)]

    def _from_compatible_tensor_list(self, tensor_list):
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        if self._ragged_rank < 0:
            raise ValueError(f"Argument `ragged_rank` must be non-negative. Received {self._ragged_rank}.")
        result = RaggedTensor._from_variant(
            tensor_list[0], self._dtype, self._ragged_rank, row_splits_dtype=self._row_splits_dtype
        )
        if self._shape.rank is not None:
            (result._set_shape if isinstance(result, RaggedTensor) else result.set_shape)(self._shape)
        return result

    def _from_tensor_list(self, tensor_list):
        if len(tensor_list) != 1:
            raise ValueError(
                f"Cannot create a {self.value_type.__name__} from the tensor list because the TypeSpec "
                f"expects 1 items, but the provided tensor list has "
                f"{len(tensor_list)} items."
            )
        return self._from_compatible_tensor_list(tensor_list)

    def _batch(self, batch_size):
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")
        return RaggedTensorSpec(
            TensorShape([batch_size]).concatenate(self._shape),
            self._dtype,
            self._ragged_rank + 1,
            self._row_splits_dtype,
        )

    def _unbatch(self):
        if self._flat_values_spec is not None:
            raise ValueError("Customized value_type is not supported.")
        return RaggedTensorSpec(self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def _to_legacy_output_classes(self):
        return self
