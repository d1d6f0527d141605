"""The tensor with a layout, and the way that ops on it take.

A DTensor is its global value, in one piece, with the number of its layout; the parts of the devices are cut from it when
someone asks for them. An op runs once, on the global values of its inputs, and a rule (rules.py) says how TensorFlow
would lay out the result. So a program sees the layouts and the parts that it would see on many devices; the work is not
spread. A function's ops run one by one, since its results are laid out as its ops say."""

import contextlib
import itertools
import re
import threading

from weft import _weft
from weft._src.raw import raw
from weft._src.dtensor import rules
from weft._src.dtensor.layout import MATCH, UNSHARDED, Layout
from weft._src.framework import dtypes, errors, fork
from weft._src.framework.tensor import EagerTensor

DEVICE = "/job:localhost/replica:0/task:0/device:CUSTOM:0"
MOST_SMALL = 19  # elements of whole numbers and texts that join a mesh by themselves

_layouts = [None]  # by number
_numbers = {}
_lock = fork.lock()


class _Unassigned(Layout):
    """Of a variable on a mesh before its first value."""


class _Scope(threading.local):
    mesh = None
    layout = None  # of all results: call_with_layout
    in_function = False
    waiting = None  # in a function: random numbers that no layout is known for yet (random_numbers.py)


scope = _Scope()


def _number(layout):
    """The engine knows layouts by numbers; from the first one on it asks `run`."""
    with _lock:
        key = (type(layout), layout)
        if key not in _numbers:
            if len(_layouts) == 1:
                _weft.set_layout_runner(run, DTensor)
            _numbers[key] = len(_layouts)
            _layouts.append(layout)
        return _numbers[key]


def layout_of(tensor):
    """None: it has none."""
    return _layouts[_weft.layout_of(tensor)]


def plain(tensor):
    """The global value, as a tensor of its own."""
    return _weft.with_layout(tensor, 0) if _weft.layout_of(tensor) else tensor


def with_layout(tensor, layout, op="Relayout"):
    """The tensor's global value, laid out so."""
    check_fits(op, tuple(tensor.shape), layout)
    return _weft.with_layout(tensor, _number(layout))


def check_fits(op, shape, layout):
    if len(shape) != layout.rank:
        raise rules.unsupported(
            op,
            f"'tf.DTensorLayout' op requires matching rank for layout and input, but got {layout.rank} as suggested "
            f"rank from layout but {len(shape)} from shape.",
        )
    for i, (size, shards) in enumerate(zip(shape, layout._all_shards())):
        if size % shards:
            raise rules.unsupported(
                op,
                f"'tf.DTensorLayout' op requires dimension {i} to be divisible by sharding specified in DTensorLayout, "
                f"but got dimension size={size} is not divisible by number of shards in layout for this "
                f"dimension={shards}.",
            )


@contextlib.contextmanager
def running(**values):
    """Parts of the scope for a block."""
    before = dict(scope.__dict__)
    scope.__dict__.update(values)
    was = _weft.layout_scope(scope.mesh is not None)
    try:
        yield
    finally:
        _weft.layout_scope(was)
        scope.__dict__.clear()
        scope.__dict__.update(before)


@contextlib.contextmanager
def on_mesh(mesh):
    """Ops of the block make DTensors, whatever they take."""
    _number(Layout.replicated(mesh, 0))
    with running(mesh=mesh):
        yield


@contextlib.contextmanager
def with_output_layout(layout):
    """The results of the block's ops are laid out so, whatever a rule says."""
    _number(layout)
    with running(mesh=layout.mesh, layout=layout):
        yield


# ---- parts ---------------------------------------------------------------------------------------------


def parts(tensor):
    """What each device of the mesh has, on that device."""
    from weft._src.framework.device import device

    layout, value = layout_of(tensor), plain(tensor)
    local = layout.local_shape_from_global_shape(tuple(value.shape))
    out = []
    with running(mesh=None, layout=None):
        for name, place in zip(layout.mesh.local_devices(), layout.offset_to_shard()):
            with device(name):
                begin, size = [p * n for p, n in zip(place, local)], list(local)
                out.append(raw.Slice(input=value, begin=begin, size=size) if local else raw.Identity(input=value))
    return out


def assemble(by_place, layout):
    """The whole of parts that are known by their places."""

    def join(axis, place):
        if axis == layout.rank:
            return by_place[place]
        pieces = [join(axis + 1, place + (i,)) for i in range(layout.num_shards(axis))]
        return pieces[0] if len(pieces) == 1 else raw.ConcatV2(values=pieces, axis=axis)

    return join(0, ())


# ---- the class -----------------------------------------------------------------------------------------


def _summary(tensor):
    with running(mesh=None, layout=None):
        return raw.StringFormat(inputs=[tensor], template="{}", placeholder="{}", summarize=3)._flat_list()[0].decode()


class DTensor(EagerTensor):
    """An eager tensor with a layout; to programs it is an EagerTensor."""

    @property
    def device(self):
        return DEVICE

    backing_device = device

    def _content(self):
        """Value and layout, as they are printed."""
        layout = layout_of(self)
        if layout.is_fully_replicated():
            value = _summary(plain(self))
        else:
            names = ("CPU:" + d.rpartition(":")[2] for d in layout.mesh.local_devices())
            value = "{" + ", ".join(f'"{n}": {_summary(p)}' for n, p in zip(names, parts(self))) + "}"
        return f'{value}, layout="{layout.to_string()}"'

    def _array(self):
        if not layout_of(self).is_fully_replicated():
            raise not_in_one_place(self)
        return plain(self)._array()

    def _shown(self):
        return f"value={self._content()}"

    def __str__(self):
        return f"tf.Tensor({self._content()}, shape={self.shape}, dtype={self.dtype.name})"

    def __format__(self, spec):
        return self._content().__format__(spec)


DTensor.__name__, DTensor.__qualname__, DTensor.__module__ = "EagerTensor", "EagerTensor", EagerTensor.__module__
_C_NAMES = {"float32": "float", "float64": "double", "float16": "half"}


def not_in_one_place(tensor):
    shape = ",".join(map(str, tensor.shape))
    name = _C_NAMES.get(tensor.dtype.name, tensor.dtype.name)
    return errors.UnimplementedError(
        None,
        None,
        "Trying to copy a non-single-device and non-replicated DTensor is not supported. Input tensor is: "
        f"DTensor({tensor._content()}, shape=[{shape}], type={name})",
    )


# ---- ops -----------------------------------------------------------------------------------------------

_special = {}  # rule -> function(call, inputs, mesh) for those that are more than a value and a layout


def special(name):
    """The decorated function runs the ops of the rule."""

    def register(function):
        _special[name] = function
        return function

    return register


def _small(tensor):
    if tensor.dtype is dtypes.resource or not tensor._shape_tuple():
        return True
    return tensor.dtype in (dtypes.int32, dtypes.int64, dtypes.string) and tensor.shape.num_elements() <= MOST_SMALL


def _check_plain(op, inputs, name=""):
    """Tensors without a layout join a mesh by themselves only where they are small."""
    for i, t in enumerate(inputs):
        if not _weft.layout_of(t) and not _small(t):
            shape = ",".join(map(str, t.shape))
            text = (
                f"The op/function {op} got a regular tensor for input {i} (shape [{shape}]) but was expecting a "
                "DTensor. Currently only scalars and small integer/string tensors are auto-broadcast to DTensors. For "
                "other tensors, please use copy_to_mesh to make a DTensor explicitly; note that this may be slow if it "
                "happens frequently."
            )
            raise errors.UnimplementedError(None, None, _weft.called_text(text, op, name=name))


def _mesh_of(call, layouts):
    meshes = []
    for layout in layouts:
        if layout is not None and layout.mesh not in meshes:
            meshes.append(layout.mesh)
    if len(meshes) > 1:
        raise rules.unsupported(
            call.op,
            "'tf_device.cluster' op failed during mesh propagation. All inputs to `tf_device.Cluster` must have same "
            "mesh configuration. List of found inputs:",
        )
    return meshes[0] if meshes else scope.mesh


def on_one_device(call, inputs):
    """An op that DTensors do not have runs on whole values, and gives such."""
    for t in inputs:
        layout = layout_of(t)
        if layout is not None and not layout.is_fully_replicated():
            raise not_in_one_place(t)
    return call.run(inputs)


def laid_out(call, inputs, outputs, mesh):
    """The results of an op with the layouts that its rule gives, or with the one that the program asks for."""
    specs = [layout._specs if (layout := layout_of(t)) is not None else rules.whole(len(t.shape)) for t in inputs]
    found = rules.find(call.op).compute(rules.Context(call, mesh, specs, [plain(t) for t in inputs], outputs))
    found = found if isinstance(found, list) else [found] * len(outputs)
    layouts = [Layout._make(spec, mesh) for spec in found]
    op = call.op
    if scope.layout is not None and outputs and outputs[0].shape.rank:
        layouts[0], op = scope.layout, ""
    return [with_layout(t, layout, op) for t, layout in zip(outputs, layouts)]


def run(call):
    """For the engine: the results of an op some of whose inputs have layouts, or that runs in a scope."""
    inputs = call.inputs
    layouts = [layout_of(t) for t in inputs]
    if not any(layouts) and _elsewhere():
        return call.run(inputs)
    rule = rules.find(call.op)
    handler = _special.get(rule.name)
    if handler in (_relayout, _relayout_like):  # they take what another mesh has
        mesh = scope.mesh
    else:
        mesh = _mesh_of(call, layouts)
        if call.by_program:
            _check_plain(call.op, inputs)
    if handler is not None:
        return handler(call, inputs, mesh)
    if rule.compute is None:
        return on_one_device(call, inputs)
    if scope.waiting:
        return random_numbers.run(call, inputs, mesh)
    return laid_out(call, inputs, call.run(inputs), mesh)


def _elsewhere():
    """Whether the program asks for a device in a mesh's scope."""
    name = _weft.scoped_device()
    return bool(name) and "CUSTOM" not in name


def call_function(name, inputs, mesh):
    """The function's ops one by one; what it gives is on the mesh."""
    if scope.in_function:
        with running(mesh=mesh):
            return _weft.replay(name, inputs)
    asked = scope.layout
    with running(mesh=mesh, layout=None, in_function=True, waiting={}):
        results = [_on_mesh(t, mesh) for t in _weft.replay(name, inputs)]
        if asked is not None and results:
            results[0] = with_layout(random_numbers.laid_out_so(results[0], asked), asked, name)
    return results


def _on_mesh(tensor, mesh):
    if _weft.layout_of(tensor) or tensor.dtype is dtypes.resource:
        return tensor
    return with_layout(tensor, Layout.replicated(mesh, len(tensor.shape)))


@special("call")
def _call(call, inputs, mesh):
    name = call.attr("f")
    if not scope.in_function and not name.startswith("__backward_"):
        _check_plain(re.sub(r"^__forward_(.*)_\d+$", r"\1", name), inputs, None)
    return call_function(name, inputs, mesh)


@special("branch_of_two")
def _if(call, inputs, mesh):
    branch = "then_branch" if bool(plain(inputs[0])) else "else_branch"
    return call_function(call.attr(branch), inputs[1:], mesh)


@special("branch")
def _case(call, inputs, mesh):
    branches, index = call.attr("branches"), int(plain(inputs[0]))
    return call_function(branches[index if 0 <= index < len(branches) else -1], inputs[1:], mesh)


@special("loop")
def _while(call, inputs, mesh):
    condition, body = call.attr("cond"), call.attr("body")
    while bool(plain(call_function(condition, inputs, mesh)[0])):
        inputs = call_function(body, inputs, mesh)
    return inputs


@special("relayout")
def _relayout(call, inputs, mesh):
    wanted = Layout.from_string(call.attr("layout").decode())
    now = layout_of(inputs[0])
    if MATCH in wanted._specs:
        have = now._specs if now is not None else rules.whole(len(inputs[0].shape))
        specs = [h if w == MATCH else w for h, w in itertools.zip_longest(have, wanted._specs, fillvalue=UNSHARDED)]
        wanted = Layout._make(specs, wanted.mesh)
    return [with_layout(random_numbers.laid_out_so(inputs[0], wanted), wanted)]


@special("relayout_like")
def _relayout_like(call, inputs, mesh):
    layout = layout_of(inputs[1])
    if layout is None:
        return inputs[:1]
    return [with_layout(random_numbers.laid_out_so(inputs[0], layout), layout, call.op)]


# ---- variables -----------------------------------------------------------------------------------------


@special("new_variable")
def _new_variable(call, inputs, mesh):
    return [_weft.with_layout(call.run(inputs)[0], _number(_Unassigned._make((), mesh)))]


@special("read_variable")
def _read(call, inputs, mesh):
    layout = layout_of(inputs[0])
    value = call.run(inputs)[0]
    return [value if layout is None else with_layout(value, layout, call.op)]


@special("write_variable")
def _assign(call, inputs, mesh):
    handle, value = inputs
    layout = layout_of(handle)
    if layout is None:  # a variable of no mesh takes the whole value
        return on_one_device(call, inputs)
    if not _small(value) and layout_of(value) is None and not scope.in_function:
        _check_plain(call.op, inputs)
    if isinstance(layout, _Unassigned):
        layout = layout_of(value) or Layout.replicated(mesh, len(value.shape))
        _weft.set_layout(handle, _number(layout))
    return call.run([handle, random_numbers.laid_out_so(value, layout)])


@special("destroy_variable")
def _as_it_is(call, inputs, mesh):
    return call.run(inputs)


from weft._src.dtensor import random_numbers  # noqa: E402: it needs this module
