"""tf.Variable(..., per_worker_variable=True) of a ParameterServerStrategy: every worker has its own, and functions use that of the worker they run on."""

import functools

from weft import _weft
from weft._src.distribute.remote_value import current_worker
from weft._src.framework import dtypes
from weft._src.framework.type_spec import TensorSpec
from weft._src.trackable.graph_variable import GraphVariable


class PerWorkerVariable(GraphVariable):
    """Outside of functions it is a variable of the coordinator, which has a value of its own."""

    def __init__(self, strategy, next_creator, **kwargs):
        self._strategy, self._make = strategy, functools.partial(next_creator, **kwargs)
        self._instance, self._per_worker = next_creator(**kwargs), None
        self._dtype, self._shape = self._instance.dtype, self._instance.shape
        self._trainable_flag, self._constraint = False, None
        self._synchronization, self._aggregation = self._instance.synchronization, self._instance.aggregation
        self._shared_name = self._instance._shared_name

    @property
    def _handle(self):
        if not _weft.in_graph():
            return self._instance.handle
        if self._per_worker is None:
            self._per_worker = self._strategy._cluster_coordinator._create_per_worker_variables(self._make)
        return _weft.current_graph().capture_call_time_value(self._now, TensorSpec([], dtypes.resource))

    def _now(self):
        """The handle of the worker that a function is called for."""
        worker = current_worker()
        return self._instance.handle if worker is None else self._per_worker._values[worker]._get_values().handle

    def read_all(self):
        """The values of all workers."""
        return [value.get() for value in self._per_worker._values]

    @property
    def _in_graph_mode(self):
        return False

    @property
    def _unique_id(self):
        return self._instance._unique_id

    @property
    def device(self):
        return self._instance.device

    def value(self):
        found = super().value()
        found.set_shape(self._shape)
        return found

    _read = value

    def numpy(self):
        return self._instance.numpy()

    def _write(self, op, value, read_value):
        if not _weft.in_graph():
            return getattr(self._instance, "_write")(op, value, read_value)
        return super()._write(op, value, read_value)


PerWorkerVariable.__name__ = PerWorkerVariable.__qualname__ = "PerWorkerVariable"
