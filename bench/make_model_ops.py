#!/usr/bin/env python3
"""Writes model_ops.txt: every op, with its shapes and attributes, that the golden networks run, as cases for large_ops.py.

    make_model_ops.py GOLDEN_DIR > model_ops.txt      (GOLDEN_DIR holds make_models.py; needs tensorflow and keras)

The networks run eagerly, batch 1 and 32 forward and batch 32 training, while TensorFlow reports each op that it executes.
"""

import collections
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from packages import need

need("numpy", "tensorflow")
import numpy as np  # noqa: E402
import tensorflow as tf
from tensorflow.python.framework import op_callbacks, op_def_registry

sys.path.insert(0, sys.argv[1])
import make_models

TYPES = {tf.float32: "f32", tf.float64: "f64", tf.int32: "i32", tf.int64: "i64", tf.bool: "bool"}
SKIP = {
    "VarHandleOp",
    "ReadVariableOp",
    "AssignVariableOp",
    "Identity",
    "Shape",
    "Const",
    "NoOp",
    "VarIsInitializedOp",
    "DestroyResourceOp",
    "TensorListFromTensor",
    "TensorListReserve",
    "TensorListSetItem",
    "TensorListStack",
    "TensorListGetItem",
    "DebugNumericSummaryV2",
}
seen = collections.OrderedDict()
part = ""


def word_of(x, float_values):
    shape = ",".join(map(str, x.shape))
    if x.dtype == tf.resource:
        v = next((v for v in variables if v.handle is x or v.handle._id == x._id), None)
        return None if v is None else f"var[{','.join(map(str, v.shape))}]"
    if x.dtype not in TYPES:
        return None
    name = TYPES[x.dtype]
    values = x.numpy().ravel()
    if x.dtype in (tf.int32, tf.int64) and values.size <= 4096 or x.dtype in (tf.float32, tf.bool) and not x.shape.rank:
        return f"{name}=[{shape}]:" + ",".join(str(int(v)) if name != "f32" else "0.75" for v in values)
    if name == "f32" and values.size and values.min() > 0 and float_values:
        name = "pos"
    return f"{name}[{shape}]"


def attr_word(definition, value):
    kind, name = definition.type, definition.name
    if kind.startswith("list") and not isinstance(value, (list, tuple)):
        return None
    if kind == "bool":
        return f"@{name}=b:{int(value)}"
    if kind == "int":
        return f"@{name}=i:{value}"
    if kind == "float":
        return f"@{name}=f:{value}"
    if kind == "string" and value:
        return f"@{name}=s:{value.decode() if isinstance(value, bytes) else value}"
    if kind == "list(int)" and len(value):
        return f"@{name}=li:" + ",".join(map(str, value))
    if kind == "type":
        return f"@{name}=t:{int(value)}"
    return None


def record(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    op_type = op_type.decode() if isinstance(op_type, bytes) else op_type
    if op_type in SKIP or graph is not None:
        return
    definition = op_def_registry.get(op_type)
    given = {k.decode() if isinstance(k, bytes) else k: v for k, v in zip(attrs[::2], attrs[1::2])} if attrs else {}
    for d in definition.input_arg:  # lists come without their type
        if d.number_attr and d.type_attr:
            given[d.type_attr] = inputs[0].dtype.as_datatype_enum
    words = [word_of(x, op_type in ("Rsqrt", "Log", "Sqrt", "Pow", "RealDiv")) for x in inputs]
    if None in words or max(x.shape.num_elements() for x in inputs if x.dtype in TYPES) < 16:
        return  # scalars tell of overhead alone, which engine_bench knows
    for d in definition.attr:
        if d.name in given and (w := attr_word(d, given[d.name])):
            words.append(w)
    text = " ".join([op_type] + words)
    if len(text) < 30000:
        seen.setdefault(text, collections.Counter())[part] += 1


tf.config.run_functions_eagerly(True)
for build in (
    make_models.mlp,
    make_models.cnn,
    make_models.cnn_bn,
    make_models.simple_rnn,
    make_models.lstm,
    make_models.gru_text,
    make_models.transformer,
):
    name = build.__name__
    net = build()
    model = make_models.Trainable(
        net, make_models.OPTIMIZERS.get(name, lambda: make_models.keras.optimizers.Adam(1e-3))()
    )
    variables = [v.value if hasattr(v, "value") else v for v in net.variables + list(model.optimizer.variables)]
    variables = [getattr(v, "_value", v) if not hasattr(v, "handle") else v for v in variables]
    for batch, train in ((1, False), (32, False), (32, True)):
        shape = (batch,) + tuple(net.inputs[0].shape[1:])
        x = tf.constant(
            np.random.randint(0, 1000, shape).astype("int32")
            if name == "gru_text"
            else np.random.standard_normal(shape).astype("float32")
        )
        y = tf.constant(np.random.randint(0, 10, batch).astype("int32"))
        part = f"{name}/{'train' if train else 'serve'}{batch}"
        op_callbacks.add_op_callback(record)
        model._train(x, y) if train else model._serve(x)
        op_callbacks.remove_op_callback(record)

print(
    "# Made by make_model_ops.py: the ops of the golden networks. Name, op and words of op_bench.c, how often each part of a network runs it."
)
names = collections.Counter()
for text, parts in seen.items():
    op = text.split()[0]
    shapes = " ".join(w.split("=")[0] if "=" in w and len(w) > 40 else w for w in text.split()[1:] if w[0] != "@")
    name = f"{op} {shapes}"[:100]
    names[name] += 1
    if names[name] > 1:
        name += f" #{names[name]}"
    print(f"{name}\t{text}\t{' '.join(f'{part}*{count}' for part, count in parts.items())}")
