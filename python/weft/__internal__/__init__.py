"""tf.__internal__: what libraries that build on TensorFlow use of its inside."""

import sys
from types import ModuleType as _Module

from weft import _weft
from weft._missing import missing
from weft.framework.composite import CompositeTensor  # noqa: F401
from weft.framework.graph import FuncGraph  # noqa: F401
from weft.framework.tensor import AnyTensor, EagerTensor, SymbolicTensor  # noqa: F401

_self = sys.modules[__name__]
_FILES = ("tracking", "eager_context", "smart_cond")


def get_name_scope():
    """The current scope of names, without the slash."""
    return _weft.name_scope().rstrip("/")


def record_gradient(op_name, inputs, attrs, outputs):
    """Tells the tapes that an op of this name made outputs of inputs."""
    names = dict(zip(attrs[::2], attrs[1::2]))
    _weft.record_gradient(op_name, inputs, outputs, lambda dys: _weft.op_gradient(op_name, names, inputs, outputs, dys))


def _namespace(name, **members):
    made = _Module(f"weft.__internal__.{name}")
    made.__dict__.update(members, __getattr__=missing(f"tf.__internal__.{name}"))
    return made


def _types():
    return _namespace("types", Tensor=AnyTensor)


def _make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    import functools

    return functools.update_wrapper(decorator_func, target)


def _unwrap(maybe_decorated):
    decorators = []
    while hasattr(maybe_decorated, "__wrapped__"):
        decorators.append(maybe_decorated)
        maybe_decorated = maybe_decorated.__wrapped__
    return decorators, maybe_decorated


def _nest():
    from weft.framework import nest

    return nest


def _function():
    from weft.function.function import Function

    return _namespace("function", Function=Function)


def _train():
    from weft.trackable.checkpoint_files import update_checkpoint_state
    from weft.trackable.moving_averages import assign_moving_average

    return _namespace(
        "train", update_checkpoint_state=update_checkpoint_state, assign_moving_average=assign_moving_average
    )


def _distribute():
    from weft.distribute import context

    interim = _namespace("distribute.interim", maybe_merge_call=context.maybe_merge_call)
    return _namespace(
        "distribute",
        interim=interim,
        strategy_supports_no_merge_call=context.strategy_supports_no_merge_call,
        variable_sync_on_read_context=context.variable_sync_on_read_context,
    )


class _BoolGauge:
    """A switch that nothing reads: weft keeps no statistics of its use."""

    def __init__(self, name, description, *labels):
        self._on = False

    def get_cell(self, *labels):
        return self

    def set(self, value):
        self._on = bool(value)

    def value(self):
        return self._on


_MADE = {
    "tf2": lambda: _namespace("tf2", enabled=lambda: True),
    "types": _types,
    "ops": lambda: _namespace("ops", is_resource_variable=lambda var: isinstance(var, _weft.VariableBase)),
    "decorator": lambda: _namespace("decorator", make_decorator=_make_decorator, unwrap=_unwrap),
    "monitoring": lambda: _namespace("monitoring", BoolGauge=_BoolGauge),
    "nest": _nest,
    "function": _function,
    "train": _train,
    "distribute": _distribute,
}
_none = missing("tf.__internal__")


def __getattr__(name):
    if name in _FILES:
        import importlib

        return importlib.import_module(f"weft.__internal__.{name}")
    if name not in _MADE:
        return _none(name)
    value = globals()[name] = _MADE[name]()
    return value
