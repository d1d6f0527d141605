"""Profiles: what is in the files, when nothing is recorded, RunMetadata of sessions."""

import glob
import gzip
import json
import os

import pytest

import weft as tf

profiler = tf.profiler.experimental


def _fields(data):
    """(field, value) of a message; the wire format by hand, since the files are for other programs."""
    at = 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            yield key >> 3, data[at : at + 8]
            at += 8
        else:
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size


def _all(data, field):
    return [v for f, v in _fields(data) if f == field]


def _planes(folder):
    (path,) = glob.glob(os.path.join(folder, "plugins/profile/*/*.xplane.pb"))
    with open(path, "rb") as f:
        space = f.read()
    return {_all(p, 2)[0].decode(): p for p in _all(space, 1)}


def _events(plane):
    """name -> [(offset, duration, facts)]"""
    names = {_all(m, 1)[0]: _all(_all(m, 2)[0], 2)[0].decode() for m in _all(plane, 4)}
    keys = {_all(m, 1)[0]: _all(_all(m, 2)[0], 2)[0].decode() for m in _all(plane, 5)}
    out = {}
    for line in _all(plane, 3):
        for event in _all(line, 4):
            e = dict(_fields(event))
            facts = {}
            for stat in _all(event, 4):
                s = dict(_fields(stat))
                facts[keys[s[1]]] = s[4] if 4 in s else s.get(5)
            out.setdefault(names[e[1]], []).append((e.get(2, 0), e.get(3, 0), facts))
    return out


@tf.function
def _product(a):
    return tf.reduce_sum(tf.matmul(a, a, name="product"))


def test_ops_functions_and_named_parts(tmp_path):
    a = tf.ones([64, 64])
    _product(a)
    profiler.start(str(tmp_path))
    for step in range(2):
        with profiler.Trace("train", step_num=step, _r=1):
            _product(a)
            tf.abs(a)
    profiler.stop()
    planes = _planes(tmp_path)
    assert set(planes) == {"/host:CPU", "Task Environment"}
    events = _events(planes["/host:CPU"])
    assert [e[2]["step_num"] for e in events["train"]] == [0, 1]
    assert len(events["Abs:Abs"]) == 2
    (matmul,) = [name for name in events if "MatMul" in name]
    for (start, length, _), (inner, inside, facts) in zip(events["train"], events[matmul]):
        assert start <= inner and inner + inside <= start + length and inside > 0
        assert facts["device"].endswith(b"CPU:0")
    (trace,) = glob.glob(str(tmp_path / "plugins/profile/*/*.trace.json.gz"))
    with gzip.open(trace, "rt") as f:
        names = [e["name"] for e in json.load(f)["traceEvents"]]
    assert names.count("train") == 2 and names.count("Abs:Abs") == 2


def test_nothing_is_recorded_outside(tmp_path):
    a = tf.ones([2])
    tf.abs(a)
    with profiler.Trace("before"):
        pass
    with profiler.Profile(str(tmp_path)):
        tf.square(a)
    tf.exp(a)
    events = _events(_planes(tmp_path)["/host:CPU"])
    assert "Square:Square" in events and not {"Abs:Abs", "Exp:Exp", "before"} & set(events)


def test_python_calls(tmp_path):
    def work():
        return sum(range(3))

    with profiler.Profile(str(tmp_path), profiler.ProfilerOptions(host_tracer_level=0, python_tracer_level=1)):
        work()
        tf.abs(tf.ones([]))
    events = _events(_planes(tmp_path)["/host:CPU"])
    assert any(name.startswith("$profiler_test.py:") and name.endswith(" work") for name in events)
    assert "Abs:Abs" not in events


def test_states(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running."):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert not os.listdir(tmp_path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="duration_ms must be greater than zero."):
        profiler.client.trace("grpc://localhost:1234", str(tmp_path), 0)


def test_trace_export(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=str(tmp_path))
    _product(tf.ones([3, 3]))
    with writer.as_default():
        tf.summary.trace_export("graph", 0)
    assert any("MatMul" in name for name in _events(_planes(tmp_path)["/host:CPU"]))


def test_run_metadata_of_a_session():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 2], name="x")
        y = tf.matmul(x, x, name="y")
        metadata = v1.RunMetadata()
        options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        session.run(y, {x: [[1.0, 2.0], [3.0, 4.0]]}, options=options, run_metadata=metadata)
        nodes = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
        assert "y" in nodes
        empty = v1.RunMetadata()
        session.run(y, {x: [[1.0, 2.0], [3.0, 4.0]]}, run_metadata=empty)
        assert not empty.step_stats.dev_stats
