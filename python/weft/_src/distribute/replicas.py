"""Replicas as threads that take turns: one runs at a time, from one meeting (merge_call) to the next, so that they can
build one graph and Python code need not be safe for threads."""

import contextlib
import threading
import weakref

from weft import _weft
from weft._src.distribute import context
from weft._src.distribute.grouping import regroup, select_replica
from weft._src.distribute.replica_context import ReplicaContext
from weft._src.framework.device import device
from weft._src.framework.misc import get_logger
from weft._src.trackable import variable as variables

_NESTED = (
    "`merge_call` called while defining a new graph or a tf.function. This can often happen if the function `fn` passed "
    "to `strategy.run()` contains a nested `@tf.function`, and the nested `@tf.function` contains a synchronization "
    "point, such as aggregating gradients (e.g, optimizer.apply_gradients), or if the function `fn` uses a control flow "
    "statement which contains a synchronization point in the body. Such behaviors are not yet supported. Instead, please "
    "avoid nested `tf.function`s or control flow statements that may potentially cross a synchronization boundary, for "
    "example, wrap the `fn` passed to `strategy.run` or the entire `strategy.run` inside a `tf.function` or move the "
    "control flow out of `fn`. If you are subclassing a `tf.keras.Model`, please avoid decorating overridden methods "
    "`test_step` and `train_step` in `tf.function`."
)
_wrapped = weakref.WeakKeyDictionary()  # strategy -> function -> the function of all replicas
_warnings = 0


def call_for_each_replica(strategy, fn, args, kwargs):
    """fn in every replica; what they give, put together."""
    from weft._src.autograph import control_status_ctx, tf_convert
    from weft._src.function.function import Function

    if isinstance(fn, Function) and not getattr(fn, "_restored", False):
        return _of_all(strategy, fn)(*args, **kwargs)
    if _weft.in_graph():
        fn = tf_convert(fn, control_status_ctx())
    else:
        _warn(strategy)
    return _Run(strategy, fn, args, kwargs).results()


def _of_all(strategy, fn):
    """A tf.function is traced with all replicas in one graph."""
    known = _wrapped.setdefault(strategy, weakref.WeakKeyDictionary())
    made = known.get(fn)
    if made is None:
        python_function, weak = fn.python_function, weakref.ref(strategy)

        def run_all(*args, **kwargs):
            return call_for_each_replica(weak(), python_function, args, kwargs)

        made = known[fn] = fn._clone(python_function=run_all)
    return made


def _warn(strategy):
    global _warnings
    if _warnings < 5:
        _warnings += 1
        get_logger().warning(
            f"Using {type(strategy).__name__} eagerly has significant overhead currently. We will be working on "
            "improving this in the future, but for now please wrap `call_for_each_replica` or `experimental_run` or "
            "`run` inside a tf.function to get the best performance."
        )


class _Stopped(BaseException):
    """Ends a replica whose run has failed elsewhere."""


class _Run:
    """One call of a function in all replicas."""

    def __init__(self, strategy, fn, args, kwargs):
        self.strategy, self.fn = strategy, fn
        self.graph = _weft.current_graph() if _weft.in_graph() else None
        self.controls = None if self.graph is None else self.graph._control_stack
        self.scope = _weft.name_scope()
        self.creators = variables._creators()
        self.summaries = _summary_state()
        self.store = {}  # variables that the first replica made, for the others
        devices = strategy.extended.worker_devices
        self.replicas = [
            _Replica(self, i, d, select_replica(i, args), select_replica(i, kwargs)) for i, d in enumerate(devices)
        ]

    def results(self):
        try:
            for r in self.replicas:
                r.start()
            while not self._round():
                self._merge()
        finally:
            for r in self.replicas:
                r.end()
        return regroup(tuple(r.result for r in self.replicas))

    def _round(self):
        """Every replica runs to its next meeting; whether all have ended instead."""
        for r in self.replicas:
            r.resume()
            if r.error is not None:
                raise r.error
        ended = [r.done for r in self.replicas]
        if any(ended) and not all(ended):
            raise RuntimeError("Some replicas made a different number of replica_context().merge_call() calls.")
        return all(ended)

    def _merge(self):
        """What the replicas have come together for, once for all of them."""
        first = self.replicas[0].request
        args = regroup(tuple(r.request.args for r in self.replicas))
        kwargs = regroup(tuple(r.request.kwargs for r in self.replicas))
        controls = sorted({c for r in self.replicas for c in r.request.controls or ()})
        _weft.set_name_scope(first.scope)
        self.set_controls(controls)
        try:
            merged = first.fn(self.strategy, *args, **kwargs)
        finally:
            self.set_controls(self.controls)
            _weft.set_name_scope(self.scope)
        for i, r in enumerate(self.replicas):
            r.merged = select_replica(i, merged)

    def set_controls(self, controls):
        """Control dependencies belong to the graph, which the replicas share."""
        if self.graph is not None:
            self.graph._control_stack = list(controls)
            self.graph._native.set_controls(list(controls))


class _Request:
    def __init__(self, fn, args, kwargs, scope, controls):
        self.fn, self.args, self.kwargs, self.scope, self.controls = fn, args, kwargs, scope, controls


class _Replica:
    """A replica and its thread."""

    def __init__(self, run, index, where, args, kwargs):
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._run, self._index, self._device, self._arguments = run, index, where, (args, kwargs)
        self._turn, self._back = threading.Lock(), threading.Lock()
        self._turn.acquire()
        self._back.acquire()
        self._cancelled = False
        self.request = self.merged = self.result = self.error = None
        self.done = False

    # of the thread that called

    def start(self):
        self._thread.start()

    def resume(self):
        self._turn.release()
        self._back.acquire()

    def end(self):
        if self._thread.ident is None:
            return
        if not self.done:
            self._cancelled = True
            self._turn.release()
        self._thread.join()

    # of the replica

    def _main(self):
        self._turn.acquire()
        try:
            if not self._cancelled:
                with self._entered():
                    self.result = self._run.fn(*self._arguments[0], **self._arguments[1])
        except _Stopped:
            pass
        except BaseException as e:
            self.error = e
        finally:
            self.done = True
            self._back.release()

    @contextlib.contextmanager
    def _entered(self):
        """The state of the thread that called, with this replica's device and names."""
        run = self._run
        scope = run.scope if self._index == 0 else f"{run.scope}replica_{self._index}/"
        graph = contextlib.nullcontext() if run.graph is None else run.graph.as_default()
        variables._local.creators = run.creators + (self._shared(),)
        if run.summaries is not None:
            _set_summary_state(run.summaries, self._index)
        strategy = run.strategy
        replica = _MirroredReplicaContext(strategy, strategy.extended._get_replica_id_in_sync_group(self._index), self)
        with graph, context.entered(strategy), replica, device(self._device):
            _weft.set_name_scope(scope)
            yield

    def _shared(self):
        """Makes variables for all replicas in the first, and gives them to the others."""
        counts, store = {}, self._run.store

        def creator(next_creator, **kwargs):
            name = kwargs.get("name") or "Variable"
            key = name, counts.setdefault(name, 0)
            counts[name] += 1
            if self._index == 0:
                store[key] = next_creator(**kwargs)
            elif key not in store:
                raise RuntimeError(f"Tried to create variable {name} with mismatching name on device {self._index}.")
            return store[key]

        return creator

    def meet(self, fn, args, kwargs):
        run = self._run
        here = _weft.current_graph() if _weft.in_graph() else None
        if here is not run.graph:
            raise RuntimeError(_NESTED)
        controls = None if here is None else here._control_stack
        self.request = _Request(fn, args, kwargs, _weft.name_scope(), controls)
        if here is not None:
            run.set_controls(run.controls)
        self._back.release()
        self._turn.acquire()
        if self._cancelled:
            raise _Stopped
        if here is not None:
            run.set_controls(controls)
        merged, self.merged = self.merged, None
        return merged


class _MirroredReplicaContext(ReplicaContext):
    def __init__(self, strategy, replica_id_in_sync_group, replica):
        super().__init__(strategy, replica_id_in_sync_group)
        self._replica = replica

    def _merge_call(self, merge_fn, args, kwargs):
        return self._replica.meet(merge_fn, args, kwargs)

    @property
    def devices(self):
        context.require_replica(self)
        return [self._strategy.extended.worker_devices_by_replica[self._replica_id]]


def _summary_state():
    """What tf.summary writes to, if the program uses it."""
    import sys

    module = sys.modules.get("weft._src.ops.summary_ops")
    return None if module is None else dict(module._state.__dict__)


def _set_summary_state(state, replica):
    from weft._src.ops import summary_ops

    summary_ops._state.__dict__.update(state)
    if replica > 0:  # the first one speaks for all
        summary_ops._state.recording = False
