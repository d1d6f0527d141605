#!/usr/bin/env python3
"""Records op calls and gradients with TensorFlow's answers: make_cases.py [family ...]. Needs a Python with tensorflow.

A family is families/<family>.py with a function `record(call)`, for example

    import numpy as np

    def record(call):
        for t in (np.float32, np.float64):
            call("MatrixInverse", [np.eye(3, dtype=t)])                           # attributes of types are inferred
        call("Tile", [np.ones([2], "f"), np.array([3], "i")], grad=True)          # and the gradient that a tape gives
        call("Conv2D", [x, w], {"strides": [1, 1, 1, 1], "padding": "SAME"})      # the others are given; the rest have their defaults
        call("Unique", [x], skip=[1])                                             # output 1 is not compared
        call("QuantizedConv2DAndRelu", [x, w, ...], {...}, graph=True)            # inputs are constants of a graph; or functions that build them
        call("BatchCholesky", [x], producer=8)                                    # a graph of that version, for ops that were removed later

Inputs are numpy arrays (strings: arrays of bytes), a list of them for an input that is a list. Types as attributes are tf.DTypes. Opaque outputs
(resource, variant) are not compared. A call that TensorFlow refuses ends the recording: errors belong into tests/ops/state.
TensorFlow runs without oneDNN, unless the family says `ONEDNN = True`.
The format is described in README.md; stateful ops are recorded by tests/ops/state/make_state_sequences.py.
"""

import os
import pathlib
import runpy
import struct
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "state"))
import numpy as np
import state_format
import tensorflow as tf


def tensor_record(value):
    """An encoded TensorProto; empty for what is not compared."""
    if value is None or value.dtype in state_format.OPAQUE:
        return b""
    if isinstance(value, tf.IndexedSlices):
        value = tf.convert_to_tensor(value)
    return array_record(value.numpy(), value.dtype)


class Recorder:
    def __init__(self):
        self.cases, self.grads = [], []

    def call(self, op, inputs, attrs=None, grad=False, skip=(), seed=0, graph=False, producer=None):
        if producer is not None:
            return self.call_of_old_graph(op, inputs, attrs or {}, skip, producer)
        if graph:
            return self.call_in_graph(op, inputs, attrs or {}, skip)
        tensors = [[to_tensor(i) for i in v] if isinstance(v, (list, tuple)) else to_tensor(v) for v in inputs]
        flat = [t for v in tensors for t in (v if isinstance(v, list) else [v])]
        arguments = [tensor_record(t) for t in flat]  # before the call: some ops write over their inputs
        with tf.GradientTape(persistent=True) as tape:
            for t in flat:
                if t.dtype.is_floating or t.dtype.is_complex:
                    tape.watch(t)
            raw = getattr(tf.raw_ops, op)
            names = [a.name for a in state_format.op_def_registry.get(op).input_arg]
            got = raw(**dict(zip(names, tensors)), **(attrs or {}))
        outputs = [] if got is None or isinstance(got, tf.Operation) else tf.nest.flatten(got)
        node = self.node(op, names, tensors, attrs or {})
        record = state_format.chunk(1, node.SerializeToString(deterministic=True))
        for a in arguments:
            record += state_format.chunk(2, a)
        for i, o in enumerate(outputs):
            record += state_format.chunk(3, b"" if i in skip else tensor_record(o))
        self.cases.append(record)
        if grad:
            random = np.random.default_rng(seed)
            flows = [flow(random, o) for o in outputs]
            with_flow = [(o, f) for o, f in zip(outputs, flows) if f is not None]
            back = tape.gradient([o for o, _ in with_flow], flat, [f for _, f in with_flow])
            for f in flows:
                record += state_format.chunk(4, tensor_record(f))
            for g in back:
                record += state_format.chunk(5, tensor_record(g))
            self.grads.append(record)
        return outputs

    def call_in_graph(self, op, inputs, attrs, skip):
        """For ops that TensorFlow runs only after its oneDNN passes have rewritten the graph."""
        config = tf.compat.v1.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        config.graph_options.optimizer_options.opt_level = -1
        names = [a.name for a in state_format.op_def_registry.get(op).input_arg]
        with tf.Graph().as_default():
            tensors = [v() if callable(v) else to_tensor(v) for v in inputs]
            got = getattr(tf.raw_ops, op)(**dict(zip(names, tensors)), **attrs)
            with tf.compat.v1.Session(config=config) as session:
                outputs = tf.nest.flatten(got)
                values = session.run(outputs)
                arguments = [session.run(t) for t in tensors]
        node = self.node(op, names, tensors, attrs)
        record = state_format.chunk(1, node.SerializeToString(deterministic=True))
        for tensor, value in zip(tensors, arguments):
            record += state_format.chunk(2, array_record(value, tensor.dtype))
        for i, (tensor, value) in enumerate(zip(outputs, values)):
            record += state_format.chunk(3, b"" if i in skip else array_record(value, tensor.dtype))
        self.cases.append(record)

    def call_of_old_graph(self, op, inputs, attrs, skip, producer):
        """For ops that TensorFlow knows only in graphs of a producer older than the version that removed them."""
        arrays = [state_format.to_array(v) for v in inputs]
        protos = [state_format.tensor_proto(v) for v in arrays]
        node = state_format.build_node(op, [tf.as_dtype(p.dtype) for p in protos], attrs)
        graph = tf.compat.v1.GraphDef()
        graph.versions.producer = producer
        for i, proto in enumerate(protos):
            graph.node.add(name=f"input{i}", op="Placeholder").attr["dtype"].type = proto.dtype
        graph.node.add().CopyFrom(node)
        graph.node[-1].input.extend(f"input{i}" for i in range(len(protos)))
        config = tf.compat.v1.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.Graph().as_default() as g:
            tf.graph_util.import_graph_def(graph, name="")
            outputs = g.get_operation_by_name(op).outputs
            with tf.compat.v1.Session(config=config) as session:
                values = session.run(list(outputs), {f"input{i}:0": v for i, v in enumerate(arrays)})
        record = state_format.chunk(1, node.SerializeToString(deterministic=True))
        for proto in protos:
            record += state_format.chunk(2, proto.SerializeToString())
        for i, (tensor, value) in enumerate(zip(outputs, values)):
            record += state_format.chunk(3, b"" if i in skip else array_record(value, tensor.dtype))
        self.cases.append(record)
        return values

    def node(self, op, names, tensors, attrs):
        """The call as a node of a graph, which writes every attribute."""
        graph = tf.Graph()
        with graph.as_default():
            places = [
                [tf.compat.v1.placeholder(t.dtype, t.shape) for t in v]
                if isinstance(v, list)
                else tf.compat.v1.placeholder(v.dtype, v.shape)
                for v in tensors
            ]
            getattr(tf.raw_ops, op)(**dict(zip(names, places)), **attrs)
            node = next(n for n in graph.as_graph_def().node if n.op == op)
        del node.input[:]
        node.name = op
        node.device = ""
        return node


def to_tensor(value):
    return value if isinstance(value, tf.Tensor) else tf.constant(state_format.to_array(value))


def array_record(value, dtype):
    """Of the dtype that TensorFlow says: numpy shows quantised numbers as integers."""
    if dtype == tf.string:
        return state_format.tensor_proto(value).SerializeToString()
    return state_format.tensor_proto(np.asarray(value, dtype=dtype.as_numpy_dtype)).SerializeToString()


def flow(random, output):
    if not (output.dtype.is_floating or output.dtype.is_complex):
        return None
    values = random.normal(size=output.shape)
    return tf.cast(tf.constant(values), output.dtype)


def write(path, records):
    if records:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"".join(struct.pack("<I", len(r)) + r for r in records))


def main(families):
    for family in families:
        recorder = Recorder()
        module = runpy.run_path(str(HERE / "families" / (family + ".py")))
        if module.get("ONEDNN") and os.environ["TF_ENABLE_ONEDNN_OPTS"] != "1":
            subprocess.run(
                [sys.executable, __file__, family], env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"}, check=True
            )
            continue
        module["record"](recorder.call)
        write(HERE / "cases" / (family + ".bin"), recorder.cases)
        write(HERE.parent / "gradients" / "cases" / (family + ".bin"), recorder.grads)
        print(f"{family}: {len(recorder.cases)} calls, {len(recorder.grads)} gradients")


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        main(sys.argv[1:] or sorted(p.stem for p in (HERE / "families").glob("*.py")))
