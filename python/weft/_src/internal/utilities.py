"""Small functions of tf.__internal__ that nothing else here uses."""

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


def get_resource_handle_data(graph_op):
    """What is known of the resource behind a handle."""
    return getattr(graph_op, "_handle_data", None)


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """variable = variable * decay + value * (1 - decay)."""
    from weft._src.framework.graph import name_scope_v1
    from weft._src.ops import math_ops
    from weft._src.trackable.moving_averages import assign_debiased

    with name_scope_v1(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        part = math_ops.cast(1.0 - math_ops.cast(decay, variable.dtype.base_dtype), variable.dtype.base_dtype)
        if zero_debias:
            return assign_debiased(variable, value, part)
        return variable.assign_sub((variable - math_ops.cast(value, variable.dtype.base_dtype)) * part, name=scope)


def saveable_objects_from_trackable(obj, tf1_saver=False):
    """The SaveableObjects of an object; weft's objects tell their tensors themselves."""
    from weft._src.framework import errors

    raise errors.UnimplementedError(
        None,
        None,
        "tf.__internal__.tracking.saveable_objects_from_trackable is not supported: weft saves objects without SaveableObjects",
    )
