"""DelegatingTrackableMixin: an object whose tracking is another's."""

from weft._src.trackable.base import Trackable

_METHODS = (
    "_maybe_initialize_trackable _trackable_children _lookup_dependency _no_dependency _track_trackable _untrack _handle_deferred_dependencies "
    "_name_based_attribute_restore _preload_simple_restoration _add_variable_with_custom_getter _gather_saveables_for_checkpoint "
    "_serialize_to_tensors _restore_from_tensors _has_own_tensors _export_to_saved_model_graph _map_resources _deserialization_dependencies"
)
_PROPERTIES = (
    "_setattr_tracking _update_uid _object_identifier _unconditional_checkpoint_dependencies _unconditional_dependency_names _name_based_restores "
    "_checkpoint_dependencies _deferred_dependencies _tracking_metadata"
)


class DelegatingTrackableMixin:
    """Stands for `trackable_obj` where objects are saved and restored. The class beside this one decides on all else."""

    def __init__(self, trackable_obj):
        self._trackable = trackable_obj


def _method(name):
    def call(self, *args, **kwargs):
        return getattr(self._trackable, name)(*args, **kwargs)

    call.__name__ = name
    return call


def _property(name):
    return property(
        lambda self: getattr(self._trackable, name), lambda self, value: setattr(self._trackable, name, value)
    )


for _name in _METHODS.split():
    if hasattr(Trackable, _name):
        setattr(DelegatingTrackableMixin, _name, _method(_name))
for _name in _PROPERTIES.split():
    setattr(DelegatingTrackableMixin, _name, _property(_name))
