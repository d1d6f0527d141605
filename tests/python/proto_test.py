"""weft.proto: messages as protobuf has them. Texts and bytes are protobuf's, of TensorFlow's messages."""

import copy
import pickle

import numpy as np
import pytest
import weft as tf
from weft import proto
from weft.proto import text_format


def test_defaults_and_presence():
    a = proto.AttrValue()
    assert a.WhichOneof("value") is None and a.i == 0 and a.s == b"" and a.type == 0
    assert a.list.s == [] and a.WhichOneof("value") is None  # looking is not setting
    a.i = 0
    assert a.WhichOneof("value") == "i" and a.HasField("i") and str(a) == "i: 0\n"
    a.list.i.extend([1, -2, 3])
    assert a.WhichOneof("value") == "list" and not a.HasField("i")
    assert a.SerializeToString().hex() == "0a0e1a0c01feffffffffffffffff0103"
    a.shape.dim.add(size=-1)
    a.shape.dim.add(size=3, name="n")
    assert a.SerializeToString().hex() == "3a14120b08ffffffffffffffffff011205080312016e"
    a.ClearField("value")
    assert a == proto.AttrValue()


def test_text_is_that_of_protobuf():
    g = proto.GraphDef()
    n = g.node.add(name="é")
    n.attr["x"].s = "é\x00\n'\"".encode()
    assert (
        str(g)
        == 'node {\n  name: "é"\n  attr {\n    key: "x"\n    value {\n      s: "\\303\\251\\000\\n\\\'\\""\n    }\n  }\n}\n'
    )
    values = proto.FloatList(
        value=[1.0, 0.1, float("nan"), float("inf"), 1e20, 1e-7, 16777217.0, 123456789.0, 3.14159274, 1 / 3, -0.0]
    )
    assert [line[7:] for line in str(values).splitlines()] == [
        "1",
        "0.1",
        "nan",
        "inf",
        "1e+20",
        "1e-07",
        "16777216",
        "123456792",
        "3.14159274",
        "0.333333343",
        "-0",
    ]
    assert str(proto.TensorInfo(dtype=1)) == "dtype: DT_FLOAT\n"
    assert text_format.Parse(text_format.MessageToString(g), proto.GraphDef()) == g
    with pytest.raises(text_format.ParseError):
        text_format.Parse("nodes {", proto.GraphDef())


def test_examples():
    feature = {"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2, 300]))}
    e = tf.train.Example(features=tf.train.Features(feature=feature))
    assert e.SerializeToString().hex() == "0a0f0a0d0a016112081a060a040102ac02"
    back = tf.train.Example.FromString(e.SerializeToString())
    assert back == e and back.features.feature["a"].int64_list.value == [1, 2, 300]
    s = tf.train.SequenceExample()
    s.feature_lists.feature_list["q"].feature.add().bytes_list.value.append(b"z")
    assert (
        tf.train.SequenceExample.FromString(s.SerializeToString())
        .feature_lists.feature_list["q"]
        .feature[0]
        .bytes_list.value[0]
        == b"z"
    )


def test_copies():
    a = proto.NodeDef(name="n", input=["x", "y"], attr={"T": proto.AttrValue(type=proto.DT_FLOAT)})
    for b in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), proto.NodeDef.FromString(a.SerializeToString())):
        assert b == a and b is not a
        b.attr["T"].type = proto.DT_INT32
        assert b != a
    c = proto.NodeDef()
    c.MergeFrom(a)
    c.MergeFrom(a)
    assert list(c.input) == ["x", "y", "x", "y"]
    del c.input[1:3]
    assert list(c.input) == ["x", "y"] and c == a
    assert [(f.name, f.number) for f, _ in a.ListFields()] == [("name", 1), ("input", 3), ("attr", 5)]


def test_unknown_fields_stay():
    data = proto.NodeDef(name="n").SerializeToString() + bytes([0xA2, 0x06, 1, 65])  # field 100
    assert proto.NodeDef.FromString(data).SerializeToString() == data


@pytest.mark.parametrize(
    "code, error, text",
    [
        (lambda: setattr(proto.NodeDef(), "foo", 1), AttributeError, "foo"),
        (lambda: setattr(proto.NodeDef(), "name", 3), TypeError, "bad argument type"),
        (lambda: proto.Int64List(value=[1.5]), TypeError, "'float' object cannot be interpreted as an integer"),
        (lambda: proto.Feature(foo=1), ValueError, 'Protocol message Feature has no "foo" field.'),
        (
            lambda: setattr(proto.GraphDef(), "node", []),
            AttributeError,
            'Assignment not allowed to map, or repeated field "node"',
        ),
        (
            lambda: setattr(proto.GraphDef(), "versions", None),
            AttributeError,
            'Assignment not allowed to message field "versions"',
        ),
        (lambda: proto.NodeDef().HasField("name"), ValueError, "Field tensorflow.NodeDef.name does not have presence."),
        (
            lambda: proto.GraphDef.FromString(b"\xff\xff"),
            proto.DecodeError,
            "Error parsing message with type 'tensorflow.GraphDef'",
        ),
        (lambda: proto.BytesList(value=["s"]), TypeError, "expected bytes, str found"),
        (lambda: proto.FloatList(value=["s"]), TypeError, "must be real number, not str"),
        (lambda: proto.Int64List(value=[1 << 70]), ValueError, "Value out of range"),
        (lambda: hash(proto.NodeDef()), TypeError, "unhashable type"),
    ],
)
def test_refusals(code, error, text):
    with pytest.raises(error, match=text.replace("(", r"\(")):
        code()


@pytest.mark.parametrize(
    "given, expected",
    [
        (dict(values=[[1, 2], [3, 4]]), "0803120812020802120208022210" + "01000000020000000300000004000000"),
        (dict(values="abc"), "080712004203616263"),
        (dict(values=3.0, shape=[2, 3]), "0801120812020802120208032a0400004040"),
        (dict(values=[1, 2.5], dtype="float16"), "08131204120208022204003c0041"),
        (
            dict(values=[1 + 2j, 3]),
            "08121204120208026220000000000000f03f000000000000004000000000000008400000000000000000",
        ),
        (dict(values=[]), "080112021200"),
        (dict(values=7, dtype="uint8"), "080412003a0107"),
        (dict(values=[1, 2], dtype="bfloat16"), "080e1204120208022204803f0040"),
        (dict(values=np.array(["a", "b"])), "0807120412020802420161420162"),
    ],
)
def test_tensor_protos(given, expected):
    made = tf.make_tensor_proto(**given)
    assert made.SerializeToString().hex() == expected
    back = tf.make_ndarray(made)
    want = np.asarray(given["values"])
    assert np.array_equal(back.astype(want.dtype), np.broadcast_to(want, given.get("shape", want.shape)))


def test_op_def_and_enums():
    d = proto.op_def("MatMul")
    assert d.name == "MatMul" and [a.name for a in d.input_arg] == ["a", "b"] and d.input_arg[0].type_attr == "T"
    assert proto.SaverDef.V2 == 2 and proto.SaverDef.CheckpointFormatVersion.Name(2) == "V2"
    assert proto.RunOptions.FULL_TRACE == 3 and proto.DataType.Value("DT_STRING") == proto.DT_STRING == 7
    assert proto.GraphDef.DESCRIPTOR.full_name == "tensorflow.GraphDef"


def test_modules_of_messages():
    import subprocess
    import sys

    code = (
        "import weft.as_tensorflow; from tensorflow.core.framework import graph_pb2; from tensorflow.core.protobuf import saved_model_pb2, config_pb2; "
        "import tensorflow as tf; print(graph_pb2.GraphDef is tf.compat.v1.GraphDef, saved_model_pb2.SavedModel().saved_model_schema_version, "
        "config_pb2.RunOptions.FULL_TRACE)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True 0 3\n"
    )


def large_graph():
    g = proto.GraphDef()
    for i in range(200):
        n = g.node.add(name=f"n{i}", op="Const")
        n.attr["value"].tensor.float_val.extend([float(i), 2.0])
        n.attr["dtype"].type = 1
        n.input.extend([f"n{k}" for k in range(i % 3)])
    g.versions.producer = 7
    return g


def test_large_messages_are_read_when_somebody_looks():
    g = large_graph()
    data = g.SerializeToString()
    read = proto.GraphDef.FromString(data)
    assert read.SerializeToString() == data and read.ByteSize() == len(data)
    assert len(read.node) == 200 and read.node[17].attr["value"].tensor.float_val == [17.0, 2.0]
    assert (
        read.SerializeToString() == data
        and read == g
        and copy.deepcopy(read) == g
        and pickle.loads(pickle.dumps(read)) == g
    )
    read = proto.GraphDef.FromString(data)
    read.node[3].attr["value"].tensor.float_val[0] = 99.0
    read.node[4].name = "changed"
    g.node[3].attr["value"].tensor.float_val[0] = 99.0
    g.node[4].name = "changed"
    assert read == g and proto.GraphDef.FromString(read.SerializeToString()) == g
    read = proto.GraphDef.FromString(data)
    read.node.add(name="one more")
    assert len(proto.GraphDef.FromString(read.SerializeToString()).node) == 201
    read = proto.GraphDef.FromString(data)
    read.MergeFromString(data)
    assert len(read.node) == 400 and read.versions.producer == 7
    read.Clear()
    assert read.SerializeToString() == b"" and str(read) == ""


def test_large_messages_that_are_broken():
    data = large_graph().SerializeToString()
    for bad in (
        data[:-1],
        data + b"\x0a\xff",
        data + b"\x0a\x02\x0a\x05",
        data + b"\x0a\x03\x0a\x01\xff",
        data + b"\x00",
    ):
        with pytest.raises(proto.DecodeError):
            proto.GraphDef.FromString(bad)
    unknown = data + b"\xfa\x7f\x03abc"
    assert proto.GraphDef.FromString(unknown).SerializeToString() == unknown
    assert len(proto.GraphDef.FromString(unknown).node) == 200
    text = large_graph()
    text.node[0].name = "é"
    assert proto.GraphDef.FromString(text.SerializeToString()).node[0].name == "é"
