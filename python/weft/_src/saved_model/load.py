"""tf.saved_model.load: the objects of a SavedModel, with their functions and variables. The engine reads the model (saved_model/objects.h); here its
objects become Python's."""

import logging
import os

from weft import _weft
from weft._src.framework import errors, gfile
from weft._src.framework.graph import init_scope
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TensorSpec
from weft._src.proto import GraphDef
from weft._src.saved_model import constants, structured
from weft._src.saved_model.options import LoadOptions
from weft._src.saved_model.restored import (
    DistributedConcreteFunction,
    RestoredConcreteFunction,
    RestoredFunction,
    arg_spec_of,
    keywords_of,
    types_of,
)
from weft._src.saved_model.signatures import SignatureMap
from weft._src.trackable.asset import Asset
from weft._src.trackable.autotrackable import AutoTrackable
from weft._src.trackable.base import VARIABLE_VALUE_KEY, Trackable
from weft._src.trackable.resource import RestoredResource, TrackableResource


def contains_saved_model(export_dir):
    """Whether there is a SavedModel in the folder."""
    export_dir = os.fspath(export_dir)
    return any(
        gfile.exists(os.path.join(export_dir, name))
        for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    )


def missing_file(export_dir):
    return OSError(
        f"SavedModel file does not exist at: {export_dir}{os.path.sep}{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
    )


def _identity(export_dir):
    """Which folder has the name now."""
    try:
        info = os.stat(export_dir)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def load(export_dir, tags=None, options=None):
    """The root object of a SavedModel."""
    export_dir = os.fspath(export_dir)
    for _ in range(20):
        before = _identity(export_dir)
        try:
            root = _load(export_dir, tags, options)
        except Exception:
            if _identity(export_dir) == before:
                raise
            continue
        if _identity(export_dir) == before:  # else it may be made of two: another was saved in its place
            return root
    raise errors.AbortedError(None, None, f"{export_dir} is replaced by another SavedModel each time that it is read")


def _load(export_dir, tags, options):
    if isinstance(tags, str):
        tags = [tags]
    options = options or LoadOptions()
    if not contains_saved_model(export_dir):
        raise missing_file(export_dir)
    with init_scope():
        model = _weft.SavedObjects.open(export_dir, getattr(options, "verify", False))
    if model is None:
        from weft._src.saved_model.load_v1 import load as load_v1

        return load_v1(export_dir, tags)
    known = set(model.tags)
    if tags is not None and set(tags) != known and tags:
        raise ValueError(
            f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {export_dir} has one MetaGraph with tags {sorted(known)}. You may omit the "
            "argument, pass 'None', or pass matching tags."
        )
    with init_scope():
        loader = _Loader(model, options)
        root = loader.load()
    root.tensorflow_version, root.tensorflow_git_version = model.version, model.git_version
    root.graph_debug_info = None
    if options.experimental_load_function_aliases:
        if hasattr(root, "function_aliases"):
            raise ValueError(
                "Could not load with experimental_load_function_aliases option because the top-level object already has an attributed with name "
                "'function_aliases'"
            )
        root.function_aliases = loader.aliases()
    return root


class _UserObject(AutoTrackable):
    """An object whose class the file does not have."""


def _call_attribute(instance, *args, **kwargs):
    return instance.__dict__["__call__"](*args, **kwargs)


def add_functions(library):
    """Puts the functions of a library among the engine's, under names of their own: old name -> new one; and what holds them there."""
    loaded = _weft.load_functions(GraphDef(library=library).SerializeToString())
    return loaded.names, loaded


def rename_functions(node, names):
    """The functions that a node names, under their new names."""
    if node.op in names:
        node.op = names[node.op]
    for value in node.attr.values():
        kind = value.WhichOneof("value")
        if kind == "func":
            value.func.name = names.get(value.func.name, value.func.name)
        elif kind == "list" and value.list.func:
            for func in value.list.func:
                func.name = names.get(func.name, func.name)


class _Loader:
    """Makes Python objects of those that the engine found."""

    def __init__(self, model, options):
        self.model, self.options = model, options
        self.nodes = model.nodes()
        self.objects = {}
        self.concretes = {}
        self.local_names = None  # number -> the name that its parent has for it

    def load(self):
        root = self.load_into()
        if not isinstance(root.__dict__.get("signatures"), SignatureMap):
            root.signatures = SignatureMap()
        return root

    def load_into(self):
        for number, node in enumerate(self.nodes):  # what functions may have captured comes first
            if node["kind"] in ("variable", "asset"):
                self.get(number)
        for number in range(len(self.nodes)):
            self.get(number)
        for number, node in enumerate(self.nodes):
            for name, child in node["children"]:
                self._add_child(self.objects[number], name, self.objects[child])
        if not self.options.experimental_skip_checkpoint:
            self._restore()
        for obj in self.objects.values():
            if isinstance(obj, TrackableResource):
                obj._initialize()
        return self.objects[0]

    # ---- objects

    def get(self, number):
        """The object of a number, made at the first use."""
        if number not in self.objects:
            self.objects[number] = self._make(number, self.nodes[number])
        return self.objects[number]

    def _make(self, number, node):
        kind = node["kind"]
        if kind == "variable":
            names = ("name", "dtype", "shape", "trainable", "synchronization", "aggregation")
            made = uninitialized_variable(**{name: node[name] for name in names})
            self.model.set_variable(number, list(made._values) if made.is_distributed_variable else [made])
            return made
        if kind == "constant":
            return self.model.captured(number)
        if kind == "asset":
            made = Asset(node["path"])
            self.model.set_captured(number, made.asset_path)
            return made
        if kind == "function":
            concretes = [self.concrete(name, node["spec"]) for name in node["traces"]]
            return RestoredFunction(self._function_name(number, concretes), node["spec"], concretes)
        if kind == "trace":
            made = self.concrete(node["traces"][0], node["spec"], node["keywords"], node["positional"])
            if node["keywords"]:
                made._flat_names = list(node["keywords"])
            return made
        if kind == "resource":
            return self._resource(number, node)
        if kind == "captured tensor":
            return _UserObject()  # for a custom gradient, which has it
        return self._user_object(node["name"])

    def _user_object(self, identifier):
        from weft._src.trackable.data_structures import ListWrapper, _DictWrapper

        if identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return ListWrapper([])
        if identifier == "trackable_dict_wrapper":
            return _DictWrapper({})
        if identifier == "signature_map":
            return SignatureMap()
        return type("_UserObject", (_UserObject,), {"__module__": _UserObject.__module__})()

    def _resource(self, number, node):
        """A resource must be there before the functions that use it."""
        made = self.objects[number] = RestoredResource()
        if any(name == "_create_resource" for name, _ in node["children"]):
            made._resource_handle_ = self.model.captured(number)
        for name, (save, restore) in node.get("saveables", {}).items():
            made._self_saveables[name] = (self.get(save), self.get(restore))
        return made

    def _function_name(self, number, concretes):
        if self.local_names is None:
            self.local_names = {child: name for node in reversed(self.nodes) for name, child in node["children"]}
        if number in self.local_names:
            return self.local_names[number]
        return concretes[0].name.decode() if concretes else "restored_function"

    # ---- functions

    def concrete(self, name, spec, keywords=None, positional=None):
        """The trace of a name."""
        found = self.concretes.get(name)
        if found is not None:
            return found
        inputs, outputs, captured = self.model.trace(name)
        canonical = structured.value_of(inputs)
        bound = [self.get(number) for number in captured]
        natives = [self.model.concrete(name, i) for i in range(self.model.replicas(name))]
        keywords = keywords_of(canonical) if keywords is None else keywords
        kind = RestoredConcreteFunction if len(natives) == 1 else DistributedConcreteFunction
        made = kind(
            natives[0] if len(natives) == 1 else natives,
            types_of(canonical, arg_spec_of(spec)),
            structured.value_of(outputs),
            [obj for obj in bound if isinstance(obj, _weft.VariableBase)],
            keywords,
            len(keywords) if positional is None else positional,
        )
        self.concretes[name] = made
        return made

    def aliases(self):
        """Name of SaveOptions.function_aliases -> the function, or those of its traces that are here."""
        names, found = self.model.aliases, {}
        for name, alias in names.items():
            if not self.model.has_function(name):
                logging.getLogger("tensorflow").warning(
                    "ConcreteFunction `%s` is listed in function alias but it is not found.", name
                )
                continue
            found.setdefault(alias, {})[name] = self._aliased(name)
        for number, node in enumerate(self.nodes):
            traces = node["traces"] if node["kind"] == "function" else ()
            if traces and all(name in names for name in traces):
                alias = names[traces[0]]
                if isinstance(found[alias], dict) and set(found[alias]) == set(traces):
                    found[alias] = self.get(number)
        return {alias: list(f.values()) if isinstance(f, dict) else f for alias, f in found.items()}

    def _aliased(self, name):
        made = self.concretes.get(name)
        if made is None:  # only called by other functions: flat
            native = self.model.concrete(name, 0)
            specs = [TensorSpec(None, t) for t in native.ret_types]
            made = RestoredConcreteFunction(
                native, None, specs, [], [f"arg_{i}" for i in range(native.num_arguments)], 0
            )
        return made

    # ---- children

    def _add_child(self, obj, name, child):
        if isinstance(obj, SignatureMap):
            child._signature_names = child._arg_keywords
            obj._add_signature(name, child)
        elif isinstance(obj, list):
            if name.isdigit():  # elements that were not tracked are None
                obj.extend([None] * (int(name) + 1 - len(obj)))
                obj._put(int(name), obj._track_value(child, name))
        elif isinstance(obj, dict):
            obj[name] = child
        elif isinstance(obj, RestoredResource):
            obj._add_trackable_child(name, child)
        elif isinstance(obj, _UserObject):
            if name == "__call__":
                obj.__dict__["__call__"] = child
                type(obj).__call__ = _call_attribute
            else:
                setattr(obj, name, child)
        elif (
            isinstance(obj, Trackable)
            and isinstance(child, Trackable)
            and not isinstance(obj, (Asset, RestoredFunction))
        ):
            obj._track_trackable(child, name, overwrite=True)

    # ---- values

    def _restore(self):
        """Gives the variables the values that the checkpoint has for them."""
        values = self.model.read_values()
        wanted = {n: o for n, o in self.objects.items() if isinstance(o, _weft.VariableBase)}
        missing = [v for n, v in wanted.items() if n not in values]
        if missing and not self.options.allow_partial_checkpoint:
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, likely due to changes in the Python program. "
                f"Showing 10 of {len(missing)} unmatched objects: {[v.name for v in missing[:10]]}"
            )
        for number, value in values.items():
            wanted[number]._restore_from_tensors({VARIABLE_VALUE_KEY: value})
        self.model.restore_saveables()


def uninitialized_variable(name, dtype, shape, trainable, synchronization=0, aggregation=0):
    """A variable that has no value yet; creators may take part (tf.distribute)."""
    from weft._src.trackable.variable import VariableAggregationV2, VariableSynchronization, _creators

    spec = {
        "dtype": dtype,
        "shape": TensorShape(shape),
        "trainable": trainable,
        "synchronization": VariableSynchronization(synchronization),
        "aggregation": VariableAggregationV2(aggregation),
    }

    def bound(creator, following):
        return lambda **kwargs: creator(following, **kwargs)

    make = lambda next_creator=None, **kwargs: variable_without_value(kwargs["name"], **spec)  # noqa: E731
    for creator in _creators():
        make = bound(creator, make)
    return make(initial_value=None, name=name or "Variable", **spec)


def variable_without_value(name, dtype, shape, trainable, synchronization, aggregation):
    """The variable alone: creators are not asked."""
    from weft._src.trackable.variable import ResourceVariable

    v = ResourceVariable.__new__(ResourceVariable)
    v._synchronization, v._aggregation = synchronization, aggregation
    v._constraint = None
    v._shared_name = name.removesuffix("/")
    v._dtype, v._shape = dtype, shape
    v._make(
        dtype, shape._dims, v._shared_name, trainable, synchronization.value, aggregation.value, _weft.scoped_device()
    )
    v._trainable_flag = trainable
    return v
