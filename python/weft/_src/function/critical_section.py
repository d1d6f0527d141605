"""tf.CriticalSection: code that only one caller runs at a time."""

import collections
import contextlib
import itertools
import threading

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import graph, nest
from weft._src.framework.tensor import EagerTensor

# Collections of graphs: the sections, and what runs in them.
SECTIONS, EXECUTIONS = "critical_sections", "critical_section_executions"
Execution = collections.namedtuple("Execution", ["op", "handle", "resources", "exclusive_resource_access"])

_numbers = itertools.count()
_entered = threading.local()


def _identity(value):
    """A value of its own for a result: what is done counts only once it is there."""
    from weft._src.ops.array_ops import identity
    from weft._src.ops.tensor_array import TensorArray

    if value is None:
        return None
    if isinstance(value, TensorArray):
        return value.identity()
    if isinstance(value, graph.Operation):
        from weft._src.function.control_flow import group

        return group(value)
    return identity(value)


class CriticalSection:
    """A lock around functions: execute(fn) runs fn while no other execute of this section runs."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def and name is not None:
            raise ValueError(
                f"Arguments critical_section_def={critical_section_def} and shared_name={shared_name} are mutually exclusive. Please only specify one of them."
            )
        if critical_section_def:
            raise ValueError("Argument `critical_section_def` is not supported.")
        with graph.name_scope_v1(name, "CriticalSection", []) as scope, graph.init_scope():
            in_graph = _weft.in_graph()
            # Eagerly the names of two sections may be the same; in a graph they are not.
            shared = shared_name or (scope if in_graph else f"{scope}{next(_numbers)}")
            self._handle = raw.MutexV2(shared_name=shared, container="", name=scope if in_graph else None)
            self._name = self._handle.op.name if in_graph else scope.rstrip("/")
            self._signature = (shared, self._handle.device)
            if in_graph:
                graph.get_default_graph().add_to_collection(SECTIONS, self)

    @property
    def name(self):
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What fn() gives, computed under the lock."""
        with graph.name_scope_v1(name, "critical_section_execute", []):
            if _weft.in_graph():
                return self._execute_in_graph(fn, exclusive_resource_access)
            with self._once():
                lock = raw.MutexLock(mutex=self._handle)
                try:
                    return nest.map_structure(_identity, fn(), expand_composites=True)
                finally:
                    raw.ConsumeMutexLock(mutex_lock=lock)

    @contextlib.contextmanager
    def _once(self):
        """The thread is in the section, in which it is not yet."""
        sections = _entered.__dict__.setdefault("sections", [])
        if self._signature in sections:
            raise self._locked_twice()
        sections.append(self._signature)
        try:
            yield
        finally:
            sections.pop()

    def _locked_twice(self):
        return ValueError(
            f"Attempting to lock a CriticalSection (signature={self._signature}) in which we are already running. This is illegal and may cause deadlocks."
        )

    def _execute_in_graph(self, fn, exclusive):
        where = graph.get_default_graph()
        with self._once():
            lock = raw.MutexLock(mutex=self._handle)
            before = len(where.get_operations())
            with graph.control_dependencies([lock]):
                result = fn()
            made = where.get_operations()[before:]
        # What the function reads from outside is there before the lock is taken, or who makes it might wait for the lock.
        own = {op.name for op in made} | {lock.op.name}
        outside = {t.op.name: t.op for op in made for t in op.inputs} | {
            o.name: o for op in made for o in op.control_inputs
        }
        held = {o.name for o in lock.op.control_inputs} | {t.op.name for t in lock.op.inputs}
        for n, op in outside.items():
            if n not in own | held:
                lock.op._add_control_input(op)
        resources = [t for op in made for t in op.inputs if t.dtype == "resource"]
        if any(self._is_own(t) for t in resources):
            raise self._locked_twice()
        self._check_resources(where, resources, exclusive)
        results = [_identity(t) for t in nest.flatten(result, expand_composites=True)]
        done = [t for t in results if t is not None]
        beside = (
            contextlib.nullcontext() if isinstance(self._handle, EagerTensor) else where.colocate_with(self._handle)
        )
        with graph.control_dependencies(done), beside:
            unlocked = raw.ConsumeMutexLock(mutex_lock=lock)
        with graph.control_dependencies([unlocked, *done]):
            results = [_identity(t) for t in results]
        where.add_to_collection(EXECUTIONS, Execution(lock.op, self._handle, resources, exclusive))
        return nest.pack_sequence_as(result, results, expand_composites=True)

    def _is_own(self, tensor):
        """Whether a resource in a graph is this section's."""
        return (
            tensor.op.type == raw.MutexV2.op_name and tensor.op.get_attr("shared_name").decode() == self._signature[0]
        )

    def _check_resources(self, where, resources, exclusive):
        """Two sections do not use one resource, unless both say that they may."""
        names = {t.name for t in resources}
        for other in where.get_collection(EXECUTIONS):
            if other.handle is self._handle or not (exclusive or other.exclusive_resource_access):
                continue
            shared = [t for t in other.resources if t.name in names]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}. Either this lock (CriticalSection: {self._handle}) or lock '{other}' "
                    f"(CriticalSection: {other.handle}) requested exclusive resource access of this resource. Did you mean to call execute with keyword argument exclusive_resource_access=False?"
                )
