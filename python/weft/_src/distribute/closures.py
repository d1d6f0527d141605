"""Functions on their way to workers: a closure is a function with its arguments, the queue gives closures to the threads of the
workers, and the errors say what became of them."""

import collections
import functools
import threading
import weakref

from weft import _weft
from weft._src.distribute.remote_value import PerWorkerValues, RemoteValue, RemoteValueImpl, RemoteValueStatus
from weft._src.distribute.remote_value import RemoteVariable, on_worker
from weft._src.framework import errors, nest
from weft._src.framework.device import device
from weft._src.framework.type_spec import type_spec_from_value
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function

_LIMIT = 256 * 1024  # closures that wait


class _Caused(Exception):
    """An error that another one is the reason of."""

    _text = ""

    def __init__(self, original_exception):
        self.original_exception = getattr(original_exception, "original_exception", original_exception)
        super().__init__(
            f"{self._text} original exception is {self.original_exception!r}, error message is {self.original_exception}."
        )
        self.with_traceback(original_exception.__traceback__)


class ClosureInputError(_Caused):
    """An argument could not be made."""

    _text = "Input has an error, the"


class ClosureAbortedError(_Caused):
    """A value that was on a worker is lost."""

    _text = "Other function has an execution error, as a result, the current value is not available. The"


def _part(worker, structure):
    """A worker's part of the arguments."""
    return nest.map_structure(lambda x: x._values[worker] if isinstance(x, PerWorkerValues) else x, structure)


def _as_spec(value):
    if not isinstance(value, RemoteValue):
        return value
    if value._type_spec is None:
        raise ValueError(
            "Output of a scheduled function that is not tf.function cannot be the input of another function."
        )
    return value._type_spec


def _value(x):
    if not isinstance(x, RemoteValue):
        return x
    error = x._get_error()
    if error:
        raise AssertionError(f"RemoteValue doesn't have a value because it has error {error!r}:{error}")
    if x._status is not RemoteValueStatus.READY:
        raise AssertionError("The input RemoteValue has not been executed.")
    return x._get_values()


def _call(function, concrete, *args, **kwargs):
    """The trace that was made for worker 0, with the arguments of another."""
    types, spec = concrete._types, function.function_spec
    if spec.fixed is not None:
        values = function._bind_fixed(types, args, kwargs)
    else:
        values = [t.cast(value) for t, (_, _, value) in zip(types.types, spec.bind(args, kwargs))]
    tensors = types.flatten(values)
    if concrete._closures is None:
        return concrete._call_tensors(tensors)
    # What is captured at each call is this thread's.
    captures = nest.flatten(concrete.captured_inputs, expand_composites=True)
    return concrete._build(_weft.ConcreteFunction.of_library(concrete._native.name, captures)(list(tensors)))


class Closure:
    """A function with its arguments."""

    def __init__(self, function, args=None, kwargs=None):
        if not callable(function):
            raise ValueError("Function passed to `ClusterCoordinator.schedule` must be a callable object.")
        self._args, self._kwargs = args or (), kwargs or {}
        for x in nest.flatten((self._args, self._kwargs)):
            if isinstance(x, RemoteValue):
                raise ValueError(
                    "`tf.distribute.experimental.coordinator.RemoteValue` used as an input to scheduled function is not yet "
                    "supported."
                )
        self.tag = self._output = self._type_spec = None
        self._function = function
        concrete = None
        if isinstance(function, Function):
            args, kwargs = nest.map_structure(_as_spec, (_part(0, self._args), _part(0, self._kwargs)))
            concrete = function.get_concrete_function(*args, **kwargs)
        elif isinstance(function, ConcreteFunction):
            concrete = function
        if concrete is not None:
            self._type_spec = nest.map_structure(type_spec_from_value, concrete.structured_outputs)
            if function is not concrete:
                self._function = functools.partial(_call, function, concrete)

    def build_output_remote_value(self):
        if self._output is not None:
            raise ValueError("The output of the Closure cannot be built more than once.")
        made = RemoteValueImpl(None, self._type_spec)
        self._output = weakref.ref(made)
        return made

    def tell_output(self, tell):
        """tell(value), if somebody has the value still."""
        value = None if self._output is None else self._output()
        return None if value is None else tell(value)

    def mark_cancelled(self):
        error = errors.CancelledError(
            None, None, "The corresponding function is cancelled. Please reschedule the function."
        )
        self.tell_output(lambda value: value._set_error(error))

    def execute_on(self, worker):
        """Runs the function on a worker, and waits for it."""
        args, kwargs = _part(worker.worker_index, (self._args, self._kwargs))
        for x in nest.flatten((args, kwargs)):
            error = x._get_error() if isinstance(x, RemoteValue) else None
            if error:
                raise error if isinstance(error, ClosureInputError) else ClosureInputError(error)
        args, kwargs = nest.map_structure(_value, (args, kwargs))
        with device(worker.device_name), on_worker(worker.worker_index):
            result = self._function(*args, **kwargs)
        worker.wait()
        self.tell_output(lambda value: value._set_values(result))


class ResourceClosure(Closure):
    """Makes something that stays on a worker; made again when the worker was lost."""

    _kind = RemoteValueImpl

    def build_output_remote_value(self):
        made = None if self._output is None else self._output()
        if made is None:
            made = self._kind(self, self._type_spec)
            self._output = weakref.ref(made)
        return made


class PerWorkerVariableClosure(ResourceClosure):
    """Makes a variable of a worker."""

    _kind = RemoteVariable


class ClosureQueue:
    """The closures that wait, for all workers, and for one of them (by `tag`); how many run; and the first error."""

    def __init__(self):
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._waiting = collections.deque()
        self._tagged = collections.defaultdict(collections.deque)
        self._running = 0
        self._error = None
        self._cancelling = self._stopped = False

    def stop(self):
        with self._lock:
            self._stopped = True
            self._changed.notify_all()

    def put(self, closure, tag=None):
        """Waits where too many wait already. An error of an earlier closure is raised, and cancels this one as well."""
        closure.tag = tag
        with self._lock:
            if tag is not None:
                self._tagged[tag].append(closure)
            else:
                self._changed.wait_for(lambda: len(self._waiting) < _LIMIT or self._error is not None)
                self._waiting.append(closure)
                self._raise_error()
            self._changed.notify_all()

    def get(self, tag):
        """The next closure for a worker; None when the queue is stopped."""
        with self._lock:
            self._changed.wait_for(
                lambda: self._stopped or self._tagged[tag] or (self._waiting and not self._cancelling)
            )
            if self._stopped:
                return None
            if self._tagged[tag]:
                return self._tagged[tag].popleft()
            self._running += 1
            closure = self._waiting.popleft()
            self._changed.notify_all()
            return closure

    def put_back(self, closure):
        """To be run again, by whichever worker."""
        with self._lock:
            if self._error is not None:
                closure.mark_cancelled()
            else:
                self._waiting.append(closure)
            self._ended()

    def mark_finished(self):
        with self._lock:
            self._ended()

    def mark_failed(self, error):
        with self._lock:
            self._error = self._error or error
            self._ended()

    def _ended(self):
        assert self._running > 0
        self._running -= 1
        self._changed.notify_all()

    def wait(self):
        """Until none waits or runs. Raises the first error, when all that ran has ended and the rest is cancelled."""
        with self._lock:
            while self._error is None and (self._waiting or self._running):
                self._changed.wait(1.0)  # so that a signal is seen
            self._raise_error()

    def done(self):
        with self._lock:
            self._raise_error()
            return not self._waiting and self._running == 0

    @property
    def cancelling(self):
        return self._cancelling

    def clear_tag(self, tag):
        with self._lock:
            self._tagged[tag].clear()

    def _raise_error(self):
        if self._error is None:
            return
        self._cancelling = True
        try:
            while self._running:
                self._changed.wait(1.0)
            while self._waiting:
                self._waiting.popleft().mark_cancelled()
            error, self._error = self._error, None
        finally:
            self._cancelling = False
            self._changed.notify_all()
        raise error
