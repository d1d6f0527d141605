"""Trackable: what every object that can be saved derives from. It knows its children by name, and keeps what a
checkpoint holds for children that are not
there yet.

The names of the methods are TensorFlow's: classes of other packages (Keras, Sonnet) override and call them."""

import contextlib
import enum
import functools

from weft._src.framework import dtypes

OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"


class TrackableReference:
    """A child by name. It can be unpacked, but is not a tuple: those who walk containers (Keras' saving) leave it alone."""

    __slots__ = ("_name", "_ref")

    def __init__(self, name, ref):
        self._name, self._ref = name, ref

    @property
    def name(self):
        return self._name

    @property
    def ref(self):
        return self._ref

    def __iter__(self):
        yield self.name
        yield self.ref

    def __repr__(self):
        return f"{type(self).__name__}(name={self.name}, ref={self.ref})"

    def __eq__(self, other):
        if isinstance(other, tuple):
            return (self.name, self.ref) == other
        return isinstance(other, TrackableReference) and self.name == other.name and self.ref == other.ref

    __hash__ = None


class SaveType(str, enum.Enum):
    """What children are asked for."""

    CHECKPOINT = "checkpoint"
    SAVEDMODEL = "savedmodel"


class Trackable:
    """Has children by name, and may have values of its own to save (_serialize_to_tensors)."""

    # Objects that never tracked anything share these.
    _self_setattr_tracking = True
    _self_update_uid = -1

    @property
    def _setattr_tracking(self):
        return self._self_setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        self._self_setattr_tracking = value

    @property
    def _update_uid(self):
        return self._self_update_uid

    @_update_uid.setter
    def _update_uid(self, value):
        self._self_update_uid = value

    @property
    def _object_identifier(self):
        return "_generic_user_object"

    def _maybe_initialize_trackable(self):
        """The lists, made at the first use: constructors of subclasses need not call this one's."""
        if "_self_unconditional_checkpoint_dependencies" in self.__dict__:
            return
        values = {
            "_self_unconditional_checkpoint_dependencies": [],
            "_self_unconditional_dependency_names": {},
            "_self_unconditional_deferred_dependencies": {},
            "_self_name_based_restores": set(),
        }
        self.__dict__.update(values)

    @property
    def _unconditional_checkpoint_dependencies(self):
        self._maybe_initialize_trackable()
        return self.__dict__["_self_unconditional_checkpoint_dependencies"]

    @property
    def _unconditional_dependency_names(self):
        self._maybe_initialize_trackable()
        return self.__dict__["_self_unconditional_dependency_names"]

    @property
    def _name_based_restores(self):
        self._maybe_initialize_trackable()
        return self.__dict__["_self_name_based_restores"]

    @property
    def _checkpoint_dependencies(self):
        return self._unconditional_checkpoint_dependencies

    @property
    def _deferred_dependencies(self):
        """name -> positions in checkpoints for a child that is not there yet."""
        self._maybe_initialize_trackable()
        return self.__dict__["_self_unconditional_deferred_dependencies"]

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        self._maybe_initialize_trackable()
        return {name: ref for name, ref in self._checkpoint_dependencies}

    def _lookup_dependency(self, name, cached_dependencies=None):
        if cached_dependencies is not None:
            return cached_dependencies.get(name)
        return self._unconditional_dependency_names.get(name)

    def _no_dependency(self, value):
        return value

    def _track_trackable(self, trackable, name, overwrite=False):
        """The child of this name from now on; what a checkpoint holds for it is restored."""
        if not isinstance(trackable, Trackable):
            raise TypeError(
                f"Trackable._track_trackable() can only be used to track objects of type Trackable. Got "
                f"type {type(trackable)}."
            )
        if not getattr(self, "_manual_tracking", True):
            return trackable
        names = self._unconditional_dependency_names
        current = self._lookup_dependency(name)
        reference = TrackableReference(name, trackable)
        if current is None:
            self._unconditional_checkpoint_dependencies.append(reference)
        elif current is not trackable:
            if not overwrite:
                raise ValueError(
                    f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this "
                    "name is already declared as a dependency. "
                    "Names must be unique (or overwrite=True)."
                )
            children = self._unconditional_checkpoint_dependencies
            children[:] = [reference if child.name == name else child for child in children]
        names[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _untrack(self, name):
        if name in self.__dict__.get("_self_unconditional_dependency_names", ()):
            del self._unconditional_dependency_names[name]
            children = self._unconditional_checkpoint_dependencies
            children[:] = [child for child in children if child.name != name]

    def _handle_deferred_dependencies(self, name, trackable):
        """A child appeared: restores wait for it here, or among its own name-based ones."""
        self._maybe_initialize_trackable()
        trackable._maybe_initialize_trackable()
        waiting = self._deferred_dependencies.pop(name, ())
        for position in sorted(waiting, key=lambda p: p.restore_uid, reverse=True):
            position.restore(trackable)
        for restore in sorted(self._name_based_restores, key=lambda r: getattr(r, "restore_uid", 0), reverse=True):
            trackable._name_based_attribute_restore(restore)

    def _name_based_attribute_restore(self, checkpoint):
        self._self_name_based_restores = {*self._name_based_restores, checkpoint}
        checkpoint.eager_restore(self)

    def _preload_simple_restoration(self, name):
        """What a checkpoint holds for a variable that is about to be made under this name, as its initial value; None
        where nothing does."""
        waiting = self._deferred_dependencies.get(name)
        if not waiting:
            return None
        position = max(waiting, key=lambda p: p.restore_uid)
        if not position.is_simple_variable():
            return None
        return CheckpointInitialValueCallable(position)

    def _add_variable_with_custom_getter(
        self,
        name,
        shape=None,
        dtype=dtypes.float32,
        initializer=None,
        getter=None,
        overwrite=False,
        **kwargs_for_getter,
    ):
        """Makes a variable by getter() as the child of this name; its first value is that of a checkpoint where one
        waits."""
        self._maybe_initialize_trackable()
        if not overwrite and self._lookup_dependency(name) is not None:
            raise ValueError(
                f"A variable named '{name}' already exists in this Trackable, but "
                "Trackable._add_variable called to create another with that name. "
                "Variable names must be unique within a Trackable object."
            )
        preloaded = None
        if _eager_outside_functions():
            preloaded = self._preload_simple_restoration(name)
            if preloaded is not None and (
                not (
                    isinstance(initializer, CheckpointInitialValueCallable)
                    and initializer.restore_uid >= preloaded.restore_uid
                )
            ):
                initializer, shape = preloaded, None
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if not overwrite or isinstance(made, Trackable):
            return self._track_trackable(made, name=name, overwrite=overwrite)
        return made

    # ---- what is saved of the object itself

    def _gather_saveables_for_checkpoint(self):
        """name -> saveable (or a function that makes one): the older way; the newer is _serialize_to_tensors."""
        return {}

    def _serialize_to_tensors(self):
        """name -> tensor, to be saved."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors):
        """Takes what _serialize_to_tensors gave, as it was read."""
        raise NotImplementedError

    def _has_own_tensors(self):
        return type(self)._serialize_to_tensors is not Trackable._serialize_to_tensors

    def _serialize_to_proto(self, object_proto=None, **kwargs):
        return None

    @classmethod
    def _deserialize_from_proto(
        cls,
        proto=None,
        dependencies=None,
        object_proto=None,
        export_dir=None,
        asset_file_def=None,
        operation_attributes=None,
        **kwargs,
    ):
        return cls()

    def _add_trackable_child(self, name, value):
        self._track_trackable(value, name, overwrite=True)

    def _deserialization_dependencies(self, children):
        return {}

    def _export_to_saved_model_graph(self, object_map, tensor_map, options, **kwargs):
        return []

    def _copy_trackable_to_cpu(self, object_map):
        raise NotImplementedError(
            f"{type(self).__name__} does not say how it is copied to the host for a checkpoint "
            "that is written in the background"
        )

    def _checkpoint_adapter(self, path):
        return None


class CheckpointInitialValueCallable:
    """An initial value that a checkpoint holds: variables know it."""

    def __init__(self, checkpoint_position):
        self._position = checkpoint_position

    @property
    def checkpoint_position(self):
        return self._position

    @property
    def restore_uid(self):
        return self._position.restore_uid

    def __call__(self, shape=None, dtype=None, shard_info=None):
        return CheckpointInitialValue(self._position)


class CheckpointInitialValue:
    """The first value of a variable that a checkpoint has; `shape` and `shard_info` tell the part of a sharded one."""

    def __init__(self, checkpoint_position, shape=None, shard_info=None):
        self.checkpoint_position = checkpoint_position
        self._shape, self._shard_info = shape, shard_info

    @property
    def wrapped_value(self):
        return self.checkpoint_position.value_tensors()[VARIABLE_VALUE_KEY]


def _eager_outside_functions():
    from weft._src.framework.graph import executing_eagerly_outside_functions

    return executing_eagerly_outside_functions()


def no_automatic_dependency_tracking(method):
    """Attributes that the method sets are not tracked."""

    @functools.wraps(method)
    def call(self, *args, **kwargs):
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return call


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    before = getattr(obj, "_self_setattr_tracking", True)
    obj._self_setattr_tracking = False
    try:
        yield
    finally:
        obj._self_setattr_tracking = before
