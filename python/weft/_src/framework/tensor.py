"""tf.Tensor and its two kinds: EagerTensor, which has a value, and SymbolicTensor, which stands for one in a graph."""

import abc
import functools
import importlib

from weft import _weft
from weft._src.framework import dtypes, errors
from weft._src.framework.foreign_operators import TensorType


class AnyTensor(abc.ABC):
    """tf.__internal__.types.Tensor: the base of all dense tensors and of variables; classes of other packages derive from it to count as tensors."""

    dtype = property(lambda self: None)
    shape = property(lambda self: None)

    @classmethod
    def __subclasshook__(cls, other):
        # tf.Variable itself stands for variables of any kind: it is none, but all that it makes are.
        if cls is AnyTensor and issubclass(other, _weft.VariableBase) and _weft.VariableBase not in other.__bases__:
            return True
        return NotImplemented


AnyTensor.__name__ = AnyTensor.__qualname__ = "Tensor"


def _divided(x, y):
    """Python 2's division, which libraries still look for."""
    from weft._src.compat.v1.old_ops import div

    return div(x, y)


@AnyTensor.register
class Tensor(_weft.TensorBase, metaclass=TensorType):
    """A value of one type with a shape. dtype, shape, device and the binary operators come from the engine."""

    __array_priority__ = 100
    OVERLOADABLE_OPERATORS = frozenset(
        f"__{n}__"
        for n in (
            "abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand rdiv rfloordiv rmatmul rmod rmul "
            "ror rpow rsub rtruediv rxor sub truediv xor"
        ).split()
    )
    _USE_EQUALITY = True

    def __new__(cls, *args, **kwargs):
        raise TypeError(f"{cls.__name__}() takes no arguments")  # ops make tensors, not calls

    # What classes of libraries that act like tensors take from here; tensors of either kind have their own.
    def __bool__(self):
        return self._disallow_bool_casting()

    def __nonzero__(self):
        return bool(self)

    def _disallow_bool_casting(self):
        SymbolicTensor._not_allowed(self, "Using a symbolic `tf.Tensor` as a Python `bool`")

    def _disallow_iteration(self):
        SymbolicTensor._not_allowed(self, "Iterating over a symbolic `tf.Tensor`")

    def __iter__(self):
        return self._disallow_iteration()

    def __div__(self, other):
        return _divided(self, other)

    def __rdiv__(self, other):
        return _divided(other, self)

    @property
    def ndim(self):
        return self.shape.ndims

    def get_shape(self):
        return self.shape

    def _shape_as_list(self):
        shape = self._shape_tuple()
        return None if shape is None else list(shape)

    def set_shape(self, shape):
        self._set_shape(shape)

    def ref(self):
        """A hashable stand-in for this tensor."""
        return Reference(self)

    experimental_ref = ref

    @property
    def _id(self):
        return self._identity()

    def __neg__(self):
        return _ops("math_ops").negative(self)

    def __abs__(self):
        return _ops("math_ops").abs(self)

    def __invert__(self):
        return _ops("math_ops").invert(self)

    def __round__(self, ndigits=None):
        return self.astype  # numpy's: an error without its behavior, which brings its own __round__

    def __getitem__(self, key):
        return _ops("slicing").getitem(self, key)

    def __hash__(self):
        from weft._src.framework.graph import executing_eagerly_outside_functions

        graph = self.graph if isinstance(self, SymbolicTensor) else None
        if (graph is None or graph.building_function) and executing_eagerly_outside_functions():
            raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        return id(self)  # of graphs of version 1, where == is `is`

    def __copy__(self):
        return self

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {self.dtype.name}: {self!r}"
            )
        return self

    def __tf_tracing_type__(self, context):
        from weft._src.framework.type_spec import TensorSpec

        return TensorSpec(self.shape, self.dtype)

    def __getattr__(self, name):
        if name in {"T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"}:
            raise AttributeError(
                f"{type(self).__name__} object has no attribute '{name}'. \n        If you are looking for numpy-related methods, please run the following:\n"
                "        tf.experimental.numpy.experimental_enable_numpy_behavior()\n      "
            )
        if name in ("op", "graph", "name", "value_index") and isinstance(self, EagerTensor):
            raise AttributeError(f"Tensor.{name} is undefined when eager execution is enabled.")
        raise AttributeError(f"'{self._class_name}' object has no attribute '{name}'")

    _class_name = "Tensor"


np = None  # numpy, from its first use on


class EagerTensor(Tensor):
    """A tensor that has its value."""

    _class_name = "tensorflow.python.framework.ops.EagerTensor"

    def _numpy(self):
        """What numpy() gives, where it can be on this tensor's memory."""
        array = self._array()
        return array if array.ndim else array[()]

    def _array(self):
        """An array on this tensor's memory (or of its own, for text)."""
        global np
        if np is None:  # kept: when the interpreter ends, nothing can be imported any more
            import numpy as np

        dtype = self.dtype
        if dtype is dtypes.string:
            values = self._flat_list()
            out = np.empty(len(values), dtype=object)
            out[:] = values
            return out.reshape(self._shape_tuple())
        if dtype is dtypes.resource or dtype is dtypes.variant:
            raise errors.InvalidArgumentError(
                None, None, f"Cannot convert a Tensor of dtype {dtype.name} to a NumPy array."
            )
        shape = self._shape_tuple()
        if 0 in shape:
            return np.empty(shape, dtypes.storage_dtype(dtype._type_enum))
        return np.ndarray(shape, dtypes.storage_dtype(dtype._type_enum), self)

    def numpy(self):
        """The value as a numpy array or scalar, copied."""
        array = self._array()
        if array.ndim:
            return array.copy()
        return array[()]

    def __array__(self, dtype=None, copy=None):
        array = self._array()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy or array.dtype == object else array

    def __dlpack__(self, **kwargs):
        """The memory for another library, which must not write to it: older versions of the protocol cannot say so."""
        import ctypes

        import numpy as np

        array = self._array()
        if kwargs.get("max_version"):
            return array.__dlpack__(
                **{k: v for k, v in kwargs.items() if k in ("stream", "max_version", "dl_device", "copy")}
            )
        memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
        memory._owner = self
        return np.ndarray(array.shape, array.dtype, memory).__dlpack__()

    def __dlpack_device__(self):
        return (1, 0)

    @property
    def is_packed(self):
        return False

    def consumers(self):
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")

    def eval(self, feed_dict=None, session=None):
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're looking for?"
        )

    def set_shape(self, shape):
        if not self.shape.is_compatible_with(shape):
            from weft._src.framework.tensor_shape import as_shape

            raise ValueError(f"Tensor's shape {self.shape} is not compatible with supplied shape {as_shape(shape)}.")

    def cpu(self):
        return self

    def gpu(self, gpu_index=0):
        raise errors.InvalidArgumentError(None, None, f"there is no GPU {gpu_index}")

    def _copy(self, ctx=None, device_name=None):
        return self

    def __int__(self):
        return int(self._array()[()])  # of a NumPy scalar: a complex one gives its real part, with NumPy's warning

    def __float__(self):
        return float(self._array()[()])

    def __complex__(self):
        return complex(self._array())

    def __index__(self):
        return self.numpy().__index__()

    def __bool__(self):
        if self.dtype is dtypes.string:
            value = self._flat_list()
            return bool(value[0]) if len(value) == 1 else bool(self._array())
        array = self._array()
        if array.size == 0:
            return False
        if array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(array)

    def __len__(self):
        shape = self._shape_tuple()
        if not shape:
            raise TypeError("Scalar tensor has no `len()`")
        return shape[0]

    def __iter__(self):
        shape = self._shape_tuple()
        if not shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(shape[0]))

    def __format__(self, spec):
        # As TensorFlow: the value alone, as numpy formats it.
        return self.numpy().__format__(spec)

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _unpickle, (self.numpy(), self.dtype._type_enum)

    def _value_text(self, as_repr):
        if self.dtype is dtypes.variant:
            values = self._flat_list()
            return values[0] if not self._shape_tuple() else "<unprintable>"
        if self.dtype is dtypes.resource:
            info = self._handle_info() or ("", "", "")
            return (
                f'<ResourceHandle(name="{info[1]}", device="{self.device}", container="{info[0]}", type="{info[2]}")>'
            )
        value = self.numpy()
        # numpy 2 writes np.float32(1.5) for a scalar; TensorFlow shows the number alone, with all its digits.
        if as_repr and not self._shape_tuple() and hasattr(value, "item"):
            value = value.item()
        text = repr(value) if as_repr else str(value)
        return "\n" + text if "\n" in text else text

    def _shown(self):
        """Its value in a repr, of its own or of a variable."""
        label = "value" if self.dtype in (dtypes.resource, dtypes.variant) else "numpy"
        return f"{label}={self._value_text(True)}"

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {self._shown()}>"

    def __str__(self):
        return f"tf.Tensor({self._value_text(False)}, shape={self.shape}, dtype={self.dtype.name})"


class SymbolicTensor(Tensor):
    """An output of an operation of a graph."""

    _class_name = "SymbolicTensor"

    @property
    def op(self):
        return self._operation()

    @property
    def graph(self):
        return self._graph()

    @property
    def value_index(self):
        return self._index()

    @property
    def name(self):
        return f"{self._node_name()}:{self._index()}"

    def consumers(self):
        op = self.op
        return [op.graph._operation(n) for n, _, out in op.graph._native.node_uses(op._id) if out == self._index()]

    def eval(self, feed_dict=None, session=None):
        from weft._src.compat import session as v1

        return v1.default_session(session, "eval").run(self, feed_dict)

    def _not_allowed(self, what):
        raise errors.OperatorNotAllowedInGraphError(
            f"{what} is not allowed. You can attempt the following resolutions to the problem: If you are running in Graph mode, use Eager execution mode or "
            "decorate this function with @tf.function. If you are using AutoGraph, you can try decorating this function with @tf.function. If that does not "
            "work, then you may be using an unsupported feature or your source code may not be visible to AutoGraph. See "
            "https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/limitations.md#access-to-source-code for more "
            "information."
        )

    def __bool__(self):
        self._not_allowed("Using a symbolic `tf.Tensor` as a Python `bool`")

    def __iter__(self):
        self._not_allowed("Iterating over a symbolic `tf.Tensor`")

    def __len__(self):
        raise TypeError(
            f"len is not well defined for a symbolic Tensor ({self.name}). Please call `x.shape` rather than `len(x)` for shape information."
        )

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that you're trying to pass a Tensor to a NumPy call, "
            "which is not supported."
        )

    def numpy(self):
        raise AttributeError("'SymbolicTensor' object has no attribute 'numpy'")

    def __getattribute__(self, name):
        # hasattr(t, "numpy") tells programs whether they run eagerly.
        if name == "numpy":
            raise AttributeError("'SymbolicTensor' object has no attribute 'numpy'")
        return super().__getattribute__(name)

    def __deepcopy__(self, memo):
        raise TypeError("cannot pickle 'SymbolicTensor' object")

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self):
        shape = "" if self._shape_tuple() is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'


class Reference:
    """Holds a tensor or variable; equal to another of the same one."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def _key(self):
        w = self._wrapped
        return (w.graph._native.id, w._node_id(), w._index()) if isinstance(w, SymbolicTensor) else id(w)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._key() == other._key()

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return self._order(other, int.__lt__)

    def __gt__(self, other):
        return self._order(other, int.__gt__)

    def _order(self, other, less):
        """Some order, for what sorts the keys of a dictionary."""
        if not isinstance(other, Reference):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return less(id(self._wrapped), id(other._wrapped))

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


def _unpickle(array, number):
    from weft._src.framework.convert import constant

    return constant(array, dtypes.DType(number))


@functools.cache
def _ops(name):
    """A module of ops/, which needs this one; asked for at every x[0] and -x."""
    return importlib.import_module("weft._src.ops." + name)


def is_tf_type(x):
    """Whether x is a tensor, variable or another value of TensorFlow's kinds."""
    if isinstance(x, (Tensor, _weft.VariableBase)):
        return True
    cls = type(x)
    if cls.__name__ in ("ObjectProxy", "_DictWrapper"):
        return False
    return getattr(cls, "_is_tensor_like", False) or isinstance(x, AnyTensor) or hasattr(x, "is_tensor_like")


is_tensor = is_tf_type
