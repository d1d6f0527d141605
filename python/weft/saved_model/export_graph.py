"""The graph of a SavedModel: what loaders without objects use. Variables, assets and tables as nodes, a call for each signature, and ops that save,
restore and initialise."""

import os

from weft import _weft
from weft._raw import raw
from weft.framework import dtypes
from weft.framework.graph import Graph
from weft.proto import FunctionDefLibrary, GraphDef
from weft.saved_model import constants, structured
from weft.saved_model.freeze import CALLS
from weft.trackable.asset import Asset
from weft.trackable.resource import TrackableResource


class ExportGraph:
    """Made of what a saver collected."""

    def __init__(self, saver):
        from weft.saved_model.save import Constant

        self.saver = saver
        self.graph = Graph()
        self.nodes = {}  # number of an object -> the tensor that stands for it
        self.asset_files = []  # (path, name in the folder)
        self._assets, self._constants, self._variables, self._init, self._placeholders = {}, {}, [], [], []
        with self.graph.as_default():
            for number, obj in enumerate(saver.objects):
                if isinstance(obj, _weft.VariableBase):
                    self._add_variable(number, obj)
                elif isinstance(obj, Constant):
                    tensor = raw.Const(value=obj.value, dtype=obj.value.dtype, name="Const")
                    self._constants[id(obj)] = tensor.op.name
                    self.nodes[number] = tensor
                elif isinstance(obj, Asset):
                    self._add_asset(number, obj)
            for number, obj in enumerate(saver.objects):
                if isinstance(obj, TrackableResource) and obj._resource_functions():
                    self._add_resource(number, obj)
            self.signatures = {key: self._add_signature(key, f) for key, f in saver.signatures.items()}

    def asset_index(self, asset):
        return self._assets[id(asset)]

    def constant_name(self, constant):
        return self._constants[id(constant)]

    def _unique(self, name):
        return self.graph._native.unique_name(name, True)

    def _add_variable(self, number, v):
        name = self._unique(v._shared_name or "Variable")
        handle = raw.VarHandleOp(dtype=v.dtype, shape=v.shape, shared_name=name, name=name + "/")
        raw.ReadVariableOp(resource=handle, dtype=v.dtype, name=name + "/Read/ReadVariableOp/")
        self.nodes[number] = handle
        self._variables.append((number, v, handle))

    def _add_asset(self, number, asset):
        path = asset.asset_path.numpy().decode()
        base = os.path.basename(path)
        taken = {n for s, n in self.asset_files if s != path}
        name, i = base, 1
        while name in taken:
            name, i = f"{base}_{i}", i + 1
        if (path, name) not in self.asset_files:
            self.asset_files.append((path, name))
        placeholder = raw.Placeholder(dtype=dtypes.string, shape=[], name="asset_path_initializer")
        self._assets[id(asset)] = len(self._placeholders)
        self._placeholders.append((placeholder, name))
        # A variable keeps the path: loaders give it once, when they initialise.
        handle = raw.VarHandleOp(
            dtype=dtypes.string, shape=[], shared_name=self._unique("asset_path"), name="asset_path"
        )
        assign = raw.AssignVariableOp(resource=handle, value=placeholder)
        self._init.append(assign)
        self.nodes[number] = ("asset", handle, assign)

    def _add_resource(self, number, obj):
        """The resource as the function that makes it has it; the one that fills it runs at the start."""
        functions = dict((name, child) for name, child in self.saver.children[number])
        create = self._only_trace(functions.get("_create_resource"))
        if create is None:
            return
        with self.graph.as_default():
            self.nodes[number] = self._call(create, [])[0]
        fill = self._only_trace(functions.get("_initialize"))
        if fill is not None:
            call = self._call(fill, [], after_assets=True)
            self._init.append(call[0].op)

    def _only_trace(self, number):
        if number is None:
            return None
        return self.saver.objects[self.saver.children[number][0][1]]

    def _tensor_of(self, number, after_assets=False):
        node = self.nodes[number]
        if isinstance(node, tuple):
            _, handle, assign = node
            if after_assets:
                with self.graph.control_dependencies([assign]):
                    return raw.ReadVariableOp(resource=handle, dtype=dtypes.string)
            return raw.ReadVariableOp(resource=handle, dtype=dtypes.string)
        return node

    def _call(self, function, arguments, after_assets=False):
        name = function.name.decode()
        captured = [self._tensor_of(n, after_assets) for n in self.saver.bound[name]]
        out = raw.StatefulPartitionedCall(args=[*arguments, *captured], Tout=list(function._native.ret_types), f=name)
        return list(out) if isinstance(out, (list, tuple)) else [out]

    def _add_signature(self, key, function):
        """A placeholder for each input and a call; (inputs, outputs) by name."""
        from weft.saved_model.signatures import inputs_of

        inputs, arguments = {}, []
        for name, spec in inputs_of(function):
            placeholder = raw.Placeholder(dtype=spec.dtype, shape=spec.shape, name=f"{key}_{name}")
            inputs[name] = placeholder
            arguments.append(placeholder)
        results = self._call(function, arguments)
        from weft.framework import nest

        structure = function.structured_outputs
        packed = nest.pack_sequence_as(structure, results, expand_composites=True)
        return inputs, packed, structure

    # ---- the messages

    def finish(self, meta, checkpoint_graph):
        """Fills in the graph, the saver, signatures and assets."""
        with self.graph.as_default():
            init = raw.NoOp(name="NoOp") if not self._init else self._group(self._init, "NoOp")
            saver = None if self.saver.options.experimental_skip_saver else self._add_saver(checkpoint_graph)
        graph_def = GraphDef.FromString(self.graph._native.graph_def())
        graph_def.ClearField("library")
        library = graph_def.library
        known = set()
        gradients = self.saver.options.experimental_custom_gradients
        for f in self.saver.functions.values():
            self._merge_library(library, FunctionDefLibrary.FromString(f._native.library_def(gradients)), known)
        _add_handle_data(library, self._handles_of_functions())
        for node in graph_def.node:  # the graph has only calls: their functions are there already
            node.attr.pop("_output_shapes", None)
        meta.graph_def.CopyFrom(graph_def)
        if saver is not None:
            meta.saver_def.filename_tensor_name, meta.saver_def.save_tensor_name, meta.saver_def.restore_op_name = saver
            meta.saver_def.version = 2
        meta.collection_def[constants.MAIN_OP_KEY].node_list.value.append(init.name)
        for placeholder, name in self._placeholders:
            meta.asset_file_def.add(filename=name).tensor_info.name = placeholder.name
        for key, (inputs, outputs, structure) in self.signatures.items():
            made = meta.signature_def[key]
            made.method_name = constants.PREDICT_METHOD_NAME
            for name, tensor in inputs.items():
                _tensor_info(tensor, made.inputs[name], tensor.shape)
            for name, tensor in outputs.items():
                _tensor_info(tensor, made.outputs[name], getattr(structure[name], "shape", None))
        made = meta.signature_def[constants.INIT_OP_SIGNATURE_KEY]
        made.outputs[constants.INIT_OP_SIGNATURE_KEY].name = init.name
        made.outputs[constants.INIT_OP_SIGNATURE_KEY].tensor_shape.unknown_rank = True

    def _handles_of_functions(self):
        """(function, number of an argument) -> the variable that it is the handle of."""
        found = {}
        for name, f in self.saver.functions.items():
            for i, (_, spec) in enumerate(f._types.specs()):
                if not hasattr(spec, "_serialize") or type(spec).__name__ == "VariableSpec":
                    found[name, i] = spec
            for i, number in enumerate(self.saver.bound[name]):
                if isinstance(self.saver.objects[number], _weft.VariableBase):
                    found[name, f._native.num_arguments + i] = self.saver.objects[number]
        return found

    def _merge_library(self, library, other, known):
        for f in other.function:
            if f.signature.name not in known:
                known.add(f.signature.name)
                for key in [
                    k for k in f.attr if k.startswith("_function_gradient")
                ]:  # the engine's own notes, which TensorFlow refuses
                    del f.attr[key]
                _name_arguments(f, self.saver.functions.get(f.signature.name))
                library.function.append(f)
        for g in other.gradient:
            if ("gradient", g.function_name) not in known:
                known.add(("gradient", g.function_name))
                library.gradient.append(g)

    def _group(self, ops, name):
        with self.graph.control_dependencies(ops):
            return raw.NoOp(name=name)

    def _add_saver(self, checkpoint_graph):
        """Nodes that save and restore the variables: the names of (file name, what saving gives, what restores)."""
        from weft.trackable.base import OBJECT_GRAPH_PROTO_KEY

        path = raw.Placeholder(dtype=dtypes.string, shape=[], name="saver_filename")
        keys, values, restored = [], [], []
        for number, v, handle in self._variables:
            attributes = checkpoint_graph.nodes[number].attributes
            if attributes:
                keys.append(attributes[0].checkpoint_key)
                values.append(raw.ReadVariableOp(resource=handle, dtype=v.dtype))
                restored.append((handle, v.dtype))
        blob = raw.Const(value=checkpoint_graph.SerializeToString(), dtype=dtypes.string, name="Const")
        save = raw.SaveV2(
            prefix=path,
            tensor_names=[*keys, OBJECT_GRAPH_PROTO_KEY],
            shape_and_slices=[""] * (len(keys) + 1),
            tensors=[*values, blob],
        )
        with self.graph.control_dependencies([save]):
            saved = raw.Identity(input=path, name="saver_saved")
        assigned = []
        if keys:
            read = raw.RestoreV2(
                prefix=path, tensor_names=keys, shape_and_slices=[""] * len(keys), dtypes=[t for _, t in restored]
            )
            read = list(read) if isinstance(read, (list, tuple)) else [read]
            assigned = [raw.AssignVariableOp(resource=h, value=r) for (h, _), r in zip(restored, read)]
        restore = self._group(assigned, "saver_restore")
        return path.name, saved.name, restore.name


def _add_handle_data(library, handles):
    """Tells what the handles among the arguments are of, also in the functions that are called: gradients in TensorFlow need it."""
    functions = {f.signature.name: f for f in library.function}
    rest = list(handles)
    for name, i in rest:
        function, v = functions.get(name), handles[name, i]
        if function is None or i >= len(function.signature.input_arg) or function.signature.input_arg[i].handle_data:
            continue
        data = function.signature.input_arg[i].handle_data.add(dtype=v.dtype.as_datatype_enum)
        data.shape.CopyFrom(structured.shape_to_proto(v.shape))
        own = function.signature.input_arg[i].name
        same = {own} | {f"{n.name}:output:0" for n in function.node_def if n.op == "Identity" and n.input[0] == own}
        for out in function.signature.output_arg:  # loops hand it on
            if function.ret[out.name] in same:
                out.handle_data.append(data)
                function.ret[out.name] = own  # so that TensorFlow sees that it does not change
        for key in ("_handle_shapes", "_handle_dtypes"):
            function.arg_attr[i].attr.pop(key, None)
        for node in function.node_def:
            if own not in node.input:
                continue
            first, attributes, _ = CALLS.get(node.op, (0, (), None))
            called = (
                [node.op]
                if node.op in functions
                else [
                    f.name
                    for a in attributes
                    for f in (
                        node.attr[a].list.func if node.attr[a].WhichOneof("value") == "list" else [node.attr[a].func]
                    )
                ]
            )
            for at, text in enumerate(node.input):
                for callee in called if text == own else ():
                    if (callee, at - first) not in handles:
                        handles[callee, at - first] = v
                        rest.append((callee, at - first))


def _tensor_info(value, made, shape):
    from weft.framework.tensor import Tensor

    if isinstance(value, Tensor):
        made.name, made.dtype = value.name, value.dtype.as_datatype_enum
        made.tensor_shape.CopyFrom(structured.shape_to_proto(shape if shape is not None else value.shape))
        return
    from weft.framework import nest

    spec = value._type_spec
    if type(spec).__name__ == "SparseTensorSpec":
        made.coo_sparse.values_tensor_name, made.coo_sparse.indices_tensor_name = value.values.name, value.indices.name
        made.coo_sparse.dense_shape_tensor_name = value.dense_shape.name
        made.dtype = value.dtype.as_datatype_enum
        made.tensor_shape.CopyFrom(structured.shape_to_proto(value.shape))
        return
    made.composite_tensor.type_spec.CopyFrom(structured.encode(spec).type_spec_value)
    for part in nest.flatten(value, expand_composites=True):
        _tensor_info(part, made.composite_tensor.components.add(), part.shape)


def _name_arguments(function_def, concrete):
    """TensorFlow reads the names of arguments from here."""
    if concrete is None:
        return
    for i, name in enumerate(getattr(concrete, "_signature_names", None) or concrete._arg_keywords):
        function_def.arg_attr[i].attr["_user_specified_name"].s = name.encode()
