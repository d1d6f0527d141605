"""Restoring: what the engine's restorer (saved_model/restorer.h) asks of Python's objects and does with them, and the status objects of TensorFlow's API."""

import contextlib
import functools
import logging

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.graph import init_scope
from weft._src.framework.tensor import Tensor
from weft._src.framework import nest
from weft._src.trackable.base import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY, Trackable


def _warn(text):
    logging.getLogger("tensorflow").warning("%s", text)


class Restoration:
    """One call of restore(): the checkpoint, and which of its nodes have found their object. The restorer calls it."""

    def __init__(self, path, reader, message, view, prefix=None, made=None, skip_slots=False):
        """`prefix`: the path as ops of a graph read it; a tensor in one of version 1, for which `made` keeps the ops of earlier restores."""
        self.path, self.reader, self.view = path, reader, view
        self.restorer, self._message = _weft.Restorer(message, skip_slots), message
        self.prefix, self.made = prefix, {} if made is None else made
        self.uid = self.restorer.id
        self.objects = {}  # node -> object
        self.attached = {
            name: ref for name, ref in view.attached_dependencies
        }  # children of the root that it does not know itself
        self.expects_partial = False
        self.ops = []  # of a graph of version 1: what a session is to run
        self.new_ops_callback = None

    @functools.cached_property
    def proto(self):
        """The graph as a message, for those who print it."""
        from weft._src.proto import TrackableObjectGraph

        return TrackableObjectGraph.FromString(self._message)

    def scope(self):
        """Values are read and assigned outside of functions that are being traced: an object may be made in one of them."""
        return init_scope() if _weft.in_graph() and not isinstance(self.prefix, str) else contextlib.nullcontext()

    def restore(self, node, obj):
        """The object is that of the node: so are all that are found below it, and get their values."""
        with self.scope():
            self.restorer.restore(self, node, obj)

    def add_ops(self, ops):
        """For a session to run."""
        if isinstance(self.prefix, Tensor):
            self.ops.extend(ops)
            if self.new_ops_callback is not None:
                self.new_ops_callback(ops)

    def feed(self):
        return {self.prefix: self.path} if isinstance(self.prefix, Tensor) else None

    def tensors(self, keys):
        """Values by key."""
        if self.prefix is None:
            return self.reader.tensors(keys)
        return list(
            raw.RestoreV2(
                prefix=self.prefix,
                tensor_names=keys,
                shape_and_slices=[""] * len(keys),
                dtypes=[self.reader.dtype(k) for k in keys],
            )
        )

    # ---- what the restorer asks

    warn = staticmethod(_warn)

    def defer(self, obj, name, node):
        obj._deferred_dependencies.setdefault(name, []).append(Position(self, node))

    def give(self, found):
        _read_values(self, found)

    def restore_slot(self, optimizer, variable, name, node):
        make = getattr(optimizer, "_create_or_restore_slot_variable", None)
        if make is not None:
            make(slot_variable_position=Position(self, node), slot_name=name, variable=variable)

    def all_objects(self):
        return self.view.objects()

    def has_values(self, obj):
        return _has_values(obj)

    def __del__(self):
        try:
            if not self.expects_partial:
                for text in self.restorer.leftovers():
                    _warn(text)
        except Exception:  # noqa: BLE001: the interpreter may be going down
            pass


class Position:
    """A node of a checkpoint that is being restored, for one object."""

    def __init__(self, restoration, node):
        self.restoration, self.node = restoration, node

    @property
    def checkpoint(self):
        return self.restoration

    @property
    def proto_id(self):
        return self.node

    @property
    def restore_uid(self):
        return self.restoration.uid

    @property
    def object_proto(self):
        return self.restoration.proto.nodes[self.node]

    @property
    def trackable(self):
        return self.restoration.objects[self.node]

    def is_simple_variable(self):
        """Whether the node is a variable and nothing more."""
        return self.restoration.restorer.is_variable_alone(self.node)

    def values(self):
        """(name, key) of each value of the node."""
        return self.restoration.restorer.values(self.node)

    def value_tensors(self, shape_and_slices=None):
        own = self.values()
        with self.restoration.scope():
            values = self.restoration.tensors([key for _, key in own])
        return dict(zip([name for name, _ in own], values))

    def restore(self, trackable, reader=None):
        """Binds the object, and all below it that is there; reads their values."""
        self.restoration.restore(self.node, trackable)


def _read_values(restoration, found):
    """The values of all these (node, object), in one read."""
    keys, wanted = [], []
    for node, obj in found:
        own = restoration.restorer.values(node)
        made = restoration.made.get((id(obj), own[0][1]))
        if made is not None:
            restoration.add_ops(made[1])
            continue
        wanted.append((node, obj, own, len(keys)))
        keys.extend(key for _, key in own)
    if not keys:
        return
    values = restoration.tensors(keys)
    for node, obj, own, at in wanted:
        given = {name: v for (name, _), v in zip(own, values[at : at + len(own)])}
        ops = [op for op in nest.flatten(_give(restoration, node, obj, given, own)) if op is not None]
        if isinstance(restoration.prefix, Tensor):
            restoration.made[id(obj), own[0][1]] = obj, ops
        restoration.add_ops(ops)


def _give(restoration, node, obj, given, own):
    """Gives an object its values; in a graph, the ops that do."""
    if obj._has_own_tensors():
        return obj._restore_from_tensors(given)
    saveables, ops = obj._gather_saveables_for_checkpoint(), []
    for name, key in own:
        made = saveables.get(name)
        if made is None:
            restoration.restorer.add_unused(node, name)
        elif isinstance(made, Trackable) and made._has_own_tensors():
            ops.append(made._restore_from_tensors({VARIABLE_VALUE_KEY: given[name]}))
        else:
            saveable = made(name=key) if callable(made) else made
            ops.append(saveable.restore(restoration.tensors([spec.name for spec in saveable.specs]), None))
    return ops


def in_plain_graph():
    """Whether a graph of version 1 is being built, and no function in it."""
    return _weft.in_graph() and not _weft.current_graph().building_function


_session_provider = None


def register_session_provider(session_provider):
    """tf.__internal__.tracking: who gives a session where none is the default."""
    global _session_provider
    _session_provider = session_provider


def _session(given):
    from weft._src.compat.session import default_session, get_default_session

    if given is None and get_default_session() is None and _session_provider is not None:
        given = _session_provider()
    return default_session(given, "run")


def streaming_restore(status, session=None):
    """tf.__internal__.tracking: in a graph of version 1, what restores runs as soon as there is something to restore."""
    if not in_plain_graph():
        return
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. File a feature request if this limitation bothers "
            "you. As a workaround, consider either using tf.train.Checkpoint to load name-based checkpoints or enabling eager execution."
        )
    session = _session(session)
    status.run_restore_ops(session=session)
    restoration = status._checkpoint
    restoration.new_ops_callback = lambda ops: session.run(ops, restoration.feed())


class _Status:
    def run_restore_ops(self, session=None):
        """In a graph of version 1, runs what restores; else everything is restored when restore() returns."""

    def initialize_or_restore(self, session=None):
        self.run_restore_ops(session)

    def expect_partial(self):
        return self


class CheckpointLoadStatus(_Status):
    """What came of a restore, to be asked."""

    def __init__(self, restoration, view):
        self._checkpoint, self._view = restoration, view

    def run_restore_ops(self, session=None):
        if in_plain_graph():
            _session(session).run(self._checkpoint.ops, self._checkpoint.feed())

    def initialize_or_restore(self, session=None):
        """Variables that are not in the checkpoint get their initial values."""
        if not in_plain_graph():
            return
        bound = {id(o) for o in self._checkpoint.objects.values()}
        others = _initializers(self._view, self._checkpoint.uid, bound)
        self.run_restore_ops(session)
        _session(session).run(others)

    def assert_existing_objects_matched(self):
        """AssertionError where an object of the program was not in the checkpoint."""
        self._checkpoint.restorer.assert_existing_objects_matched(self._checkpoint)
        return self

    def assert_consumed(self):
        """AssertionError where anything of the checkpoint or the program was left over."""
        self._checkpoint.restorer.assert_consumed(self._checkpoint)
        return self

    def assert_nontrivial_match(self):
        """AssertionError where nothing but the root was found."""
        self._checkpoint.restorer.assert_nontrivial_match(self._checkpoint)
        return self

    def expect_partial(self):
        """No warnings about what is left over."""
        self._checkpoint.expects_partial = True
        return self


def _initializers(view, uid, bound=()):
    """Of the objects that no restore since has given values."""
    found = [o for o in view.objects() if id(o) not in bound and o._update_uid < uid]
    return [o.initializer for o in found if getattr(o, "initializer", None) is not None]


def _has_values(obj):
    return obj._has_own_tensors() or bool(obj._gather_saveables_for_checkpoint())


class InitializationOnlyStatus(_Status):
    """restore(None): nothing to restore."""

    def __init__(self, view, restore_uid):
        self._view, self._restore_uid = view, restore_uid

    def assert_consumed(self):
        _weft.nothing_restored()

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        raise AssertionError(
            "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore)."
        )

    def initialize_or_restore(self, session=None):
        """Initial values for all."""
        if in_plain_graph():
            _session(session).run(_initializers(self._view, self._restore_uid))


class NameBasedRestoration:
    """A checkpoint of version 1, which knows variables by name alone. Objects ask it for themselves (Trackable._name_based_attribute_restore)."""

    def __init__(self, path, reader, view):
        self.path, self.reader, self.view = path, reader, view
        self.restorer = _weft.NameRestorer()
        self.restore_uid = self.restorer.id
        self._unused, self.optional = [], []  # (object, name); objects

    def take(self, obj):
        """The name of the value that the object is to get now, or ""."""
        return self.restorer.take(self, obj)

    def eager_restore(self, obj):
        name = self.take(obj)
        if name:
            with init_scope() if _weft.in_graph() else contextlib.nullcontext():
                obj._restore_from_tensors({VARIABLE_VALUE_KEY: self.reader.tensors([name])[0]})

    # ---- what the restorer asks

    def name(self, obj):
        """The name by which such a checkpoint can know the object."""
        return obj._shared_name if isinstance(obj, _weft.VariableBase) else ""

    def has_values(self, obj):
        return _has_values(obj)

    def in_checkpoint(self, name):
        return in_plain_graph() or self.reader.has(name)  # a session finds out

    def all_objects(self):
        found = self.view.objects()
        for obj in found:
            obj._maybe_initialize_trackable()
        return found

    def add_unused(self, obj, name):
        self._unused.append((obj, name))

    def unused(self):
        return [(obj, name) for obj, name in self._unused if all(obj is not x for x in self.optional)]


class NameBasedSaverStatus(_Status):
    """What came of restoring a checkpoint of version 1."""

    def __init__(self, restoration):
        self._checkpoint = restoration

    def add_to_optionally_restored(self, var):
        self._checkpoint.optional.append(var)

    def assert_consumed(self):
        self._checkpoint.restorer.assert_consumed(self._checkpoint)
        return self

    # Such a checkpoint knows nothing of objects: there is one question to ask.
    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        if not in_plain_graph():
            return
        from weft._src.compat.v1.train.saver import Saver

        found = [obj for obj in self._checkpoint.all_objects() if self._checkpoint.take(obj)]
        Saver(found).restore(_session(session), self._checkpoint.path)


def restore(path, reader, view, prefix=None, made=None, skip_slots=False):
    """Lays a checkpoint over the objects of a view."""
    if not reader.has(OBJECT_GRAPH_PROTO_KEY):
        named = NameBasedRestoration(path, reader, view)
        if not in_plain_graph():
            for obj in named.all_objects():
                obj._name_based_attribute_restore(named)
        return NameBasedSaverStatus(named)
    graph = reader.tensors([OBJECT_GRAPH_PROTO_KEY])[0].numpy()
    restoration = Restoration(path, reader, graph, view, prefix, made, skip_slots)
    restoration.restore(0, view.root)
    return CheckpointLoadStatus(restoration, view)


def nothing(view):
    return InitializationOnlyStatus(view, _weft.next_restoration())
