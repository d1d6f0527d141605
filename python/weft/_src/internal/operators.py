"""tf.__operators__: what operators of tensors do, as functions that can be taken over."""

from weft._src.framework import dispatch
from weft._src.framework.foreign_operators import function_of
from weft._src.framework.tensor import Tensor


def _tensor(value):
    from weft._src.framework.convert import convert_to_tensor

    return convert_to_tensor(value)


@dispatch.dispatchable
def add(x, y, name=None):
    x = _tensor(x)
    if getattr(type(y), "__radd__", None) is function_of("__radd__"):
        # Not asked for its operator, which is this function; where it is no tensor, the call is taken over.
        y = _tensor(y)
    return x + y


@dispatch.dispatchable
def eq(self, other):
    return _tensor(self) == other


@dispatch.dispatchable
def ne(self, other):
    return _tensor(self) != other


@dispatch.dispatchable
def getitem(tensor, slice_spec, var=None):
    return (tensor if isinstance(tensor, Tensor) else _tensor(tensor))[slice_spec]


@dispatch.dispatchable
def ragged_getitem(rt_input, key):
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    if not isinstance(rt_input, RaggedTensor):
        raise TypeError("Ragged __getitem__ expects a ragged_tensor.")
    return rt_input[key]
