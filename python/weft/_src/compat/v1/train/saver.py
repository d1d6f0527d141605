"""tf.compat.v1.train.Saver, and graphs with their collections as MetaGraphDefs."""

import contextlib
import logging
import os
import time

from weft import _weft
from weft._src.compat.v1.train import saver_ops
from weft._src.raw import raw
from weft._src.framework import errors, gfile
from weft._src.framework.graph import Operation, get_default_graph, name_scope_v1
from weft._src.framework.tensor import Tensor
from weft._src.trackable.checkpoint_files import checkpoint_exists, update_checkpoint_state


def object_graph_key_mapping(checkpoint_path):
    """{name of a variable: its key} of a checkpoint that tf.train.Checkpoint wrote; NotFoundError for others."""
    from weft._src.proto import TrackableObjectGraph
    from weft._src.trackable.base import OBJECT_GRAPH_PROTO_KEY

    graph = _weft.BundleReader(checkpoint_path).tensors([OBJECT_GRAPH_PROTO_KEY])[0].numpy()
    return {
        a.full_name: a.checkpoint_key for node in TrackableObjectGraph.FromString(graph).nodes for a in node.attributes
    }


def _saver_of_objects(variables, names_to_keys):
    """A Saver that finds variables of such a checkpoint by their names."""
    found = saver_ops.entries(variables)
    keys = {e.key for e in found}
    missing, extra = keys - set(names_to_keys), set(names_to_keys) - keys
    if missing:
        raise errors.NotFoundError(
            None,
            None,
            f"\n\nExisting variables not in the checkpoint: {', '.join(sorted(missing))}\n\n"
            f"Variables names when this checkpoint was written which don't exist now: {', '.join(sorted(extra))}\n\n"
            f"({len(set(keys) & set(names_to_keys))} variable name(s) did match)\n\n"
            "Could not find some variables in the checkpoint (see names above). Saver was attempting to load an object-based checkpoint "
            "(saved using tf.train.Checkpoint or tf.keras.Model.save_weights) using variable names. If the checkpoint was written with eager "
            "execution enabled, it's possible that variable names have changed (for example missing a '_1' suffix). It's also possible that "
            "there are new variables which did not exist when the checkpoint was written. You can construct a Saver(var_list=...) with only "
            "the variables which previously existed, and if variable names have changed you may need to make this a dictionary with the old "
            "names as keys.",
        )
    return Saver({names_to_keys[e.key]: e.variable for e in found})


class Saver:
    """Writes variables into checkpoints and reads them again."""

    def __init__(
        self,
        var_list=None,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        saver_def=None,
        builder=None,
        defer_build=False,
        allow_empty=False,
        write_version=2,
        pad_step_number=False,
        save_relative_paths=False,
        filename=None,
    ):
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None."
            )
        self._var_list, self._name, self._filename, self._allow_empty = var_list, name, filename, allow_empty
        self._max_to_keep, self._hours, self._pad = max_to_keep, keep_checkpoint_every_n_hours, pad_step_number
        self._sharded, self._reshape = sharded, reshape
        self._last, self._next_kept = [], time.time() + keep_checkpoint_every_n_hours * 3600
        self.saver_def, self._of_objects = saver_def, None
        self._eager = not _weft.in_graph() and saver_def is None
        if self._eager:
            if var_list is None:
                raise RuntimeError(
                    "When eager execution is enabled, `var_list` must specify a list or dict of variables to save"
                )
        elif saver_def is None and not defer_build:
            self.build()

    def build(self):
        """Adds the nodes that save and restore."""
        if self._eager or self.saver_def is not None:
            return
        from weft._src.compat.v1.variables import get_collection, global_variables
        from weft._src.proto import SaverDef

        variables = (
            self._var_list if self._var_list is not None else global_variables() + get_collection("saveable_objects")
        )
        if not variables:
            if self._allow_empty:
                return
            raise ValueError("No variables to save")
        found = saver_ops.entries(variables)
        with name_scope_v1(self._name, "save"):
            default = raw.PlaceholderWithDefault(input=self._filename or "model", shape=[], name="filename")
            path = raw.PlaceholderWithDefault(input=default, shape=[], name="Const")
            saved = saver_ops.save(path, found, self._sharded)
            restore = saver_ops.restore(path, found, self._sharded, self._reshape)
        self.saver_def = SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restore.name,
            max_to_keep=self._max_to_keep or 0,
            sharded=bool(self._sharded),
            keep_checkpoint_every_n_hours=self._hours,
            version=2,
        )

    # ---- writing

    def save(
        self,
        sess,
        save_path,
        global_step=None,
        latest_filename=None,
        meta_graph_suffix="meta",
        write_meta_graph=True,
        write_state=True,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """Writes a checkpoint; its path is given back."""
        self.build()
        save_path = os.fspath(save_path)
        if global_step is not None:
            if not isinstance(global_step, int):
                global_step = int(global_step.numpy() if self._eager else sess.run(global_step))
            save_path = f"{save_path}-{global_step:08d}" if self._pad else f"{save_path}-{global_step}"
        folder = os.path.dirname(save_path)
        if folder and not gfile.isdir(folder):
            raise ValueError(f"Parent directory of {save_path} doesn't exist, can't save.")
        if self._eager:
            saver_ops.save(save_path, saver_ops.entries(self._var_list), sharded=False)
            written = save_path
        elif self.saver_def is None:
            return None
        else:
            written = sess.run(
                self.saver_def.save_tensor_name, {self.saver_def.filename_tensor_name: save_path}
            ).decode()
        if write_state:
            self._remember(written, meta_graph_suffix)
            update_checkpoint_state(folder or ".", written, self.last_checkpoints, latest_filename)
        if write_meta_graph and not self._eager:
            with sess.graph.as_default():
                self.export_meta_graph(f"{written}.{meta_graph_suffix}")
        return written

    def _remember(self, path, suffix):
        self._last = [(p, t) for p, t in self._last if p != path] + [(path, time.time())]
        while self._max_to_keep and len(self._last) > self._max_to_keep:
            old, made = self._last.pop(0)
            if made > self._next_kept:
                self._next_kept += self._hours * 3600
                continue
            _weft.remove_checkpoint(old)
            if gfile.exists(f"{old}.{suffix}"):
                gfile.remove(f"{old}.{suffix}")

    @property
    def last_checkpoints(self):
        return [p for p, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints):
        self._last = [(p, float("inf")) for p in last_checkpoints]

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        self._last = list(last_checkpoints_with_time)

    def recover_last_checkpoints(self, checkpoint_paths):
        self._last = [(p, gfile.stat(p + ".index").mtime_nsec / 1e9) for p in checkpoint_paths if checkpoint_exists(p)]

    # ---- reading

    def restore(self, sess, save_path):
        """Gives the variables the values of a checkpoint."""
        self.build()
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        try:
            self._restore(sess, save_path)
        except errors.NotFoundError as e:
            try:
                names_to_keys = object_graph_key_mapping(save_path)
            except errors.NotFoundError:
                names_to_keys = None
            if names_to_keys is not None:
                return self._restore_objects(sess, save_path, names_to_keys)
            raise errors.NotFoundError(
                e.node_def,
                e.op,
                "Restoring from checkpoint failed. This is most likely due to a Variable name or other graph key that is "
                f"missing from the checkpoint. Please ensure that you have not altered the graph expected based on the checkpoint. "
                f"Original error:\n\n{e.message}",
            ) from None

    def _restore(self, sess, save_path):
        if not self._eager:
            sess.run(self.saver_def.restore_op_name, {self.saver_def.filename_tensor_name: save_path})
            return
        saver_ops.restore(save_path, saver_ops.entries(self._var_list), False, self._reshape)

    def _restore_objects(self, sess, save_path, names_to_keys):
        """From a checkpoint of objects."""
        from weft._src.compat.v1.variables import get_collection, global_variables

        logging.getLogger("tensorflow").warning(
            "Restoring an object-based checkpoint using a name-based saver. This may be somewhat fragile, and will re-build the Saver. "
            "Instead, consider loading object-based checkpoints using tf.train.Checkpoint()."
        )
        graph = contextlib.nullcontext() if self._eager else sess.graph.as_default()
        with graph:
            variables = self._var_list
            if variables is None:
                variables = global_variables() + get_collection("saveable_objects")
            if self._of_objects is None or self._of_objects[0] != names_to_keys:
                self._of_objects = names_to_keys, _saver_of_objects(variables, names_to_keys)
            self._of_objects[1].restore(sess, save_path)

    # ---- as messages

    def as_saver_def(self):
        return self.saver_def

    def to_proto(self, export_scope=None):
        return self.saver_def

    @staticmethod
    def from_proto(saver_def, import_scope=None):
        return Saver(saver_def=saver_def)

    def export_meta_graph(
        self,
        filename=None,
        collection_list=None,
        as_text=False,
        export_scope=None,
        clear_devices=False,
        clear_extraneous_savers=False,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        return export_meta_graph(filename, collection_list=collection_list, as_text=as_text, saver_def=self.saver_def)


# ---- meta graphs -----------------------------------------------------------------------------------------


def collections_to(graph, made, keys=None):
    """The collections of a graph as CollectionDefs: variables as messages, nodes by name, plain values."""
    for key in graph.get_all_collection_keys() if keys is None else keys:
        values = graph.get_collection(key)
        if not values or not isinstance(key, str):
            continue
        if all(isinstance(v, _weft.VariableBase) for v in values):
            made[key].bytes_list.value.extend([v.to_proto().SerializeToString() for v in values])
        elif all(isinstance(v, (Tensor, Operation)) for v in values):
            made[key].node_list.value.extend([v.name for v in values])
        elif all(isinstance(v, int) for v in values):
            made[key].int64_list.value.extend(values)
        elif all(isinstance(v, float) for v in values):
            made[key].float_list.value.extend(values)
        elif all(isinstance(v, (str, bytes)) for v in values):
            made[key].bytes_list.value.extend([v.encode() if isinstance(v, str) else v for v in values])


def make_meta_graph(graph, saver_def=None, collection_list=None, graph_def=None, tags=()):
    from weft import __git_version__, __version__
    from weft._src.proto import MetaGraphDef, op_def

    made = MetaGraphDef()
    made.meta_info_def.tags.extend(tags)
    made.meta_info_def.tensorflow_version, made.meta_info_def.tensorflow_git_version = __version__, __git_version__
    made.graph_def.CopyFrom(graph.as_graph_def() if graph_def is None else graph_def)
    own = {f.signature.name for f in made.graph_def.library.function}
    used = {n.op for n in made.graph_def.node} | {n.op for f in made.graph_def.library.function for n in f.node_def}
    for name in sorted(used - own):
        made.meta_info_def.stripped_op_list.op.append(op_def(name))
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    collections_to(graph, made.collection_def, collection_list)
    return made


def export_meta_graph(
    filename=None,
    meta_info_def=None,
    graph_def=None,
    saver_def=None,
    collection_list=None,
    as_text=False,
    graph=None,
    export_scope=None,
    clear_devices=False,
    clear_extraneous_savers=False,
    strip_default_attrs=False,
    save_debug_info=False,
    **kwargs,
):
    """A graph with its collections as a message, and as a file where a name is given."""
    if export_scope:
        raise NotImplementedError("export_meta_graph(export_scope=...): a part of a graph by scope")
    made = make_meta_graph(graph or get_default_graph(), saver_def, collection_list, graph_def)
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if filename:
        from weft._src.proto import text_format

        _weft.replace_file(
            os.fspath(filename), text_format.MessageToString(made).encode() if as_text else made.SerializeToString()
        )
    return made


def import_collections(graph, meta, scope=None):
    """Puts what the message says of collections into the graph."""
    from weft._src.proto import VariableDef
    from weft._src.trackable.graph_variable import GraphVariable

    made = {}
    for key in sorted(meta.collection_def):
        value = meta.collection_def[key]
        kind = value.WhichOneof("kind")
        if kind == "node_list":
            for name in value.node_list.value:
                graph.add_to_collection(key, graph.as_graph_element(f"{scope}/{name}" if scope else name))
        elif kind == "bytes_list" and key in (
            "variables",
            "trainable_variables",
            "local_variables",
            "model_variables",
            "moving_average_variables",
            "metric_variables",
            "global_step",
        ):
            for data in value.bytes_list.value:
                proto = VariableDef.FromString(data)
                if proto.variable_name not in made:
                    made[proto.variable_name] = GraphVariable.from_proto(proto, scope)
                graph.add_to_collection(key, made[proto.variable_name])
        elif kind is not None:
            for item in getattr(value, kind).value:
                graph.add_to_collection(key, item)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the nodes and collections of a meta graph; its saver is given back."""
    from weft._src.framework.importer import import_graph_def
    from weft._src.proto import MetaGraphDef, text_format

    if not _weft.in_graph():
        raise RuntimeError(
            "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager execution is enabled."
        )
    if isinstance(meta_graph_or_file, MetaGraphDef):
        meta = meta_graph_or_file
    else:
        path = os.fspath(meta_graph_or_file)
        if not gfile.exists(path):
            raise OSError(f"File does not exist. Received: {path}.")
        data = gfile.read_bytes(path)
        try:
            meta = MetaGraphDef.FromString(data)
        except Exception:  # noqa: BLE001: text, then
            meta = text_format.Parse(data, MetaGraphDef())
    if clear_devices:
        for node in meta.graph_def.node:
            node.device = ""
    from weft._src.saved_model.load_v1 import _to_resources

    graph = get_default_graph()
    copy = MetaGraphDef()
    copy.CopyFrom(meta)
    _to_resources(copy.graph_def)
    import_graph_def(copy.graph_def, name=import_scope or "")
    import_collections(graph, meta, import_scope)
    if meta.HasField("saver_def"):
        from weft._src.proto import SaverDef

        saver_def = SaverDef()
        saver_def.CopyFrom(meta.saver_def)
        if import_scope:
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(saver_def, field, f"{import_scope}/{getattr(saver_def, field)}")
        return Saver(saver_def=saver_def)
    return Saver() if graph.get_collection("variables") else None


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """The variables start with the values of a checkpoint. Names and scopes of the checkpoint on the left, variables, names or scopes of the program on the right."""
    from weft._src.compat.v1.variables import _state
    from weft._src.trackable.checkpoint_files import latest_checkpoint, list_variables

    path = os.fspath(ckpt_dir_or_file)
    if gfile.isdir(path):
        path = latest_checkpoint(path)
    known = {name for name, _ in list_variables(path)}
    store = _state().variables
    for theirs, ours in sorted(assignment_map.items()) if isinstance(assignment_map, dict) else assignment_map:
        if isinstance(ours, _weft.VariableBase):
            pairs = [(theirs, ours)]
        elif theirs.endswith("/") or ours.endswith("/"):
            theirs = "" if theirs == "/" else theirs
            ours = "" if ours == "/" else ours
            pairs = [
                (theirs + name[len(ours) :], v)
                for name, v in store.items()
                if name.startswith(ours) and theirs + name[len(ours) :] in known
            ]
        else:
            if ours not in store:
                raise ValueError(
                    f"Assignment map with scope only name {ours} should map to scope only {theirs}. Should be 'scope/': 'other_scope/'."
                )
            pairs = [(theirs, store[ours])]
        for key, v in pairs:
            if key not in known:
                raise ValueError(f"Tensor {key} is not found in {path} checkpoint {sorted(known)}")
            with v.graph.as_default(), name_scope_v1("checkpoint_initializer"):
                read = raw.RestoreV2(prefix=path, tensor_names=[key], shape_and_slices=[""], dtypes=[v.dtype])
                value = raw.Reshape(
                    tensor=read[0] if isinstance(read, (list, tuple)) else read, shape=v.shape.as_list()
                )
                v._initializer_op = raw.AssignVariableOp(resource=v.handle, value=value)
                v._initial_value = value
