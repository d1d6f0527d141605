"""Which strategy the running code belongs to, and whether it speaks for one replica or for all: a stack per thread."""

import contextlib
import functools
import threading


class Mode:
    """An entry of the stack; without a replica, the code speaks for all of them."""

    __slots__ = ("strategy", "replica")

    def __init__(self, strategy, replica=None):
        self.strategy, self.replica = strategy, replica


class _Thread(threading.local):
    def __init__(self):
        self.modes = []
        self.update_replica = None  # the copy that StrategyExtended.update works on
        self.sync_on_read = False
        self.global_scope = None


_thread = _Thread()


@functools.cache
def default_mode():
    from weft._src.distribute.default import make

    strategy, replica = make()
    return Mode(strategy, replica)


def mode():
    modes = _thread.modes
    return modes[-1] if modes else default_mode()


@contextlib.contextmanager
def entered(strategy, replica=None):
    """The block is code of this replica, or of all."""
    _thread.modes.append(Mode(strategy, replica))
    try:
        yield
    finally:
        _thread.modes.pop()


@contextlib.contextmanager
def updating(replica_id):
    """The block works on one copy of a variable, outside of replicas."""
    before, _thread.update_replica = _thread.update_replica, replica_id
    try:
        yield
    finally:
        _thread.update_replica = before


def update_replica_id():
    return _thread.update_replica


def get_strategy():
    """The strategy whose scope this is; the default one outside of any."""
    return mode().strategy


def has_strategy():
    """Whether this is in the scope of a strategy that is not the default one."""
    return mode().strategy is not default_mode().strategy


def get_replica_context():
    """The replica whose code runs; None in code that speaks for all."""
    return mode().replica


def in_cross_replica_context():
    """Whether the code speaks for all replicas."""
    return mode().replica is None


def experimental_set_strategy(strategy):
    """Enters a strategy's scope for all that follows; None leaves it."""
    if _thread.global_scope is not None:
        scope, _thread.global_scope = _thread.global_scope, None
        scope.__exit__(None, None, None)
    if has_strategy():
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is not None:
        scope = strategy.scope()
        scope.__enter__()
        _thread.global_scope = scope


def current_replica_id():
    """The number of the copies that the running code means; None: all of them."""
    replica = mode().replica
    return _thread.update_replica if replica is None else replica._replica_id


@contextlib.contextmanager
def variable_sync_on_read_context():
    """Variables that are synchronised on read are so in replicas, too."""
    _thread.sync_on_read = True
    try:
        yield
    finally:
        _thread.sync_on_read = False


def in_variable_sync_on_read_context():
    return _thread.sync_on_read


def strategy_supports_no_merge_call():
    """Whether optimizers may do without merge_call."""
    if not has_strategy():
        return True
    return not get_strategy().extended._use_merge_call()


def maybe_merge_call(fn, strategy, *args, **kwargs):
    """Calls fn(strategy, ...) through merge_call where the strategy needs it."""
    if strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    return get_replica_context().merge_call(fn, args=args, kwargs=kwargs)


# ---- who may be called where


def _wrong_scope(strategy):
    if not has_strategy():
        raise RuntimeError(f'Need to be inside "with strategy.scope()" for {strategy}')
    raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {get_strategy()} is not {strategy}")


def require_scope(strategy):
    if mode().strategy is not strategy:
        _wrong_scope(strategy)


def require_cross_replica_or_default(strategy, message=None):
    now = mode()
    if now is default_mode() or (now.replica is None and now.strategy is strategy):
        return
    if now.strategy is not strategy:
        _wrong_scope(strategy)
    raise RuntimeError(
        message or "Method requires being in cross-replica context, use get_replica_context().merge_call()"
    )


def require_replica(replica):
    now = mode()
    if now.replica is replica:
        return
    if now.replica is None:
        raise RuntimeError("Need to be inside `call_for_each_replica()`")
    if now.strategy is replica.strategy:
        raise RuntimeError("Mismatching ReplicaContext.")
    raise RuntimeError(f"Mismatching tf.distribute.Strategy objects: {now.strategy} is not {replica.strategy}.")


@contextlib.contextmanager
def scope_of(strategy):
    """The block is in this strategy's scope, which may be entered already."""
    if has_strategy():
        require_scope(strategy)
        yield
    else:
        with strategy.scope():
            yield


class Scope:
    """What Strategy.scope() gives: code that speaks for all replicas, with variables made by a creator."""

    def __init__(self, strategy, creator, device=None):
        self._strategy, self._creator, self._device = strategy, creator, device
        self._again, self._open = 0, None

    def __enter__(self):
        from weft._src.framework.device import device
        from weft._src.trackable.variable import variable_creator_scope

        if has_strategy():
            require_cross_replica_or_default(self._strategy)
            self._again += 1
            return self._strategy
        with contextlib.ExitStack() as parts:
            parts.enter_context(entered(self._strategy))
            parts.enter_context(variable_creator_scope(self._creator))
            if self._device:
                parts.enter_context(device(self._device))
            self._open = parts.pop_all()
        return self._strategy

    def __exit__(self, *error):
        if self._again:
            self._again -= 1
            return
        parts, self._open = self._open, None
        try:
            parts.__exit__(*error)
        except RuntimeError as e:
            raise RuntimeError(
                "Variable creator scope nesting error: move call to tf.distribute.set_strategy() out of `with` scope."
            ) from e
