"""tf.compat.v1.saved_model: graphs with signatures as SavedModels."""

import os

from weft import _weft
from weft._src.framework import gfile
from weft._src.saved_model import constants
from weft._src.saved_model.constants import *  # noqa: F401,F403: the names of the format
from weft._src.saved_model.load import contains_saved_model  # noqa: F401
from weft._src.saved_model.structured import shape_to_proto


def build_tensor_info(tensor):
    """The TensorInfo of a tensor of the graph."""
    from weft._src.proto import TensorInfo

    made = TensorInfo()
    if hasattr(tensor, "dense_shape") and hasattr(tensor, "indices"):
        made.coo_sparse.values_tensor_name, made.coo_sparse.indices_tensor_name = (
            tensor.values.name,
            tensor.indices.name,
        )
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        made.dtype = tensor.dtype.as_datatype_enum
        made.tensor_shape.CopyFrom(shape_to_proto(tensor.shape))
        return made
    if isinstance(tensor, _weft.VariableBase):
        tensor = tensor._as_graph_element()
    made.name, made.dtype = tensor.name, tensor.dtype.as_datatype_enum
    made.tensor_shape.CopyFrom(shape_to_proto(tensor.shape))
    return made


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    from weft._src.framework.graph import get_default_graph

    name = f"{import_scope}/{tensor_info.name}" if import_scope else tensor_info.name
    return (graph or get_default_graph()).get_tensor_by_name(name)


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    from weft._src.proto import SignatureDef

    made = SignatureDef(method_name=method_name or "")
    for field, infos in ((made.inputs, inputs), (made.outputs, outputs)):
        for key, info in (infos or {}).items():
            field[key].CopyFrom(info)
    return made


def predict_signature_def(inputs, outputs):
    """A signature for prediction between these tensors."""
    for what, given in (("inputs", inputs), ("outputs", outputs)):
        if not given:
            raise ValueError(f"Prediction `{what}` cannot be None or empty.")
    return build_signature_def(
        {k: build_tensor_info(t) for k, t in inputs.items()},
        {k: build_tensor_info(t) for k, t in outputs.items()},
        constants.PREDICT_METHOD_NAME,
    )


def _one_string(examples, what):
    from weft._src.framework import dtypes

    if examples is None:
        raise ValueError(f"{what} `examples` cannot be None.")
    if not hasattr(examples, "op") and not hasattr(examples, "dtype"):
        raise ValueError(f"{what} `examples` must be of type Tensor. Found `examples` of type {type(examples)}.")
    info = build_tensor_info(examples)
    if info.dtype != dtypes.string.as_datatype_enum:
        raise ValueError(f"{what} input tensors must be of type string. Found tensors of type {info.dtype}")
    return info


def regression_signature_def(examples, predictions):
    """The signature of a regression: strings with Examples in, numbers out."""
    from weft._src.framework import dtypes

    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    inputs = {constants.REGRESS_INPUTS: _one_string(examples, "Regression")}
    made = build_tensor_info(predictions)
    if made.dtype != dtypes.float32.as_datatype_enum:
        raise ValueError(f"Regression output tensors must be of type float. Found tensors with type {made.dtype}.")
    return build_signature_def(inputs, {constants.REGRESS_OUTPUTS: made}, constants.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    """The signature of a classification: strings with Examples in, names or scores of classes out."""
    from weft._src.framework import dtypes

    inputs = {constants.CLASSIFY_INPUTS: _one_string(examples, "Classification")}
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    outputs = {}
    if classes is not None:
        made = build_tensor_info(classes)
        if made.dtype != dtypes.string.as_datatype_enum:
            raise ValueError(
                f"Classification classes must be of type string Tensor. Found tensors of type {made.dtype}.`"
            )
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = made
    if scores is not None:
        made = build_tensor_info(scores)
        if made.dtype != dtypes.float32.as_datatype_enum:
            raise ValueError("Classification scores must be a float Tensor.")
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = made
    return build_signature_def(inputs, outputs, constants.CLASSIFY_METHOD_NAME)


class MethodNameUpdater:
    """Changes the method names of signatures in a SavedModel."""

    def __init__(self, export_dir):
        import os

        from weft._src import proto
        from weft._src.framework import gfile

        self._export_dir = export_dir
        path = os.path.join(os.fspath(export_dir), constants.SAVED_MODEL_FILENAME_PB)
        self._saved_model = proto.SavedModel.FromString(gfile.read_bytes(path))

    def replace_method_name(self, signature_key, method_name, tags=None):
        if not signature_key:
            raise ValueError("`signature_key` must be defined.")
        if not method_name:
            raise ValueError("`method_name` must be defined.")
        wanted = {tags} if isinstance(tags, str) else None if tags is None else set(tags)
        found = False
        for meta in self._saved_model.meta_graphs:
            if wanted is not None and wanted != set(meta.meta_info_def.tags):
                continue
            if signature_key not in meta.signature_def:
                raise ValueError(
                    f"MetaGraphDef associated with tags {tags} does not have a signature_def with key: '{signature_key}'."
                )
            meta.signature_def[signature_key].method_name = method_name
            found = True
        if not found:
            raise ValueError(f"MetaGraphDef associated with tags {tags} could not be found in SavedModel.")

    def save(self, new_export_dir=None):
        import os

        from weft import _weft
        from weft._src.framework import gfile

        folder = os.fspath(new_export_dir or self._export_dir)
        gfile.makedirs(folder)
        path = os.path.join(folder, constants.SAVED_MODEL_FILENAME_PB)
        _weft.replace_file(path, self._saved_model.SerializeToString())


def make_main_op():
    """One op that initialises variables and tables."""
    from weft._src.compat.v1 import variables
    from weft._src.function.control_flow import group

    return group(
        variables.global_variables_initializer(),
        variables.local_variables_initializer(),
        variables.tables_initializer(),
    )


def main_op_with_restore(restore_op_name):
    """The same after a restore."""
    from weft._src.function.control_flow import group
    from weft._src.framework.graph import control_dependencies

    with control_dependencies([make_main_op()]):
        return group(restore_op_name)


def is_valid_signature(signature_def):
    return bool(signature_def.inputs and signature_def.outputs and signature_def.method_name)


class Builder:
    """Writes a SavedModel of graphs."""

    def __init__(self, export_dir):
        from weft._src.proto import SavedModel

        self._dir = os.fspath(export_dir)
        if gfile.isdir(self._dir) and gfile.listdir(self._dir):
            raise AssertionError(
                f"Export directory {self._dir} already exists, and isn't empty. Please choose a different export directory, or delete all the contents "
                "of the specified directory."
            )
        gfile.makedirs(self._dir)
        self._model = SavedModel(saved_model_schema_version=1)
        self._has_variables = False

    def _meta_graph(self, graph, tags, signature_def_map, main_op, saver_def):
        from weft._src.compat.v1.train.saver import make_meta_graph

        collections = {constants.MAIN_OP_KEY: [main_op]} if main_op is not None else {}
        for key, values in collections.items():
            graph.clear_collection(key)
            for v in values:
                graph.add_to_collection(key, v)
        made = make_meta_graph(graph, saver_def, tags=tags)
        for key, signature in (signature_def_map or {}).items():
            made.signature_def[key].CopyFrom(signature)
        return made

    def add_meta_graph_and_variables(
        self,
        sess,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
        **kwargs,
    ):
        """The session's graph, and the values of its variables."""
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke `add_meta_graph()` instead."
            )
        from weft._src.compat.v1.train.saver import Saver

        with sess.graph.as_default():
            saver = saver or Saver(allow_empty=True)
            folder = os.path.join(self._dir, constants.VARIABLES_DIRECTORY)
            gfile.makedirs(folder)
            if saver.saver_def is not None:
                saver.save(
                    sess, os.path.join(folder, constants.VARIABLES_FILENAME), write_meta_graph=False, write_state=False
                )
            assets = self._copy_assets(assets_collection)
            made = self._meta_graph(
                sess.graph, tags, signature_def_map, main_op if main_op is not None else legacy_init_op, saver.saver_def
            )
            for tensor, name in assets:
                made.asset_file_def.add(filename=name).tensor_info.name = tensor.name
        if clear_devices:
            for node in made.graph_def.node:
                node.device = ""
        self._model.meta_graphs.append(made)
        self._has_variables = True

    def _copy_assets(self, collection):
        from weft._src.framework.convert import constant_value

        out = []
        for tensor in collection or ():
            path = constant_value(tensor)
            path = path.item() if hasattr(path, "item") else path
            path = path.decode() if isinstance(path, bytes) else path
            folder = os.path.join(self._dir, constants.ASSETS_DIRECTORY)
            gfile.makedirs(folder)
            _weft.replace_file(os.path.join(folder, os.path.basename(path)), gfile.read_bytes(path))
            out.append((tensor, os.path.basename(path)))
        return out

    def add_meta_graph(
        self,
        tags,
        signature_def_map=None,
        assets_collection=None,
        legacy_init_op=None,
        clear_devices=False,
        main_op=None,
        strip_default_attrs=False,
        saver=None,
        **kwargs,
    ):
        """One graph more, for the variables that are written already."""
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke `add_meta_graph_and_variables()` first."
            )
        from weft._src.compat.v1.train.saver import Saver
        from weft._src.framework.graph import get_default_graph

        saver = saver or Saver(allow_empty=True)
        self._model.meta_graphs.append(
            self._meta_graph(get_default_graph(), tags, signature_def_map, main_op, saver.saver_def)
        )

    def save(self, as_text=False, experimental_image_format=False, **kwargs):
        """Writes the file."""
        from weft._src.proto import text_format

        name = constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        path = os.path.join(self._dir, name)
        _weft.replace_file(
            path, text_format.MessageToString(self._model).encode() if as_text else self._model.SerializeToString()
        )
        return path.encode()


SavedModelBuilder = Builder


def simple_save(session, export_dir, inputs, outputs, legacy_init_op=None):
    """The session's graph with one signature, for serving."""
    signature = {constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: predict_signature_def(inputs, outputs)}
    builder = Builder(export_dir)
    from weft._src.compat.v1.variables import get_collection

    with session.graph.as_default():
        assets = get_collection("asset_filepaths")
    builder.add_meta_graph_and_variables(
        session, [constants.SERVING], signature, assets_collection=assets, main_op=legacy_init_op, clear_devices=True
    )
    builder.save()


def maybe_saved_model_directory(export_dir):
    return contains_saved_model(export_dir)


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Brings a SavedModel's graph into the session's, restores its variables and runs what initialises it."""
    from weft._src.compat.v1.train.saver import import_meta_graph
    from weft._src.saved_model.meta_graphs import read_meta_graph

    loaded = read_meta_graph(os.fspath(export_dir), [tags] if isinstance(tags, str) else tags)
    scope = f"{import_scope}/" if import_scope else ""
    with sess.graph.as_default():
        saver = import_meta_graph(loaded.message, import_scope=import_scope)
        if saver is not None and saver.saver_def is not None and loaded.variables:
            saver.restore(sess, loaded.variables)
        if loaded.init_op:
            feeds = {scope + tensor: path for tensor, path in loaded.assets}
            sess.run(sess.graph.as_graph_element(scope + loaded.init_op), feeds)
    return loaded.message


class _Group:
    def __init__(self, **names):
        self.__dict__.update(names)


loader = _Group(load=load, maybe_saved_model_directory=maybe_saved_model_directory)
builder = _Group(SavedModelBuilder=Builder)
utils = _Group(build_tensor_info=build_tensor_info, get_tensor_from_tensor_info=get_tensor_from_tensor_info)
signature_def_utils = _Group(
    build_signature_def=build_signature_def,
    predict_signature_def=predict_signature_def,
    is_valid_signature=is_valid_signature,
    classification_signature_def=classification_signature_def,
    regression_signature_def=regression_signature_def,
    MethodNameUpdater=MethodNameUpdater,
)
tag_constants = _Group(SERVING=constants.SERVING, TRAINING=constants.TRAINING, GPU=constants.GPU, TPU=constants.TPU)
signature_constants = constants
