"""tf.distribute.coordinator: values that are on workers. RemoteValue is what a scheduled function gives, PerWorkerValues has
one for each worker; and which worker the running code belongs to."""

import contextlib
import enum
import threading

from weft import _weft
from weft._src.framework import dtypes, errors, nest
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.type_spec import TypeSpec

_OUTSIDE = (
    "Cannot retrieve the worker index. `get_worker_idx_and_num_workers` should be called from within a tf.function being "
    "executed on a worker. This method should only be called from either a dataset_fn that is passed into "
    "`ClusterCoordinator.create_per_worker_dataset`, or a tf.function that is passed into `ClusterCoordinator.schedule`."
)
_local = threading.local()


class RemoteValueStatus(enum.Enum):
    """What is known of a value."""

    NOT_READY = "NOT_READY"
    ABORTED = "ABORTED"
    READY = "READY"


class RemoteValue:
    """The result of a function that runs on a worker."""

    def fetch(self):
        """Waits, and gives the result as numpy arrays."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get(self):
        """Waits, and gives the result as tensors of this process."""
        raise NotImplementedError("Must be implemented in subclasses.")


class RemoteValueImpl(RemoteValue):
    """A result that a worker's thread sets. One that has a closure can be made again."""

    def __init__(self, closure, type_spec):
        self._closure, self._type_spec = closure, type_spec
        self._known = threading.Event()
        self._fetching = threading.Lock()
        self._forget(RemoteValueStatus.NOT_READY)

    def _forget(self, status, values=None, error=None):
        self._values, self._error, self._status = values, error, status
        self._fetched = None

    def _set_values(self, values):
        self._forget(RemoteValueStatus.READY, values)
        self._known.set()

    def _set_error(self, error):
        self._forget(RemoteValueStatus.READY, error=error)
        self._known.set()

    def _set_aborted(self, error):
        self._forget(RemoteValueStatus.ABORTED, error=error)
        self._known.set()

    def _get_values(self):
        self._known.wait()
        return self._values

    def _get_error(self):
        self._known.wait()
        return self._error

    def _check(self):
        self._known.wait()
        if self._status is RemoteValueStatus.ABORTED:
            raise errors.CancelledError(
                None, None, "The corresponding function is aborted. Please reschedule the function."
            )
        if self._error is not None:
            raise self._error

    def fetch(self):
        return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, self.get())

    def get(self):
        self._check()
        with self._fetching:
            if self._fetched is None:
                self._fetched = (nest.map_structure(_here, self._values),)
            return self._fetched[0]


class RemoteVariable(RemoteValueImpl):
    """A variable of a worker: read each time."""

    def get(self):
        self._check()
        return nest.map_structure(_here, self._values)


def _here(value):
    """A tensor in this process; resources stay where they are."""
    from weft._src.framework.config import list_logical_devices
    from weft._src.framework.device import device
    from weft._src.ops.array_ops import identity

    if isinstance(value, Tensor):
        if value.dtype in (dtypes.resource, dtypes.variant):
            return value
    elif not isinstance(value, _weft.VariableBase):
        return value
    with device(list_logical_devices("CPU")[0].name):
        return identity(value)


class PerWorkerValues(CompositeTensor):
    """A RemoteValue for each worker."""

    def __init__(self, values):
        if any(not isinstance(v, RemoteValue) for v in values):
            raise AssertionError("`PerWorkerValues` should only take `RemoteValue`s.")
        self._values = tuple(values)

    @property
    def _type_spec(self):
        return PerWorkerValuesTypeSpec(self._values[0]._type_spec, type(self))


class PerWorkerDistributedIterator(PerWorkerValues):
    """An iterator for each worker."""

    def __next__(self):
        return self.get_next()

    def get_next(self, name=None):
        raise NotImplementedError("Iterating over an `AsyncDistributedIterator` is not supported right now.")


class PerWorkerValuesTypeSpec(TypeSpec):
    """The spec of one of them."""

    def __init__(self, value_spec, descendant_type):
        assert value_spec
        self._value_spec, self._descendant_type = value_spec, descendant_type

    def _serialize(self):
        return (self._value_spec,)

    @property
    def value_type(self):
        return self._descendant_type

    @property
    def _component_specs(self):
        return self._value_spec

    def _to_components(self, value):
        return self._value_spec

    def _from_components(self, value):
        return value


# ---- the worker that the running code belongs to


@contextlib.contextmanager
def on_worker(index):
    """The block runs for a worker."""
    before = current_worker()
    _local.worker = index
    try:
        yield
    finally:
        _local.worker = before


def current_worker():
    return getattr(_local, "worker", None)


def experimental_get_current_worker_index():
    """The number of the worker, in a function that is scheduled or that makes a per-worker dataset."""
    from weft._src.framework.convert import constant
    from weft._src.framework.type_spec import TensorSpec

    tracing = _weft.in_graph()  # what it is then does not matter

    def index():
        found = 0 if tracing else current_worker()
        if found is None:
            raise RuntimeError(_OUTSIDE)
        return constant(found, dtypes.int64)

    if not tracing:
        return index()
    placeholder = _weft.current_graph().capture_call_time_value(index, TensorSpec([], dtypes.int64))
    tracing = False
    return placeholder
