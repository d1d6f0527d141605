"""tf.saved_model.save: objects with their functions and variables into a folder that TensorFlow, its serving and weft load. Here is collected and described
what there is to save; the engine writes it (saved_model/saver.h)."""

import collections.abc
import os

from weft import _weft
from weft._src.framework import save_context
from weft._src.function.concrete import ConcreteFunction
from weft._src.function.function import Function
from weft._src.saved_model import constants, function_specs, signatures as sig, structured
from weft._src.saved_model.experimental import VariablePolicy
from weft._src.saved_model.options import SaveOptions
from weft._src.trackable import sharding
from weft._src.trackable.asset import Asset
from weft._src.tensorflow.python.util.object_identity import ObjectIdentityDictionary
from weft._src.trackable.base import SaveType, Trackable, TrackableReference
from weft._src.trackable.checkpoint import as_tensor
from weft._src.trackable.data_structures import ListWrapper, _DictWrapper, _TupleMethods, wrap_or_unwrap
from weft._src.trackable.resource import TrackableResource

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
    _save(obj, export_dir, signatures, options)


def save_and_return_nodes(obj, export_dir, signatures=None, options=None, experimental_skip_checkpoint=False):
    """As save; gives the objects in the order of the file, and the references that lead to each from the root."""
    if experimental_skip_checkpoint:
        raise NotImplementedError("save_and_return_nodes(experimental_skip_checkpoint=True)")
    saver = _save(obj, export_dir, signatures, options)
    return saver.objects, saver.paths()


def _save(obj, export_dir, signatures, options):
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
        saver = _Saver(obj, signatures, options)
        saver.write(export_dir)
    return saver


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


def _is_sharded(obj):
    """A variable in parts, which is saved as one of the whole shape."""
    return getattr(obj, "is_sharded_variable", False)


class _Saver:
    def __init__(self, root, signatures, options):
        self.root, self.options = root, options
        self.objects, self.ids, self.children = [], {}, []  # objects in order; id() -> number; [(name, number)] of each
        self.handles = {}  # identity of a resource or tensor -> number of the object that it is
        self.functions = {}  # name -> ConcreteFunction
        self.bound = {}  # name -> numbers of the objects that it captured
        self.saveables = {}  # number -> name -> numbers of the functions that save and restore
        self.cache = ObjectIdentityDictionary()  # for objects of libraries, which compute what they give once in a save
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
        children = obj._trackable_children(save_type=SaveType.SAVEDMODEL, cache=self.cache)
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

    def paths(self):
        """{object: the references that lead to it, from the root}"""
        found = ObjectIdentityDictionary()
        found[self.root] = ()
        for number, obj in enumerate(self.objects):
            for name, child in self.children[number]:
                if obj in found and self.objects[child] not in found:
                    found[self.objects[child]] = (*found[obj], TrackableReference(name, self.objects[child]))
        return found

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
                if hasattr(child, "_should_act_as_resource_variable") and not (
                    isinstance(child, _weft.VariableBase) or _is_sharded(child)
                ):  # another package's class around a variable
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
            elif _is_sharded(obj):
                self.handles.update({handle._identity(): number for handle in obj._saving_variable._all_handles()})
            elif (
                isinstance(obj, TrackableResource) and obj.resource_handle is not None and obj._resource_functions()
            ):  # not one that shows the handle of another
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

    # ---- what the engine is told

    def node(self, number, obj):
        """The description of an object."""
        made = self._kind(obj)
        made["children"] = self.children[number]
        if number in self.saveables:
            made["saveables"] = {name: tuple(pair) for name, pair in self.saveables[number].items()}
        if isinstance(obj, Trackable) and obj._has_own_tensors():
            made["values"] = [(name, as_tensor(value)) for name, value in obj._serialize_to_tensors().items()]
        return made

    @staticmethod
    def _kind(obj):
        if _is_sharded(obj):
            obj = obj._saving_variable
        if isinstance(obj, _weft.VariableBase):
            return {
                "kind": "variable",
                "name": obj._shared_name or "",
                "dtype": obj.dtype,
                "shape": obj.shape,
                "trainable": bool(obj.trainable),
                "synchronization": obj.synchronization.value,
                "aggregation": obj.aggregation.value,
            }
        if isinstance(obj, Asset):
            return {"kind": "asset", "path": obj.asset_path.numpy().decode()}
        if isinstance(obj, Constant):
            return {"kind": "constant", "value": obj.value, "registered_name": "tf.TrackableConstant"}
        if isinstance(obj, TrackableResource) and obj._resource_functions():
            return {"kind": "resource", "registered_name": getattr(obj, "_registered_name", "")}
        if isinstance(obj, Function):
            traces = [f.name.decode() for f in traces_of(obj)]
            return {"kind": "function", "traces": traces, "spec": function_specs.of_function(obj.function_spec)}
        if isinstance(obj, ConcreteFunction):
            is_signature = hasattr(obj, "_signature_names")
            names = _argument_names(obj)
            return {
                "kind": "trace",
                "traces": [obj.name.decode()],
                "keywords": names,
                "positional": int(len(names) == 1) if is_signature else len(names),
                "spec": function_specs.of_trace(obj),
            }
        return {"kind": "user", "name": _identifier(obj), "metadata": getattr(obj, "_tracking_metadata", "") or ""}

    def trace(self, name, f):
        inputs = structured.tree_of(f.structured_input_signature)
        outputs = structured.tree_of(function_specs.output_specs(f.structured_outputs))
        return f._native, self.bound[name], inputs, outputs, _argument_names(f)

    def write(self, export_dir):
        from weft import __git_version__, __version__

        options, callback = self.options, self.options.experimental_sharding_callback
        files = _weft.SavedModelFiles(
            [self.node(number, obj) for number, obj in enumerate(self.objects)],
            [self.trace(name, f) for name, f in self.functions.items()],
            [
                (key, f._native, [structured.tree_of(spec) for _, spec in sig.inputs_of(f)])
                for key, f in self.signatures.items()
            ],
            {
                "tags": [constants.SERVING, *(options.extra_tags or ())],
                "version": __version__,
                "git_version": __git_version__,
                "aliases": {
                    f.name.decode(): alias for alias, fs in options.function_aliases.items() for f in _aliased(fs)
                },
                "custom_gradients": bool(options.experimental_custom_gradients),
                "saver": not options.experimental_skip_saver,
                "debug_info": bool(options.save_debug_info),
                "write_values": None
                if callback is None
                else lambda prefix, values: sharding.write(prefix, [(k, "", t, None) for k, t in values], callback),
            },
        )
        self._check_namespaces(files.ops)
        files.write(export_dir)

    def _check_namespaces(self, ops):
        if self.options.namespace_whitelist is None:
            return
        for name in ops:
            space, mark, _ = name.partition(">")
            if mark and space not in self.options.namespace_whitelist:
                raise ValueError(
                    f"Attempted to save ops from non-whitelisted namespaces to SavedModel: ['{name}'].\nPlease verify that these ops should be saved, "
                    "since they must be available when loading the SavedModel. If loading from Python, you must import the library defining "
                    "these ops. From C++, link the custom ops to the serving binary. Once you've confirmed this, add the following namespaces to "
                    "the `namespace_whitelist` argument in tf.saved_model.SaveOptions: {'" + space + "'}."
                )


def _argument_names(concrete):
    return list(getattr(concrete, "_signature_names", None) or concrete._arg_keywords)


def _identifier(obj):
    """What loaders know a class by."""
    known = (
        (sig.SignatureMap, "signature_map"),
        (ListWrapper, "trackable_list_wrapper"),
        (_DictWrapper, "trackable_dict_wrapper"),
        (_TupleMethods, "trackable_tuple_wrapper"),
    )
    return next((name for cls, name in known if isinstance(obj, cls)), None) or obj._object_identifier
