"""Structures of values by replica: put together from what replicas give, and taken apart for them."""

import collections.abc

from weft import _weft
from weft._src.distribute.values import DistributedValues, Mirrored, PerReplica
from weft._src.framework import nest
from weft._src.framework.device import device
from weft._src.framework.graph import control_dependencies
from weft._src.framework.tensor import Tensor
from weft._src.trackable.variable import _UnreadVariable


def value_container(value):
    """The distributed variable that a variable is a copy of, else the value itself."""
    container = getattr(value, "_distributed_container", None)
    found = None if container is None else container()
    return value if found is None else found


def regroup(values, wrap=PerReplica, always_wrap=False):
    """One structure of distributed values, of a structure for each replica. What is the same object in all stays itself."""
    first = values[0]

    def each(key):
        return regroup(tuple(v[key] for v in values), wrap, always_wrap)

    if isinstance(first, list):
        assert all(isinstance(v, list) and len(v) == len(first) for v in values), (
            f"len(v) == {[len(v) for v in values]}, values: {values}"
        )
        return [each(i) for i in range(len(first))]
    if isinstance(first, tuple):
        assert all(isinstance(v, tuple) for v in values)
        for v in values[1:]:
            assert len(v) == len(first), (
                f"Values to regroup had different lengths: len(v) == {len(v)}, len(v0) == {len(first)}, "
                f"v: {v}, v0: {first}"
            )
        made = tuple(each(i) for i in range(len(first)))
        return first._make(made) if hasattr(first, "_fields") else made
    if isinstance(first, collections.abc.Mapping):
        for v in values[1:]:
            assert isinstance(v, collections.abc.Mapping), f"v[0]: {first!r}  v[i]: {v!r}"
            assert set(v.keys()) == set(first.keys()), f"v[0].keys: {set(first.keys())}  v[i].keys: {set(v.keys())}"
        return type(first)({key: each(key) for key in first})

    same = all(v is first for v in values)
    is_variable = isinstance(first, _weft.VariableBase) and isinstance(first, DistributedValues)
    container = first if isinstance(first, _UnreadVariable) else value_container(first)
    if same and (is_variable or (not always_wrap and container is first)):
        return first
    if container is not first:
        assert all(value_container(v) is container for v in values)
        return container
    return wrap(values)


def select_replica(replica, structure):
    """A replica's part of a structure with distributed values; variables stay whole."""

    def part(x):
        if isinstance(x, DistributedValues) and not isinstance(x, _weft.VariableBase):
            return x._values[replica]
        return x

    return nest.map_structure(part, structure)


def is_mirrored(value):
    return getattr(value, "_is_mirrored", lambda: False)()


def update_regroup(extended, updates, group):
    """What StrategyExtended.update gives: a value for each copy, or all of them in one that waits for all."""
    if not group:
        return nest.map_structure(extended._local_results, regroup(updates, Mirrored))
    return regroup(updates, _grouped)


def _grouped(values):
    from weft._src.function.control_flow import group
    from weft._src.ops.array_ops import identity

    if len(values) == 1:
        return Mirrored(values)
    done = group(*values)
    if not all(isinstance(v, (Tensor, _weft.VariableBase)) for v in values):
        return done
    waiting = []
    for v in values:
        with device(v.device), control_dependencies([done]):
            waiting.append(identity(v))
    return Mirrored(waiting)
