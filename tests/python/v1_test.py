"""tf.compat.v1: graphs, sessions, variables, training, savers. Expected values are TensorFlow's or arithmetic."""

import os

import numpy as np
import pytest
import weft as tf
from weft._src.saved_model.freeze import convert_variables_to_constants_v2

v1 = tf.compat.v1


def test_runs_structures_and_feeds():
    with tf.Graph().as_default():
        a = v1.placeholder(tf.float32, [None, 2], name="a")
        c = tf.matmul(a, [[1.0], [2.0]], name="c")
        d = tf.reduce_sum(c) * 2.0
        with v1.Session() as sess:
            out = sess.run({"x": d, "y": (c, [a])}, {"a:0": [[5, 5]]})
            assert (
                out["x"] == 30
                and type(out["x"]) is np.float32
                and out["y"][0].tolist() == [[15]]
                and out["y"][1][0].tolist() == [[5, 5]]
            )
            assert sess.run(d, {c: [[100.0]]}) == 200 and sess.run(c.op, {a: [[1, 1]]}) is None and sess.run([]) == []
            assert c.eval({a: [[2, 2]]}).tolist() == [[6]] and v1.get_default_session() is sess
            call = sess.make_callable(c, [a])
            assert call([[1, 0]]).tolist() == [[1]]
            for bad, error, text in (
                (lambda: sess.run(c), tf.errors.InvalidArgumentError, "Graph execution error:"),
                (lambda: sess.run(c, {a: [[1, 2, 3]]}), ValueError, "Cannot feed value of shape"),
                (lambda: sess.run("nothing:0"), ValueError, "cannot be interpreted as a Tensor"),
                (lambda: sess.run(5), TypeError, 'has invalid type "int"'),
                (lambda: sess.run(None), TypeError, "Cannot be None"),
            ):
                with pytest.raises(error) as e:
                    bad()
                assert text in str(e.value)
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session."):
        sess.run(d)


def test_variables_and_scopes():
    with tf.Graph().as_default():
        with v1.variable_scope("layer"):
            w = v1.get_variable("w", [2, 2], initializer=v1.ones_initializer())
        with v1.variable_scope("layer", reuse=True):
            assert v1.get_variable("w", [2, 2]) is w
        with pytest.raises(ValueError, match="Variable layer/w already exists, disallowed."):
            v1.get_variable("layer/w", [2, 2])
        v = v1.get_variable("v", initializer=10.0, trainable=False)
        assert [x.name for x in v1.global_variables()] == ["layer/w:0", "v:0"] and v1.trainable_variables() == [w]
        up = v1.assign_add(v, 5.0)
        missing = v1.report_uninitialized_variables()
        with v1.Session() as sess:
            assert sess.run(missing).tolist() == [b"layer/w", b"v"]
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(v)
            sess.run(v1.global_variables_initializer())
            assert sess.run(up) == 15 and sess.run(v) == 15 and sess.run(w).tolist() == [[1, 1], [1, 1]]
            v.load(99.0, sess)
            assert v.eval() == 99


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda: v1.train.GradientDescentOptimizer(0.1), [0.8, 1.6]),
        (lambda: v1.train.MomentumOptimizer(0.1, 0.9), [0.8, 1.6]),
        (lambda: v1.train.AdamOptimizer(0.1), [0.9, 1.9]),
        (lambda: v1.train.AdagradOptimizer(0.1), [1 - 0.2 / np.sqrt(4.1), 2 - 0.4 / np.sqrt(16.1)]),
    ],
)
def test_optimizers(make, expected):
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=[1.0, 2.0])
        step = v1.train.get_or_create_global_step()
        train = make().minimize(tf.reduce_sum(w * w), global_step=step)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            sess.run(train)
            assert np.allclose(sess.run(w), expected, atol=1e-5) and sess.run(step) == 1


def test_saver(tmp_path):
    with tf.Graph().as_default():
        a = v1.get_variable("a", initializer=1.0)
        double = tf.multiply(a, 2.0, name="double")
        saver = v1.train.Saver(max_to_keep=1)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for i in range(2):
                sess.run(v1.assign_add(a, 10.0))
                path = saver.save(sess, str(tmp_path / "m"), global_step=i)
        assert (
            sorted(os.listdir(tmp_path)) == ["checkpoint", "m-1.data-00000-of-00001", "m-1.index", "m-1.meta"]
            and double.name == "double:0"
        )
    with tf.Graph().as_default():
        saver = v1.train.import_meta_graph(path + ".meta")
        with v1.Session() as sess:
            saver.restore(sess, path)
            assert sess.run("double:0") == 42 and [v.name for v in v1.global_variables()] == ["a:0"]
            with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint"):
                saver.restore(sess, str(tmp_path / "none"))


def test_saved_models(tmp_path):
    export = str(tmp_path / "m")
    with tf.Graph().as_default(), v1.Session() as sess:
        x = v1.placeholder(tf.float32, [None], name="x")
        w = v1.get_variable("w", initializer=4.0)
        y = tf.multiply(x, w, name="y")
        sess.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(sess, export, {"x": x}, {"y": y})
    with tf.Graph().as_default(), v1.Session() as sess:
        meta = v1.saved_model.load(sess, ["serve"], export)
        s = meta.signature_def["serving_default"]
        assert sess.run(s.outputs["y"].name, {s.inputs["x"].name: [1.0, 2.0]}).tolist() == [4, 8]
    loaded = tf.saved_model.load(export)
    assert loaded.signatures["serving_default"](x=tf.constant([2.0]))["y"].numpy().tolist() == [8]
    loaded.variables[0].assign(5.0)
    assert loaded.prune("x:0", "y:0")(tf.constant([2.0])).numpy().tolist() == [10]


def test_gradients_and_import():
    with tf.Graph().as_default() as g:
        x = v1.placeholder(tf.float32, [], name="x")
        y = tf.multiply(x, x, name="y")
        (dx,) = tf.gradients(y, x)
        assert tf.gradients(y, tf.constant(1.0)) == [None]
        with v1.Session() as sess:
            assert sess.run(dx, {x: 3.0}) == 6
    with tf.Graph().as_default():
        out, op = tf.import_graph_def(g.as_graph_def(), {"x:0": 4.0}, ["y:0", "y"], name="im")
        assert out.name == "im/y:0" and op.type == "Mul" and v1.Session().run(out) == 16
        with pytest.raises(ValueError, match="Requested return tensor 'no:0' not found in graph def"):
            tf.import_graph_def(g.as_graph_def(), return_elements=["no:0"])


def test_freezing():
    w, n = tf.Variable([[1.0], [2.0]]), tf.Variable(3)

    @tf.function
    def inner(x):
        return tf.matmul(x, w)

    @tf.function
    def f(x):
        y = inner(x)
        for _ in tf.range(n):
            y = y + inner(x) * tf.gather(w, 0)
        return y

    frozen = convert_variables_to_constants_v2(f.get_concrete_function(tf.TensorSpec([None, 2])))
    w.assign([[0.0], [0.0]])
    assert frozen(tf.constant([[1.0, 1.0]]))[0].numpy().tolist() == [[12]]
    assert not any(node.op in ("VarHandleOp", "ReadVariableOp") for node in frozen.graph.as_graph_def().node)


def test_frozen_graphs_of_sessions():
    with tf.Graph().as_default() as g, v1.Session() as sess:
        x = v1.placeholder(tf.float32, [1, 2], name="x")
        w = v1.get_variable("w", initializer=[[1.0], [2.0]])
        tf.matmul(x, w, name="out")
        sess.run(v1.global_variables_initializer())
        frozen = v1.graph_util.convert_variables_to_constants(sess, g.as_graph_def(), ["out"])
    with tf.Graph().as_default():
        (out,) = tf.import_graph_def(frozen, {"x:0": [[1.0, 1.0]]}, ["out:0"])
        assert v1.Session().run(out).tolist() == [[3]]


def test_wrap_function_and_templates():
    wrapped = v1.wrap_function(lambda x: x * v1.get_variable("v", initializer=3.0), [tf.TensorSpec([], tf.float32)])
    assert wrapped(tf.constant(2.0)).numpy() == 6
    wrapped.variables[0].assign(10.0)
    assert wrapped(tf.constant(2.0)).numpy() == 20
    with tf.Graph().as_default():
        template = v1.make_template(
            "t", lambda x: x * v1.get_variable("u", [], initializer=v1.constant_initializer(3.0))
        )
        results = template(1.0), template(2.0)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(results) == (3, 6) and [v.name for v in template.variables] == ["t/u:0"]


def test_text_and_dimensions():
    assert (
        tf.compat.as_bytes("é") == b"\xc3\xa9" and tf.compat.as_text(b"abc") == "abc" and tf.compat.as_str_any(5) == "5"
    )
    assert (v1.Dimension(3) + 1).value == 4 and (v1.Dimension(None) * 2).value is None and v1.Dimension(4) == 4


def test_a_local_cluster():
    workers, servers = tf.test.create_local_cluster(num_workers=2, num_ps=1)
    assert [s.server_def.job_name for s in workers + servers] == ["worker", "worker", "ps"]
    assert [s.server_def.task_index for s in workers + servers] == [0, 1, 0]
    assert all(s.target.startswith("grpc://localhost:") for s in workers + servers)


def test_a_benchmark_of_a_session(capsys):
    class Sum(tf.test.Benchmark):
        def benchmark_sum(self):
            with tf.Graph().as_default(), v1.Session(config=tf.test.benchmark_config()) as s:
                return self.run_op_benchmark(s, tf.constant(1) + 1, min_iters=3, extras={"k": 5}, mbs=1)

    values = Sum().benchmark_sum()
    assert values["iters"] == 3 and values["wall_time"] > 0 and values["throughput"] == 1 / values["wall_time"]
    assert set(values["extras"]) == {"k", "wall_time_mean", "wall_time_stdev"}
    text = capsys.readouterr().out
    assert text.startswith('entry {\n  name: "Sum.benchmark_sum"\n  iters: 3\n  wall_time: ')
    assert text.endswith('  extras {\n    key: "k"\n    value {\n      double_value: 5\n    }\n  }\n}\n\n')
