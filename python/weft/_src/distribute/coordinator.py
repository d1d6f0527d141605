"""tf.distribute.coordinator.ClusterCoordinator: gives functions to the workers of a ParameterServerStrategy, which do not wait
for each other. A worker has a thread here that sends it one function after the other; what a lost worker was doing is done
again, by another one or by itself when it is back."""

import contextlib
import os
import threading
import time
import weakref

from weft import _weft
from weft._src.distribute.closures import (
    Closure,
    ClosureAbortedError,
    ClosureInputError,
    ClosureQueue,
    PerWorkerVariableClosure,
    ResourceClosure,
)
from weft._src.distribute.remote_value import PerWorkerValues, RemoteValue
from weft._src.framework import errors, nest
from weft._src.framework.misc import get_logger
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function

_RECOVERY_SECONDS = 3600  # a worker that is not back by then is given up
_ATTEMPT_SECONDS = 5.0


def _reason(error):
    return error.original_exception if isinstance(error, (ClosureInputError, ClosureAbortedError)) else error


def _note(error, name):
    """What the engine notes on errors of a cluster (src/core/error_notes.h); None where it does not."""
    return error._notes.get(name) if isinstance(error, errors.OpError) else None


def _target(error):
    """The task that a call failed to reach."""
    return _note(error, "remote_target") or ""


def _is_lost(error):
    if isinstance(error, (errors.UnavailableError, errors.AbortedError)):
        return True
    return isinstance(error, (errors.DeadlineExceededError, errors.InvalidArgumentError)) and (
        _note(error, "task_lost") is not None
    )


def is_ps_failure(error):
    """Whether a parameter server did not answer, or is another one than before."""
    error = _reason(error)
    return _target(error).startswith("/job:ps") and _is_lost(error)


def is_worker_failure(error):
    """Whether a worker did not answer, or is another one than before."""
    error = _reason(error)
    tasks = _target(error), _note(error, "sender") or ""
    if not any(task.startswith("/job:worker") for task in tasks) or tasks[0].startswith("/job:ps"):
        return False
    if _is_lost(error) or isinstance(error, errors.CancelledError):
        return True
    return isinstance(error, errors.NotFoundError) and _note(error, "unknown_op") is not None


class _Gate:
    """Closures run beside each other, a change of the cluster runs alone."""

    def __init__(self):
        self._changed = threading.Condition()
        self._running, self._alone = 0, False

    @contextlib.contextmanager
    def together(self):
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def alone(self):
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = True
            self._changed.wait_for(lambda: self._running == 0)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()


class Worker:
    """A worker as its thread here sees it."""

    def __init__(self, worker_index, cluster):
        self.worker_index = worker_index
        self.device_name = f"/job:worker/replica:0/task:{worker_index}"
        self._cluster = cluster
        self._lock = threading.Lock()
        self._resources = []  # weak: what was made on the worker
        self._lost_by = None  # the error, while the worker is away
        self._thread = threading.Thread(
            target=_serve, args=(weakref.ref(self), cluster.queue, worker_index), daemon=True
        )
        self._thread.start()

    def wait(self):
        """Until all that was sent to the worker, and by it to parameter servers, is done."""
        _weft.sync_task(self.device_name)
        for task in self._cluster.servers:
            _weft.sync_task(task)

    def process(self, closure):
        queue = self._cluster.queue
        try:
            with self._cluster.gate.together():
                closure.execute_on(self)
                if isinstance(closure, ResourceClosure):
                    return
                closure.tell_output(lambda value: value.get())
        except Exception as e:  # noqa: BLE001: it belongs to the one who waits for the closure
            self._failed(closure, e)
        else:
            queue.mark_finished()

    def _failed(self, closure, error):
        """Runs the closure again where the error comes from a lost task, else the error is its result."""
        cluster, queue = self._cluster, self._cluster.queue
        is_resource = isinstance(closure, ResourceClosure)
        if cluster.may_pass(error):
            get_logger().error(f"{self.device_name} failed with {error!r}: tried again, as it may pass")
            return self.process(closure) if is_resource else queue.put_back(closure)
        if not is_worker_failure(error) or queue.cancelling:
            if not isinstance(error, errors.CancelledError):
                get_logger().error(f"{self.device_name} encountered an error when processing a closure: {error!r}")
            closure.tell_output(lambda value: value._set_error(error))
            return None if is_resource else queue.mark_failed(error)
        get_logger().error(f"{self.device_name} was lost: {error!r}")
        with self._lock:
            self._lost_by = error
            if is_resource:
                queue.clear_tag(self.worker_index)
            for value in self._living():
                value._set_aborted(ClosureAbortedError(error))
        # Before the function is given to another worker: an error on the way to this one must find it running.
        try:
            if not is_resource:
                queue.put_back(closure)
            cluster.recover(self.device_name)
        except Exception as e:  # noqa: BLE001: of a parameter server, or after a long time
            return cluster.give_up(e)
        with self._lock:
            for value in self._living():
                value._known.clear()
                queue.put(value._closure, tag=self.worker_index)
            self._lost_by = None
        return get_logger().info(f"{self.device_name} is back")

    def _living(self):
        self._resources = [r for r in self._resources if r() is not None]
        return [value for value in (r() for r in self._resources) if value is not None]

    def create_resource(self, function, args=None, kwargs=None, kind=ResourceClosure):
        """What function() gives on this worker."""
        closure = kind(function, args=args, kwargs=kwargs)
        value = closure.build_output_remote_value()
        with self._lock:
            self._resources.append(weakref.ref(value))
            if self._lost_by is not None:
                value._set_aborted(ClosureAbortedError(self._lost_by))
            else:
                self._cluster.queue.put(closure, tag=self.worker_index)
        return value


def _serve(worker, queue, index):
    """A worker's thread; ends with the queue."""
    delay = int(os.environ.get("TF_COORDINATOR_SCHEDULE_START_DELAY", "0")) * index
    most = int(os.environ.get("TF_COORDINATOR_SCHEDULE_START_DELAY_MAX", "0"))
    time.sleep(min(delay, most) if most else delay)
    while True:
        closure = queue.get(tag=index)
        if closure is None:
            return
        one = worker()
        if one is None:
            closure.mark_cancelled()
            return
        one.process(closure)
        del closure, one


class Cluster:
    """The workers, the queue, and what is done when a task is lost."""

    def __init__(self, strategy):
        self.queue = ClosureQueue()
        self.servers = [f"/job:ps/replica:0/task:{i}" for i in range(strategy._num_ps)]
        self._stopped = False
        self._recovering = threading.Lock()
        self.gate = _Gate()
        self._counting = threading.Lock()
        self._ps_limit = int(os.environ.get("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES", 3))
        self._ps_failures = [0] * strategy._num_ps
        self._timeout_limit = int(
            os.environ.get("TF_COORDINATOR_IGNORE_TRANSIENT_TIMEOUTS", strategy._num_workers // 10)
        )
        self._timeouts = 0
        self.workers = [Worker(i, self) for i in range(strategy._num_workers)]

    def stop(self):
        self._stopped = True
        self.queue.stop()

    def may_pass(self, error):
        """Whether the closure is run again at once: an error of the connection to a parameter server, or one that follows from
        another; only so many times."""
        with self._counting:
            if self._ps_limit > 0 and is_ps_failure(error):
                task = int(_target(_reason(error)).rpartition(":")[2])
                self._ps_failures[task] += 1
                return self._ps_failures[task] < self._ps_limit
            if self._timeout_limit > 0 and isinstance(error, errors.DeadlineExceededError):
                self._timeouts += 1
                return self._timeouts < self._timeout_limit
        return False

    def recover(self, task):
        """Until the task, and all others, are there again. An error that is not a worker's is raised."""
        end = time.monotonic() + _RECOVERY_SECONDS
        while not self._stopped and time.monotonic() < end:
            with self._recovering:
                try:
                    if self._answers(task):
                        with self.gate.alone():
                            return _weft.reconnect(_ATTEMPT_SECONDS)
                except errors.OpError as e:
                    if not is_worker_failure(e):
                        raise
            time.sleep(0.2)
        if not self._stopped:
            raise errors.UnavailableError(None, None, f"{task} has not come back for {_RECOVERY_SECONDS} seconds")
        return None

    @staticmethod
    def _answers(task):
        try:
            return _weft.check_alive(task)
        except (
            errors.InvalidArgumentError
        ):  # the cluster has lost it: it is asked when the cluster is put together again
            return True

    def give_up(self, error):
        """The error of whoever joins, though no closure runs."""
        with self.queue._lock:
            self.queue._running += 1
        self.queue.mark_failed(error)


class ClusterCoordinator:
    """Gives functions to workers; one for a strategy."""

    def __new__(cls, strategy):
        if strategy._cluster_coordinator is None:
            strategy._cluster_coordinator = super().__new__(cls)
        return strategy._cluster_coordinator

    def __init__(self, strategy):
        if getattr(self, "_cluster", None) is not None:
            return
        if not hasattr(strategy, "_is_parameter_server_strategy_v2"):
            raise ValueError(
                "Only `tf.distribute.experimental.ParameterServerStrategy` is supported to work with "
                "`tf.distribute.experimental.coordinator.ClusterCoordinator` currently."
            )
        self._strategy = strategy
        strategy.extended._used_with_coordinator = True
        self._cluster = Cluster(strategy)

    def __del__(self):
        if getattr(self, "_cluster", None) is not None:
            self._cluster.stop()

    @property
    def strategy(self):
        """The strategy whose workers these are."""
        return self._strategy

    def schedule(self, fn, args=None, kwargs=None):
        """Has a worker run a tf.function; gives a RemoteValue at once."""
        if not isinstance(fn, (Function, ConcreteFunction)):
            raise TypeError(
                "`tf.distribute.experimental.coordinator.ClusterCoordinator.schedule` only accepts a `tf.function` or a concrete "
                "function."
            )
        extended = self._strategy.extended
        with self._strategy.scope():
            extended._being_scheduled = True
            try:
                closure = Closure(fn, args, kwargs)
                result = closure.build_output_remote_value()
                self._cluster.queue.put(closure)
            finally:
                extended._being_scheduled = False
        return result

    def join(self):
        """Waits for all that was scheduled; raises the first error."""
        self._cluster.queue.wait()

    def done(self):
        """Whether all that was scheduled is done; raises the first error."""
        return self._cluster.queue.done()

    def fetch(self, val):
        """RemoteValues as numpy arrays, in any structure."""
        return nest.map_structure(lambda x: x.fetch() if isinstance(x, RemoteValue) else x, val)

    def create_per_worker_dataset(self, dataset_fn):
        """A dataset for each worker: of a function that makes it there, or of a dataset that is sent there."""
        from weft._src.distribute.per_worker_dataset import per_worker_dataset

        return per_worker_dataset(dataset_fn, self)

    def _create_per_worker_resources(self, fn, args=None, kwargs=None):
        return PerWorkerValues(tuple(w.create_resource(fn, args, kwargs) for w in self._cluster.workers))

    def _create_per_worker_variables(self, fn, args=None, kwargs=None):
        made = (w.create_resource(fn, args, kwargs, PerWorkerVariableClosure) for w in self._cluster.workers)
        return PerWorkerValues(tuple(made))
