"""tf.lookup.StaticHashTable in the scope of a ParameterServerStrategy: every worker has a copy, and functions use that of the worker they run on."""

from weft import _weft
from weft._src.distribute.closures import ClosureInputError
from weft._src.distribute.remote_value import current_worker
from weft._src.framework import dtypes, save_context
from weft._src.framework.type_spec import TensorSpec
from weft._src.ops.lookup_ops import StaticHashTable


class DistributedTable(StaticHashTable):
    """Outside of functions, and in files, it is the table of the coordinator."""

    def __init__(self, strategy, make):
        self._coordinator_instance = make()
        self._copies = strategy._cluster_coordinator._create_per_worker_resources(lambda: make().resource_handle)

    def __getattr__(self, name):
        if name == "_coordinator_instance":  # of a copy that has no attributes yet
            raise AttributeError(name)
        return getattr(self._coordinator_instance, name)

    @property
    def resource_handle(self):
        if not _weft.in_graph() or save_context.in_save_context():
            return self._coordinator_instance.resource_handle
        return _weft.current_graph().capture_call_time_value(self._now, TensorSpec([], dtypes.resource), key=self)

    def _now(self):
        """The handle of the worker that a function is called for."""
        worker = current_worker()
        if worker is None:
            return self._coordinator_instance.resource_handle
        value = self._copies._values[worker]
        error = value._get_error()
        if error:
            raise error if isinstance(error, ClosureInputError) else ClosureInputError(error)
        return value._get_values()

    @property
    def is_distributed_table(self):
        return True

    def _trackable_children(self, *args, **kwargs):
        return self._coordinator_instance._trackable_children(*args, **kwargs)
