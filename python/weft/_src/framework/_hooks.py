"""Hands the extension what it needs of the package; done once, when weft is imported."""

import collections

from weft import _weft
from weft._src.framework import convert, dispatch, dtypes, errors, graph, operators, tensor, tensor_shape


def _result_type(op, fields):
    return collections.namedtuple(op.replace(">", "_"), fields)  # ">" is of a namespace


def _function_name(value):
    """The name in the engine's library of what stands for a function: a name, or something made by tf.function."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode()
    name = getattr(value, "name", None)
    if isinstance(name, bytes):
        name = name.decode()
    if not isinstance(name, str):
        raise TypeError(f"a function was expected, not {value!r}")
    return name


_weft.set_hooks(
    {
        "dtypes": {number: dtype for number, dtype in dtypes.DType._by_number.items()},
        "errors": errors._registered,
        "eager_tensor": tensor.EagerTensor,
        "symbolic_tensor": tensor.SymbolicTensor,
        "tensor_shape": tensor_shape._of_tuple,
        "convert": convert._convert_hook,
        "as_dtype": dtypes.as_dtype,
        "as_shape": tensor_shape.as_tuple,
        "function_name": _function_name,
        "result_type": _result_type,
        "operation": graph.operation_of,
        "graph_of": graph.graph_of,
        "binary": operators.TABLE,
        "dispatch": dispatch.dispatch_op,
    }
)
