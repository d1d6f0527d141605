"""Objects that stand for a resource of the engine other than a variable: made, filled and destroyed by functions that a SavedModel keeps."""

from weft import _weft
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import init_scope
from weft._src.trackable.base import SaveType, Trackable

# The name of the functions in a SavedModel that give and take what _serialize_to_tensors does.
TENSORS_BY_NAME = ".TENSORS"


class TrackableResource(Trackable):
    """A resource by its handle. Subclasses make it (_create_resource) and fill it (_initialize)."""

    _resource_handle_ = None

    def __init__(self, device=""):
        self._resource_device = device

    def _create_resource(self):
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self):
        pass

    def _destroy_resource(self):
        pass

    @property
    def resource_handle(self):
        """The handle, made at the first use."""
        if self._resource_handle_ is None:
            with init_scope():
                self._resource_handle_ = self._create_resource()
        return self._resource_handle_

    @property
    def _resource_handle(self):
        return self._resource_handle_

    @_resource_handle.setter
    def _resource_handle(self, handle):
        self._resource_handle_ = handle

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        children = super()._trackable_children(save_type, **kwargs)
        if save_type == "savedmodel":
            children = {**children, **self._resource_functions()}
        return children

    def _resource_functions(self):
        from weft._src.function.function import function

        def _creator():
            return self._create_resource()

        def _initializer():
            self._initialize()
            return 1

        def _destroyer():
            self._destroy_resource()
            return 1

        return {
            "_create_resource": function(_creator, input_signature=[], autograph=False),
            "_initialize": function(_initializer, input_signature=[], autograph=False),
            "_destroy_resource": function(_destroyer, input_signature=[], autograph=False),
        }

    def _saveable_functions(self):
        """name -> (function that gives what to save, function that takes it back): SavedModels keep them."""
        if not self._has_own_tensors():
            return {}
        from weft._src.framework.type_spec import TensorSpec
        from weft._src.function.function import function

        specs = {
            name: TensorSpec(None, convert_to_tensor(tensor).dtype)
            for name, tensor in self._serialize_to_tensors().items()
        }

        def save_fn():
            return self._serialize_to_tensors()

        def restore_fn(restored_tensors):
            self._restore_from_tensors(restored_tensors)

        save = function(save_fn, autograph=False).get_concrete_function()
        return {TENSORS_BY_NAME: (save, function(restore_fn, autograph=False).get_concrete_function(specs))}

    def _has_handle(self, identity):
        return (
            self._resource_handle_ is not None
            and not _weft.in_graph()
            and self._resource_handle_._identity() == identity
        )


class RestoredResource(TrackableResource):
    """A resource that a SavedModel had: the functions that make and fill it are restored, too."""

    def __init__(self):
        super().__init__()
        self._self_functions, self._self_saveables = {}, {}

    def _create_resource(self):
        return self._self_functions["_create_resource"]()

    def _initialize(self):
        if "_initialize" in self._self_functions:
            self._self_functions["_initialize"]()

    def _destroy_resource(self):
        if "_destroy_resource" in self._self_functions:
            self._self_functions["_destroy_resource"]()

    def _add_trackable_child(self, name, value):
        if name in ("_create_resource", "_initialize", "_destroy_resource"):
            self._self_functions[name] = value
        elif isinstance(value, Trackable):
            setattr(self, name, value)
            super()._add_trackable_child(name, value)
        else:
            setattr(self, name, value)

    def _resource_functions(self):
        return dict(self._self_functions)

    def _saveable_functions(self):
        return dict(self._self_saveables)

    def _has_own_tensors(self):
        return bool(self._self_saveables)

    def _serialize_to_tensors(self):
        """What the functions that save give, under names that begin with the saveable's."""
        out = {}
        for name, (save, _) in self._self_saveables.items():
            if name == TENSORS_BY_NAME:
                return save()
            for part in save(convert_to_tensor(name)):
                out[part["name"].numpy().decode()] = part["tensor"]
        return out

    def _restore_from_tensors(self, restored_tensors):
        for name, (_, restore) in self._self_saveables.items():
            if name == TENSORS_BY_NAME:
                return restore(**restored_tensors)
            restore(*[restored_tensors[key] for key in restored_tensors if key.startswith(name)])
