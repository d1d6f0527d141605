"""tf.CriticalSection: code that only one caller runs at a time."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import graph


class CriticalSection:
    """A lock around functions: execute(fn) runs fn while no other execute of this section runs."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        self._name = name or "critical_section"
        with graph.init_scope():
            shared = shared_name or f"{self._name}_{id(self)}"
            self._handle = raw.MutexV2(shared_name=shared, container="", name=self._name)

    @property
    def name(self):
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """What fn() gives, computed under the lock."""
        from weft._src.framework import nest

        lock = raw.MutexLock(mutex=self._handle)
        try:
            with graph.control_dependencies([lock]):
                result = fn()
                if _weft.in_graph():
                    # In a graph, what is done counts only once the results have a value of their own.
                    result = nest.map_structure(
                        lambda t: raw.Identity(input=t) if t is not None else None, result, expand_composites=True
                    )
        finally:
            if not _weft.in_graph():
                raw.ConsumeMutexLock(mutex_lock=lock)
        if not _weft.in_graph():
            return result
        with graph.control_dependencies([t for t in nest.flatten(result, expand_composites=True) if t is not None]):
            unlocked = raw.ConsumeMutexLock(mutex_lock=lock)
        with graph.control_dependencies([unlocked]):
            return nest.map_structure(
                lambda t: raw.Identity(input=t) if t is not None else None, result, expand_composites=True
            )
