"""SavedModels without objects, of version 1: signatures and parts of the graph as functions."""

import inspect

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.importer import _place
from weft._src.framework.type_spec import TensorSpec
from weft._src.function import signature as sig, trace_type
from weft._src.saved_model import constants, structured
from weft._src.saved_model.graph_functions import function_of_graph
from weft._src.saved_model.load import add_functions, rename_functions, uninitialized_variable
from weft._src.saved_model.meta_graphs import read_meta_graph, read_meta_graphs
from weft._src.saved_model.restored import RestoredConcreteFunction
from weft._src.saved_model.signatures import SignatureMap
from weft._src.trackable.autotrackable import AutoTrackable


def load(export_dir, tags):
    """The root of a SavedModel that has only graphs."""
    tag_sets, graph = read_meta_graphs(export_dir)
    if tags is None:
        if len(tag_sets) != 1:
            raise ValueError(
                "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is more than one MetaGraph. Got `tags=None`, but "
                f"there are {len(tag_sets)} MetaGraphs in SavedModel with tag sets: {tag_sets}. Pass a `tags=` argument to load this "
                "SavedModel."
            )
        return _Loader(graph(0)).root()
    return _Loader(read_meta_graph(export_dir, tags)).root()


class _Root(AutoTrackable):
    """What a SavedModel of version 1 becomes."""


class _Loader:
    def __init__(self, loaded):
        self.loaded, self.meta = loaded, loaded.message
        self.graph_def = self.meta.graph_def
        names, self.functions = add_functions(self.graph_def.library)
        self.graph_def.ClearField("library")
        _to_resources(self.graph_def)
        self.variables, self.captures = {}, {}
        trainable = self._trainable()
        for node in self.graph_def.node:
            rename_functions(node, names)
            if _weft.op_role(node.op) == "var_handle":
                self._add_variable(node, trainable)
            elif "shared_name" in node.attr and not node.attr["shared_name"].s and node.op.endswith("TableV2"):
                node.attr["shared_name"].s = node.name.encode()
        self.nodes = {n.name: n for n in self.graph_def.node}

    def _trainable(self):
        from weft._src.proto import VariableDef

        found = set()
        if "trainable_variables" in self.meta.collection_def:
            for data in self.meta.collection_def["trainable_variables"].bytes_list.value:
                found.add(VariableDef.FromString(data).variable_name.partition(":")[0])
        return found

    def _add_variable(self, node, trainable):
        dtype, shape = dtypes.as_dtype(node.attr["dtype"].type), structured.shape_from_proto(node.attr["shape"].shape)
        v = uninitialized_variable(node.name, dtype, shape, node.name in trainable)
        self.variables[node.name] = v
        self.captures[node.name, 0] = v

    # ---- functions

    def function(self, name, inputs, fetches, targets=()):
        """inputs: (tensor name, dtype, shape, argument)"""
        feeds = [(*self._at(tensor), dtype, shape, argument) for tensor, dtype, shape, argument in inputs]
        made, graph, _ = function_of_graph(
            self.graph_def, name, feeds, [self._at(f) for f in fetches], targets, self.captures
        )
        return made, graph

    @staticmethod
    def _at(text):
        node, index = _place(text)
        return node, index or 0

    def signature(self, key, proto):
        inputs = []
        for name in sorted(proto.inputs):
            info = proto.inputs[name]
            if info.WhichOneof("encoding") != "name":
                raise NotImplementedError(f"the signature {key}: the input {name} is a sparse or composite tensor")
            inputs.append(
                (info.name, dtypes.as_dtype(info.dtype), structured.shape_from_proto(info.tensor_shape), name)
            )
        outputs = sorted(proto.outputs)
        native, graph = self.function(f"signature_{key}", inputs, [proto.outputs[o].name for o in outputs])
        types = sig.Types(
            (n, inspect.Parameter.KEYWORD_ONLY, trace_type.type_of(TensorSpec(shape, dtype, n)))
            for _, dtype, shape, n in inputs
        )
        structure = {
            o: TensorSpec(
                structured.shape_from_proto(proto.outputs[o].tensor_shape), dtypes.as_dtype(proto.outputs[o].dtype), o
            )
            for o in outputs
        }
        made = RestoredConcreteFunction(
            native,
            types,
            structure,
            list(self.variables.values()),
            [n for _, _, _, n in inputs],
            1 if len(inputs) == 1 else 0,
        )
        made._graph = graph
        made._signature_names = made._arg_keywords
        return made

    # ---- the whole

    def root(self):
        root = _Root()
        self._restore()
        self._initialize()
        root.variables = list(self.variables.values())
        root.asset_paths = [convert_to_tensor(path) for _, path in self.loaded.assets]
        root.tensorflow_version = self.meta.meta_info_def.tensorflow_version
        root.tensorflow_git_version = self.meta.meta_info_def.tensorflow_git_version
        root.prune = self._prune
        root.signatures = SignatureMap()
        for key in sorted(self.meta.signature_def):
            proto = self.meta.signature_def[key]
            if key != constants.INIT_OP_SIGNATURE_KEY and proto.outputs:
                root.signatures._add_signature(key, self.signature(key, proto))
        return root

    def _restore(self):
        if not self.loaded.restore_op or not self.loaded.variables:
            return
        path = (self.loaded.filename_tensor, dtypes.string, [], "path")
        native, _ = self.function("restore", [path], [], [self.loaded.restore_op])
        native([convert_to_tensor(self.loaded.variables)])

    def _initialize(self):
        if not self.loaded.init_op:
            return
        assets = self.loaded.assets
        inputs = [(t, dtypes.string, [], f"asset_{i}") for i, (t, _) in enumerate(assets)]
        native, _ = self.function("initialize", inputs, [], [self.loaded.init_op])
        native([convert_to_tensor(path) for _, path in assets])

    def _prune(self, feeds, fetches, name=None, input_signature=None):
        """A function from some tensors of the graph to others, by name."""
        feeds = [feeds] if isinstance(feeds, str) else list(feeds)
        single = isinstance(fetches, str)
        inputs = []
        for feed in feeds:
            node = self.nodes[self._at(feed)[0]]
            dtype = node.attr["dtype"].type or node.attr["T"].type
            shape = structured.shape_from_proto(node.attr["shape"].shape) if "shape" in node.attr else None
            inputs.append((feed, dtypes.as_dtype(dtype), shape, node.name))
        native, graph = self.function(name or "pruned", inputs, [fetches] if single else list(fetches))
        return PrunedFunction(native, graph, single)


class PrunedFunction:
    """A part of a graph that can be called with tensors, in the order of the feeds."""

    def __init__(self, native, graph, single):
        self._native, self.graph, self._single = native, graph, single

    @property
    def variables(self):
        return tuple(self._native.variables())

    def __call__(self, *args):
        given = [convert_to_tensor(a, dtype=t) for a, t in zip(args, self._native.arg_types)]
        out = self._native(given)
        return out[0] if self._single else out


def _to_resources(graph_def):
    """Variables of the old kind, which were references to a tensor, as resources."""
    old = {n.name for n in graph_def.node if _weft.op_role(n.op) == "ref_variable"}
    if not old:
        return
    reads, writes = {}, {}
    for node in list(graph_def.node):
        if node.name in old:
            dtype, shape = node.attr["dtype"].type, node.attr["shape"].shape
            node.op = _weft.op_of_role("var_handle")
            for key in [k for k in node.attr if k not in ("dtype", "shape", "container", "shared_name")]:
                del node.attr[key]
            node.attr["dtype"].type = dtype
            node.attr["shape"].shape.CopyFrom(shape)
            if not node.attr["shared_name"].s:  # a resource without a name would be shared by all
                node.attr["shared_name"].s = node.name.encode()
            continue
        if not any(_place(i)[0] in old for i in node.input if not i.startswith("^")):
            continue
        if _weft.op_role(node.op) == "is_initialized":
            node.op = "VarIsInitializedOp"
            for key in list(node.attr):
                del node.attr[key]
            continue
        changed, writes_only = _changed(node, old)
        if writes_only:
            writes[node.name] = _place(node.input[0])[0]
        for i, text in enumerate(node.input):
            name = _place(text)[0]
            if not text.startswith("^") and name in old and i not in changed:
                reads[name] = f"{name}/read_as_resource"
                node.input[i] = reads[name]
    types = {n.name: n.attr["dtype"].type for n in graph_def.node if n.name in old}
    for name, read in reads.items():
        made = graph_def.node.add(name=read, op=_weft.op_of_role("read_variable"), input=[name])
        made.attr["dtype"].type = types[name]
    # Who takes the new value from the op that writes it reads it after the op.
    after = set()
    for node in list(graph_def.node):
        for i, text in enumerate(node.input):
            name = _place(text)[0]
            if not text.startswith("^") and name in writes:
                node.input[i] = f"{name}/read_as_resource"
                after.add(name)
    for name in sorted(after):
        made = graph_def.node.add(
            name=f"{name}/read_as_resource", op=_weft.op_of_role("read_variable"), input=[writes[name], f"^{name}"]
        )
        made.attr["dtype"].type = types[writes[name]]


# Others have the name of the old one behind "Resource".
_OF_RESOURCES = {
    "Assign": _weft.op_of_role("assign_variable"),
    "AssignAdd": _weft.op_of_role("add_to_variable"),
    "AssignSub": _weft.op_of_role("subtract_from_variable"),
}


def _changed(node, old):
    """Makes a node that changes variables of the old kind one that changes resources. Gives the numbers of the inputs that are these variables, and whether
    it has lost its output, which was the variable."""
    from weft._src.proto import op_def

    try:
        arguments = op_def(node.op).input_arg
    except Exception:  # noqa: BLE001 - a function
        return (), False
    if not any(a.is_ref for a in arguments) or _place(node.input[0])[0] not in old:
        return (), False
    wanted = _OF_RESOURCES.get(node.op, "Resource" + node.op)
    try:
        theirs = op_def(wanted)
    except Exception:  # noqa: BLE001 - there is none
        if node.op.startswith("Ref"):  # passes the variable on: its value does
            return (), False
        raise NotImplementedError(f"the op {node.op} on a variable of the old kind ({node.name})") from None
    dtype, known = node.attr["T"].type, {a.name for a in theirs.attr}
    for key in [k for k in node.attr if k not in known]:
        del node.attr[key]
    if "dtype" in known:
        node.attr["dtype"].type = dtype
    node.op = wanted
    return [i for i, a in enumerate(arguments) if a.is_ref], not theirs.output_arg
