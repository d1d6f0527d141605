"""AutoTrackable: attributes that are trackable become children."""

from weft._src.trackable.base import SaveType, Trackable
from weft._src.trackable.data_structures import _is_function, sticky_attribute_assignment

_SKIPPED = frozenset(
    (
        "_self_unconditional_checkpoint_dependencies",
        "_self_unconditional_dependency_names",
        "_self_unconditional_deferred_dependencies",
        "_self_name_based_restores",
        "_self_setattr_tracking",
        "_self_update_uid",
    )
)


class AutoTrackable(Trackable):
    """Sets attributes and tracks them."""

    def __setattr__(self, name, value):
        if self._self_setattr_tracking and name not in _SKIPPED:
            value = sticky_attribute_assignment(self, name, value)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self._delete_tracking(name)
        super().__delattr__(name)

    def _delete_tracking(self, name):
        self._maybe_initialize_trackable()
        self._untrack(name)

    def _no_dependency(self, value):
        from weft._src.trackable.data_structures import NoDependency

        return NoDependency(value)

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        children = super()._trackable_children(save_type, **kwargs)
        if save_type == SaveType.SAVEDMODEL:
            children = {**self._functions(), **children}
        return children

    def _functions(self):
        """Attributes that are functions of tf.function; a SavedModel has them as children."""
        found = {}
        for name in dir(self):
            try:
                value = getattr(self, name, None)
            except Exception:  # noqa: BLE001: a property of the user's may raise anything
                continue
            if _is_function(value):
                found[name] = value
        return found
