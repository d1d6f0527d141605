"""Ops of XLA. keras, tensorflow-probability."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
ops.private_ops: dynamic_update_slice
"""

__getattr__, __dir__ = _lazily(globals(), "tf.compiler.tf2xla.python.xla", _MODULES, otherwise=_absent)


def variadic_reduce(operands, init_values, dimensions_to_reduce, reducer, name=None):
    """Several tensors of one (known) shape reduced at once: reducer(values, values) combines two tuples of scalars, and here halves of tensors."""
    from weft._src.framework import errors
    from weft._src.framework.convert import convert_to_tensor
    from weft._src.ops import array_ops, creation_ops

    operands = [convert_to_tensor(x) for x in operands]
    shape = operands[0].shape
    if not shape.is_fully_defined():
        raise errors.UnimplementedError(None, None, f"XlaVariadicReduce of tensors whose shape is not known: {shape}")
    function = getattr(reducer, "_python_function", None) or reducer
    reduced = sorted(d % shape.rank for d in dimensions_to_reduce)
    rest = [d for d in range(shape.rank) if d not in reduced]
    sizes, count = [shape[d] for d in rest], 1
    for d in reduced:
        count *= shape[d]
    parts = [array_ops.reshape(array_ops.transpose(x, reduced + rest), [count, *sizes]) for x in operands]
    left = [creation_ops.fill(sizes, value) for value in init_values]
    while count > 0:
        half = count // 2
        if count % 2:
            left = list(function(tuple(left), tuple(x[-1] for x in parts)))
        if half:
            first, second = (tuple(x[i * half : (i + 1) * half] for x in parts) for i in range(2))
            parts = list(function(first, second))
        count = half
    return tuple(left)
