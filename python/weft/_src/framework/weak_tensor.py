"""Tensors whose type gives way to others, and what type comes of two values (`dtype_conversion_mode="all"` and "safe").

Loaded by experimental_enable_numpy_behavior alone."""

import enum

import numpy as np

from weft import _weft
from weft._src.framework import dtypes, errors, nest
from weft._src.framework.extension_type import BatchableExtensionType
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor import EagerTensor, SymbolicTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape


class PromoMode(enum.Enum):
    SAFE = 2
    ALL = 3


# ---- which type comes of two ----------------------------------------------------------------------------------

_WEAK = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.complex128)  # each gives way to the next
# Whole numbers of up to this many bits stay as they are in it.
_EXACT_BITS = {
    dtypes.bfloat16: 8,
    dtypes.float16: 11,
    dtypes.float32: 24,
    dtypes.complex64: 24,
    dtypes.float64: 53,
    dtypes.complex128: 53,
}


def _kind(dtype):
    """Types of a later kind take those of an earlier one: 0 bool, 1 whole, 2 floating, 3 complex numbers."""
    if dtype is dtypes.bool:
        return 0
    if dtype.is_integer and not dtype.is_quantized:
        return 1
    if dtype in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
        return 2
    return 3 if dtype.is_complex else None


def _of_two(a, b):
    """(type, weak) of two such pairs; None where there is none."""
    (x, x_weak), (y, y_weak) = a, b
    kx, ky = _kind(x), _kind(y)
    if kx is None or ky is None:
        return a if a == b == (dtypes.string, False) else None
    if x_weak and y_weak:
        return a if _WEAK.index(x) >= _WEAK.index(y) else b
    if x_weak or y_weak:
        weak, kw, strong, ks = (x, kx, y, ky) if x_weak else (y, ky, x, kx)
        if kw <= ks:
            return strong, False
        if ks == 2:  # a complex number beside a floating one
            return (dtypes.complex128 if strong is dtypes.float64 else dtypes.complex64), False
        return (dtypes.float64 if kw == 2 and ks == 1 else weak), True
    if x is y:
        return a
    if kx != ky:
        low, high = (x, y) if kx < ky else (y, x)
        return (dtypes.complex128 if low is dtypes.float64 else high), False
    if {x, y} == {dtypes.bfloat16, dtypes.float16}:
        return dtypes.float32, False
    if kx == 1:
        made = dtypes.as_dtype(np.promote_types(x.as_numpy_dtype, y.as_numpy_dtype))
        return made, made is dtypes.float64  # no whole type holds uint64 and negative numbers
    return (x if x.size > y.size else y), False


def _is_safe(a, b, made):
    """Whether no number changes: nothing is widened beyond both types, and whole numbers stay exact."""
    if made[0] is not a[0] and made[0] is not b[0]:
        return False
    if _kind(made[0]) in (2, 3):
        return all(weak or _kind(t) != 1 or t.size * 8 <= _EXACT_BITS[made[0]] for t, weak in (a, b))
    return True


def _type_of(x):
    """The type of a value (or what stands for a type), and whether it is weak."""
    if isinstance(x, WeakTensor):
        return x.dtype, True
    if isinstance(x, dtypes.DType):
        return x, False
    own = getattr(x, "dtype", None)
    if isinstance(own, dtypes.DType):
        return own, False
    if isinstance(own, np.dtype):
        return dtypes.as_dtype(own), False
    if isinstance(x, (bytes, str)):
        return dtypes.string, False
    if isinstance(x, bool) or x is bool:
        return dtypes.bool, False
    if isinstance(x, int):
        if not -(2**31) <= x < 2**31:
            raise OverflowError(f"Python int {x} too large to convert to np.int32")
        return dtypes.int32, True
    for kind, dtype in ((int, dtypes.int32), (float, dtypes.float32), (complex, dtypes.complex128)):
        if isinstance(x, kind) or x is kind:
            return dtype, True
    if isinstance(x, TensorShape):
        return dtypes.int32, False
    if isinstance(x, (np.dtype, type)):
        try:
            return dtypes.as_dtype(x), False
        except TypeError:
            pass
    raise NotImplementedError(f"Auto dtype conversion semantics does not support {type(x)} type.")


def result_type(mode, *values):
    """(type, weak) of all values together; NotImplementedError for what the rules do not know."""
    for v in values:
        if getattr(type(v), "_is_composite", False) and not isinstance(v, (WeakTensor, IndexedSlices)):
            raise NotImplementedError(f"Auto dtype conversion semantics does not support {type(v)} type.")
    found = None
    for v in nest.flatten([v for v in values if v is not None]):
        dtype, weak = _type_of(v)
        one = (dtype.base_dtype, weak)
        if found is None:
            found = one
            continue
        both = _of_two(found, one)
        if both is None:
            raise NotImplementedError(
                f"Implicit Conversion between {found[0]} and {one[0]} is not allowed. Please convert the input manually if you need to."
            )
        if mode is PromoMode.SAFE and not _is_safe(found, one, both):
            raise TypeError(
                f"In promotion mode {mode}, implicit dtype promotion between ({found[0]}, weak={found[1]}) and ({one[0]}, weak={one[1]}) is "
                "disallowed. You need to explicitly specify the dtype in your op, or relax your dtype promotion rules (such as from SAFE mode "
                "to ALL mode)."
            )
        found = both
    return (dtypes.float32, True) if found is None else found


# ---- the class ------------------------------------------------------------------------------------------------


class WeakTensor(BatchableExtensionType):
    """A tensor whose type is that of a Python number: another type beside it wins."""

    __name__ = "tf.WeakTensor"
    __array_priority__ = 100
    tensor: Tensor

    def __validate__(self):
        if self.tensor.dtype not in _WEAK:
            raise TypeError(f"{self.tensor.dtype} not allowed as a weak type. The allowed types are {_WEAK}.")

    # A tape asks for the gradient of the tensor, which is as weak as it.
    @property
    def _gradient_components(self):
        return [self.tensor]

    def _with_gradient_components(self, components):
        return WeakTensor.from_tensor(components[0])

    @classmethod
    def from_tensor(cls, tensor):
        if isinstance(tensor, EagerTensor):
            return EagerWeakTensor(tensor)
        if isinstance(tensor, SymbolicTensor):
            return GraphWeakTensor(tensor)
        raise errors.InvalidArgumentError(
            None,
            None,
            f"WeakTensor can only be constructed from tf.Tensor or tf.WeakTensor, but {type(tensor)} was given.",
        )

    def to_tensor(self):
        return self.tensor

    _as_graph_element = to_tensor

    def __tf_tensor__(self, dtype=None, name=None):
        return self.tensor.__tf_tensor__(dtype, name)

    dtype = property(lambda self: self.tensor.dtype)
    shape = property(lambda self: self.tensor.shape)
    is_tensor_like = property(lambda self: True)

    def __getattr__(self, name):
        if name == "tensor":  # not yet there
            raise AttributeError(name)
        return getattr(self.tensor, name)

    def _text(self, text):
        return f"{text[:-1]}, weak=True{text[-1]}"

    def __repr__(self):
        return self._text(repr(self.tensor))

    def __str__(self):
        return self._text(str(self.tensor))

    def __iter__(self):
        if _weft.in_graph():
            self.tensor._not_allowed("Iterating over a symbolic `tf.WeakTensor`")
        return (WeakTensor.from_tensor(t) for t in self.tensor)

    def __hash__(self):
        return hash(self.tensor)

    def __len__(self):
        return len(self.tensor)

    def __bool__(self):
        return bool(self.tensor)

    def __getitem__(self, key):
        return self.tensor[key]

    def __pos__(self):
        return self


WeakTensor._is_tensor_like = True  # in the class it would be a field


class EagerWeakTensor(WeakTensor):
    """One that has its value."""

    __name__ = "tf.EagerWeakTensor"

    def numpy(self):
        return self.tensor.numpy()

    def __complex__(self):
        return complex(self.tensor)

    def __int__(self):
        return int(self.tensor)

    def __float__(self):
        return float(self.tensor)

    def __index__(self):
        return self.tensor.__index__()

    def __format__(self, spec):
        return f"{format(self.tensor, spec)} weakly typed"

    def __array__(self, dtype=None, copy=None):
        return np.array(self.tensor.__array__(dtype))


class GraphWeakTensor(WeakTensor):
    """One of a graph."""

    __name__ = "tf.GraphWeakTensor"
