"""Gradients of ops that the program gives itself: tf.RegisterGradient, tf.no_gradient, Graph.gradient_override_map."""

import contextlib

from weft import _weft
from weft._src.framework import errors
from weft._src.framework.tensor import EagerTensor
from weft._src.gradients.tape import as_gradient, from_gradient


class _Op:
    """What a gradient function sees of the op."""

    def __init__(self, kind, attrs, inputs, outputs):
        self.type, self.inputs, self.outputs, self._attrs = kind, inputs, outputs, attrs

    @property
    def name(self):
        out = self.outputs[0] if self.outputs else None
        return out.op.name if hasattr(out, "_node_name") and not hasattr(out, "numpy") else self.type

    def get_attr(self, name):
        try:
            return self._attrs[name]
        except KeyError:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.") from None


def _operation(kind, attrs, inputs, outputs):
    """The node itself where it is one of the graph that is being built."""
    if outputs and not isinstance(outputs[0], EagerTensor) and outputs[0].op.type == kind:
        return outputs[0].op
    return _Op(kind, attrs, inputs, outputs)


def _register(op_type, code):
    try:
        _weft.register_gradient(op_type, code)
    except errors.AlreadyExistsError as error:
        raise KeyError(error.message) from None


class RegisterGradient:
    """The decorated function(op, *grads) is the gradient of an op, or one that gradient_override_map can name."""

    def __init__(self, op_type):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f):
        def code(kind, attrs, inputs, outputs, grads):
            op = _operation(kind, attrs, inputs, outputs)
            made = f(op, *[as_gradient(g) for g in grads])
            made = list(made) if isinstance(made, (list, tuple)) else [made]
            if len(made) != len(inputs):
                shown = kind if isinstance(op, _Op) else op.node_def
                raise ValueError(
                    f"Num gradients {len(made)} generated for op {shown} do not match num inputs {len(inputs)}"
                )
            return [from_gradient(g) for g in made]

        _register(self._op_type, code)
        return f


def no_gradient(op_type):
    """Ops of this type have no gradient: nothing flows through them."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _register(op_type, lambda kind, attrs, inputs, outputs, grads: [None] * len(inputs))


@contextlib.contextmanager
def gradient_override_map(graph, op_type_map):
    """Ops of the block take the gradient of another name."""
    if not isinstance(op_type_map, dict) or not all(isinstance(x, str) for pair in op_type_map.items() for x in pair):
        raise TypeError("op_type_map must be a dictionary mapping strings to strings")
    native = graph._native
    before = native.gradient_overrides
    native.gradient_overrides = {**before, **op_type_map}
    try:
        yield
    finally:
        native.gradient_overrides = before
