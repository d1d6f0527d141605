"""tf.io: files, records, examples. Expected values are TensorFlow's."""

import os

import numpy as np
import pytest
import weft as tf


def _feature(values):
    if isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example(**features):
    return tf.train.Example(
        features=tf.train.Features(feature={k: _feature(v) for k, v in features.items()})
    ).SerializeToString()


def test_fixed_features():
    spec = {
        "id": tf.io.FixedLenFeature([], tf.int64),
        "point": tf.io.FixedLenFeature([2], tf.float32),
        "score": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
        "n": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=9),
    }
    batch = [_example(id=[1], point=[1.0, 2.0], score=[0.5], n=[5, 6]), _example(id=[2], point=[3.0, 4.0])]
    parsed = tf.io.parse_example(batch, spec)
    assert parsed["id"].numpy().tolist() == [1, 2] and parsed["point"].numpy().tolist() == [[1, 2], [3, 4]]
    assert parsed["score"].numpy().tolist() == [0.5, -1] and parsed["n"].numpy().tolist() == [[5, 6], [9, 9]]
    assert tf.io.parse_single_example(batch[1], {"id": spec["id"]})["id"].numpy() == 2


def test_sequences():
    s = tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": _feature([2])}),
        feature_lists=tf.train.FeatureLists(
            feature_list={"w": tf.train.FeatureList(feature=[_feature([b"a"]), _feature([b"b"])])}
        ),
    ).SerializeToString()
    context, lists = tf.io.parse_single_sequence_example(
        s, {"n": tf.io.FixedLenFeature([], tf.int64)}, {"w": tf.io.FixedLenSequenceFeature([], tf.string)}
    )
    assert context["n"].numpy() == 2 and lists["w"].numpy().tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    "features, text",
    [
        ({}, "Argument `features` cannot be None or falsy. Got {}"),
        ({"a": tf.io.FixedLenFeature([None], tf.int64)}, "First dimension of shape for feature a unknown."),
        (
            {"a": tf.io.FixedLenSequenceFeature([], tf.int64)},
            "Unsupported: FixedLenSequenceFeature requires allow_missing to be True.",
        ),
    ],
)
def test_bad_features(features, text):
    with pytest.raises(ValueError) as e:
        tf.io.parse_example([_example(a=[1])], features)
    assert text in str(e.value)


def test_missing_feature():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Feature: b \(data type: int64\) is required but could not be found"
    ):
        tf.io.parse_example([_example(a=[1])], {"b": tf.io.FixedLenFeature([], tf.int64)})


def test_encodings():
    ints, texts, floats = tf.io.decode_csv(["1,a,2.5", "3,b,"], [[0], [""], [1.5]])
    assert (
        ints.numpy().tolist() == [1, 3]
        and texts.numpy().tolist() == [b"a", b"b"]
        and floats.numpy().tolist() == [2.5, 1.5]
    )
    assert tf.io.decode_raw([b"abcd"], tf.uint16, fixed_length=6).numpy().tolist() == [[25185, 25699, 0]]
    assert tf.io.encode_base64(b"hello").numpy() == b"aGVsbG8" and bool(tf.io.is_jpeg(b"\xff\xd8\xffaa"))
    t = tf.constant([[1.5, 2.5]])
    assert np.array_equal(tf.io.parse_tensor(tf.io.serialize_tensor(t), tf.float32), t)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records(tmp_path, compression):
    from weft._src.ops.io_ops import tf_record_iterator

    path = tmp_path / "r"
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(compression)) as w:
        w.write(b"abc")
        w.write(b"")
        w.write("ä")
    assert list(tf_record_iterator(path, compression)) == [b"abc", b"", "ä".encode()]
    if not compression:  # the bytes that TensorFlow writes for the first record
        assert path.read_bytes()[:19].hex() == "0300000000000000" + "b099490e" + "616263" + "6e57f121"


def test_files(tmp_path):
    g = tf.io.gfile
    path = str(tmp_path / "a" / "x.txt")
    tf.io.write_file(path, "line 1\nline 2\n")
    assert tf.io.read_file(path).numpy() == b"line 1\nline 2\n" and g.stat(path).length == 14 and not g.isdir(path)
    with g.GFile(path, "rb") as f:
        assert (f.readline(), f.tell(), f.read(3), f.readlines()) == (b"line 1\n", 7, b"lin", [b"e 2\n"])
    g.copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        g.copy(path, path + "2")
    assert g.listdir(tmp_path / "a") == ["x.txt", "x.txt2"] and g.glob(str(tmp_path / "*" / "*.txt")) == [path]
    for bad in (
        lambda: g.GFile("/nonexist/x").read(),
        lambda: g.remove("/nonexist/x"),
        lambda: g.listdir("/nonexist"),
        lambda: g.rmtree("/nonexist"),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            bad()
    with pytest.raises(tf.errors.PermissionDeniedError, match="File isn't open for reading"):
        g.GFile(path, "w").read()


def test_write_graph(tmp_path):
    from weft.proto import GraphDef, text_format

    graph = tf.Graph()
    with graph.as_default():
        tf.constant(1.0, name="one")
    path = tf.io.write_graph(graph, tmp_path, "g.pbtxt")
    assert text_format.Parse(open(path).read(), GraphDef()).node[0].name == "one"
    tf.io.write_graph(graph.as_graph_def(), tmp_path, "g.pb", as_text=False)
    assert GraphDef.FromString((tmp_path / "g.pb").read_bytes()).node[0].op == "Const"
    assert sorted(os.listdir(tmp_path)) == ["g.pb", "g.pbtxt"]


@pytest.mark.parametrize("partition", ["RowLengths", "RowSplits", "RowStarts", "RowLimits", "ValueRowIds"])
def test_ragged_features_in_rows(partition):
    examples = [
        _example(
            v=[1, 2, 3, 4],
            RowLengths=[1, 3],
            RowSplits=[0, 1, 4],
            RowStarts=[0, 1],
            RowLimits=[1, 4],
            ValueRowIds=[0, 1, 1, 1],
        ),
        _example(
            v=[5, 6], RowLengths=[0, 2], RowSplits=[0, 0, 2], RowStarts=[0, 0], RowLimits=[0, 2], ValueRowIds=[1, 1]
        ),
    ]
    spec = {
        "r": tf.io.RaggedFeature(
            tf.int64, value_key="v", partitions=[getattr(tf.io.RaggedFeature, partition)(partition)]
        )
    }
    assert tf.io.parse_example(examples, spec)["r"].to_list() == [[[1], [2, 3, 4]], [[], [5, 6]]]
    assert tf.io.parse_single_example(examples[0], spec)["r"].to_list() == [[1], [2, 3, 4]]


def test_ragged_features_in_sequences_and_of_one_length():
    ragged = tf.io.RaggedFeature
    spec = {"r": ragged(tf.int64, value_key="v", partitions=[ragged.UniformRowLength(2)])}
    assert tf.io.parse_example([_example(v=[1, 2, 3, 4]), _example(v=[5, 6])], spec)["r"].to_list() == [
        [[1, 2], [3, 4]],
        [[5, 6]],
    ]
    lists = {
        "w": tf.train.FeatureList(feature=[_feature([1, 2]), _feature([3])]),
        "d": tf.train.FeatureList(feature=[_feature([7]), _feature([8])]),
    }
    s = tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString()
    _, parsed, lengths = tf.io.parse_sequence_example(
        [s, s], sequence_features={"w": ragged(tf.int64), "d": tf.io.FixedLenSequenceFeature([], tf.int64)}
    )
    assert (
        parsed["w"].to_list() == [[[1, 2], [3]]] * 2
        and parsed["d"].numpy().tolist() == [[7, 8]] * 2
        and lengths["d"].numpy().tolist() == [2, 2]
    )
