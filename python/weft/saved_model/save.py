"""tf.saved_model.save: objects with their functions and variables into a folder that TensorFlow, its serving and weft load."""

import collections.abc
import os

from weft import _weft
from weft._raw import raw
from weft.framework import gfile, save_context
from weft.framework.convert import convert_to_tensor
from weft.function.concrete import ConcreteFunction
from weft.function.function import Function
from weft.proto import MetaGraphDef, SavedModel, SavedObjectGraph, TrackableObjectGraph, op_def
from weft.saved_model import constants, function_protos, gradient_functions, signatures as sig, structured
from weft.saved_model.experimental import VariablePolicy
from weft.saved_model.export_graph import ExportGraph
from weft.saved_model.options import SaveOptions
from weft.trackable import sharding
from weft.trackable.asset import Asset
from weft.trackable.base import OBJECT_GRAPH_PROTO_KEY, SaveType, Trackable
from weft.trackable.data_structures import wrap_or_unwrap
from weft.trackable.resource import TrackableResource

_UNTRACKED = (
    "Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) captured by functions must be 'tracked' by "
    "assigning them to an attribute of a tracked object or assigned to an attribute of the main object directly. See the information below:\n"
    "\tFunction name = {name}\n\tCaptured Tensor = {tensor}\n\tTrackable referencing this tensor = {owner}\n\tInternal Tensor = {inner}"
)


class Constant(Trackable):
    """A tensor that functions use."""

    def __init__(self, value):
        self.value = value


def save(obj, export_dir, signatures=None, options=None):
    """Writes an object with its functions, variables and assets as a SavedModel."""
    options = options or SaveOptions()
    if _weft.in_graph() and _weft.current_graph().building_function:
        raise AssertionError(
            "tf.saved_model.save is not supported inside a traced @tf.function. Move the call to the outer eagerly-executed context."
        )
    if not isinstance(obj, Trackable):
        raise ValueError(
            f"Expected an object of type `Trackable`, such as `tf.Module` or a subclass of the `Trackable` class, for export. Got {obj} with type "
            f"{type(obj)}."
        )
    export_dir = os.fspath(export_dir)
    with save_context.saving(options.experimental_variable_policy == VariablePolicy.EXPAND_DISTRIBUTED_VARIABLES):
        _Saver(obj, signatures, options).write(export_dir)


def traces_of(function):
    """The traces that are saved. TensorFlow makes them anew when a function is first saved, so that code can tell that it is being saved."""
    known = function._list_all_concrete_functions_for_serialization()
    if getattr(function, "_restored", False):
        return known
    made = function.__dict__.setdefault("_traces_for_saving", {})
    for concrete in known:
        if concrete._types not in made:
            made[concrete._types] = function._trace(concrete._types, may_create=False)[0]
    return [made[types] for types in dict.fromkeys(c._types for c in known)]


def _aliased(function):
    """The traces that SaveOptions.function_aliases names. Only those that are saved will be found."""
    if isinstance(function, ConcreteFunction):
        return [function]
    if isinstance(function, Function):
        made = function.__dict__.get("_traces_for_saving", {}).values()
        return function._list_all_concrete_functions() if getattr(function, "_restored", False) else list(made)
    if isinstance(function, collections.abc.Iterable):
        traces = list(function)
        if all(isinstance(f, ConcreteFunction) for f in traces):
            return traces
    raise TypeError(
        f"Unsupported type f{type(function)}. Functions in `function_aliases` should be created by tf.function, or concrete functions, or "
        "collections of concrete functions."
    )


class _Saver:
    def __init__(self, root, signatures, options):
        self.root, self.options = root, options
        self.objects, self.ids, self.children = [], {}, []  # objects in order; id() -> number; [(name, number)] of each
        self.handles = {}  # identity of a resource or tensor -> number of the object that it is
        self.functions = {}  # name -> ConcreteFunction
        self.bound = {}  # name -> numbers of the objects that it captured
        self.saveables = {}  # number -> name -> numbers of the functions that save and restore
        self.kept = []  # keeps what id() was taken of alive
        if signatures is None:
            default = sig.find_default(self._children_of(root))
            signatures = None if default is None else {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: default}
        self.signatures = sig.SignatureMap()
        for key, function in sig.canonical(signatures).items():
            self.signatures._add_signature(key, function)
        self._collect()
        self._bind()

    # ---- what there is

    def _children_of(self, obj):
        if isinstance(obj, ConcreteFunction):
            return {}
        if isinstance(obj, Function):
            return {f"trace_{i}": f for i, f in enumerate(traces_of(obj))}
        children = obj._trackable_children(save_type=SaveType.SAVEDMODEL)
        if isinstance(obj, sig.SignatureMap):
            return children  # in the order in which they were given
        functions = {k: v for k, v in children.items() if isinstance(v, (Function, ConcreteFunction))}
        return {
            **{k: v for k, v in children.items() if k not in functions},
            **{k: functions[k] for k in sorted(functions)},
        }

    def _add(self, obj):
        self.ids[id(obj)] = number = len(self.objects)
        self.objects.append(obj)
        self.children.append([])
        self.kept.append(obj)
        return number

    def _collect(self):
        """Everything below the root, breadth first."""
        self._add(self.root)
        at = 0
        while at < len(self.objects):
            obj = self.objects[at]
            children = self._children_of(obj) if hasattr(obj, "_trackable_children") else {}
            if at == 0:
                children = {**{k: v for k, v in children.items() if k != "signatures"}, "signatures": self.signatures}
            for name, child in children.items():
                child = wrap_or_unwrap(child)  # a package may have lists and dicts of its own, given here as plain ones
                if not isinstance(child, (Trackable, Function, ConcreteFunction)):
                    continue
                if hasattr(child, "_should_act_as_resource_variable"):  # another package's class around a variable
                    child = child.value
                number = self.ids.get(id(child))
                self.children[at].append((name, self._add(child) if number is None else number))
            at += 1
        for number, obj in enumerate(list(self.objects)):
            for name, pair in obj._saveable_functions().items() if hasattr(obj, "_saveable_functions") else ():
                self.saveables.setdefault(number, {})[name] = [
                    self.ids[id(f)] if id(f) in self.ids else self._add(f) for f in pair
                ]
        for number, obj in enumerate(self.objects):
            if isinstance(obj, _weft.VariableBase):
                if obj.is_distributed_variable and not save_context.one_copy():
                    raise NotImplementedError("SaveOptions(experimental_variable_policy=EXPAND_DISTRIBUTED_VARIABLES)")
                self.handles.update({handle._identity(): number for handle in obj._all_handles()})
            elif isinstance(obj, TrackableResource) and obj.resource_handle is not None and obj._resource_functions():  # not one that shows the handle of another
                self.handles.setdefault(obj.resource_handle._identity(), number)
            elif isinstance(obj, Asset):
                self.handles[obj.asset_path._identity()] = number
            elif isinstance(obj, ConcreteFunction):
                self.functions[obj.name.decode()] = obj

    def _bind(self):
        """Which objects the functions captured; tensors that are no object's become constants."""
        for number, f in enumerate(list(self.objects)):
            if not isinstance(f, ConcreteFunction):
                continue
            name, bound = f.name.decode(), []
            for i, tensor in enumerate(f.captured_inputs):
                target = self.handles.get(tensor._identity())
                if target is None:
                    if tensor.dtype.name in ("resource", "variant"):
                        raise AssertionError(
                            _UNTRACKED.format(
                                name=f.name, tensor=repr(tensor), owner="Unknown", inner=self._inner(f, i)
                            )
                        )
                    target = self._add(Constant(tensor))
                    self.handles[tensor._identity()] = target
                bound.append(target)
                if isinstance(self.objects[target], (Constant, Asset)):
                    self.children[number].append((f"capture_{i}", target))
            self.bound[name] = bound

    @staticmethod
    def _inner(f, i):
        return f.graph.internal_captures[i] if f.graph is not None else "Unknown"

    # ---- messages

    def object_graph(self, graph):
        made = SavedObjectGraph()
        for number, obj in enumerate(self.objects):
            node = made.nodes.add()
            for name, child in self.children[number]:
                node.children.add(node_id=child, local_name=name)
                if isinstance(obj, (Function, ConcreteFunction)):
                    node.dependencies.add(node_id=child, local_name=name)
            self._describe(obj, node, graph)
            for name, (save, restore) in self.saveables.get(number, {}).items():
                node.saveable_objects[name].save_function, node.saveable_objects[name].restore_function = save, restore
        for name, f in self.functions.items():
            made.concrete_functions[name].CopyFrom(function_protos.concrete_function(f, self.bound[name]))
        return made

    def _describe(self, obj, node, graph):
        """The kind of an object."""
        if isinstance(obj, _weft.VariableBase):
            v = node.variable
            v.dtype, v.trainable, v.name = obj.dtype.as_datatype_enum, bool(obj.trainable), obj._shared_name
            v.shape.CopyFrom(structured.shape_to_proto(obj.shape))
            v.synchronization, v.aggregation = obj.synchronization.value, obj.aggregation.value
        elif isinstance(obj, Asset):
            node.asset.asset_file_def_index = graph.asset_index(obj)
        elif isinstance(obj, Constant):
            node.constant.operation = graph.constant_name(obj)
            node.registered_name = "tf.TrackableConstant"
        elif isinstance(obj, TrackableResource) and obj._resource_functions():
            node.resource.SetInParent()
            node.registered_name = getattr(obj, "_registered_name", "")
        elif isinstance(obj, Function):
            node.function.function_spec.CopyFrom(function_protos.function_spec(obj.function_spec))
            node.function.concrete_functions.extend([f.name.decode() for f in traces_of(obj)])
        elif isinstance(obj, ConcreteFunction):
            bare = node.bare_concrete_function
            bare.concrete_function_name = obj.name.decode()
            names = getattr(obj, "_signature_names", None) or obj._arg_keywords
            bare.argument_keywords.extend(names)
            is_signature = hasattr(obj, "_signature_names")
            bare.allowed_positional_arguments = (1 if len(names) == 1 else 0) if is_signature else len(names)
            bare.function_spec.CopyFrom(function_protos.concrete_spec(obj))
        else:
            self._user_object(obj, node.user_object)

    def _user_object(self, obj, made):
        from weft.trackable.data_structures import ListWrapper, _DictWrapper, _TupleMethods

        made.identifier = (
            "signature_map"
            if isinstance(obj, sig.SignatureMap)
            else (
                "trackable_list_wrapper"
                if isinstance(obj, ListWrapper)
                else (
                    "trackable_dict_wrapper"
                    if isinstance(obj, _DictWrapper)
                    else "trackable_tuple_wrapper" if isinstance(obj, _TupleMethods) else obj._object_identifier
                )
            )
        )
        made.metadata = getattr(obj, "_tracking_metadata", "") or ""
        made.version.producer = made.version.min_consumer = 1

    def checkpoint(self):
        """(key -> tensor, the object graph of the checkpoint)"""
        made, tensors = TrackableObjectGraph(), {}
        paths = {0: ""}
        order = [0]
        for number in order:
            for name, child in self.children[number]:
                if child not in paths:
                    paths[child] = (
                        paths[number] + name.replace("/", ".S").replace(".", "..") + "/"
                        if "/" in name or "." in name
                        else paths[number] + name + "/"
                    )
                    order.append(child)
        for number, obj in enumerate(self.objects):
            node = made.nodes.add()
            for name, child in self.children[number]:
                node.children.add(node_id=child, local_name=name)
            if number in paths and isinstance(obj, Trackable) and obj._has_own_tensors():
                for name in self.saveables.get(number, ()):  # several tensors under one name
                    node.attributes.add(name=name, checkpoint_key=f"{paths[number]}.ATTRIBUTES/{name}")
                for name, tensor in obj._serialize_to_tensors().items():
                    key = f"{paths[number]}.ATTRIBUTES/{name}"
                    if number not in self.saveables:
                        node.attributes.add(
                            name=name, full_name=getattr(obj, "_shared_name", "") or "", checkpoint_key=key
                        )
                    tensors[key] = tensor
            node.has_checkpoint_values.value = bool(node.attributes)
        for number in reversed(range(len(self.objects))):
            made.nodes[number].has_checkpoint_values.value |= any(
                made.nodes[c].has_checkpoint_values.value for _, c in self.children[number]
            )
        return tensors, made

    def meta_graph(self, graph, checkpoint_graph):
        made = MetaGraphDef()
        info = made.meta_info_def
        from weft import __git_version__, __version__

        info.tags.extend([constants.SERVING, *(self.options.extra_tags or ())])
        info.tensorflow_version, info.tensorflow_git_version, info.stripped_default_attrs = (
            __version__,
            __git_version__,
            True,
        )
        for alias, function in self.options.function_aliases.items():
            for f in _aliased(function):
                info.function_aliases[f.name.decode()] = alias
        graph.finish(made, checkpoint_graph)
        used = {n.op for n in made.graph_def.node} | {n.op for f in made.graph_def.library.function for n in f.node_def}
        own = {f.signature.name for f in made.graph_def.library.function}
        for name in sorted(used - own):
            info.stripped_op_list.op.append(op_def(name))
        self._check_namespaces(info.stripped_op_list)
        made.object_graph_def.CopyFrom(self.object_graph(graph))
        if self.options.experimental_custom_gradients:
            gradient_functions.export(made.graph_def.library, made.object_graph_def.concrete_functions)
        return made

    def _check_namespaces(self, ops):
        for op in ops.op:
            space, mark, _ = op.name.partition(">")
            if mark and space not in self.options.namespace_whitelist:
                raise ValueError(
                    f"Attempted to save ops from non-whitelisted namespaces to SavedModel: ['{op.name}'].\nPlease verify that these ops should be saved, "
                    "since they must be available when loading the SavedModel. If loading from Python, you must import the library defining "
                    "these ops. From C++, link the custom ops to the serving binary. Once you've confirmed this, add the following namespaces to "
                    "the `namespace_whitelist` argument in tf.saved_model.SaveOptions: {'" + space + "'}."
                )

    # ---- files

    def write(self, export_dir):
        graph = ExportGraph(self)
        tensors, checkpoint_graph = self.checkpoint()
        model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        meta = self.meta_graph(graph, checkpoint_graph)
        model.meta_graphs.append(meta)
        folder = _weft.ModelFolder(export_dir)
        try:
            self._write_files(folder.path, graph, tensors, checkpoint_graph, model)
            folder.publish()
        finally:
            folder.discard()

    def _write_files(self, export_dir, graph, tensors, checkpoint_graph, model):
        variables = os.path.join(export_dir, constants.VARIABLES_DIRECTORY)
        assets = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
        gfile.makedirs(variables)
        gfile.makedirs(assets)
        prefix = os.path.join(variables, constants.VARIABLES_FILENAME)
        tensors[OBJECT_GRAPH_PROTO_KEY] = convert_to_tensor(checkpoint_graph.SerializeToString())
        keys = sorted(tensors)
        if self.options.experimental_sharding_callback is not None:
            sharding.write(
                prefix, [(k, "", tensors[k], None) for k in keys], self.options.experimental_sharding_callback
            )
        else:
            raw.SaveV2(
                prefix=prefix, tensor_names=keys, shape_and_slices=[""] * len(keys), tensors=[tensors[k] for k in keys]
            )
        for source, name in graph.asset_files:
            _weft.check_asset_name(name)
            target = os.path.join(assets, name)
            if os.path.abspath(source) != os.path.abspath(target):  # on another file system it may be there
                _weft.replace_file(target, gfile.read_bytes(source))
        _weft.replace_file(os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB), model.SerializeToString())
        if self.options.save_debug_info:
            self._write_debug_info(export_dir)
        _weft.write_fingerprint(export_dir)

    def _write_debug_info(self, export_dir):
        from weft.proto import GraphDebugInfo

        folder = os.path.join(export_dir, constants.DEBUG_DIRECTORY)
        gfile.makedirs(folder)
        _weft.replace_file(os.path.join(folder, constants.DEBUG_INFO_FILENAME_PB), GraphDebugInfo().SerializeToString())
