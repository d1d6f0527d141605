"""Variables as arguments of functions: in the trace, a variable whose handle is a tensor of the graph."""

from weft import _weft
from weft._src.raw import raw
from weft._src.trackable.variable import ResourceVariable, VariableAggregationV2, VariableSynchronization


class ArgumentVariable(ResourceVariable):
    """Stands for whatever variable a call gives, where a function is traced for a TypeSpec."""

    def __init__(self, handle, name, spec):
        self._argument_handle, self._shared_name = handle, name
        self._dtype, self._shape, self._trainable_flag = spec.dtype, spec.shape, spec.trainable
        self._synchronization, self._aggregation, self._constraint = (
            VariableSynchronization.AUTO,
            VariableAggregationV2.NONE,
            None,
        )

    def _get_handle(self):
        return _weft.current_graph().capture(self._argument_handle) if _weft.in_graph() else self._argument_handle

    _eager_handle = _get_handle

    _unique_id = None

    def _outer_handle(self):
        return self._argument_handle

    def _accessed(self):
        if self._trainable_flag:
            _weft.tape_access(self._get_handle())

    def _read(self):
        self._accessed()
        value = raw.ReadVariableOp(resource=self._get_handle(), dtype=self._dtype)
        value.set_shape(self._shape)
        return value

    def _assign(self, op, value):
        return getattr(raw, op)(resource=self._get_handle(), value=value)

    def _write(self, op, value, read_value):
        node = self._assign(op, _weft.convert(value, self._dtype, None))
        return self._lazy_read(node) if read_value else node

    def _lazy_read(self, op):
        return self

    def _native_shape(self):
        return self._shape._dims

    @property
    def device(self):
        return ""

    def __deepcopy__(self, memo):
        return self


def argument(graph, name, spec):
    """(handle, variable) for one more argument of a trace: the variable of the call, whose handle is the argument there, so that code that
    keeps variables by identity finds it again in every trace."""
    given = spec.sample() if spec.sample is not None else None
    handle = graph._native.add_argument(name, "resource", spec.shape, like=_Facts(spec))
    if given is None:
        return handle, ArgumentVariable(handle, name, spec)
    graph._native.bind_argument(given._outer_handle(), handle)
    return handle, given


class _Facts(_weft.VariableBase):
    """Type and shape of a variable that is not there, for the engine."""

    def __init__(self, spec):
        self.dtype, self._dims = spec.dtype, spec.shape._dims

    def _native_shape(self):
        return self._dims
