"""tf.experimental.dtensor beside what TensorFlow gives (data/dtensor_layouts.txt), and what the programs do not show."""

import pathlib
import pickle
import threading

import dtensor_layouts
import numpy as np
import pytest

import weft as tf
from weft.experimental import dtensor

try:
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
    )
except RuntimeError:
    pytest.skip("eight devices need a process of their own", allow_module_level=True)
U = dtensor.UNSHARDED
DEVICES = [f"CPU:{i}" for i in range(8)]
LINES = (pathlib.Path(__file__).parent / "data" / "dtensor_layouts.txt").read_text().splitlines()


# In a function TensorFlow settles some layouts by what comes behind them; weft goes forward only.
AHEAD = {
    "('x', 'unsharded') ('x', 'unsharded') gradient x @ w",
    "('x', 'y') ('unsharded', 'y') gradient x @ w",
    "('x', 'unsharded') ('x', 'unsharded') gradient tf.nn.softmax(x @ w)",
    "('x', 'y') ('unsharded', 'y') gradient tf.nn.softmax(x @ w)",
    "('x', 'unsharded') ('x', 'unsharded') gradient x * w[0] + tf.reduce_mean(x, 0)",
    "('x', 'y') ('x', 'unsharded') gradient x * w[0] + tf.reduce_mean(x, 0)",
    "('x', 'unsharded') ('x', 'unsharded') gradient " + dtensor_layouts.GRADIENTS[-1],
    "('x', 'y') ('unsharded', 'y') gradient " + dtensor_layouts.GRADIENTS[-1],
}


@pytest.fixture
def mesh():
    return dtensor.create_mesh([("x", 4), ("y", 2)], devices=DEVICES)


def laid_out(mesh, value, *specs):
    return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))


def specs(t):
    return dtensor.fetch_layout(t).sharding_specs


def test_layouts_of_results():
    found = [f"{case} -> {result}" for case, result in dtensor_layouts.results(tf)]
    assert len(found) == len(LINES)
    different = [f"want {a}\n have {b}" for a, b in zip(LINES, found) if a != b and a.partition(" -> ")[0] not in AHEAD]
    assert not different, f"{len(different)} of {len(LINES)}\n" + "\n".join(different)


def test_the_rules_that_ops_name_are_there():
    from weft import _weft
    from weft._src.dtensor import random_numbers, rules, tensors

    assert random_numbers  # it has handlers of its own
    found = {op: rules.find(op) for op in _weft.op_names()}
    known = {*rules._rules, *tensors._special}
    assert not {rule.name for rule in found.values()} - known
    assert not known - {rule.name for rule in found.values()}, "rules that no op has"
    assert sum(rule.name != "one_device" for rule in found.values()) > 250


def test_values_do_not_depend_on_the_layout(mesh):
    a = tf.random.stateless_normal((8, 8), (1, 2))
    expected = tf.nn.softmax(tf.matmul(tf.nn.relu(a), a)) + tf.reduce_mean(a, 0)
    for left in dtensor_layouts.SPECS:
        x = laid_out(mesh, a, *left)
        y = tf.nn.softmax(tf.matmul(tf.nn.relu(x), laid_out(mesh, a, U, U))) + tf.reduce_mean(x, 0)
        whole = dtensor.relayout(y, dtensor.Layout.replicated(mesh, 2))
        np.testing.assert_allclose(whole.numpy(), expected.numpy(), rtol=1e-5)


def test_parts_come_back_together(mesh):
    value = np.arange(64, dtype=np.int64).reshape(8, 8)
    for specs_ in dtensor_layouts.SPECS:
        layout = dtensor.Layout(list(specs_), mesh)
        t = dtensor.copy_to_mesh(value, layout)
        parts = dtensor.unpack(t)
        assert [p.device[-5:] for p in parts] == DEVICES
        again = dtensor.pack(parts, layout)
        assert dtensor.fetch_layout(again) == layout
        np.testing.assert_array_equal(dtensor.relayout(again, dtensor.Layout.replicated(mesh, 2)).numpy(), value)
    x, y = dtensor.unpack(laid_out(mesh, value, "y", "x"))[3], value[4:, 2:4]  # device 3 is at x=1, y=1
    np.testing.assert_array_equal(x.numpy(), y)


def test_text_and_scalars(mesh):
    t = dtensor.copy_to_mesh(tf.constant(["a", "b"]), dtensor.Layout([U], mesh))
    assert '["a" "b"]' in str(t)
    assert t.numpy().tolist() == [b"a", b"b"]
    s = dtensor.copy_to_mesh(2.0, dtensor.Layout([], mesh))
    assert float(s) == 2.0 and bool(s > 1.0)


def test_arrays_are_of_whole_tensors(mesh):
    assert np.array(laid_out(mesh, tf.range(4.0), U)).tolist() == [0.0, 1.0, 2.0, 3.0]
    cut = laid_out(mesh, tf.range(4.0), "x")
    for f in (np.array, np.asarray, float, list, memoryview):
        if f is list:
            assert [float(t) for t in f(cut)] == [0.0, 1.0, 2.0, 3.0]
        elif f is memoryview:
            with pytest.raises(BufferError):
                f(cut)
        else:
            with pytest.raises(tf.errors.UnimplementedError, match="non-replicated DTensor is not supported"):
                f(cut)
    assert [p.numpy() for p in dtensor.unpack(laid_out(mesh, 3.0))] == [3.0] * 8


def test_random_numbers_of_a_whole_layout(mesh):
    layout = dtensor.Layout.replicated(mesh, 1)
    made = dtensor.call_with_layout(tf.random.stateless_uniform, layout, shape=(6,), seed=(1, 2))
    assert made.numpy().tolist() == tf.random.stateless_uniform((6,), (1, 2)).numpy().tolist()


def test_meshes_and_layouts_as_texts(mesh):
    layout = dtensor.Layout(["x", U], mesh)
    assert dtensor.Mesh.from_string(mesh.to_string()) == mesh
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert {layout, dtensor.Layout(["x", U], mesh)} == {layout}
    single = dtensor.Layout.from_device("CPU:0")
    assert str(single) == "Layout.from_string(maximal:true, mesh:CPU:0)"
    assert dtensor.Layout.from_string(single.to_string()) == single
    named = dtensor.create_mesh([("x", 8)], "hello", DEVICES)
    assert named.name == "hello" and dtensor.Mesh.from_string(named.to_string()) == named
    with pytest.raises(ValueError):
        dtensor.Mesh.from_string("a|b")


def test_two_meshes_do_not_mix(mesh):
    other = dtensor.create_mesh([("b", 8)], devices=DEVICES)
    with pytest.raises(tf.errors.UnknownError, match="must have same mesh configuration"):
        laid_out(mesh, tf.ones((8,)), "x") + laid_out(other, tf.ones((8,)), "b")


def test_a_device_inside_a_scope_is_plain(mesh):
    with dtensor.default_mesh(mesh):
        assert dtensor.is_dtensor(tf.ones((2,)))
        with tf.device("CPU:1"):
            plain = tf.ones((2,))
        assert not dtensor.is_dtensor(plain) and plain.device.endswith("CPU:1")
        with tf.device(dtensor.device_name()):
            assert dtensor.is_dtensor(tf.ones((2,)))
        assert dtensor.is_dtensor(tf.Variable(tf.ones((2,))))
    assert not dtensor.is_dtensor(tf.ones((2,)))


def test_scopes_are_of_one_thread_and_end_with_errors(mesh):
    seen = []
    with pytest.raises(RuntimeError):
        with dtensor.default_mesh(mesh):
            thread = threading.Thread(
                target=lambda: seen.append((dtensor.get_default_mesh(), dtensor.is_dtensor(tf.ones(2))))
            )
            thread.start()
            thread.join()
            raise RuntimeError
    assert seen == [(None, False)]
    assert dtensor.get_default_mesh() is None and not dtensor.is_dtensor(tf.ones(2))


def test_second_derivatives_and_custom_gradients(mesh):
    x = laid_out(mesh, tf.range(8.0), "x")

    @tf.custom_gradient
    def doubled(t):
        return t * 2.0, lambda dy: dy * 3.0

    @tf.function
    def derivatives(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x**3)
            first = inner.gradient(y, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.reduce_sum(doubled(x))
        return first, outer.gradient(first, x), tape.gradient(z, x)

    first, second, custom = derivatives(x)
    whole = dtensor.Layout.replicated(mesh, 1)
    np.testing.assert_allclose(dtensor.relayout(first, whole).numpy(), 3 * np.arange(8.0) ** 2)
    np.testing.assert_allclose(dtensor.relayout(second, whole).numpy(), 6 * np.arange(8.0))
    np.testing.assert_allclose(dtensor.relayout(custom, whole).numpy(), np.full(8, 3.0))
    assert specs(first) == specs(second) == ["x"]


def test_gradient_of_relayout_goes_back(mesh):
    x = laid_out(mesh, tf.range(8.0), "x")
    with dtensor.default_mesh(mesh):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(dtensor.relayout(x, dtensor.Layout([U], mesh)) ** 2)
        dx = tape.gradient(y, x)
    assert specs(dx) == ["x"]
    assert [p.numpy().tolist() for p in dtensor.unpack(dx)][2] == [4.0, 6.0]


def test_a_plain_variable_in_a_function_is_read_whole(mesh):
    v = tf.Variable(tf.ones((4, 2)))

    @tf.function
    def add(a):
        return a + v

    assert specs(add(laid_out(mesh, tf.ones((4, 2)), "x", U))) == ["x", U]
    with pytest.raises(tf.errors.UnimplementedError, match=r"got a regular tensor for input 1 \(shape \[4,2\]\)"):
        tf.function(lambda a, b: a + b)(laid_out(mesh, tf.ones((4, 2)), "x", U), tf.ones((4, 2)))


def test_variables_by_layout(mesh):
    layout = dtensor.Layout(["x", U], mesh)
    v = dtensor.DVariable(tf.ones((4, 2)), layout=layout)
    assert v.layout == dtensor.fetch_layout(v) == layout and v.device.endswith("CUSTOM:0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Conflicting layout"):
        dtensor.DVariable(v.read_value(), layout=dtensor.Layout.replicated(mesh, 2))
    plain = tf.Variable(laid_out(mesh, tf.ones((2,)), U))
    assert not dtensor.is_dtensor(plain) and plain.numpy().tolist() == [1.0, 1.0]


def test_files(mesh, tmp_path):
    value = {"a": laid_out(mesh, tf.range(8.0), "x"), "b": laid_out(mesh, tf.ones((2, 2)), U, "y")}
    dtensor.name_based_save(mesh, str(tmp_path / "ckpt"), value)
    read = dtensor.name_based_restore(mesh, str(tmp_path / "ckpt"), value)
    assert [(k, specs(t)) for k, t in read.items()] == [("a", ["x"]), ("b", [U, "y"])]
    assert float(tf.reduce_sum(read["a"])) == 28.0
    with pytest.raises(ValueError, match="must be a DTensor"):
        dtensor.name_based_restore(mesh, str(tmp_path / "ckpt"), {"a": tf.ones(8)})
    v = dtensor.DVariable(laid_out(mesh, tf.fill((8,), 1 / 3), "x"))
    dtensor.enable_save_as_bf16([v])
    path = dtensor.DTensorCheckpoint(mesh, v=v).save(str(tmp_path / "v"))
    stored = tf.train.load_checkpoint(path).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE")
    assert stored.dtype.name == "bfloat16"
    v.assign(v * 0.0)
    dtensor.DTensorCheckpoint(mesh, v=v).restore(path)
    assert specs(v) == ["x"] and abs(float(tf.reduce_max(v)) - 1 / 3) < 2e-3


def test_every_public_name_is_there():
    assert all(getattr(dtensor, name) is not None for name in dir(dtensor))
    with pytest.raises(AttributeError, match="has no attribute .no_such_thing."):
        dtensor.no_such_thing
