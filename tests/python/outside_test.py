"""What libraries on TensorFlow ask of it beyond its documented names. The expected values were read from TensorFlow."""

import numpy as np
import pytest

import weft as tf
from weft._src.framework import eager_context
from weft._src.framework.composite import CompositeTensor


def test_handles_of_variables_are_one_object():
    v = tf.Variable(1.0)
    assert v.handle is v.handle
    graph = tf.function(lambda x: x + v).get_concrete_function(1.0).graph
    captures = graph.function_captures
    assert [t.dtype for t in captures.by_val_internal.values()] == [tf.resource]
    assert list(captures.by_val_external.values())[0] is v.handle
    assert list(captures.by_val_external) == [id(v.handle)] == list(captures.by_val_internal)


def test_variables_that_keep_their_value_elsewhere():
    class Held(tf.Variable):
        def __init__(self, value):
            self.held = value
            self._trainable = False
            self._shape, self._dtype = value.shape, value.dtype

        trainable = property(lambda self: self._trainable)

        def value(self):
            return self.held

    v = Held(tf.constant([1.0, 2.0]))
    assert v.trainable is False
    np.testing.assert_array_equal(tf.convert_to_tensor(v), [1.0, 2.0])
    np.testing.assert_array_equal(v + 1.0, [2.0, 3.0])


def test_variables_that_wrap_another():
    class Wrapping(tf.Variable, tf.__internal__.types.Tensor):
        def __init__(self, variable):
            self._variable = variable

        dtype = property(lambda self: self._variable.dtype)
        shape = property(lambda self: self._variable.shape)
        name = property(lambda self: self._variable.name)

        def value(self):
            return tf.cast(self._variable.value(), tf.float16)

        def _should_act_as_resource_variable(self):
            pass

        def __getattr__(self, name):
            return getattr(self._variable, name)

    v = Wrapping(tf.Variable([1.0, 2.0], name="w"))
    assert v.handle is v._variable.handle
    assert v.numpy().tolist() == [1.0, 2.0] and bool(v.is_initialized())
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v.value() ** 2)
    gradient = tape.gradient(y, v)
    assert gradient.dtype == tf.float32 and gradient.numpy().tolist() == [2.0, 4.0]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v.value() ** 2)
        return tape.gradient(y, [v])[0]

    assert step().numpy().tolist() == [2.0, 4.0]


def test_references_have_an_order():
    a, b = tf.Variable(1.0).ref(), tf.Variable(1.0).ref()
    assert (a < b) != (b < a) and (a < b) == (b > a)
    with pytest.raises(TypeError, match="Cannot compare wrapped object with unwrapped object"):
        a < 3  # noqa: B015


def test_functions_have_what_their_callable_has():
    class Callable:
        def __init__(self):
            self.size = 5

        def __call__(self, x):
            return x + self.size

    f = tf.function(Callable())
    assert f.size == 5
    assert f(1).numpy() == 6


def test_context_names_the_device_scope():
    context = eager_context.context()
    assert context.device_name == "" and context.device_spec.device_type is None
    with tf.device("cpu:0"):
        assert context.device_name == "/job:localhost/replica:0/task:0/device:CPU:0"
        assert context.device_spec.device_type == "CPU"


def test_compiled_computations_give_lists():
    compile_ = tf.xla.experimental.compile
    (one,) = compile_(lambda x: x + 1.0, [tf.constant(2.0)])
    assert one.numpy() == 3.0
    two = compile_(lambda: (tf.constant(1.0), tf.constant(2.0)))
    assert isinstance(two, list) and [t.numpy() for t in two] == [1.0, 2.0]
    assert compile_(lambda x: {"a": x + 1.0}, [tf.constant(2.0)])["a"].numpy() == 3.0


def test_scalars_of_private_numpy():
    assert tf.constant("a")._numpy() == b"a" and isinstance(tf.constant("a")._numpy(), bytes)
    assert isinstance(tf.constant(1.0)._numpy(), np.float32)
    assert isinstance(tf.constant([1.0])._numpy(), np.ndarray)


def test_operators_convert_what_has_a_conversion():
    class Spec(tf.TypeSpec):
        value_type = property(lambda self: Held)
        _component_specs = tf.TensorSpec([])

        def _to_components(self, value):
            return value.value

        def _from_components(self, components):
            return Held(components)

        def _serialize(self):
            return ()

    class Held(CompositeTensor):
        def __init__(self, value):
            self.value = value

        _type_spec = property(lambda self: Spec())

        def __sub__(self, other):
            return type(self.value).__sub__(self.value, other)

    tf.register_tensor_conversion_function(Held, lambda value, dtype=None, name=None, as_ref=False: value.value)
    assert (Held(tf.constant(5.0)) - Held(tf.constant(3.0))).numpy() == 2.0


def loop_in_a_graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.int32, [1], name="x")
        tf.identity(tf.function(lambda i: tf.while_loop(lambda i: i < 10, lambda i: [i + 3], [i])[0])(x), name="y")
    return graph


def test_imported_graphs_keep_their_functions():
    definition = loop_in_a_graph().as_graph_def()
    before = definition.SerializeToString()
    assert definition.library.function
    again = tf.Graph()
    with again.as_default():
        tf.import_graph_def(definition, name="")
    assert definition.SerializeToString() == before
    assert len(again._functions) == len(definition.library.function)
    assert all(f.definition.signature.name == name for name, f in again._functions.items())
    with tf.compat.v1.Session(graph=again) as session:
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [0]}), [12])


def test_conditions_of_loops_are_scalars():
    library = loop_in_a_graph().as_graph_def().library.function
    (condition,) = [f for f in library if "while_cond" in f.signature.name]
    assert "Squeeze" in {n.op for n in condition.node_def}


def test_variants_cannot_be_fetched():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        reserved = tf.raw_ops.TensorListReserve(element_shape=[2], num_elements=2, element_dtype=tf.float32)
        with pytest.raises(tf.errors.InternalError, match="Tensorflow type 21 not convertible to numpy dtype"):
            session.run(reserved)


class Cases(tf.test.TestCase):
    def test_dictionaries_of_objects(self):
        class Kind:
            dtype = np.float32

            def __eq__(self, other):
                return isinstance(other, Kind)

        self.assertDictEqual({"a": Kind()}, {"a": Kind()})
        self.assertDictEqual({"a": tf.constant([1.0])}, {"a": tf.constant([1.0])})
        with self.assertRaises(AssertionError):
            self.assertDictEqual({"a": tf.constant([1])}, {"a": tf.constant([2])})

    def test_ragged_values_of_graphs(self):
        with tf.Graph().as_default(), self.session():
            self.assertAllEqual(tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1], [2, 3]]))


def test_metadata_of_summaries(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf.summary.audio("sound", tf.zeros([1, 100, 1]), 8000, step=2)
        tf.summary.scalar("s", 1.0, step=2)
    writer.close()
    (file,) = tmp_path.iterdir()
    events = [tf.compat.v1.Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(file))]
    found = {v.tag: v.metadata for e in events for v in e.summary.value}
    assert found["sound"].plugin_data.content == b"\x10\x0b"  # TensorBoard's AudioPluginData: encoding WAV
    assert found["sound"].data_class == found["s"].data_class == 0  # TensorBoard knows it by the plugin


def test_joined_sparse_tensors_know_their_shape():
    spec = tf.SparseTensorSpec([2, None]), tf.SparseTensorSpec([None, 3])
    found = []

    @tf.function(input_signature=[spec])
    def f(parts):
        found.append(tf.sparse.concat(0, [parts[0], parts[1]]).shape.as_list())
        found.append(tf.sparse.concat(1, [tf.sparse.eye(2, 3), tf.sparse.eye(2, 4)]).shape.as_list())
        return 0

    f.get_concrete_function()
    assert found == [[None, None], [2, 7]]


class Texts(tf.test.TestCase):
    def test_texts_of_several_forms(self):
        self.assertAllEqual(np.array(["a", "b"]), tf.constant(["a", "b"]))
        with self.assertRaises(AssertionError):
            self.assertAllEqual(np.array(["a", "c"]), tf.constant(["a", "b"]))


def test_graphs_tell_the_device_scope():
    class Op:
        device = None

        def _set_device_from_string(self, text):
            self.device = text

    with tf.Graph().as_default() as graph:
        op = Op()
        graph._apply_device_functions(op)
        assert op.device is None
        with tf.device("/device:CPU:0"):
            graph._apply_device_functions(op)
        assert op.device == "/device:CPU:0"


def test_nodes_of_node_defs():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [2])
        node = tf.add(x, x, name="sum").op.node_def
        node.name = graph.unique_name("made")
        op = graph._create_op_from_tf_operation(tf.__internal__.create_c_op(graph, node, [x, x], control_inputs=[x.op]))
        op._control_flow_post_processing()
        assert (op.name, op.type, op.outputs[0].shape) == ("made", "AddV2", [2])
        assert op.control_inputs == [x.op] and graph.unique_name("made") == "made_1"
        joined = tf.concat([x, x], 0).op.node_def
        joined.name = "joined"
        op = tf.__internal__.create_c_op(graph, joined, [x, x, tf.constant(0)], control_inputs=[])
        assert [i.name for i in op.inputs] == ["Placeholder:0", "Placeholder:0", "Const:0"]
        with pytest.raises(ValueError, match="Duplicate node name in graph: 'joined'"):
            tf.__internal__.create_c_op(graph, joined, [x, x, tf.constant(0)], control_inputs=[])
        with tf.compat.v1.Session() as session:
            np.testing.assert_array_equal(session.run(op.outputs[0], {x: [1.0, 2.0]}), [1.0, 2.0, 1.0, 2.0])


def test_graphs_of_libraries_make_variables():
    from weft._src.framework.graph import FuncGraph

    with FuncGraph("library").as_default():
        v = tf.Variable(3.0)
    assert float(v) == 3.0


def test_the_first_trace_of_a_function():
    f = tf.function(lambda x: x + 1)
    assert not hasattr(f, "_concrete_variable_creation_fn")
    f(tf.constant(1.0))
    f(tf.constant(1))
    assert f._concrete_variable_creation_fn.graph.inputs[0].dtype == tf.float32


def test_classes_are_in_the_dictionaries_of_private_modules():
    from weft._src.tensorflow import find

    assert vars(find("tensorflow.python.framework.tensor"))["TensorSpec"] is tf.TensorSpec


def test_ragged_slices_of_foreign_objects():
    class Symbolic:
        __getitem__ = tf.RaggedTensor.__getitem__

    class Slices(tf.__internal__.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if op is tf.__operators__.ragged_getitem and isinstance(args[0], Symbolic):
                return "taken over", args[1]
            return self.NOT_SUPPORTED

    from weft._src.framework import dispatch

    Slices().register()
    assert Symbolic()[1] == ("taken over", 1)
    dispatch.global_dispatchers.pop()
    with pytest.raises(TypeError, match="Ragged __getitem__ expects a ragged_tensor."):
        tf.RaggedTensor.__getitem__(3, 0)


def test_variables_of_resource_handles():
    v = tf.Variable([1.0, 2.0])
    spec = v._type_spec
    again = spec._from_components(spec._to_components(v))
    again.assign_add([1.0, 1.0])
    assert v.numpy().tolist() == again.numpy().tolist() == [2.0, 3.0]


def test_cross_entropy_along_an_axis_of_unknown_rank():
    labels = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 24
    loss = tf.nn.softmax_cross_entropy_with_logits
    expected = loss(labels.transpose(0, 2, 1), 2 * labels.transpose(0, 2, 1))
    for axis in (1, -2):
        signature = [tf.TensorSpec(None), tf.TensorSpec(None)]
        f = tf.function(lambda x, y, axis=axis: loss(x, y, axis=axis), input_signature=signature)
        np.testing.assert_allclose(f(labels, 2 * labels), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ([None, 1], [None], [None, None]),
        ([None], [3], None),
        ([None, 3], [3], [None, 3]),
        ([None], [None], [None]),
        ([None, 1], [2, 3], None),
        (None, [3], None),
    ],
)
def test_shapes_of_equalities(a, b, expected):
    f = tf.function(lambda x, y: x == y).get_concrete_function(tf.TensorSpec(a), tf.TensorSpec(b))
    assert f.outputs[0].shape.rank == (None if expected is None else len(expected))
    assert expected is None or f.outputs[0].shape.as_list() == expected


def test_truncated_normal_numbers_of_compiled_functions():
    @tf.function(jit_compile=True)
    def f(seed, mean, deviation, low, high):
        return tf.random.stateless_parameterized_truncated_normal([20000], seed, mean, deviation, low, high)

    # Mean and deviation by integration of the density.
    for given, mean, deviation in [
        ((0.0, 1.0, -1.0, 1.0), 0.0, 0.5396),
        ((1.0, 2.0, 2.0, 5.0), 3.0860, 0.7753),
        ((0.0, 1.0, 8.0, 9.0), 8.1212, 0.1189),
        ((0.0, 1.0, -np.inf, 0.5), -0.5092, 0.6973),
    ]:
        x = f(tf.constant([1, 2]), *map(tf.constant, given)).numpy()
        assert given[2] <= x.min() and x.max() <= given[3]
        np.testing.assert_allclose([x.mean(), x.std()], [mean, deviation], atol=0.01)
    assert np.isnan(f(tf.constant([1, 2]), *map(tf.constant, (0.0, -1.0, 0.0, 1.0)))).all()


def test_conversions_and_subscripts_of_foreign_objects():
    class Symbolic:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("no array")

    class Conversions(tf.__internal__.dispatch.GlobalOpDispatcher):
        def handle(self, op, args, kwargs):
            if op is tf.__operators__.getitem:
                return "taken over", args[1]
            return ("taken over", kwargs) if op is tf.convert_to_tensor else self.NOT_SUPPORTED

    from weft._src.framework import dispatch

    Conversions().register()
    try:
        assert tf.convert_to_tensor(Symbolic(), dtype=tf.float32) == ("taken over", {"dtype": tf.float32})
        key = Symbolic()
        assert tf.constant([1, 2])[key] == ("taken over", key)
        with pytest.raises(TypeError, match="no array"):
            tf.exp(Symbolic())
    finally:
        dispatch.global_dispatchers.pop()


def test_seeds_that_are_tensors():
    assert tf.random.normal([2], seed=tf.constant(3)).shape == [2]
    with pytest.raises(TypeError, match="Expected int for argument 'seed2' not <tf.Tensor"):
        tf.random.normal([2], seed=tf.constant([1, 2]))
    with pytest.raises(TypeError, match="Expected int for argument 'seed2' not <tf.Tensor"):
        tf.function(lambda s: tf.random.normal([2], seed=s))(tf.constant(3))


def test_old_variables_that_are_trained():
    from weft._src.proto import GraphDef
    from weft._src.saved_model.load_v1 import _to_resources

    with tf.Graph().as_default() as graph:
        v = tf.raw_ops.VariableV2(shape=[2], dtype=tf.float32, name="v")
        first = tf.raw_ops.Assign(ref=v, value=[1.0, 2.0], name="first")
        step = tf.raw_ops.ApplyGradientDescent(var=v, alpha=0.5, delta=[2.0, 4.0], name="step")
        tf.identity(step, name="trained")
        added = tf.raw_ops.ScatterAdd(ref=v, indices=[1], updates=[10.0], name="added")
        tf.identity(added, name="scattered")
        tf.raw_ops.CountUpTo(ref=tf.raw_ops.VariableV2(shape=[], dtype=tf.int32, name="n"), limit=3, name="count")
        graph_def = GraphDef.FromString(graph.as_graph_def().SerializeToString())
        assert first is not None
    _to_resources(graph_def)
    assert {n.name: n.op for n in graph_def.node if n.op.startswith("Resource")} == {
        "step": "ResourceApplyGradientDescent",
        "added": "ResourceScatterAdd",
        "count": "ResourceCountUpTo",
    }
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        with tf.compat.v1.Session() as session:
            session.run("first")
            assert session.run("trained:0").tolist() == [0.0, 0.0]
            assert session.run("scattered:0").tolist() == [0.0, 10.0]


def test_casts_convert_composite_values():
    class Spec(tf.TypeSpec):
        value_type = property(lambda self: Held)
        _component_specs = tf.TensorSpec([])

        def _to_components(self, value):
            return value.held

        def _from_components(self, components):
            return Held(components)

        def _serialize(self):
            return ()

    class Held(CompositeTensor):
        def __init__(self, held):
            self.held = held

        _type_spec = property(lambda self: Spec())

    with pytest.raises(ValueError, match="with an unsupported type"):
        tf.cast(Held(tf.constant(2.0)), tf.float64)
    tf.register_tensor_conversion_function(Held, lambda value, dtype=None, name=None, as_ref=False: value.held)
    assert tf.cast(Held(tf.constant(2.0)), tf.float64).dtype == tf.float64
    assert tf.cast(Held(tf.constant(2.0)), tf.float32).numpy() == 2.0
