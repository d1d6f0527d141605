"""Small functions of tf.__internal__ that nothing else here uses."""

import functools

from weft import _weft


def get_name_scope():
    """The current scope of names, without the slash."""
    return _weft.name_scope().rstrip("/")


def record_gradient(op_name, inputs, attrs, outputs):
    """Tells the tapes that an op of this name made outputs of inputs."""
    names = dict(zip(attrs[::2], attrs[1::2]))
    _weft.record_gradient(op_name, inputs, outputs, lambda dys: _weft.op_gradient(op_name, names, inputs, outputs, dys))


def enabled():
    """Whether this is version 2."""
    return True


def is_resource_variable(var):
    return isinstance(var, _weft.VariableBase)


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    return functools.update_wrapper(decorator_func, target)


def unwrap(maybe_decorated):
    """The decorators around a function, and the function."""
    decorators = []
    while hasattr(maybe_decorated, "__wrapped__"):
        decorators.append(maybe_decorated)
        maybe_decorated = maybe_decorated.__wrapped__
    return decorators, maybe_decorated


class BoolGauge:
    """A switch that nothing reads: weft keeps no statistics of its use."""

    def __init__(self, name, description, *labels):
        self._on = False

    def get_cell(self, *labels):
        return self

    def set(self, value):
        self._on = bool(value)

    def value(self):
        return self._on
