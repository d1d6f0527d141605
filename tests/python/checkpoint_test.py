"""tf.train.Checkpoint and its files. The keys, the graph of objects and the messages were read off TensorFlow 2.21;
files of both are the same byte for byte."""

import os

import pytest

import weft as tf
from weft.proto import TrackableObjectGraph

V = "/.ATTRIBUTES/VARIABLE_VALUE"


class Net(tf.Module):
    def __init__(self, k=1.0):
        super().__init__()
        self.w = tf.Variable(k)
        self.l = [tf.Variable([k, 2.0]), 3]
        self.e = []
        setattr(self, "a.b/c", tf.Variable(3.0 * k))
        self.again = self.w


def values(net):
    return [v.numpy().tolist() for v in net.variables]


def test_round_trip(tmp_path):
    net, step = Net(10.0), tf.Variable(5, dtype=tf.int64)
    ckpt = tf.train.Checkpoint(net=net, step=step)
    path = ckpt.save(str(tmp_path / "ck"))
    assert path == str(tmp_path / "ck-1") and int(ckpt.save_counter) == 1
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "ck-1.data-00000-of-00001", "ck-1.index"]
    assert (
        tmp_path / "checkpoint"
    ).read_text() == 'model_checkpoint_path: "ck-1"\nall_model_checkpoint_paths: "ck-1"\n'
    saved = values(net)
    for v in net.variables:
        v.assign(v * 0.0)
    step.assign(0)
    ckpt.restore(path).assert_consumed().assert_existing_objects_matched().assert_nontrivial_match()
    assert values(net) == saved and int(step) == 5
    fresh = Net()
    tf.train.Checkpoint(net=fresh).restore(path).expect_partial()
    assert values(fresh) == saved
    assert [name for name, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "net/a..b.Sc" + V,
        "net/l/0" + V,
        "net/w" + V,
        "save_counter" + V,
        "step" + V,
    ]


def test_the_graph_of_objects(tmp_path):
    path = tf.train.Checkpoint(net=Net()).write(str(tmp_path / "ck"))
    graph = TrackableObjectGraph.FromString(tf.train.load_checkpoint(path).get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH"))
    assert [[(c.local_name, c.node_id) for c in n.children] for n in graph.nodes] == [
        [("net", 1)],
        [("w", 2), ("l", 3), ("e", 4), ("a.b/c", 5), ("again", 2)],
        [],
        [("0", 6)],
        [],
        [],
        [],
    ]
    assert [n.has_checkpoint_values.value for n in graph.nodes] == [True, True, True, True, False, True, True]
    attribute = graph.nodes[2].attributes[0]
    assert (attribute.name, attribute.full_name, attribute.checkpoint_key) == (
        "VARIABLE_VALUE",
        "Variable",
        "net/w" + V,
    )


def test_a_root_of_its_own(tmp_path):
    net = Net(4.0)
    path = tf.train.Checkpoint(net, z=tf.Variable(2)).save(str(tmp_path / "r"))
    assert [n for n, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "a..b.Sc" + V,
        "l/0" + V,
        "save_counter" + V,
        "w" + V,
        "z" + V,
    ]
    other, z = Net(), tf.Variable(0)
    ckpt = tf.train.Checkpoint(other, z=z)
    ckpt.restore(path).assert_consumed()
    assert values(other) == values(net) and int(z) == 2 and int(ckpt.save_counter) == 1
    one = tf.Variable(1.5)
    path = tf.train.Checkpoint(one).write(str(tmp_path / "v"))
    assert [n for n, _ in tf.train.list_variables(path)] == [V, "_CHECKPOINTABLE_OBJECT_GRAPH"]


def test_values_wait_for_objects(tmp_path):
    path = tf.train.Checkpoint(
        a=tf.Variable(3.0), l=[tf.Variable(1.0), tf.Variable(2.0)], d={"k": tf.Variable(4.0)}
    ).save(str(tmp_path / "w"))
    ckpt = tf.train.Checkpoint()
    status = ckpt.restore(path)
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint \\(root\\).a: attributes"):
        status.assert_consumed()
    ckpt.l = []
    ckpt.l.append(tf.Variable(0.0))
    ckpt.a = tf.Variable(0.0)
    ckpt.d = {}
    ckpt.d["k"] = tf.Variable(0.0)
    assert [float(ckpt.l[0]), float(ckpt.a), float(ckpt.d["k"])] == [1.0, 3.0, 4.0]
    ckpt.l.append(tf.Variable(0.0))
    assert float(ckpt.l[1]) == 2.0
    status.assert_consumed()


def test_variables_that_are_made_with_the_value(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([3.0, 4.0])).write(str(tmp_path / "w"))
    holder = tf.train.Checkpoint()
    holder.read(path)
    seen = []

    def getter(name, shape, dtype, initializer):
        seen.append(shape)
        return tf.Variable(initializer, name=name, dtype=dtype)

    made = holder._add_variable_with_custom_getter("v", shape=[2], getter=getter, initializer=lambda: 1 / 0)
    assert made.numpy().tolist() == [3.0, 4.0] and seen == [None]


def test_asserts(tmp_path):
    path = tf.train.Checkpoint(net=Net()).save(str(tmp_path / "ck"))
    status = tf.train.Checkpoint(net=Net(), extra=tf.Variable(1.0)).restore(path)
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(
            AssertionError,
            match="Found 1 Python objects that were not bound to checkpointed values, "
            "likely due to changes in the Python program.",
        ):
            check()
    assert status.assert_nontrivial_match() is status
    none = tf.train.Checkpoint().restore(None)
    with pytest.raises(
        AssertionError, match="No checkpoint specified \\(save_path=None\\); nothing is being restored."
    ):
        none.assert_consumed()
    assert none.expect_partial() is none
    other = tf.train.Checkpoint(q=tf.Variable(1.0)).read(tf.train.Checkpoint(net=Net()).write(str(tmp_path / "n")))
    with pytest.raises(AssertionError, match="Nothing except the root object matched"):
        other.assert_nontrivial_match()
    other.expect_partial()


def test_errors(tmp_path):
    with pytest.raises(
        tf.errors.NotFoundError,
        match="Error when restoring from checkpoint or SavedModel at "
        ".*missing: Unsuccessful TensorSliceReader constructor: "
        "Failed to find any matching files for .*missing\nPlease "
        "double-check that the path is correct.",
    ):
        tf.train.Checkpoint().restore(str(tmp_path / "missing"))
    with pytest.raises(
        ValueError,
        match="`Checkpoint` was expecting x to be a trackable object \\(an object derived from `Trackable`\\), got 3.",
    ):
        tf.train.Checkpoint(x=3)
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "v"))
    with pytest.raises(
        ValueError,
        match="Received incompatible tensor with shape \\(\\) when attempting to restore "
        "variable with shape \\(2,\\) and name Variable:0.",
    ):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0])).read(path)
    with pytest.raises(tf.errors.NotFoundError, match="Key nope not found in checkpoint"):
        tf.train.load_variable(path, "nope")
    assert (
        tf.train.latest_checkpoint(str(tmp_path / "none")) is None
        and tf.train.get_checkpoint_state(str(tmp_path / "none")) is None
    )


def test_reader(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), s=tf.Variable("x")).write(str(tmp_path / "v"))
    reader = tf.train.load_checkpoint(path)
    assert reader.has_tensor("v" + V) and not reader.has_tensor("u")
    assert reader.get_variable_to_dtype_map()["s" + V] is tf.string and reader.get_variable_to_shape_map()["v" + V] == [
        2
    ]
    assert tf.train.load_variable(path, "v" + V).tolist() == [1.0, 2.0]
    assert reader.debug_string().splitlines()[2] == b"v/.ATTRIBUTES/VARIABLE_VALUE (DT_FLOAT) [2]"


def test_manager(tmp_path):
    v = tf.Variable(0.0)
    ckpt = tf.train.Checkpoint(v=v)
    initialized = []
    manager = tf.train.CheckpointManager(ckpt, str(tmp_path), max_to_keep=2, init_fn=lambda: initialized.append(1))
    assert manager.restore_or_initialize() is None and initialized == [1]
    for i in range(3):
        v.assign(float(i))
        manager.save()
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-2", "ckpt-3"]
    assert sorted(n for n in os.listdir(tmp_path) if n.endswith(".index")) == ["ckpt-2.index", "ckpt-3.index"]
    w = tf.Variable(-1.0)
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=w), str(tmp_path), max_to_keep=2)
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-3") and float(w) == 2.0
    assert (
        os.path.basename(again.save()) == "ckpt-4" and os.path.basename(again.save(checkpoint_number=99)) == "ckpt-99"
    )
    assert [os.path.basename(p) for p in tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths] == [
        "ckpt-4",
        "ckpt-99",
    ]
    with pytest.raises(ValueError, match="Expected a positive integer or `None` for `max_to_keep`, got 0."):
        tf.train.CheckpointManager(ckpt, str(tmp_path), max_to_keep=0)
    step = tf.Variable(0)
    paced = tf.train.CheckpointManager(
        ckpt, str(tmp_path / "p"), max_to_keep=None, step_counter=step, checkpoint_interval=3
    )
    assert paced.save() is not None and paced.save() is None
    step.assign(3)
    assert paced.save() is not None
    assert list(tf.train.checkpoints_iterator(str(tmp_path), timeout=0)) == [str(tmp_path / "ckpt-99")]


def test_python_state_and_callbacks(tmp_path):
    class State(tf.train.experimental.PythonState):
        text = "hello"

        def serialize(self):
            return self.text

        def deserialize(self, string_value):
            self.text = string_value.decode()

    state, seen = State(), []
    ckpt = tf.train.Checkpoint(p=state)
    options = tf.train.CheckpointOptions(experimental_write_callbacks=[seen.append])
    path = ckpt.save(str(tmp_path / "py"), options=options)
    state.text = "other"
    ckpt.restore(path)
    assert state.text == "hello" and seen == [path]


def test_slot_variables(tmp_path):
    class Optimizer(tf.Module):
        def __init__(self):
            super().__init__()
            self._setattr_tracking = False
            self.slots = {}
            self._setattr_tracking = True

        def get_slot_names(self):
            return ["m"]

        def get_slot(self, variable, name):
            return self.slots.get(variable._shared_name)

        def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
            slot = self.slots[variable._shared_name] = tf.Variable(0.0)
            slot_variable_position.restore(slot)

    v, optimizer = tf.Variable(1.0, name="v"), Optimizer()
    optimizer.slots["v"] = tf.Variable(7.0, name="slot")
    path = tf.train.Checkpoint(v=v, o=optimizer).write(str(tmp_path / "s"))
    assert "v/.OPTIMIZER_SLOT/o/m" + V in [n for n, _ in tf.train.list_variables(path)]
    ckpt = tf.train.Checkpoint(o=Optimizer())
    ckpt.read(path).expect_partial()
    ckpt.v = tf.Variable(0.0, name="v")
    assert float(ckpt.v) == 1.0 and float(ckpt.o.slots["v"]) == 7.0


def test_objects_that_save_themselves(tmp_path):
    from weft._src.trackable.base import Trackable

    class Own(Trackable):
        def __init__(self, x):
            self.x = x

        def _serialize_to_tensors(self):
            return {"x": tf.constant(self.x), "twice": tf.constant(2 * self.x)}

        def _restore_from_tensors(self, restored_tensors):
            self.x = restored_tensors["x"].numpy() + restored_tensors["twice"].numpy()

    path = tf.train.Checkpoint(o=Own(5)).write(str(tmp_path / "o"))
    assert [n for n, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "o/.ATTRIBUTES/twice",
        "o/.ATTRIBUTES/x",
    ]
    other = Own(0)
    tf.train.Checkpoint(o=other).read(path).assert_consumed()
    assert other.x == 15


def test_views(tmp_path):
    m = tf.Module()
    m.a, m.l, m.z = tf.Variable(1.0), [tf.Variable(2.0)], tf.Variable(9.0)
    view = tf.train.CheckpointView(tf.train.Checkpoint(m).write(str(tmp_path / "a")))
    assert view.children(0) == {"a": 1, "l": 2, "z": 3, "root": 0} and view.descendants() == [0, 1, 2, 3, 4]
    n = tf.Module()
    n.a, n.q, n.l = tf.Variable(1.0), tf.Variable(3.0), [tf.Variable(0.0)]
    matched, only_there, only_here = view.diff(n)
    assert sorted(matched) == [0, 1, 2, 4] and only_there == [3] and len(only_here) == 1 and only_here[0] is n.q
    assert [type(o).__name__ for o in tf.train.TrackableView(n).descendants()] == [
        "Module",
        "ResourceVariable",
        "ResourceVariable",
        "ListWrapper",
        "ResourceVariable",
    ]


def test_moving_averages():
    v = tf.Variable([1.0, 2.0])
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    v.assign([5.0, 6.0])
    ema.apply([v])
    assert (
        ema.average(v).numpy().tolist() == pytest.approx([1.4, 2.4])
        and ema.average(v).name == "Variable/ExponentialMovingAverage:0"
    )
    w = tf.Variable(1.0)
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=tf.Variable(3))
    ema.apply([w])
    w.assign(3.0)
    ema.apply([w])
    assert float(ema.average(w)) == pytest.approx(2.3846154)

    @tf.function
    def step():
        ema.apply([w])
        return ema.average(w)

    assert float(step()) == pytest.approx(2.8106508)


def test_iterators(tmp_path):
    iterator = iter(tf.data.Dataset.range(10))
    next(iterator), next(iterator)
    ckpt = tf.train.Checkpoint(it=iterator)
    path = ckpt.write(str(tmp_path / "it"))
    assert [n for n, _ in tf.train.list_variables(path)] == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "it/.ATTRIBUTES/ITERATOR_STATE",
    ]
    rest = [int(x) for x in iterator]
    ckpt.read(path).assert_consumed()
    assert [int(x) for x in iterator] == rest == list(range(2, 10))


def test_a_trackable_view_of_ones_own_says_what_the_children_are():
    class Only(tf.train.TrackableView):
        @classmethod
        def children(cls, obj, save_type="checkpoint", **kwargs):
            return {k: v for k, v in super().children(obj, save_type, **kwargs).items() if k != "left_out"}

    m = tf.Module()
    m.kept, m.left_out = [tf.Variable(1.0)], [tf.Variable(2.0)]
    assert len(tf.train.TrackableView(m).descendants()) == 5
    assert [float(v) for v in Only(m).descendants() if isinstance(v, tf.Variable)] == [1.0]
