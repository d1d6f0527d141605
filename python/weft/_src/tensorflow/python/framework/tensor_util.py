"""Values of tensors that are known, and their messages. keras, tensorflow-probability, tf2onnx."""

from weft import _weft
from weft._src.framework.static_value import constant_value_as_shape, get_static_value as constant_value  # noqa: F401
from weft._src.framework.tensor import Tensor, is_tf_type, is_tf_type as is_tensor  # noqa: F401
from weft._src.ops._direct import outside_of_graph


def try_evaluate_constant(tensor):
    """The value of a graph's tensor that depends on constants and known shapes alone, or None."""
    value = constant_value(tensor)
    if value is not None or not isinstance(tensor, Tensor):
        return value[()] if hasattr(value, "ndim") else value
    import weft as tf

    feeds, waiting, seen = [], [tensor], {(tensor.op._id, tensor.value_index)}
    while waiting:
        op = waiting.pop().op
        if not op.inputs or op.control_inputs or op.op_def.is_stateful:
            return None
        for source in op.inputs:
            key = (source.op._id, source.value_index)
            if key in seen:
                continue
            seen.add(key)
            value = constant_value(source)
            if value is None:
                waiting.append(source)
            else:
                with outside_of_graph():  # also inside a graph of version 1
                    feeds.append((source, tf.constant(value, source.dtype)))
    try:
        (made,) = _weft.NativeSession(tensor.graph).run(feeds, [tensor], [])
    except tf.errors.OpError:
        return None
    return made.numpy()
