"""Values of tensors that are known, and their messages. keras, tensorflow-probability, tf2onnx."""

from weft._src.framework.static_value import constant_value_as_shape, get_static_value as constant_value  # noqa: F401
from weft._src.framework.tensor import is_tf_type, is_tf_type as is_tensor  # noqa: F401


def try_evaluate_constant(tensor):
    """The value of a constant of a graph, or None."""
    return constant_value(tensor)
