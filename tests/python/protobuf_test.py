"""Where the package protobuf is installed, messages are its classes: descriptors, JSON, text, bytes both ways, modules of generated code.

The package lies beside the interpreter (make build puts it there), not in its path: all other tests run without it."""

import os
import pathlib
import subprocess
import sys

import pytest

import weft

PROTOBUF = pathlib.Path(sys.prefix) / "with_protobuf"
pytestmark = pytest.mark.skipif(
    not (PROTOBUF / "google/protobuf").is_dir(), reason=f"no protobuf in {PROTOBUF}: `make build` installs it there"
)


def run(program, with_protobuf=True):
    path = [str(pathlib.Path(weft.__file__).parent.parent), *([str(PROTOBUF)] if with_protobuf else [])]
    made = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    return made.stdout


def test_import_does_not_load_protobuf():
    """Neither does what needs no messages."""
    out = run(
        "import sys, weft as tf\nprint(tf.constant(1) + 1)\nf = tf.function(lambda x: x * 2)\nf(tf.constant(2.0))\n"
        "print([m for m in sys.modules if m.startswith('google')])"
    )
    assert out.splitlines()[-1] == "[]"


CLASSES = """
import weft.as_tensorflow
import tensorflow as tf
from google.protobuf import descriptor_pool, json_format, message, text_format
from tensorflow.core.example import example_pb2, feature_pb2
from tensorflow.core.framework import attr_value_pb2, graph_pb2, node_def_pb2, summary_pb2, tensor_pb2, types_pb2
from tensorflow.core.protobuf import config_pb2, meta_graph_pb2, saved_model_pb2, saved_object_graph_pb2
from tensorflow.core.util import event_pb2

for cls in (graph_pb2.GraphDef, node_def_pb2.NodeDef, config_pb2.ConfigProto, example_pb2.Example, summary_pb2.Summary, event_pb2.Event,
            saved_model_pb2.SavedModel, meta_graph_pb2.MetaGraphDef, tensor_pb2.TensorProto, attr_value_pb2.AttrValue.ListValue):
    assert issubclass(cls, message.Message), cls
    assert descriptor_pool.Default().FindMessageTypeByName(cls.DESCRIPTOR.full_name) is cls.DESCRIPTOR
assert graph_pb2.GraphDef.__module__ == "tensorflow.core.framework.graph_pb2"
assert graph_pb2.DESCRIPTOR.name == "tensorflow/core/framework/graph.proto"
assert tf.train.Example is example_pb2.Example and tf.compat.v1.GraphDef is graph_pb2.GraphDef
assert types_pb2.DT_INT32 == 3 and types_pb2.DataType.Name(3) == "DT_INT32"

# What our functions give is of these classes.
@tf.function
def f(x):
    return tf.matmul(x, x) + 1

graph = f.get_concrete_function(tf.TensorSpec([2, 2])).graph.as_graph_def()
assert isinstance(graph, graph_pb2.GraphDef) and isinstance(graph.node[0], node_def_pb2.NodeDef)
again = graph_pb2.GraphDef()
text_format.Parse(text_format.MessageToString(graph), again)
assert again == graph
assert json_format.Parse(json_format.MessageToJson(graph), graph_pb2.GraphDef()) == graph
assert "MatMul" in [n.op for n in graph.node]
with tf.Graph().as_default() as g:
    tf.import_graph_def(again, name="")
    assert [o.name for o in g.get_operations()] == [n.name for n in graph.node]

proto = tf.make_tensor_proto([[1.5, 2.5]])
assert isinstance(proto, tensor_pb2.TensorProto) and tf.make_ndarray(proto).tolist() == [[1.5, 2.5]]
example = tf.train.Example(features=tf.train.Features(feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}))
parsed = tf.io.parse_single_example(example.SerializeToString(), {"a": tf.io.FixedLenFeature([2], tf.int64)})
assert parsed["a"].numpy().tolist() == [1, 2]
assert json_format.MessageToDict(example) == {"features": {"feature": {"a": {"int64List": {"value": ["1", "2"]}}}}}

import copy, pickle
assert pickle.loads(pickle.dumps(example)) == example and copy.deepcopy(example) == example
config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
config.gpu_options.per_process_gpu_memory_fraction = 0.5
with tf.compat.v1.Session(graph=g, config=config) as session:
    assert session.graph is g
assert config_pb2.OptimizerOptions.ON_1 == 1 and config.graph_options.optimizer_options.global_jit_level == 0
try:
    graph_pb2.GraphDef.FromString(b"\\xff")
except message.DecodeError:
    print("ok")
"""


def test_classes():
    assert run(CLASSES) == "ok\n"


BOTH_WAYS = """
import sys
from weft._src import proto
from weft._src.proto._message import own_class

theirs, ours = proto.message_class("tensorflow.NodeDef"), own_class("tensorflow.NodeDef")
assert theirs is not ours
made = theirs(name="n", op="Add", input=["a", "b:1"])
made.attr["T"].type = 1
made.attr["shape"].shape.dim.add(size=-1)
made.attr["list"].list.i.extend([1, -2, 3])
own = ours.FromString(made.SerializeToString())
assert own.attr["shape"].shape.dim[0].size == -1 and list(own.attr["list"].list.i) == [1, -2, 3]
back = theirs.FromString(own.SerializeToString())
assert back == made
print(len([n for n in proto.message_names() if proto.message_class(n).DESCRIPTOR.full_name == n]) == len(proto.message_names()))
"""


def test_bytes_of_both_kinds():
    """What one kind of class writes, the other reads; every message of the schema is made."""
    assert run(BOTH_WAYS) == "True\n"


def test_other_packages_descriptors():
    """A file of another package that imports one of TensorFlow's finds it."""
    out = run(
        "import weft.as_tensorflow\nfrom tensorflow.core.framework import tensor_pb2\n"
        "from google.protobuf import descriptor_pb2, descriptor_pool, message_factory\n"
        "f = descriptor_pb2.FileDescriptorProto(name='other/predict.proto', package='other', syntax='proto3')\n"
        "f.dependency.append('tensorflow/core/framework/tensor.proto')\n"
        "m = f.message_type.add(name='Request')\n"
        "m.field.add(name='tensor', number=1, type=11, label=1, type_name='.tensorflow.TensorProto')\n"
        "d = descriptor_pool.Default().AddSerializedFile(f.SerializeToString())\n"
        "Request = message_factory.GetMessageClass(d.message_types_by_name['Request'])\n"
        "import tensorflow as tf\n"
        "print(tf.make_ndarray(Request(tensor=tf.make_tensor_proto(7)).tensor))"
    )
    assert out == "7\n"


def test_saved_model_and_events(tmp_path):
    out = run(
        f"folder = {str(tmp_path)!r}\n"
        "import weft.as_tensorflow\nimport tensorflow as tf\n"
        "class M(tf.Module):\n"
        "    def __init__(self):\n        self.v = tf.Variable(2.0)\n"
        "    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])\n    def __call__(self, x):\n        return self.v * x\n"
        "tf.saved_model.save(M(), folder)\n"
        "print(tf.saved_model.load(folder)(tf.constant(3.0)).numpy())\n"
        "from tensorflow.core.protobuf import saved_model_pb2\n"
        "model = saved_model_pb2.SavedModel.FromString(open(folder + '/saved_model.pb', 'rb').read())\n"
        "print(model.meta_graphs[0].meta_info_def.tags)\n"
        "writer = tf.summary.create_file_writer(folder + '/logs')\n"
        "with writer.as_default(step=1):\n    tf.summary.scalar('a', 0.5)\n"
        "writer.close()\n"
        "import glob\n"
        "for event in tf.compat.v1.train.summary_iterator(glob.glob(folder + '/logs/*')[0]):\n"
        "    print([(v.tag, tf.make_ndarray(v.tensor).item()) for v in event.summary.value])\n"
    )
    assert out.splitlines() == ["6.0", "['serve']", "[]", "[('a', 0.5)]"]
