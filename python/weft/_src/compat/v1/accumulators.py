"""Accumulators: gradients of several steps are added up until enough have come."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor_shape import TensorShape


def _name(shared_name):
    """As an attribute: a name that is a number of the process where the caller gives none."""
    return "" if shared_name is None else shared_name


class ConditionalAccumulatorBase:
    """What dense and sparse accumulators share."""

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = TensorShape(None) if shape is None else TensorShape(shape)
        self._accumulator_ref = accumulator_ref

    @property
    def accumulator_ref(self):
        return self._accumulator_ref

    @property
    def name(self):
        return self._accumulator_ref.op.name

    @property
    def dtype(self):
        return self._dtype

    def num_accumulated(self, name=None):
        """How many gradients have been added since the last average was taken."""
        return raw.ResourceAccumulatorNumAccumulated(
            handle=self._accumulator_ref, name=name or f"{self.name}_NumAccumulated"
        )

    def set_global_step(self, new_global_step, name=None):
        """Gradients of earlier steps are dropped from now on."""
        return raw.ResourceAccumulatorSetGlobalStep(
            handle=self._accumulator_ref, new_global_step=convert_to_tensor(new_global_step, dtypes.int64), name=name
        )


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of tensors."""

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        ref = raw.ResourceConditionalAccumulator(
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=_name(shared_name),
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad, local_step=0, name=None):
        """Adds a gradient, unless its step is over."""
        grad = convert_to_tensor(grad, self._dtype)
        if not self._shape.is_compatible_with(grad.shape):
            raise ValueError(f"Shapes {self._shape} and {grad.shape} are not compatible")
        return raw.ResourceAccumulatorApplyGradient(
            handle=self._accumulator_ref,
            local_step=convert_to_tensor(local_step, dtypes.int64),
            gradient=grad,
            name=name,
        )

    def take_grad(self, num_required, name=None):
        """The average, once so many gradients have come."""
        out = raw.ResourceAccumulatorTakeGradient(
            handle=self._accumulator_ref, num_required=num_required, dtype=self._dtype, name=name
        )
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """An accumulator of rows. Its ops take references (version 1's), which sessions alone have."""

    def __init__(
        self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator", reduction_type="MEAN"
    ):
        ref = raw.SparseConditionalAccumulator(
            dtype=dtype,
            shape=TensorShape(shape),
            shared_name=_name(shared_name),
            reduction_type=reduction_type,
            name=name,
        )
        super().__init__(dtype, shape, ref)

    def num_accumulated(self, name=None):
        return raw.AccumulatorNumAccumulated(handle=self._accumulator_ref, name=name or f"{self.name}_NumAccumulated")

    def set_global_step(self, new_global_step, name=None):
        return raw.AccumulatorSetGlobalStep(
            handle=self._accumulator_ref, new_global_step=convert_to_tensor(new_global_step, dtypes.int64), name=name
        )

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """Adds a gradient of some rows."""
        return raw.SparseAccumulatorApplyGradient(
            handle=self._accumulator_ref,
            local_step=convert_to_tensor(local_step, dtypes.int64),
            gradient_indices=convert_to_tensor(grad_indices, dtypes.int64),
            gradient_values=convert_to_tensor(grad_values, self._dtype),
            gradient_shape=convert_to_tensor([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None,
            name=name,
        )

    def take_grad(self, num_required, name=None):
        """Indices, values and shape of the average."""
        return raw.SparseAccumulatorTakeGradient(
            handle=self._accumulator_ref, num_required=num_required, dtype=self._dtype, name=name
        )

    def take_indexed_slices_grad(self, num_required, name=None):
        indices, values, shape = self.take_grad(num_required, name)
        return IndexedSlices(indices=indices, values=values, dense_shape=shape)
