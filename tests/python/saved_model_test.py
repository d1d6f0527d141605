"""tf.saved_model: a model that TensorFlow wrote (data/make_model.py), and models that weft writes and reads again."""

import collections
import os
import subprocess
import sys

import pytest
import weft as tf
from weft.proto import SavedModel

MODEL = os.path.join(os.path.dirname(__file__), "data", "model")
Pair = collections.namedtuple("P", "a b")
X = tf.constant([[1.0, 1.0]])


@pytest.fixture(params=["of TensorFlow", "saved again"])
def model(request, tmp_path):
    loaded = tf.saved_model.load(MODEL)
    if request.param == "saved again":
        tf.saved_model.save(loaded, tmp_path / "again", signatures=loaded.signatures)
        loaded = tf.saved_model.load(tmp_path / "again")
    return loaded


def test_functions(model):
    assert model.predict(X).numpy() == 4 and model.predict(X, scale=2.0, k=tf.constant(1.0)).numpy() == 7
    steps = model.steps.numpy()
    assert model.predict(X, True).numpy() == 4 and model.steps.numpy() == steps + 1
    result = model.structured({"a": tf.constant(1), "b": [tf.constant(2)]}, Pair(tf.constant(1), "s"))
    assert type(result).__name__ == "P" and result.a.numpy() == 1 and result.b[0].numpy() == 2 and result.b[1] is None
    with pytest.raises(ValueError) as e:
        model.predict(X, scale=7.0)
    text = str(e.value)
    assert text.startswith(
        "Could not find matching concrete function to call loaded from the SavedModel. Got:\n  Positional arguments (3 total):\n"
        "    * <tf.Tensor 'x:0' shape=(1, 2) dtype=float32>\n    * False\n    * 7.0\n  Keyword arguments: {'k': None}\n\n Expected these arguments "
        "to match one of the following 3 option(s):\n\nOption 1:\n"
    )


def test_objects(model):
    assert (
        model.w.numpy().tolist() == [[1], [2]]
        and model.w.name == "w:0"
        and model.w.trainable
        and not model.steps.trainable
    )
    assert model.parts[0].numpy() == 5 and model.parts[1]["k"].numpy() == 6 and model.t[0].numpy() == 1
    assert open(model.asset.asset_path.numpy(), "rb").read() == b"a\nb\nc\n"
    assert model.lookup(tf.constant(["b", "q"]))["ids"].numpy().tolist() == [1, -1]
    assert type(model).__name__ == "_UserObject" and model.tensorflow_version == "2.21.0"


def test_signatures(model):
    assert list(model.signatures) == ["serving_default"]
    signature = model.signatures["serving_default"]
    assert signature(words=tf.constant(["a", "c"]))["ids"].numpy().tolist() == [0, 2]
    assert signature(tf.constant(["b"]))["p"].numpy() == 1
    assert signature.structured_input_signature == ((), {"words": tf.TensorSpec([None], tf.string, "words")})
    assert signature.structured_outputs["ids"] == tf.TensorSpec([None], tf.int64, "ids")
    with pytest.raises(TypeError, match="missing a required (keyword-only )?argument: 'words'"):
        signature()


def test_gradients(model):
    with tf.GradientTape() as tape:
        y = model.predict(X) ** 2
    assert tape.gradient(y, model.w).numpy().tolist() == [[8], [8]]


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="Got an incompatible argument to `tags`"):
        tf.saved_model.load(MODEL, tags=["x"])
    with pytest.raises(OSError, match="SavedModel file does not exist at: "):
        tf.saved_model.load(tmp_path)
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(3, tmp_path)
    m = tf.Module()
    v = tf.Variable(1.0)
    m.f = tf.function(lambda: v + 1.0, input_signature=[])
    with pytest.raises(AssertionError, match="Tried to export a function which references an 'untracked' resource"):
        tf.saved_model.save(m, tmp_path / "m")
    with pytest.raises(
        ValueError,
        match="Only `tf.functions` with an input signature or concrete functions can be used as a signature.",
    ):
        tf.saved_model.save(m, tmp_path / "m", signatures=tf.function(lambda x: x))


def test_what_is_written(tmp_path):
    m = tf.Module()
    m.v = tf.Variable([1.0, 2.0], name="v")
    m.f = tf.function(lambda x: x * m.v, input_signature=[tf.TensorSpec([2], name="x")])
    tf.saved_model.save(m, tmp_path / "m")
    assert sorted(os.listdir(tmp_path / "m")) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]
    assert sorted(os.listdir(tmp_path / "m" / "variables")) == ["variables.data-00000-of-00001", "variables.index"]
    meta = SavedModel.FromString((tmp_path / "m" / "saved_model.pb").read_bytes()).meta_graphs[0]
    assert list(meta.meta_info_def.tags) == ["serve"] and sorted(meta.signature_def) == [
        "__saved_model_init_op",
        "serving_default",
    ]
    info = meta.signature_def["serving_default"]
    assert info.inputs["x"].name == "serving_default_x:0" and info.method_name == "tensorflow/serving/predict"
    assert [n.op for n in meta.graph_def.node if n.name == "v"] == [
        "VarHandleOp"
    ] and meta.saver_def.filename_tensor_name == "saver_filename:0"
    assert tf.saved_model.contains_saved_model(tmp_path / "m") and not tf.saved_model.contains_saved_model(tmp_path)
    again = tf.saved_model.load(tmp_path / "m")
    again.v.assign([3.0, 4.0])
    assert again.f(tf.constant([1.0, 1.0])).numpy().tolist() == [3, 4] and m.v.numpy().tolist() == [1, 2]


def test_keyword_only_and_structures(tmp_path):
    m = tf.Module()

    @tf.function
    def f(x, *, flag=True, others=(1, 2)):
        return [x + 1 if flag else x - 1, {"n": x * others[1]}]

    f(tf.constant(1))
    f(tf.constant(1), flag=False)
    m.f = f
    tf.saved_model.save(m, tmp_path / "m")
    again = tf.saved_model.load(tmp_path / "m")
    assert again.f(tf.constant(5))[0].numpy() == 6 and again.f(tf.constant(5), flag=False)[0].numpy() == 4
    assert again.f(5, others=(1, 2))[1]["n"].numpy() == 10


MODEL_V1 = os.path.join(os.path.dirname(__file__), "data", "model_v1")


def test_model_of_version_1():
    model = tf.saved_model.load(MODEL_V1)
    assert sorted(model.signatures) == ["look", "serving_default"] and [v.name for v in model.variables] == [
        "w:0",
        "b:0",
    ]
    out = model.signatures["serving_default"](x=X)
    assert out["y"].numpy() == 3.5 and out["z"].numpy() == 7
    assert model.signatures["look"](k=tf.constant(["b", "q"]))["ids"].numpy().tolist() == [2, -1]
    with tf.GradientTape() as tape:
        z = model.signatures["serving_default"](x=X)["z"]
    assert tape.gradient(z, model.variables[0]).numpy().tolist() == [[2], [2]]


def test_model_of_version_1_in_a_session():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        signatures = v1.saved_model.load(sess, ["serve"], MODEL_V1).signature_def
        assert sess.run(signatures["serving_default"].outputs["z"].name, {"x:0": [[1.0, 1.0]]}) == 7
        assert sess.run(signatures["look"].outputs["ids"].name, {"k:0": ["a"]}) == 1
        with pytest.raises(RuntimeError, match="could not be found in SavedModel"):
            v1.saved_model.load(sess, ["other"], MODEL_V1)


def test_tables_that_change(tmp_path):
    m = tf.Module()
    m.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    m.table.insert(["x"], [5])
    m.look = tf.function(m.table.lookup, input_signature=[tf.TensorSpec([None], tf.string)])
    tf.saved_model.save(m, tmp_path / "m")
    again = tf.saved_model.load(tmp_path / "m")
    assert again.look(tf.constant(["x", "y"])).numpy().tolist() == [5, -1]
    tf.saved_model.save(again, tmp_path / "again")
    assert tf.saved_model.load(tmp_path / "again").look(tf.constant(["x"])).numpy().tolist() == [5]


def test_composite_arguments_and_results(tmp_path):
    m = tf.Module()
    m.ragged = tf.function(lambda r: r + 1, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    m.sparse = tf.function(
        lambda s: (tf.sparse.to_dense(s) * 2.0, s), input_signature=[tf.SparseTensorSpec([None, None], tf.float32)]
    )
    tf.saved_model.save(m, tmp_path / "m")
    again = tf.saved_model.load(tmp_path / "m")
    assert again.ragged(tf.ragged.constant([[1], [2, 3]])).to_list() == [[2], [3, 4]]
    dense, sparse = again.sparse(tf.sparse.from_dense([[0.0, 3.0]]))
    assert dense.numpy().tolist() == [[0, 6]] and sparse.values.numpy().tolist() == [3]


def test_a_training_function(tmp_path):
    m = tf.Module()
    m.w = tf.Variable([[1.0], [2.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def loss(x):
        return tf.reduce_mean((x @ m.w) ** 2)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def train(x):
        with tf.GradientTape() as tape:
            value = loss(x)
        m.w.assign_sub(0.1 * tape.gradient(value, m.w))
        return value

    m.train = train
    tf.saved_model.save(m, tmp_path / "m")
    again = tf.saved_model.load(tmp_path / "m")
    assert (
        again.train(X).numpy() == 9
        and again.train(X).numpy() == pytest.approx(9 * 0.6**2)
        and m.w.numpy().tolist() == [[1], [2]]
    )
    library = SavedModel.FromString((tmp_path / "m" / "saved_model.pb").read_bytes()).meta_graphs[0].graph_def.library
    # TensorFlow takes no attributes of functions that it does not know, and wants to be told what handles are of.
    assert not [key for f in library.function for key in f.attr if key.startswith("_function_gradient")]
    (function,) = [f for f in library.function if f.signature.name.startswith("__inference_train_")][-1:]
    assert [d.shape.dim[0].size for a in function.signature.input_arg for d in a.handle_data] == [2]


@pytest.mark.parametrize("again", [False, True])
def test_custom_gradients(tmp_path, again):
    if again:

        @tf.custom_gradient
        def clip(y):
            def back(dy):
                return tf.clip_by_norm(dy, 0.5)

            return tf.exp(y), back

        m = tf.Module()
        m.f = tf.function(lambda x: clip(x) * 1.0, input_signature=[tf.TensorSpec(None)])
        tf.saved_model.save(m, tmp_path / "m")
        library = (
            SavedModel.FromString((tmp_path / "m" / "saved_model.pb").read_bytes()).meta_graphs[0].graph_def.library
        )
        assert library.registered_gradients[0].gradient_func in [f.signature.name for f in library.function]
    model = tf.saved_model.load(
        tmp_path / "m" if again else os.path.join(os.path.dirname(__file__), "data", "model_gradient")
    )
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = model.f(v * v)
    assert tape.gradient(y, v).numpy() == 2  # 0.5 times the gradient of v * v; without the custom one, exp(4) times it


def test_lists_and_dicts_of_another_package_are_saved(tmp_path):
    """Such a class gives plain lists and dicts as its children where it is saved (Keras does)."""

    class Parts(tf.Module):
        def _trackable_children(self, save_type="checkpoint", **kwargs):
            children = super()._trackable_children(save_type, **kwargs)
            return {**children, "hidden": [held["a"], {"b": held["b"]}]} if save_type == "savedmodel" else children

        @tf.function(input_signature=[])
        def total(self):
            return held["a"] + held["b"]

    held = {"a": tf.Variable(1.0), "b": tf.Variable(2.0)}
    tf.saved_model.save(Parts(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.total().numpy() == 3.0 and loaded.hidden[1]["b"].numpy() == 2.0


def test_signatures_keep_their_order(tmp_path):
    m = tf.Module()
    m.f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(m, str(tmp_path), signatures={"serving_default": m.f, "another": m.f})
    assert list(tf.saved_model.load(str(tmp_path)).signatures) == ["serving_default", "another"]


def test_resource_of_the_program(tmp_path):
    """What _serialize_to_tensors gave is restored: from a model of TensorFlow, saved again, and saved by weft."""
    path = os.path.join(os.path.dirname(__file__), "data")
    keys = tf.constant([1, 3, 7], tf.int64)
    loaded = tf.saved_model.load(os.path.join(path, "user_resource"))
    assert loaded.get(keys).numpy().tolist() == [100, 300, -1]
    tf.saved_model.save(loaded, tmp_path / "again")
    assert tf.saved_model.load(tmp_path / "again").get(keys).numpy().tolist() == [100, 300, -1]

    program = [sys.executable, "-m", "weft", os.path.join(path, "make_user_resource.py"), str(tmp_path / "own")]
    subprocess.run(program, check=True)
    assert tf.saved_model.load(tmp_path / "own").get(keys).numpy().tolist() == [100, 300, -1]

    def saved(folder):
        with open(os.path.join(folder, "saved_model.pb"), "rb") as file:
            nodes = SavedModel.FromString(file.read()).meta_graphs[0].object_graph_def.nodes
        names = [name for name, _ in tf.train.list_variables(os.path.join(folder, "variables", "variables"))]
        return [sorted(n.saveable_objects) for n in nodes if n.saveable_objects], names

    assert saved(tmp_path / "own") == saved(os.path.join(path, "user_resource"))
