"""Records of stateful op sequences: the file format (see README.md) and how one op is run on TensorFlow.

Two runners share one way of describing a call: EagerRunner executes one op at a time in a fresh eager context,
SessionRunner adds one op to a version 1 graph and runs it in a session (ops with ref-typed inputs or outputs).
"""
import os
import re
import struct

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2, node_def_pb2, tensor_pb2
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import context
from tensorflow.python.eager import core as eager_core
from tensorflow.python.framework import op_def_registry, ops, tensor_shape

OPAQUE = (tf.resource, tf.variant)


class Ref:
    """Output `output` of step `step` of the running sequence."""

    def __init__(self, step, output=0):
        self.step, self.output = step, output


class Step:
    def __init__(self, node, inputs, sequence="", ref=False):
        self.node, self.inputs, self.sequence, self.ref = node, inputs, sequence, ref
        self.outputs, self.error_code, self.error_message = [], 0, ""


# ---- tensors ------------------------------------------------------------------------------
def to_array(value):
    if isinstance(value, np.ndarray) or isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, (str, bytes)):
        return np.array(value.encode() if isinstance(value, str) else value, dtype=object)
    raise TypeError(f"give inputs as numpy arrays with an explicit type, not {value!r}")


def strings(*values):
    return np.array([v.encode() if isinstance(v, str) else v for v in values], dtype=object)


def tensor_proto(array):
    array = np.asarray(array)
    kind = tf.string if array.dtype.kind in "OSU" else tf.as_dtype(array.dtype)
    proto = tensor_pb2.TensorProto(dtype=kind.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    for d in array.shape:
        proto.tensor_shape.dim.add(size=d)
    if kind == tf.string:
        proto.string_val.extend(v if isinstance(v, bytes) else str(v).encode() for v in array.reshape(-1))
    else:
        proto.tensor_content = np.ascontiguousarray(array).tobytes()
    return proto


def array_of(proto):
    shape = [d.size for d in proto.tensor_shape.dim]
    if proto.dtype == tf.string.as_datatype_enum:
        out = np.empty(len(proto.string_val), dtype=object)
        out[:] = list(proto.string_val)
        return out.reshape(shape)
    return np.frombuffer(proto.tensor_content, tf.as_dtype(proto.dtype).as_numpy_dtype).reshape(shape)


# ---- records ------------------------------------------------------------------------------
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def chunk(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def encode(step):
    out = chunk(1, step.node.SerializeToString(deterministic=True))
    for arg in step.inputs:
        if isinstance(arg, Ref):
            out += chunk(2, number(2, arg.step) + number(3, arg.output) + number(4, 1))
        else:
            out += chunk(2, chunk(1, tensor_proto(arg).SerializeToString()))
    for o in step.outputs:
        out += chunk(3, b"" if o is None else tensor_proto(o).SerializeToString())
    out += number(4, step.error_code)
    if step.error_message:
        out += chunk(5, step.error_message.encode())
    if step.sequence:
        out += chunk(6, step.sequence.encode())
    return out + number(7, int(step.ref))


def fields(buf):
    def read_varint(at):
        value = shift = 0
        while True:
            b = buf[at]
            value, at, shift = value | (b & 127) << shift, at + 1, shift + 7
            if b < 128:
                return value, at
    at = 0
    while at < len(buf):
        tag, at = read_varint(at)
        value, at = read_varint(at)
        if tag & 7 == 2:
            value, at = buf[at:at + value], at + value
        yield tag >> 3, value


def decode(buf):
    step = Step(node_def_pb2.NodeDef(), [])
    for n, v in fields(buf):
        if n == 1: step.node.ParseFromString(v)
        elif n == 2:
            arg = dict(fields(v))
            step.inputs.append(Ref(arg.get(2, 0), arg.get(3, 0)) if arg.get(4) else
                               array_of(tensor_pb2.TensorProto.FromString(arg[1])))
        elif n == 3: step.outputs.append(array_of(tensor_pb2.TensorProto.FromString(v)) if v else None)
        elif n == 4: step.error_code = v
        elif n == 5: step.error_message = v.decode()
        elif n == 6: step.sequence = v.decode()
        elif n == 7: step.ref = bool(v)
    return step


def read_file(path):
    """The sequences of a file, each a list of steps."""
    data, at, out = open(path, "rb").read(), 0, []
    while at < len(data):
        (n,) = struct.unpack_from("<I", data, at)
        step = decode(data[at + 4:at + 4 + n])
        at += 4 + n
        if step.sequence:
            out.append([])
        out[-1].append(step)
    return out


def write_file(path, sequences, mode="wb"):
    with open(path, mode) as f:
        for steps in sequences:
            for step in steps:
                data = encode(step)
                f.write(struct.pack("<I", len(data)) + data)


# ---- nodes --------------------------------------------------------------------------------
def attr_value(kind, value):
    out = attr_value_pb2.AttrValue()
    if kind.startswith("list("):
        out.list.SetInParent()
        for v in value:
            one = attr_value(kind[5:-1], v)
            which = one.WhichOneof("value")
            field = getattr(out.list, which)
            field.add().CopyFrom(one.shape) if which == "shape" else field.append(getattr(one, which))
        return out
    if kind == "type": out.type = tf.as_dtype(value).as_datatype_enum
    elif kind == "int": out.i = value
    elif kind == "float": out.f = value
    elif kind == "bool": out.b = value
    elif kind == "string": out.s = value.encode() if isinstance(value, str) else value
    elif kind == "shape": out.shape.CopyFrom(tensor_shape.TensorShape(value).as_proto())
    elif kind == "tensor": out.tensor.CopyFrom(tensor_proto(value))
    else: raise TypeError(kind)
    return out


def python_attr(value):
    """An AttrValue as TFE_Py_Execute wants it."""
    which = value.WhichOneof("value")
    if which == "list":
        l = value.list
        if l.shape:
            return [None if s.unknown_rank else [d.size for d in s.dim] for s in l.shape]
        return list(l.s) or list(l.i) or list(l.f) or list(l.b) or list(l.type)
    if which == "shape":
        return None if value.shape.unknown_rank else [d.size for d in value.shape.dim]
    return getattr(value, which)


def op_def(op):
    found = op_def_registry.get(op)
    if found is None:
        raise KeyError(op)
    return found


def build_node(op, dtypes, attrs):
    """dtypes: one for each input. Type and number attributes that the inputs fix are filled in."""
    spec = op_def(op)
    node = node_def_pb2.NodeDef(name=op, op=op)
    kinds = {a.name: a.type for a in spec.attr}
    for name, value in attrs.items():
        node.attr[name].CopyFrom(attr_value(kinds[name], value))
    at = 0
    for arg in spec.input_arg:
        if arg.number_attr:
            if arg.number_attr not in node.attr:
                node.attr[arg.number_attr].i = len(dtypes) - at
            n = node.attr[arg.number_attr].i
        elif arg.type_list_attr:
            if arg.type_list_attr not in node.attr:
                node.attr[arg.type_list_attr].CopyFrom(attr_value("list(type)", dtypes[at:]))
            n = len(node.attr[arg.type_list_attr].list.type)
        else:
            n = 1
        if arg.type_attr and arg.type_attr not in node.attr and n:
            node.attr[arg.type_attr].type = tf.as_dtype(dtypes[at]).base_dtype.as_datatype_enum
        at += n
    for attr in spec.attr:  # the eager runtime does not fill in defaults for every kernel
        if attr.HasField("default_value") and attr.name not in node.attr:
            node.attr[attr.name].CopyFrom(attr.default_value)
    return node


def count_outputs(node):
    spec, total = op_def(node.op), 0
    defaults = {a.name: a.default_value for a in spec.attr}
    value = lambda name: node.attr[name] if name in node.attr else defaults[name]
    for arg in spec.output_arg:
        if arg.number_attr: total += value(arg.number_attr).i
        elif arg.type_list_attr: total += len(value(arg.type_list_attr).list.type)
        else: total += 1
    return total


def clean(message):
    line = message.split("\n")[0]
    line = re.sub(r"^(\{\{function_node [^}]*\}\}|\{\{node [^}]*\}\}) ?", "", line)
    line = re.sub(r" ?\[Op:\w+\] ?(name: .*)?$", "", line)
    line = re.sub(r"((?:TensorArray |_tensor_array_grads|_tensor_arrays/?)\w+?)_\d+(?=[@:. ]|$)", r"\1_#", line)
    return line.rstrip()


# ---- runners ------------------------------------------------------------------------------
class EagerRunner:
    """A fresh eager context: no resource, no cached kernel, no random stream survives from before."""

    def __init__(self):
        context._reset_context()
        tf.random.set_seed(1)
        context.ensure_initialized()
        self.values = []

    def dtype(self, arg):
        if isinstance(arg, Ref):
            return self.values[arg.step][arg.output].dtype
        return tf.string if arg.dtype.kind == "O" else tf.as_dtype(arg.dtype)

    def run(self, step):
        """Runs the step and fills its answer."""
        inputs = [self.values[a.step][a.output] if isinstance(a, Ref) else
                  tf.constant(a, dtype=self.dtype(a)) for a in step.inputs]
        attrs = []
        for name, value in sorted(step.node.attr.items()):
            attrs += [name, python_attr(value)]
        try:
            out = pywrap_tfe.TFE_Py_Execute(context.context()._handle, None, step.node.op, inputs, tuple(attrs),
                                            count_outputs(step.node))
        except (eager_core._NotOkStatusException, tf.errors.OpError) as e:
            step.error_code = e.code if isinstance(e, eager_core._NotOkStatusException) else e.error_code
            step.error_message = clean(e.message)
            self.values.append([])
            return step
        self.values.append(out)
        step.outputs = [None if o.dtype in OPAQUE else np.asarray(o.numpy(), dtype=object if o.dtype == tf.string else o.dtype.as_numpy_dtype)
                        for o in out]
        return step


class SessionRunner:
    """A fresh graph and session; step i adds its op and runs it once. Tensors are fed through placeholders of unknown
    shape, so that it is the kernel that checks them. A later step may name outputs of variable ops only, since a run
    of it runs what it depends on again; in a sequence named one_run/... all steps are one run, at the end."""

    def __init__(self):
        self.graph = tf.Graph()
        self.session = tf.compat.v1.Session(graph=self.graph, config=tf.compat.v1.ConfigProto(
            intra_op_parallelism_threads=1, inter_op_parallelism_threads=1,
            graph_options=tf.compat.v1.GraphOptions(optimizer_options=tf.compat.v1.OptimizerOptions(opt_level=-1),
                rewrite_options={"disable_meta_optimizer": True})))
        self.values, self.feeds = [], {}

    def dtype(self, arg):
        if isinstance(arg, Ref):
            return self.values[arg.step].outputs[arg.output].dtype.base_dtype
        return tf.string if arg.dtype.kind == "O" else tf.as_dtype(arg.dtype)

    def add(self, step):
        """The op of the step in the graph, with its feeds; None (and the step's error set) if it cannot be built."""
        node, feeds, inputs = step.node, {}, []
        with self.graph.as_default():
            for a in step.inputs:
                if isinstance(a, Ref):
                    inputs.append(self.values[a.step].outputs[a.output])
                else:
                    inputs.append(tf.compat.v1.placeholder(self.dtype(a), shape=None))
                    feeds[inputs[-1]] = a
            try:
                unique = node_def_pb2.NodeDef()
                unique.CopyFrom(node)
                unique.name = f"{node.op}_{len(self.values)}"
                op = ops._create_c_op(self.graph, unique, inputs, [])
                op = self.graph._create_op_from_tf_operation(op) if not isinstance(op, tf.Operation) else op
            except (ValueError, tf.errors.OpError) as e:
                step.error_code, step.error_message = getattr(e, "error_code", 3), clean(str(getattr(e, "message", e)))
                return None, feeds
        return op, feeds

    def run(self, step):
        op, feeds = self.add(step)
        self.values.append(op)
        if op is None:
            return step
        try:
            out = self.session.run([op] + list(op.outputs), feeds)[1:]
            step.outputs = [None if o.dtype.base_dtype in OPAQUE else
                            np.asarray(v, dtype=object if o.dtype.base_dtype == tf.string else None)
                            for o, v in zip(op.outputs, out)]
        except tf.errors.OpError as e:
            step.error_code, step.error_message = e.error_code, clean(e.message)
        return step

    def declare(self, step):
        op, _ = self.add(step)
        self.values.append(op)
        step.outputs = [None] * len(op.outputs)

    def run_all(self, steps):
        feeds = {}
        for step in steps:
            op, more = self.add(step)
            self.values.append(op)
            feeds.update(more)
        last = self.values[-1]
        out = self.session.run(list(last.outputs) or [last], feeds)
        for step, op in zip(steps, self.values):
            step.outputs = [None] * len(op.outputs)
        steps[-1].outputs = [np.asarray(v) for v in out] if last.outputs else []


# ---- recording ----------------------------------------------------------------------------
class Recorder:
    """r.seq(name) opens a sequence; r.op(...) runs one op, records it and gives its first output as a Ref;
    r.ops(...) gives all. What TensorFlow answers is recorded, also errors; `fails` says one is expected."""

    def __init__(self, ref=False):
        self.sequences, self.all_ref, self.runner = [], ref, None
        self.calls, self.names = 0, set()
        self.deadly, self.on_call = (), None  # calls to leave out; told before each call
        self.done, self.on_done = (), None  # sequences that an earlier run has recorded; told after each sequence

    def seq(self, name, ref=None):
        self.close()
        self.ref = self.all_ref if ref is None else ref
        self.name, self.calls = name, 0
        assert name not in self.names, name
        self.names.add(name)
        if name in self.done:
            return
        self.sequences.append([])
        self.runner = SessionRunner() if self.ref else EagerRunner()

    def missing(self, arg):
        """An output of a call that was left out or failed."""
        return arg is None or isinstance(arg, Ref) and (
            arg.output >= len(self.sequences[-1][arg.step].outputs))

    def close(self):
        if self.on_done and self.sequences and self.sequences[-1] and self.name not in self.done:
            self.on_done(self.sequences[-1])

    def step(self, op, *inputs, fails=False, compare=True, text=True, declare=False, **attrs):
        call = f"{self.name} {op} {self.calls}"
        self.calls += 1
        if self.name in self.done or call in self.deadly or any(self.missing(a) for a in inputs):
            return None
        inputs = [a if isinstance(a, Ref) else to_array(a) for a in inputs]
        node = build_node(op, [self.runner.dtype(a) for a in inputs], attrs)
        steps = self.sequences[-1]
        step = Step(node, inputs, "" if steps else self.name, self.ref)
        if self.on_call:
            self.on_call(call)
        self.runner.declare(step) if declare else self.runner.run(step)
        if fails is not None and bool(step.error_code) != bool(fails):
            print("unexpected:", self.name, len(steps), op, step.error_code, step.error_message, flush=True)
        if not compare:
            step.outputs = [None] * len(step.outputs)
        if not text or re.search("^Could not find device for node|^No OpKernel was registered|0x[0-9a-f]{6}", step.error_message):
            step.error_message = ""
        steps.append(step)
        return step

    def declare(self, op, **attrs):
        """A variable op of a version 1 graph: added, and not run by itself, as its value does not exist yet."""
        return self.op(op, compare=False, declare=True, **attrs)

    def ops(self, op, *inputs, **kw):
        step = self.step(op, *inputs, **kw)
        if step is None:
            return [None] * 8
        i = len(self.sequences[-1]) - 1
        return [Ref(i, k) for k in range(max(1, len(step.outputs)))]

    def op(self, op, *inputs, **kw):
        return self.ops(op, *inputs, **kw)[0]
