"""tf.train.Checkpoint: the values of objects in files, and back."""

import os
import weakref

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, errors, gfile
from weft._src.framework.tensor import Tensor
from weft._src.trackable import restore as restoring
from weft._src.trackable.async_write import wait_for, writer_of
from weft._src.trackable.autotrackable import AutoTrackable
from weft._src.trackable.base import OBJECT_GRAPH_PROTO_KEY, Trackable, TrackableReference
from weft._src.trackable.checkpoint_files import (
    checkpoint_exists,
    checkpoints_iterator,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,  # noqa: F401
    load_checkpoint,
    load_variable,
    update_checkpoint_state,
)
from weft._src.trackable.checkpoint_manager import CheckpointManager  # noqa: F401
from weft._src.trackable.data_structures import NoDependency, _is_function
from weft._src.trackable.graph_view import ObjectGraphView, Saved
from weft._src.trackable.variable import Variable


class CheckpointOptions:
    """How a checkpoint is written and read."""

    __slots__ = (
        "experimental_io_device",
        "experimental_enable_async_checkpoint",
        "experimental_write_callbacks",
        "enable_async",
        "experimental_skip_slot_variables",
        "experimental_sharding_callback",
    )

    def __init__(
        self,
        experimental_io_device=None,
        experimental_enable_async_checkpoint=False,
        experimental_write_callbacks=None,
        enable_async=False,
        experimental_skip_slot_variables=False,
        experimental_sharding_callback=None,
    ):
        self.experimental_io_device = experimental_io_device
        self.enable_async = experimental_enable_async_checkpoint or enable_async
        self.experimental_enable_async_checkpoint = self.enable_async
        if experimental_write_callbacks is not None:
            for callback in experimental_write_callbacks:
                if not callable(callback):
                    raise ValueError("Each callback in `experimental_write_callbacks` must be callable.")
        self.experimental_write_callbacks = experimental_write_callbacks
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        if experimental_sharding_callback is not None:
            from weft._src.trackable.sharding import ShardingCallback

            if not isinstance(experimental_sharding_callback, ShardingCallback):
                raise ValueError(
                    "The experimental_sharding_callback checkpoint optionmust be of type ShardingCallback. The option providedwas of "
                    f"type {type(experimental_sharding_callback)}."
                )
        self.experimental_sharding_callback = experimental_sharding_callback


def _text_path(path):
    return path if isinstance(path, Tensor) else os.fspath(path) if hasattr(path, "__fspath__") else path


def as_tensor(value):
    """What an object saves under a name, as a tensor."""
    if hasattr(value, "tensor") and hasattr(value, "slice_spec"):  # a SaveSpec
        value = value.tensor
    return _weft.convert(
        value() if callable(value) and not isinstance(value, (Tensor, _weft.VariableBase)) else value, None, None
    )


def prepared_write(prefix, saved, sharding=None):
    """A function that saves the tensors of a graph_view.Saved, with the values of now, under a path: in one file or in those that a
    callback asks for."""
    names, slices, tensors = [], [], []
    for key, value in saved.tensors.items():
        for slice_spec, part in value.items() if isinstance(value, dict) else [("", value)]:
            names.append(key)
            slices.append(slice_spec)
            tensors.append(as_tensor(part))
    names.append(OBJECT_GRAPH_PROTO_KEY)
    slices.append("")
    tensors.append(_weft.convert(saved.graph, dtypes.string, None))
    if not isinstance(prefix, Tensor):
        folder = os.path.dirname(prefix)
        if folder:
            gfile.makedirs(folder)
    if sharding is not None:
        from weft._src.trackable.sharding import write

        owners = [saved.owners.get(name) for name in names]
        return lambda: write(prefix, list(zip(names, slices, tensors, owners)), sharding)
    return lambda: raw.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices, tensors=tensors)


def session_here(session=None):
    from weft._src.compat.session import get_default_session

    return get_default_session() if session is None else session


class _GraphOps:
    """What a checkpoint added to graphs of version 1: nodes are used again as long as the objects are the same."""

    def __init__(self):
        self._prefix = self._saved = None
        self.count = None
        self.restores = {}  # see restore.Restoration
        self._tensors = {}  # what objects save

    def prefix(self):
        """A tensor that sessions feed with a path."""
        graph = _weft.current_graph()
        if self._prefix is None or self._prefix.graph is not graph:
            self.__init__()
            self._prefix = raw.PlaceholderWithDefault(input="model", shape=[])
        return self._prefix

    def write(self, view, path, options, session=None):
        session = session_here(session)
        if session is None:
            raise RuntimeError(
                f'Unable to save checkpoint to "{path}" in graph mode without a default session. Please use '
                "`with tf.Session():` to create a session."
            )
        prefix = self.prefix()
        saved = Saved(view, options.experimental_skip_slot_variables, self._tensors)
        proto = saved.graph
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        if self._saved is None or self._saved[0] != proto:
            op = prepared_write(prefix, saved, options.experimental_sharding_callback)()
            self._saved = proto, op
        session.run(self._saved[1], {prefix: path})
        return path


class Checkpoint(AutoTrackable):
    """Saves and restores objects and all that they hold."""

    def __init__(self, root=None, **kwargs):
        self._save_counter = None
        self._root_object, self._attached = self, []
        self._graph_ops = _GraphOps()
        if root is not None:
            weak, root = (root, root()) if isinstance(root, weakref.ref) else (None, root)
            _check_trackable(root, "root")
            self._root_object = NoDependency(weak or root)
            root._maybe_initialize_trackable()
            self._kwargs_names = NoDependency(list(kwargs))
        for name, value in sorted((kwargs if root is None else {**kwargs, "root": root}).items()):
            if name == "root" and root is not None:
                if weak is None:
                    self._attached.append(TrackableReference(name, root))
                continue
            setattr(self, name, value)
            value = getattr(self, name)
            _check_trackable(value, name)
            if root is not None:
                current = root._lookup_dependency(name)
                if current is not None and current is not value:
                    raise ValueError(
                        f"Cannot create a Checkpoint with keyword argument {name} if root.{name} already exists."
                    )
                self._attached.append(TrackableReference(name, value))

    @property
    def _root_object(self):
        held = self._held_root
        return held() if isinstance(held, weakref.ref) else held

    @_root_object.setter
    def _root_object(self, root):
        self._held_root = root.value if isinstance(root, NoDependency) else root

    def __setattr__(self, name, value):
        # What the checkpoint keeps for itself is no child of it.
        if name in ("_root_object", "_held_root", "_attached", "_save_counter", "_graph_ops"):
            object.__setattr__(self, name, value.value if isinstance(value, NoDependency) else value)
        else:
            super().__setattr__(name, value)

    @property
    def root(self):
        return self._root_object

    @property
    def save_counter(self):
        """How often save() was called, as a variable."""
        self._maybe_create_save_counter()
        return self._save_counter

    def _maybe_create_save_counter(self):
        if self._save_counter is not None:
            return
        from weft._src.framework.graph import init_scope

        def make(name, shape, dtype, initializer, trainable):
            return Variable(initializer, dtype=dtype, name=name, trainable=trainable)

        with init_scope():
            before = _weft.name_scope()
            _weft.set_name_scope("")
            try:
                counter = self._add_variable_with_custom_getter(
                    name="save_counter", initializer=0, dtype=dtypes.int64, getter=make, trainable=False
                )
            finally:
                _weft.set_name_scope(before)
        self._save_counter = counter
        if self._root_object is not self:
            self._attached.append(TrackableReference("save_counter", counter))
            for position in self._root_object._deferred_dependencies.pop("save_counter", ())[:1]:
                position.restore(counter)

    def _view(self):
        root, attached = self._root_object, self._attached
        if isinstance(self._held_root, weakref.ref):
            attached = [TrackableReference("root", root), *attached]
        return ObjectGraphView(root, () if root is self else attached)

    def write(self, file_prefix, options=None):
        """Writes a checkpoint of exactly this name; gives the name."""
        return self._write(file_prefix, options)

    def _write(self, file_prefix, options=None, then=None, session=None):
        """then(path) is called when the files are there, before the program's own callbacks."""
        options = options or CheckpointOptions()
        prefix = _text_path(file_prefix)
        later = options.experimental_enable_async_checkpoint
        if later and _weft.in_graph():
            raise NotImplementedError(
                "Saving async checkpoint in graph mode is currently not supported; switch to regular checkpoint instead."
            )
        wait_for(self)
        if restoring.in_plain_graph():
            path = self._graph_ops.write(self._view(), prefix, options, session)
            for act in [then] if then is not None else []:
                act(path)
            for callback in options.experimental_write_callbacks or ():
                _call_back(callback, path)
            return path
        saved = Saved(self._view(), options.experimental_skip_slot_variables)
        write = prepared_write(prefix, saved, options.experimental_sharding_callback)
        if _weft.in_graph():
            write()
            return _weft.convert(prefix, dtypes.string, None)
        path = prefix.numpy().decode() if isinstance(prefix, Tensor) else prefix

        def work():
            write()
            if then is not None:
                then(path)
            for callback in options.experimental_write_callbacks or ():
                _call_back(callback, path)

        writer_of(self).submit(work) if later else work()
        return path

    def save(self, file_prefix, options=None):
        """Writes a numbered checkpoint and notes it as the latest of its folder; gives its name."""
        return self._save(file_prefix, options)

    def _save(self, file_prefix, options=None, session=None):
        plain = restoring.in_plain_graph()
        if _weft.in_graph() and not plain:
            raise NotImplementedError(
                "Calling tf.train.Checkpoint.save() from a function is not supported, as save() "
                "modifies saving metadata in ways not "
                "supported by TensorFlow Operations. Consider using "
                "tf.train.Checkpoint.write(), a lower-level API which does not update "
                "metadata. tf.train.latest_checkpoint and related APIs will not see this "
                "checkpoint."
            )
        prefix = _text_path(file_prefix)
        if isinstance(prefix, Tensor):
            prefix = prefix.numpy().decode()
        number = self._next_number(session) if plain else None
        if number is None:
            self._maybe_create_save_counter()
            self._save_counter.assign_add(1, read_value=False)
            number = int(self._save_counter)
        _weft.remove_leftovers(prefix, True)
        return self._write(
            f"{prefix}-{number}",
            options,
            lambda path: update_checkpoint_state(os.path.dirname(path) or ".", path, [path]),
            session,
        )

    def _next_number(self, session=None):
        """Counts in a session, in a graph of version 1."""
        session = session_here(session)
        if session is None:
            raise RuntimeError("Unable to save a checkpoint in graph mode without a default session.")
        if self._save_counter is None:
            session.run(self.save_counter.initializer)
        if self._graph_ops.count is None:
            self._graph_ops.count = self.save_counter.assign_add(1)
        return int(session.run(self._graph_ops.count))

    def read(self, save_path, options=None):
        """Restores what write() wrote; gives a status to ask."""
        return self._read(save_path, options)

    def _read(self, save_path, options=None):
        wait_for(self)
        view = self._view()
        if save_path is None:
            return restoring.nothing(view)
        path = _text_path(save_path)
        if isinstance(path, Tensor):
            if _weft.in_graph() and not hasattr(path, "numpy"):
                raise NotImplementedError(
                    "tf.train.Checkpoint.read in a tf.function needs a path that is known when the function is traced"
                )
            path = path.numpy()
        path = path.decode() if isinstance(path, bytes) else path
        if not isinstance(path, str):
            raise TypeError(f"Expected binary or unicode string, got {path!r}")
        reader = _weft.BundleReader(path)
        skip = options is not None and options.experimental_skip_slot_variables
        if restoring.in_plain_graph():
            return restoring.restore(path, reader, view, self._graph_ops.prefix(), self._graph_ops.restores, skip)
        return restoring.restore(path, reader, view, path if _weft.in_graph() else None, skip_slots=skip)

    def restore(self, save_path, options=None):
        """Restores what save() wrote, the counter as well; gives a status to ask."""
        path = _text_path(save_path)
        if isinstance(path, str) and gfile.isdir(path) and gfile.exists(os.path.join(path, "saved_model.pb")):
            path = os.path.join(path, "variables", "variables")
        try:
            status = self._read(path, options)
        except errors.NotFoundError as error:
            raise errors.NotFoundError(
                None,
                None,
                f"Error when restoring from checkpoint or SavedModel at "
                f"{save_path}: {error.message}\nPlease double-check that the "
                "path is correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                "'path/to/ckpt-1').",
            ) from None
        self._maybe_create_save_counter()
        if isinstance(status, restoring.NameBasedSaverStatus):
            status.add_to_optionally_restored(self._save_counter)
        return status

    def sync(self):
        """Waits for what is being written; raises what went wrong with it."""
        wait_for(self)


def _call_back(callback, path):
    import inspect

    callback(path) if inspect.signature(callback).parameters else callback()


def _check_trackable(value, name):
    if not isinstance(value, Trackable) and not _is_function(value):
        raise ValueError(
            f"`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
            f"`Trackable`), got {value}. If you believe this object "
            "should be trackable (i.e. it is part of the TensorFlow Python API and manages state), "
            "please open an issue."
        )
