"""tf.Graph, tf.Operation and the scopes of graph building: names, control dependencies, init_scope."""

import contextlib
import re
import threading
import weakref

from weft import _weft
from weft._src.framework import device_functions, dtypes
from weft._src.framework.contexts import contextmanager
from weft._src.framework.graph_for_libraries import GraphForLibraries, OperationForLibraries
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape

_graphs = weakref.WeakValueDictionary()  # by the engine's number
_local = threading.local()


def _stack():
    if not hasattr(_local, "graphs"):
        _local.graphs = []
    return _local.graphs


def graph_of(native):
    """For the engine: the Graph of one of its graphs."""
    found = _graphs.get(native.id)
    return found if found is not None else FuncGraph._of(native)


def keep_in_graph(thing):
    """`thing` lives as long as one of the graphs around the code that runs now; False where there is none."""
    graph = _weft.current_graph() if _weft.in_graph() else None
    found = graph is not None
    while graph is not None:
        graph._kept[id(thing)] = thing
        graph = graph._native.outer
    return found


def operation_of(graph, node_id):
    return graph._operation(node_id)


def _not_copied(self, memo):
    raise TypeError(f"cannot pickle '{type(self).__name__}' object")


def _plain_attr(message):
    """An AttrValue as the value that it holds."""
    kind = message.WhichOneof("value")
    if kind == "list":
        for field in ("s", "i", "f", "b"):
            if found := getattr(message.list, field):
                return list(found)
        if message.list.type:
            return [dtypes.as_dtype(t) for t in message.list.type]
        return [TensorShape(s) for s in message.list.shape]
    value = getattr(message, kind)
    return dtypes.as_dtype(value) if kind == "type" else TensorShape(value) if kind == "shape" else value


class Operation(OperationForLibraries):
    """A node of a graph."""

    __deepcopy__ = _not_copied

    def __init__(self, graph, node_id):
        self._graph, self._id = graph, node_id
        self._outputs = None

    @property
    def graph(self):
        return self._graph

    @property
    def name(self):
        return self._graph._native.node_name(self._id)

    @property
    def type(self):
        return self._graph._native.node_type(self._id)

    @property
    def device(self):
        return self._graph._native.node_device(self._id)

    def _set_device(self, device):
        self._graph._native.set_node_device(self._id, str(device))

    @property
    def inputs(self):
        return tuple(self._graph._operation(n).outputs[i] for n, i in self._graph._native.node_inputs(self._id))

    @property
    def outputs(self):
        if self._outputs is None:
            native = self._graph._native
            self._outputs = [native.tensor(self._id, i) for i in range(native.node_num_outputs(self._id))]
        return self._outputs

    @property
    def control_inputs(self):
        return [self._graph._operation(n) for n in self._graph._native.node_control_inputs(self._id)]

    @property
    def _control_outputs(self):
        return [self._graph._operation(n) for n in self._graph._native.node_control_outputs(self._id)]

    @property
    def op(self):
        return self

    @property
    def op_def(self):
        from weft._src.proto import op_def

        return op_def(self.type)

    @property
    def node_def(self):
        from weft._src.proto import NodeDef

        return NodeDef.FromString(self._graph._native.node_def(self._id))

    def get_attr(self, name):
        value = self._graph._native.node_attr(self._id, name)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, (EagerTensor, TensorShape, str)):  # messages, in TensorFlow
            attr = self.node_def.attr[name]
            kind = attr.WhichOneof("value")
            if kind != "list":
                return getattr(attr, kind)
            return next(list(found) for k in ("tensor", "shape", "func") if (found := getattr(attr.list, k)))
        return value

    def _set_attr(self, name, value):
        from weft._src.proto import AttrValue

        self._graph._native.set_node_attr(self._id, name, _plain_attr(value) if isinstance(value, AttrValue) else value)

    @property
    def _attrs(self):
        return self._graph._native.node_attrs(self._id)

    def values(self):
        return tuple(self.outputs)

    def colocation_groups(self):
        attrs = self._attrs
        return attrs.get("_class") or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict=None, session=None):
        from weft._src.compat import session as v1

        v1.default_session(session, "run").run(self, feed_dict)

    def _add_control_input(self, op):
        self._graph._native.add_control(op._id, self._id)

    def _update_input(self, index, tensor):
        self._graph._native.set_input(self._id, index, tensor)

    def __str__(self):
        return str(self.node_def)

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Graph(GraphForLibraries):
    """A graph of version 1's kind: nodes that a Session runs."""

    building_function = False
    __deepcopy__ = _not_copied

    def __init__(self):
        self._set_up(_weft.NativeGraph("graph", plain=True, nested=False))

    def _set_up(self, native):
        self._native = native
        self._operations = {}
        self._collections = {}
        self._control_stack = []
        self._kept = {}  # by id: code of the program's that nodes name, and graphs of functions that they call
        self._finalized = False
        self._scope = ""  # of names, while another graph is the default
        self.seed = None
        _graphs[native.id] = self

    # ---- nodes

    def _operation(self, node_id):
        op = self._operations.get(node_id)
        if op is None:
            op = self._operations[node_id] = Operation(self, node_id)
        return op

    def get_operations(self):
        return [self._operation(n) for n in self._native.nodes()]

    @property
    def operations(self):
        return self.get_operations()

    def get_operation_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        types = " or ".join([t for t, on in (("Tensor", allow_tensor), ("Operation", allow_operation)) if on])
        element = getattr(obj, "_as_graph_element", None)
        if element is not None and not isinstance(obj, (Tensor, Operation)):
            obj = element() if callable(element) else element
        if isinstance(obj, Tensor) and allow_tensor:
            if isinstance(obj, EagerTensor) or obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            if ":" in obj and allow_tensor:
                name, _, index = obj.rpartition(":")
                if not index.isdigit():
                    raise ValueError(
                        f'The name {obj!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of the form "<op_name>:<output_index>".'
                    )
                node = self._native.find(name)
                if node is None:
                    raise KeyError(
                        f"The name {obj!r} refers to a Tensor which does not exist. The operation, {name!r}, does not exist in the graph."
                    )
                outputs = self._operation(node).outputs
                if int(index) >= len(outputs):
                    raise KeyError(
                        f"The name {obj!r} refers to a Tensor which does not exist. The operation, {name!r}, exists but only has {len(outputs)} outputs."
                    )
                return outputs[int(index)]
            if ":" in obj:
                raise ValueError(f"Name {obj!r} appears to refer to a Tensor, not a {types}.")
            if not allow_operation:
                raise ValueError(
                    f"The name {obj!r} looks like an (invalid) Operation name, not a {types}."
                    + (' Tensor names must be of the form "<op_name>:<output_index>".' if types == "Tensor" else "")
                    if self._native.find(obj) is None
                    else f'The name {obj!r} refers to an Operation, not a {types}. Tensor names must be of the form "<op_name>:<output_index>".'
                )
            node = self._native.find(obj)
            if node is None:
                raise KeyError(f"The name {obj!r} refers to an Operation not in the graph.")
            return self._operation(node)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {types}.")

    # ---- what is built here

    @contextlib.contextmanager
    def as_default(self):
        """Ops of the block are added to this graph."""
        scope, around = _weft.name_scope(), _weft.current_graph()
        if around is not self:  # every graph has scopes of its own
            if around is not None:
                outside, around._scope = around._scope, scope
            _weft.set_name_scope(self._scope)
        _stack().append(self)
        self._native.enter()
        if device_functions.active():
            device_functions.entered(self)
        try:
            yield self
        finally:
            _weft.exit_graph()
            _stack().pop()
            _weft.set_name_scope(scope)
            if around is not None and around is not self:
                around._scope = outside

    def unique_name(self, name, mark_as_used=True):
        return self._native.unique_name(_weft.name_scope() + name, mark_as_used)

    def name_scope(self, name):
        return _graph_name_scope(self, name)

    def get_name_scope(self):
        """The scope that names get here, without the slash."""
        return (_weft.name_scope() if _weft.current_graph() is self else self._scope).removesuffix("/")

    def control_dependencies(self, control_inputs):
        return _control_dependencies(self, control_inputs)

    def device(self, device_name_or_function):
        from weft._src.framework.device import device_v1

        return device_v1(device_name_or_function)

    def _apply_device_functions(self, op):
        """Tells an object that stands for an operation which device one that is added now is asked for."""
        scope = _weft.scoped_device()
        if scope:
            op._set_device_from_string(scope)

    def gradient_override_map(self, op_type_map):
        from weft._src.gradients.registry import gradient_override_map

        return gradient_override_map(self, op_type_map)

    def colocate_with(self, op, ignore_existing=False):
        """Nodes of the block are placed with another; with None, device scopes around it do not count."""
        if op is None:
            if not ignore_existing:
                raise ValueError("Trying to reset colocation (op is None) but ignore_existing is not True")
            return device_functions.nowhere()
        return device_functions.beside(op if isinstance(op, Operation) else op.op)

    def capture(self, tensor, name=None, shape=None):
        return self._native.capture(tensor, name or "")

    def finalize(self):
        """Nothing can be added from here on."""
        self._finalized = True
        self._native.finalize()

    def _unsafe_unfinalize(self):
        self._finalized = False
        self._native.finalize(False)

    @property
    def finalized(self):
        return self._finalized

    @property
    def version(self):
        return self._native.num_nodes()

    # ---- collections

    def add_to_collection(self, name, value):
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        for name in [names] if isinstance(names, str) else names:
            if value not in self._collections.get(name, []):
                self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        values = list(self._collections.get(name, []))
        if scope is None:
            return values
        pattern = re.compile(scope)
        return [v for v in values if hasattr(v, "name") and pattern.match(v.name)]

    def get_all_collection_keys(self):
        return [k for k in self._collections if isinstance(k, str)]

    @property
    def collections(self):
        return self.get_all_collection_keys()

    def clear_collection(self, name):
        self._collections.pop(name, None)

    # ---- as data

    def as_graph_def(self, from_version=None, add_shapes=False, use_pybind11_proto=False):
        from weft._src.proto import FunctionDefLibrary, GraphDef

        made = GraphDef.FromString(self._native.graph_def())
        known = {f.signature.name for f in made.library.function}
        for function in self.__dict__.get("_added_functions", {}).values():
            for f in FunctionDefLibrary.FromString(function._native.library_def()).function:
                if f.signature.name not in known:
                    known.add(f.signature.name)
                    made.library.function.append(f)
        if add_shapes:
            self._add_shapes(made)
        return made

    def _add_function(self, function):
        """A ConcreteFunction, for as_graph_def() and _get_function()."""
        self.__dict__.setdefault("_added_functions", {})[function.name.decode()] = function

    _add_function_recursive = _add_function

    def _get_function(self, name):
        name = name.decode() if isinstance(name, bytes) else name
        found = self.__dict__.get("_added_functions", {}).get(name)
        if found is not None:
            return found.inference_fn
        if name not in {f.signature.name for f in self.as_graph_def().library.function}:
            return None
        from weft._src.function.atomic import of_library

        return of_library(name)

    @property
    def _functions(self):
        """The functions that nodes of the graph, or of its functions, call, by name."""
        return {f.signature.name: self._get_function(f.signature.name) for f in self.as_graph_def().library.function}

    def _is_function(self, name):
        return self._get_function(name) is not None

    def _add_shapes(self, graph_def):
        """The inferred shapes as attributes: of nodes, and of functions that were traced here."""
        for node in graph_def.node:
            outputs = self.get_operation_by_name(node.name).outputs
            if outputs:
                node.attr["_output_shapes"].list.shape.extend([t.shape.as_proto() for t in outputs])
        for function in graph_def.library.function:
            if not _weft.has_function(function.signature.name):
                continue
            inputs, nodes = _weft.function_shapes(function.signature.name)
            given = function.attr["_input_shapes"].list.shape
            if not given:
                given.extend([TensorShape(s).as_proto() for s in inputs])
            for node in function.node_def:
                shapes = nodes.get(node.name)
                if shapes is not None:
                    node.attr["_output_shapes"].list.shape.extend([TensorShape(s).as_proto() for s in shapes])

    @property
    def graph_def_versions(self):
        return self.as_graph_def().versions

    def prevent_feeding(self, tensor):
        self.__dict__.setdefault("_unfeedable", set()).add(tensor.name)

    def is_feedable(self, tensor):
        return tensor.name not in self.__dict__.get("_unfeedable", ())

    def prevent_fetching(self, op):
        self.__dict__.setdefault("_unfetchable", set()).add(op.name)

    def is_fetchable(self, tensor_or_op):
        op = tensor_or_op.op
        return op.name not in self.__dict__.get("_unfetchable", ())


class FuncGraph(Graph):
    """The graph of a function that is or was traced."""

    building_function = True

    def __init__(
        self, name, collections=None, capture_by_value=None, structured_input_signature=None, structured_outputs=None
    ):
        self._set_up(_weft.NativeGraph(name, plain=False, nested=True))
        if self._native.outer is None:  # a library's own graph; traces of functions say what they may
            self._native.may_create_variables = True
        self.structured_input_signature, self.structured_outputs = structured_input_signature, structured_outputs
        self.inputs, self.outputs, self.control_outputs = [], [], []

    @classmethod
    def _of(cls, native):
        self = cls.__new__(cls)
        self._set_up(native)
        self.structured_input_signature = self.structured_outputs = None
        self.inputs, self.outputs, self.control_outputs = [], [], []
        return self

    @property
    def name(self):
        return self._native.name

    def __repr__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"

    @property
    def outer_graph(self):
        outer = self._native.outer
        return outer if outer is not None else _global_graph()

    @property
    def captures(self):
        """(tensor outside, tensor here) of each; those that are made at each call are none of them."""
        deferred = {t._identity() for _, now, _ in self.__dict__.get("_deferred", {}).values() for t in now}
        found = self._native.captures()
        return [c for c in found if c[0]._identity() not in deferred] if deferred else found

    @property
    def external_captures(self):
        return [outer for outer, _ in self.captures]

    @property
    def internal_captures(self):
        return [inner for _, inner in self.captures]

    @property
    def function_captures(self):
        from weft._src.function.captures import FunctionCaptures

        return FunctionCaptures(self)

    def capture_call_time_value(self, closure, spec, key=None, default_value=None, placeholder=None):
        """A value that closure() gives at each call of the function; one for each key."""
        from weft._src.raw import raw
        from weft._src.framework import nest

        if self.__dict__.get(
            "_of_dataset"
        ):  # nobody calls it: what it reads is that of the function that makes the dataset
            outer = self._native.outer
            if isinstance(outer, FuncGraph):
                return outer.capture_call_time_value(closure, spec, key, default_value, placeholder)
            return closure()
        known = self.__dict__.setdefault("_deferred", {})  # key -> (closure, tensors as captured, value in the graph)
        key = object() if key is None else key
        if key not in known:
            with init_scope():
                now = [raw.Identity(input=t) for t in nest.flatten(closure(), expand_composites=True)]
            inner = [self._native.capture_placeholder(t, "deferred_capture") for t in now]
            for tensor, part in zip(inner, nest.flatten(spec, expand_composites=True)):
                tensor.set_shape(part.shape)
            known[key] = closure, now, nest.pack_sequence_as(spec, inner, expand_composites=True)
        return known[key][2]

    @property
    def deferred_external_captures(self):
        return [closure for closure, _, _ in self.__dict__.get("_deferred", {}).values()]

    @property
    def deferred_internal_captures(self):
        from weft._src.framework import nest

        return [
            t
            for _, _, value in self.__dict__.get("_deferred", {}).values()
            for t in nest.flatten(value, expand_composites=True)
        ]

    @property
    def variables(self):
        return tuple(self._native.variables())

    @property
    def variable_captures(self):
        return self.variables

    @property
    def output_types(self):
        return [t.dtype for t in self.outputs]

    @property
    def output_shapes(self):
        return [t.shape for t in self.outputs]

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)


# ---- the current graph -----------------------------------------------------------------------------------

_global_default = None


def get_default_graph():
    """The graph that ops are added to, or would be without init_scope; outside of any, one that is there for the whole program."""
    current = _weft.innermost_graph()
    return current if current is not None else _global_graph()


def _global_graph():
    global _global_default
    if _global_default is None:
        _global_default = Graph()
    return _global_default


def reset_default_graph():
    global _global_default
    if _stack():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph."
        )
    _global_default = None
    if _v1_mode:
        _weft.exit_graph()
        get_default_graph()._native.enter()


_v1_mode = False


def disable_eager_execution():
    """From here on, ops of this thread go into the default graph."""
    global _v1_mode
    if not _v1_mode:
        get_default_graph()._native.enter()
        _v1_mode = True


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    global _v1_mode
    if _v1_mode:
        _weft.exit_graph()
        _v1_mode = False


def executing_eagerly():
    return not _weft.in_graph()


def executing_eagerly_outside_functions():
    if _v1_mode:
        return False
    graph = _weft.current_graph()
    while graph is not None:
        if not graph.building_function:
            return False
        graph = graph._native.outer
    return True


@contextlib.contextmanager
def scratch_graph():
    """Ops of the block go into a function's graph that is thrown away."""
    graph = FuncGraph("scratch")
    graph._around = _weft.current_graph() if _weft.in_graph() else None
    with graph.as_default(), _graph_name_scope(graph, None):
        yield graph


def inside_function():
    return get_default_graph().building_function


# ---- scopes ----------------------------------------------------------------------------------------------

_VALID_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")
_VALID_FIRST = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


@contextlib.contextmanager
def _graph_name_scope(graph, name):
    current = graph is _weft.current_graph()
    before = _weft.name_scope() if current else graph._scope
    if not name:
        scope = ""
    elif name.endswith("/"):
        scope = name
    else:
        if not (_VALID_SCOPE.match(name) if before else _VALID_FIRST.match(name)):
            kind = "scope name" if before else "root scope name"
            raise ValueError(
                f"'{name}' is not a valid {kind}. A {kind} has to match the following pattern: "
                f"{_VALID_SCOPE.pattern if before else _VALID_FIRST.pattern}"
            )
        scope = graph._native.unique_name(before + name) + "/"
    if not current:
        graph._scope = scope
        try:
            yield scope
        finally:
            graph._scope = before
        return
    _weft.set_name_scope(scope)
    try:
        yield scope
    finally:
        _weft.set_name_scope(before)


class name_scope_v1:
    """tf.compat.v1.name_scope: a scope for names, with a default for where none is given."""

    def __init__(self, name, default_name=None, values=None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` for name_scope must be a string.")
        self._name = default_name if name is None else name
        if self._name is None and values is not None:
            raise ValueError("At least one of name (None) and default_name (None) should be provided.")
        self._contexts = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        if _weft.in_graph():
            context = _graph_name_scope(_weft.current_graph(), self._name)
        else:
            context = _eager_name_scope(self._name)
        self._contexts.append(context)
        return context.__enter__()

    def __exit__(self, *error):
        return self._contexts.pop().__exit__(*error)


class name_scope(name_scope_v1):
    """tf.name_scope: names of ops and variables of the block start with this."""

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)


@contextlib.contextmanager
def _eager_name_scope(name):
    before = _weft.name_scope()
    scope = "" if not name else name if name.endswith("/") else before + name + "/"
    _weft.set_name_scope(scope)
    try:
        yield scope
    finally:
        _weft.set_name_scope(before)


@contextlib.contextmanager
def _control_dependencies(graph, control_inputs):
    before = graph._control_stack
    if control_inputs is None:
        now = []
    else:
        now = list(before)
        for item in control_inputs:
            if isinstance(item, EagerTensor) or item is None:
                continue
            item = getattr(item, "op", item) if not isinstance(item, Operation) else item
            if callable(item):
                item = item()
            if isinstance(item, Tensor):
                item = item.op
            if isinstance(item, Operation) and item.graph is graph and item._id not in now:
                now.append(item._id)
    graph._control_stack = now
    graph._native.set_controls(now)
    scope_graph = graph
    try:
        yield
    finally:
        scope_graph._control_stack = before
        scope_graph._native.set_controls(before)


def control_dependencies(control_inputs):
    """Ops of the block run after these; eagerly, everything is in order anyway."""
    if _weft.in_graph():
        return _control_dependencies(_weft.current_graph(), control_inputs)
    if callable(control_inputs):
        control_inputs()
    elif control_inputs is not None:
        for item in control_inputs:
            if callable(item) and not isinstance(item, Tensor):
                item()
    return contextlib.nullcontext()


@contextmanager
def init_scope():
    """Out of every function that is being traced: ops of the block run at once (or go to the graph of version 1 around)."""
    outermost, graph = None, _weft.current_graph()
    while graph is not None:
        if not graph.building_function:
            outermost = graph
        graph = graph._native.outer
    scope = _weft.name_scope()
    if outermost is not None:
        with outermost.as_default(), _graph_name_scope(outermost, scope or None), control_dependencies(None):
            _weft.pause_tapes()
            try:
                yield
            finally:
                _weft.resume_tapes()
        return
    if not _weft.in_graph():
        _weft.pause_tapes()
        try:
            yield
        finally:
            _weft.resume_tapes()
        return
    device = _weft.scoped_device()
    _weft.enter_eager()
    _weft.pause_tapes()
    try:
        yield
    finally:
        _weft.exit_graph()
        _weft.set_device(device)
