"""tf.__internal__.saved_model.load_partial: a SavedModel into objects that a library has made already."""

from weft import _weft
from weft._src.framework.graph import init_scope
from weft._src.saved_model import load as whole
from weft._src.saved_model.options import LoadOptions
from weft._src.trackable.base import Trackable
from weft._src.trackable.resource import TrackableResource


class _Filler(whole._Loader):
    """Puts the objects that are there in the places of those of the file; all others are made."""

    def __init__(self, model, options, given):
        super().__init__(model, options)
        self.setters = {}
        for number, (obj, setter) in given.items():
            self.objects[number], self.setters[id(obj)] = obj, setter
            if self.nodes[number]["kind"] == "variable":
                held = getattr(obj, "_variable", obj) if not hasattr(obj, "_all_handles") else obj
                model.set_variable(number, [held])
            elif self.nodes[number]["kind"] == "resource" and isinstance(obj, TrackableResource):
                model.set_captured(number, obj.resource_handle)

    def _add_child(self, obj, name, child):
        setter = self.setters.get(id(obj))
        if setter is None:
            super()._add_child(obj, name, child)
        elif not isinstance(obj, _weft.VariableBase):
            setter(obj, name, child)


def _paths(nodes):
    """{path: number} of all objects: "root.layer.kernel"."""
    found, waiting, seen = {"root": 0}, [("root", 0)], {0}
    for path, number in waiting:
        for name, child in nodes[number]["children"]:
            found.setdefault(f"{path}.{name}", child)
            if child not in seen:
                seen.add(child)
                waiting.append((f"{path}.{name}", child))
    return found


def load_partial(export_dir, filters, tags=None, options=None):
    """{path: object} for the paths of `filters`: a list, or {path: (object, how its attributes are set) or None}."""
    options = options or LoadOptions()
    filters = filters if isinstance(filters, dict) else dict.fromkeys(filters)
    if not whole.contains_saved_model(export_dir):
        raise whole.missing_file(export_dir)
    with init_scope():
        model = _weft.SavedObjects.open(export_dir, False)
        if model is None:
            raise NotImplementedError("load_partial of a SavedModel of version 1")
        numbers = _paths(model.nodes())
        missing = sorted(path for path in filters if path not in numbers)
        if missing:
            raise ValueError(f"Could not find node(s) {missing} in the SavedModel at {export_dir}")
        given = {
            numbers[path]: pair for path, pair in filters.items() if pair is not None and isinstance(pair[0], Trackable)
        }
        loader = _Filler(model, options, given)
        root = loader.load_into()
        root.tensorflow_version, root.tensorflow_git_version = model.version, model.git_version
    return {path: loader.objects[numbers[path]] for path in filters}
