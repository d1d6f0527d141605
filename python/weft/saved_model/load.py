"""tf.saved_model.load: the objects of a SavedModel, with their functions and variables."""

import logging
import os
import re

from weft import _weft
from weft._raw import raw
from weft.framework import dtypes, errors, gfile
from weft.framework.convert import convert_to_tensor
from weft.framework.graph import init_scope
from weft.framework.type_spec import TensorSpec
from weft.proto import SavedModel, TrackableObjectGraph
from weft.proto.tensors import make_ndarray
from weft.saved_model import constants, gradient_functions, structured
from weft.saved_model.options import LoadOptions
from weft.saved_model.restored import (
    DistributedConcreteFunction,
    RestoredConcreteFunction,
    RestoredFunction,
    arg_spec_of,
    keywords_of,
    types_of,
)
from weft.saved_model.signatures import SignatureMap
from weft.trackable.asset import Asset
from weft.trackable.autotrackable import AutoTrackable
from weft.trackable.base import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY, Trackable
from weft.trackable.resource import RestoredResource


def contains_saved_model(export_dir):
    """Whether there is a SavedModel in the folder."""
    export_dir = os.fspath(export_dir)
    return any(
        gfile.exists(os.path.join(export_dir, name))
        for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)
    )


def read_saved_model(export_dir):
    """The message of a SavedModel's file."""
    from weft.proto import text_format

    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    if gfile.exists(path):
        return SavedModel.FromString(gfile.read_bytes(path))
    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
    if gfile.exists(path):
        return text_format.Parse(gfile.read_bytes(path).decode(), SavedModel())
    raise OSError(
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
    raise errors.AbortedError(
        None, None, f"{export_dir} is replaced by another SavedModel each time that it is read"
    )


def _load(export_dir, tags, options):
    if isinstance(tags, str):
        tags = [tags]
    options = options or LoadOptions()
    if getattr(options, "verify", False):
        _weft.verify_saved_model(export_dir)
    model = read_saved_model(export_dir)
    if len(model.meta_graphs) != 1 or not model.meta_graphs[0].HasField("object_graph_def"):
        from weft.saved_model.load_v1 import load as load_v1

        return load_v1(model, export_dir, tags)
    meta = model.meta_graphs[0]
    known = set(meta.meta_info_def.tags)
    if tags is not None and set(tags) != known and tags:
        raise ValueError(
            f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {export_dir} has one MetaGraph with tags {sorted(known)}. You may omit the "
            "argument, pass 'None', or pass matching tags."
        )
    with init_scope():
        loader = _Loader(meta, export_dir, options)
        root = loader.load()
    root.tensorflow_version = meta.meta_info_def.tensorflow_version
    root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
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


def add_functions(library, concrete_functions=None, objects=None):
    """Puts the functions of a library among the engine's, under names of their own: old name -> new one; and what holds them there."""
    names, defs = {}, []
    for f in library.function:
        base = re.sub(r"_\d+$", "", f.signature.name)
        number = add_functions.count = getattr(add_functions, "count", 0) + 1
        while _weft.has_function(f"{base}_l{number}"):
            number = add_functions.count = add_functions.count + 1
        names[f.signature.name] = f"{base}_l{number}"
    if concrete_functions is not None:
        gradient_functions.attach(library, concrete_functions, objects)
    for f in library.function:
        f.signature.name = names[f.signature.name]
        for node in f.node_def:
            rename_functions(node, names)
            if "_gradient_op_type" in node.attr:
                own = node.attr["_gradient_op_type"].s.decode()
                if own.startswith("CustomGradient-"):  # that of the program that saved it, not of this one
                    own += "-saved"
                node.attr["_gradient_op_type"].s = names.get(own, own).encode()
        for i, arg in enumerate(f.signature.input_arg):  # what a handle is of: the engine looks for it here
            for data in arg.handle_data:
                f.arg_attr[i].attr["_handle_dtypes"].list.type.append(data.dtype)
                f.arg_attr[i].attr["_handle_shapes"].list.shape.append(data.shape)
        defs.append(f.SerializeToString())
    return names, _weft.LoadedFunctions.make(defs)


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
    def __init__(self, meta, export_dir, options):
        self.meta, self.export_dir, self.options = meta, export_dir, options
        self.protos = meta.object_graph_def.nodes
        self.concrete_protos = meta.object_graph_def.concrete_functions
        self.objects = {}
        self.concretes = {}
        self.local_names = None  # number -> the name that its parent has for it
        self.names, self.functions = add_functions(meta.graph_def.library, self.concrete_protos, self.protos)
        self.graph_nodes = {n.name: n for n in meta.graph_def.node}

    def load(self):
        for number in range(len(self.protos)):
            self.get(number)
        for number, proto in enumerate(self.protos):
            obj = self.objects[number]
            for child in proto.children:
                self._add_child(obj, child.local_name, self.objects[child.node_id])
        if not self.options.experimental_skip_checkpoint:
            self._restore()
        for obj in self.objects.values():
            if isinstance(obj, RestoredResource):
                obj._initialize()
        root = self.objects[0]
        if not isinstance(root.__dict__.get("signatures"), SignatureMap):
            root.signatures = SignatureMap()
        return root

    # ---- objects

    def get(self, number):
        """The object of a number, made at the first use."""
        if number not in self.objects:
            self.objects[number] = self._make(number, self.protos[number])
        return self.objects[number]

    def _make(self, number, proto):
        kind = proto.WhichOneof("kind")
        if kind == "variable":
            return _uninitialized(proto.variable)
        if kind == "constant":
            value = self.graph_nodes[proto.constant.operation].attr["value"].tensor
            return convert_to_tensor(make_ndarray(value), dtype=dtypes.as_dtype(value.dtype))
        if kind == "asset":
            name = self.meta.asset_file_def[proto.asset.asset_file_def_index].filename
            _weft.check_asset_name(name)
            return Asset(os.path.join(self.export_dir, constants.ASSETS_DIRECTORY, name))
        if kind == "function":
            spec = proto.function.function_spec
            concretes = [self.concrete(name, spec) for name in proto.function.concrete_functions]
            return RestoredFunction(self._function_name(number, concretes), spec, concretes)
        if kind == "bare_concrete_function":
            return self._bare(proto.bare_concrete_function)
        if kind == "resource":
            return self._resource(number, proto)
        if kind == "captured_tensor":
            return _UserObject()  # for a custom gradient: gradient_functions.attach found it
        return self._user_object(proto.user_object)

    def _user_object(self, proto):
        from weft.trackable.data_structures import ListWrapper, _DictWrapper

        if proto.identifier in ("trackable_list_wrapper", "trackable_tuple_wrapper"):
            return ListWrapper([])
        if proto.identifier == "trackable_dict_wrapper":
            return _DictWrapper({})
        if proto.identifier == "signature_map":
            return SignatureMap()
        return type("_UserObject", (_UserObject,), {"__module__": _UserObject.__module__})()

    def _resource(self, number, proto):
        """A resource must be there before the functions that use it: the function that makes it comes first."""
        made = self.objects[number] = RestoredResource()
        for child in proto.children:
            if child.local_name == "_create_resource":
                made._self_functions["_create_resource"] = self.get(child.node_id)
        return made

    def _function_name(self, number, concretes):
        if self.local_names is None:
            self.local_names = {
                child.node_id: child.local_name for proto in reversed(self.protos) for child in proto.children
            }
        if number in self.local_names:
            return self.local_names[number]
        return concretes[0].name.decode() if concretes else "restored_function"

    # ---- functions

    def concrete(self, name, spec_proto, keywords=None, positional=None):
        """The trace of a name."""
        found = self.concretes.get(name)
        if found is not None:
            return found
        proto = self.concrete_protos[name]
        canonical = structured.decode(proto.canonicalized_input_signature)
        bound = [self.get(number) for number in proto.bound_inputs]
        variables = [obj for obj in bound if isinstance(obj, _weft.VariableBase)]
        natives = [self._native(name, bound, i) for i in range(max([len(v._all_handles()) for v in variables] + [1]))]
        keywords = keywords_of(canonical) if keywords is None else keywords
        kind = RestoredConcreteFunction if len(natives) == 1 else DistributedConcreteFunction
        made = kind(
            natives[0] if len(natives) == 1 else natives,
            types_of(canonical, arg_spec_of(spec_proto)),
            structured.decode(proto.output_signature),
            variables,
            keywords,
            len(keywords) if positional is None else positional,
        )
        self.concretes[name] = made
        return made

    def _native(self, name, bound, replica):
        """The engine's function, with the variables of a replica."""
        captures, variables = [], []
        for obj in bound:
            if isinstance(obj, _weft.VariableBase):
                variables.append(obj._values[replica] if obj.is_distributed_variable else obj)
                captures.append(variables[-1]._eager_handle())
            elif isinstance(obj, RestoredResource):
                captures.append(obj.resource_handle)
            elif isinstance(obj, Asset):
                captures.append(obj.asset_path)
            else:
                captures.append(obj)
        native = _weft.ConcreteFunction.of_library(self.names[name], captures)
        for v in variables:
            native.use_variable(v)
        return native

    def _bare(self, proto):
        made = self.concrete(
            proto.concrete_function_name,
            proto.function_spec,
            list(proto.argument_keywords),
            proto.allowed_positional_arguments,
        )
        if proto.argument_keywords:
            made._flat_names = list(proto.argument_keywords)
        return made

    def aliases(self):
        """Name of SaveOptions.function_aliases -> the function, or those of its traces that are here."""
        names, found = dict(self.meta.meta_info_def.function_aliases), {}
        for name, alias in names.items():
            if name not in self.names:
                logging.getLogger("tensorflow").warning(
                    "ConcreteFunction `%s` is listed in function alias but it is not found.", name
                )
                continue
            found.setdefault(alias, {})[name] = self._aliased(name)
        for number, proto in enumerate(self.protos):
            traces = proto.function.concrete_functions if proto.WhichOneof("kind") == "function" else ()
            if traces and all(name in names for name in traces):
                alias = names[traces[0]]
                if isinstance(found[alias], dict) and set(found[alias]) == set(traces):
                    found[alias] = self.get(number)
        return {alias: list(f.values()) if isinstance(f, dict) else f for alias, f in found.items()}

    def _aliased(self, name):
        made = self.concretes.get(name)
        if made is None:  # only called by other functions: flat
            native = _weft.ConcreteFunction.of_library(self.names[name], [])
            specs = [TensorSpec(None, t) for t in native.ret_types]
            made = RestoredConcreteFunction(native, None, specs, [], [f"arg_{i}" for i in range(native.num_arguments)], 0)
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
        prefix = os.path.join(self.export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        wanted = {n: o for n, o in self.objects.items() if isinstance(o, _weft.VariableBase)}
        if not gfile.exists(prefix + ".index"):
            if wanted:
                raise errors.NotFoundError(None, None, f"Could not find SavedModel variables at {prefix}.index")
            return
        blob = raw.RestoreV2(
            prefix=prefix, tensor_names=[OBJECT_GRAPH_PROTO_KEY], shape_and_slices=[""], dtypes=[dtypes.string]
        )
        graph = TrackableObjectGraph.FromString((blob[0] if isinstance(blob, (list, tuple)) else blob).numpy())
        pairs = self._paired(graph)
        keys = {}
        for number, v in wanted.items():
            for attribute in graph.nodes[pairs[number]].attributes if number in pairs else ():
                if attribute.name == VARIABLE_VALUE_KEY:
                    keys[number] = attribute.checkpoint_key
        missing = [v for n, v in wanted.items() if n not in keys]
        if missing and not self.options.allow_partial_checkpoint:
            raise AssertionError(
                f"Found {len(missing)} Python objects that were not bound to checkpointed values, likely due to changes in the Python program. "
                f"Showing 10 of {len(missing)} unmatched objects: {[v.name for v in missing[:10]]}"
            )
        order = sorted(keys)
        if order:
            values = raw.RestoreV2(
                prefix=prefix,
                tensor_names=[keys[n] for n in order],
                shape_and_slices=[""] * len(order),
                dtypes=[wanted[n].dtype for n in order],
            )
            for number, value in zip(order, values if isinstance(values, (list, tuple)) else [values]):
                wanted[number]._restore_from_tensors({VARIABLE_VALUE_KEY: value})
        self._restore_tables(graph, pairs, prefix)

    def _paired(self, graph):
        """Number of an object -> number in the checkpoint's graph, by the names of children."""
        pairs, order = {0: 0}, [0]
        for number in order:
            theirs = {c.local_name: c.node_id for c in graph.nodes[pairs[number]].children}
            for child in self.protos[number].children:
                if child.local_name in theirs and child.node_id not in pairs:
                    pairs[child.node_id] = theirs[child.local_name]
                    order.append(child.node_id)
        return pairs

    def _restore_tables(self, graph, pairs, prefix):
        """Resources with functions that save and restore them: the first tells the names, the second takes the values."""
        for number, obj in self.objects.items():
            for name in self.protos[number].saveable_objects:
                pair = self.protos[number].saveable_objects[name]
                save, restore = self.get(pair.save_function), self.get(pair.restore_function)
                if isinstance(obj, RestoredResource):
                    obj._self_saveables[name] = (save, restore)
                keys = (
                    {a.name: a.checkpoint_key for a in graph.nodes[pairs[number]].attributes} if number in pairs else {}
                )
                if name not in keys:
                    continue
                parts = save(convert_to_tensor(keys[name]))
                found = raw.RestoreV2(
                    prefix=prefix,
                    tensor_names=[p["name"].numpy() for p in parts],
                    shape_and_slices=[p["slice_spec"].numpy() for p in parts],
                    dtypes=[p["tensor"].dtype for p in parts],
                )
                restore(*(found if isinstance(found, (list, tuple)) else [found]))


def _uninitialized(proto):
    """A variable that has no value yet; creators may take part (tf.distribute)."""
    from weft.trackable.variable import VariableAggregationV2, VariableSynchronization, _creators

    def bound(creator, following):
        return lambda **kwargs: creator(following, **kwargs)

    def bottom(next_creator=None, **kwargs):
        return _without_value(proto, kwargs["name"])

    make = bottom
    for creator in _creators():
        make = bound(creator, make)
    return make(
        initial_value=None,
        trainable=proto.trainable,
        name=proto.name or "Variable",
        dtype=dtypes.as_dtype(proto.dtype),
        shape=structured.shape_from_proto(proto.shape),
        synchronization=VariableSynchronization(proto.synchronization),
        aggregation=VariableAggregationV2(proto.aggregation),
    )


def _without_value(proto, name):
    from weft.trackable.variable import ResourceVariable, VariableAggregationV2, VariableSynchronization

    v = ResourceVariable.__new__(ResourceVariable)
    v._synchronization = VariableSynchronization(proto.synchronization)
    v._aggregation = VariableAggregationV2(proto.aggregation)
    v._constraint = None
    v._shared_name = name.removesuffix("/")
    v._dtype, v._shape = dtypes.as_dtype(proto.dtype), structured.shape_from_proto(proto.shape)
    v._make(
        v._dtype,
        v._shape._dims,
        v._shared_name,
        proto.trainable,
        proto.synchronization,
        proto.aggregation,
        _weft.scoped_device(),
    )
    v._trainable_flag = proto.trainable
    return v
