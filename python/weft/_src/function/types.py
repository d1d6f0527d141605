"""tf.types.experimental: classes to test values against, and to annotate with."""

import abc
import typing

import numpy as np

from weft._src.framework.tensor import AnyTensor
from weft._src.framework.trace_type import TraceType
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function as PolymorphicFunction
from weft._src.function.signature import FunctionType

GenericFunction = PolymorphicFunction


class Callable(abc.ABC):
    """What can be called with tensors and has a function type."""


Callable.register(PolymorphicFunction)
Callable.register(ConcreteFunction)


class AtomicFunction(Callable):
    """A function of the runtime's without captures; weft's concrete functions stand for it."""


@typing.runtime_checkable
class SupportsTracingProtocol(typing.Protocol):
    """A class that says itself of which kind its values are as arguments of a tf.function."""

    def __tf_tracing_type__(self, context):
        """The TraceType of this value."""


@typing.runtime_checkable
class TensorProtocol(typing.Protocol):
    """A class whose values become tensors."""

    def __tf_tensor__(self, dtype=None, name=None):
        """The value as a tensor."""


TensorLike = typing.Union[
    AnyTensor, TensorProtocol, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic
]

__all__ = [
    "AtomicFunction",
    "Callable",
    "ConcreteFunction",
    "FunctionType",
    "GenericFunction",
    "PolymorphicFunction",
    "SupportsTracingProtocol",
    "TensorLike",
    "TraceType",
]
