"""tf.types.experimental.TraceType: the kind of an argument of a tf.function."""

import abc

from weft._src.framework import dtypes
from weft._src.framework.tensor_shape import TensorShape


class TraceType(metaclass=abc.ABCMeta):
    """The kind of an argument of a tf.function: calls with arguments of the same kind share a graph."""

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """Whether a value of this kind may go where `other` is expected."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """A kind that holds this one and the others; None where there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context=None):
        """A value that stands for any of this kind while a function is traced."""

    def to_tensors(self, value):
        return []

    def from_tensors(self, tensors):
        return self.placeholder_value(None)

    def flatten(self):
        return []

    def cast(self, value, cast_context=None):
        return value

    @abc.abstractmethod
    def __eq__(self, other):
        pass

    @abc.abstractmethod
    def __hash__(self):
        pass


# Shapes and element types know these relations as well, so what a spec serializes to is compared item by item.
TraceType.register(TensorShape)
TraceType.register(dtypes.DType)
