"""Values of tensors of a graph that are known before it runs: what TensorFlow folds, and no more, since programs see the
difference (tf.get_static_value, shapes that are given as tensors)."""

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.tensor import EagerTensor, Tensor, is_tf_type
from weft._src.framework.tensor_shape import Dimension, TensorShape, unknown_shape


def value_outside_of_graphs(tensor):
    """What is known of anything but a tensor of a graph: an eager tensor's array, a plain value itself, None of variables and what else counts as a
    tensor (ragged and sparse ones, Keras' symbolic inputs)."""
    if isinstance(tensor, EagerTensor):
        try:
            return tensor.numpy()
        except Exception:
            return None
    return None if is_tf_type(tensor) else tensor


def get_static_value(tensor, partial=False):
    """tf.get_static_value: the value as an array where it is known before the graph runs; else None.

    With partial, elements of a Pack that are not known are None."""
    if isinstance(tensor, EagerTensor) or not isinstance(tensor, Tensor):
        return value_outside_of_graphs(tensor)
    value = _fold(tensor, partial)
    if value is not None:
        tensor.graph.prevent_feeding(tensor)
    return value


def _fold(tensor, partial):
    import numpy as np

    op = tensor.op
    kind = op.type
    if kind == "Const":
        value = tensor._constant_value()
        if value is None:
            return None
        value = value.numpy()
        return value if isinstance(value, np.ndarray) else np.array(value, object if isinstance(value, bytes) else None)
    rule = _RULES.get(kind)
    return None if rule is None else rule(tensor, op, partial)


def _all(tensors, partial=False):
    """The values of all, or None."""
    values = []
    for t in tensors:
        value = get_static_value(t, partial)
        if value is None and not partial:
            return None
        values.append(value)
    return values


def _shape(tensor, op, partial):
    import numpy as np

    shape = op.inputs[0].shape
    return np.array(shape.as_list(), tensor.dtype.as_numpy_dtype) if shape.is_fully_defined() else None


def _size(tensor, op, partial):
    import numpy as np

    shape = op.inputs[0].shape
    return np.prod(shape.as_list(), dtype=np.int32) if shape.is_fully_defined() else None


def _rank(tensor, op, partial):
    import numpy as np

    rank = op.inputs[0].shape.rank
    return None if rank is None else np.array(rank, np.int32)


def _range(tensor, op, partial):
    import numpy as np

    values = _all(op.inputs)
    return None if values is None else np.arange(*values, dtype=tensor.dtype.as_numpy_dtype)


def _cast(tensor, op, partial):
    value = get_static_value(op.inputs[0])
    return None if value is None else value.astype(dtypes.as_dtype(op.get_attr("DstT")).as_numpy_dtype)


def _concat(tensor, op, partial):
    import numpy as np

    inputs = list(op.inputs)
    axis = inputs.pop(-1 if op.type == "ConcatV2" else 0)
    axis = get_static_value(axis)
    values = None if axis is None else _all(inputs)
    return None if values is None else np.concatenate(values, axis=axis)


def _pack(tensor, op, partial):
    import numpy as np

    if not op.inputs or op.get_attr("axis") != 0:
        return None
    values = _all(op.inputs, partial)
    if values is None:
        return None
    try:
        return np.array(values)
    except ValueError:
        return np.array(values, dtype=object)


def _unpack(tensor, op, partial):
    value = None if op.get_attr("axis") != 0 else get_static_value(op.inputs[0], partial)
    return None if value is None else value[tensor.value_index]


def _split(tensor, op, partial):
    import numpy as np

    axis, value = get_static_value(op.inputs[0]), get_static_value(op.inputs[1], partial)
    if axis is None or value is None:
        return None
    return np.split(value, op.get_attr("num_split"), axis)[tensor.value_index]


def _fill(tensor, op, partial):
    import numpy as np

    value = get_static_value(op.inputs[1])
    if value is None or not tensor.shape.is_fully_defined():
        return None
    return np.full(tensor.shape.as_list(), value, dtype=value.dtype)


def _equal(tensor, op, partial):
    import numpy as np

    values = _all(op.inputs)
    if values is None:
        return None
    return np.equal(*values) if op.type == "Equal" else np.not_equal(*values)


def _same(tensor, op, partial):
    return get_static_value(op.inputs[0], partial)


# By name, here and below: TensorFlow's Python says of these what is known before a run, and programs see it; the engine's passes know more.
_RULES = {
    "Shape": _shape,
    "Size": _size,
    "Rank": _rank,
    "Range": _range,
    "Cast": _cast,
    "Concat": _concat,
    "ConcatV2": _concat,
    "Pack": _pack,
    "Unpack": _unpack,
    "Split": _split,
    "Fill": _fill,
    "Equal": _equal,
    "NotEqual": _equal,
    "StopGradient": _same,
    "CheckNumericsV2": _same,
    "DebugIdentityV2": _same,
    "Identity": _same,
}


def constant_value_as_shape(tensor):
    """The value of a vector of integers as a TensorShape, of which parts may be unknown."""
    if isinstance(tensor, EagerTensor):
        return TensorShape([None if d == -1 else d for d in tensor.numpy()])
    if tensor.shape.rank == 0:
        value = get_static_value(tensor)
        if value is None:
            raise ValueError(
                "Received a scalar with unknown value as shape; require a statically "
                "known scalar with value '-1' to describe an unknown shape."
            )
        if value != -1:
            raise ValueError(
                f"Received a scalar value '{value}' as shape; require a statically "
                "known scalar with value '-1' to describe an unknown shape."
            )
        return unknown_shape()
    shape = tensor.shape.with_rank(1)
    if shape == [0]:
        return TensorShape([])
    rule = _SHAPE_RULES.get(tensor.op.type)
    found = None if rule is None else rule(tensor, tensor.op)
    if found is not None:
        return found
    found, value = unknown_shape(shape[0]), get_static_value(tensor)
    if value is not None:
        found = found.merge_with(TensorShape([d if d >= 0 else None for d in value]))
    return found


def shaped(tensor, shape):
    """A tensor that was made in this shape: in a function, what is known outside of a vector that it captures holds, too."""
    if (
        isinstance(shape, Tensor)
        and not isinstance(shape, EagerTensor)
        and not tensor.shape.is_fully_defined()
        and _weft.current_graph().building_function
    ):
        tensor.set_shape(constant_value_as_shape(shape))
    return tensor


def _cast_as_shape(tensor, op):
    import numpy as np

    before = constant_value_as_shape(op.inputs[0])
    if before.rank is None:
        return before
    to = dtypes.as_dtype(op.get_attr("DstT"))
    if to not in (dtypes.int32, dtypes.int64):
        return unknown_shape(tensor.shape[0])
    dims = np.array([-1 if d is None else d for d in before.as_list()]).astype(to.as_numpy_dtype)
    return TensorShape([d if d >= 0 else None for d in dims])


def _pack_as_shape(tensor, op):
    dims = []
    for t in op.inputs:
        value = get_static_value(t)
        dims.append(None if value is None or value < 0 else value)
    return TensorShape([Dimension(d) for d in dims])


def _concat_as_shape(tensor, op):
    found = TensorShape([])
    for t in op.inputs[:-1] if op.type == "ConcatV2" else op.inputs[1:]:
        found = found.concatenate(constant_value_as_shape(t))
    return found


def _slice_as_shape(tensor, op):
    bounds = _all(op.inputs[1:4])
    if bounds is None:
        return None
    begin, end, step = (v[0] for v in bounds)
    masks = {name: op.get_attr(name + "_mask") for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")}
    if masks["ellipsis"] or masks["new_axis"] or masks["shrink_axis"] or masks["begin"] > 1 or masks["end"] > 1:
        return None
    try:
        return TensorShape(
            constant_value_as_shape(op.inputs[0])[
                None if masks["begin"] else begin : None if masks["end"] else end : step
            ]
        )
    except (TypeError, ValueError):
        return None


def _capture_as_shape(tensor, op):
    graph = tensor.graph
    if graph.building_function:
        for inner, outer in zip(graph.internal_captures, graph.external_captures):
            if inner.name == tensor.name:
                return constant_value_as_shape(outer)
    return None


_SHAPE_RULES = {
    "Cast": _cast_as_shape,
    "Shape": lambda tensor, op: op.inputs[0].shape,
    "Pack": _pack_as_shape,
    "Concat": _concat_as_shape,
    "ConcatV2": _concat_as_shape,
    "StridedSlice": _slice_as_shape,
    "Placeholder": _capture_as_shape,
}
