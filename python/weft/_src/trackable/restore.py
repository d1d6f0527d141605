"""Restoring: the graph of objects in a checkpoint, laid over that of a program. What has no object yet waits with the
parent of it."""

import collections
import contextlib
import functools
import itertools
import logging

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.graph import init_scope
from weft._src.framework.tensor import Tensor
from weft._src.framework import nest
from weft._src.trackable.base import OBJECT_GRAPH_PROTO_KEY, VARIABLE_VALUE_KEY, Trackable
from weft._src.trackable.data_structures import TrackableDataStructure

_uids = itertools.count(1)


class Restoration:
    """One call of restore(): the checkpoint, and which of its nodes have found their object."""

    def __init__(self, path, reader, message, prefix=None, made=None, skip_slots=False):
        """`prefix`: the path as ops of a graph read it; a tensor in one of version 1, for which `made` keeps the ops of earlier restores."""
        self.path, self.reader = path, reader
        self.graph, self._message = _weft.RestoreGraph(message, skip_slots), message
        self.prefix, self.made = prefix, {} if made is None else made
        self.uid = next(_uids)
        self.objects = {}  # node -> object
        self.bound = {}  # id of an object -> node
        self.unused = {}  # node -> names of attributes that its object did not take
        self.attached = {}  # children of the root that it does not know itself
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

    def __del__(self):
        try:
            if self.expects_partial:
                return
            left = self.graph.unresolved()
            if left:
                log = logging.getLogger("tensorflow")
                log.warning(
                    "Detecting that an object or model or tf.train.Checkpoint is being deleted with "
                    "unrestored values. See the following logs for the "
                    "specific values in question. To silence these warnings, use `status.expect_partial()`. "
                    "See "
                    "https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restorefor details about "
                    "the status object returned by the restore "
                    "function."
                )
                for i in left:
                    log.warning("Value in checkpoint could not be found in the restored object: %s", self.graph.name(i))
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
        graph = self.restoration.graph
        return [name for name, _ in self.values()] == [VARIABLE_VALUE_KEY] and not graph.children(self.node)

    def values(self):
        """(name, key) of each value of the node."""
        return self.restoration.graph.values(self.node)

    def value_tensors(self, shape_and_slices=None):
        own = self.values()
        with self.restoration.scope():
            values = self.restoration.tensors([key for _, key in own])
        return dict(zip([name for name, _ in own], values))

    def restore(self, trackable, reader=None):
        """Binds the object, and all below it that is there; reads their values."""
        with self.restoration.scope():
            self._restore(trackable)

    def _restore(self, trackable):
        found = []
        todo = collections.deque([(self, trackable)])
        while todo:
            position, obj = todo.popleft()
            if position._bind(obj):
                found.append((position, obj))
                todo.extend(position._children(obj))
        _read_values(self.restoration, found)
        for position, _ in found:
            _restore_slots(self.restoration, position.node)

    def _bind(self, obj):
        """Whether this object takes part from here on."""
        obj._maybe_initialize_trackable()
        r = self.restoration
        current = r.objects.get(self.node)
        if current is None:
            r.objects[self.node] = obj
            r.bound[id(obj)] = self.node
            r.graph.set_matched(self.node)
            return True
        if current is not obj:
            logging.getLogger("tensorflow").warning(
                "Inconsistent references when loading the checkpoint into this object graph. For example, in the "
                "saved checkpoint object, `model.layer.weight` and "
                "`model.layer_copy.weight` reference the same variable, while in the current object these are two "
                "different variables. The referenced variables "
                "are:(%s and %s).",
                current,
                obj,
            )
        return False

    def _children(self, obj):
        r = self.restoration
        saved = r.graph.children(self.node)
        children = obj._trackable_children() if saved else {}
        for name, node in saved:
            if node in r.objects:
                continue
            position = Position(r, node)
            there = obj._lookup_dependency(name, children)
            if there is None and self.node == 0:
                there = r.attached.get(name)
            if there is not None:
                yield position, there
            elif r.graph.has_values(node):
                obj._deferred_dependencies.setdefault(name, []).append(position)


def _restore_slots(restoration, node):
    """Slot variables: the node may be an optimizer that has some, or a variable that some wait for."""
    for optimizer, variable, name, slot in restoration.graph.take_ready_slots(node):
        make = getattr(restoration.objects[optimizer], "_create_or_restore_slot_variable", None)
        if make is not None:
            make(
                slot_variable_position=Position(restoration, slot),
                slot_name=name,
                variable=restoration.objects[variable],
            )


def _read_values(restoration, found):
    """The values of all these objects, in one read."""
    keys, wanted = [], []
    for position, obj in found:
        own = position.values()
        # A later restore has been here: the value of the object is newer than this one.
        if obj._update_uid >= restoration.uid and own:
            continue
        obj._update_uid = restoration.uid
        if not own:
            continue
        made = restoration.made.get((id(obj), own[0][1]))
        if made is not None:
            restoration.add_ops(made[1])
            continue
        wanted.append((position, obj, own, len(keys)))
        keys.extend(key for _, key in own)
    if not keys:
        return
    values = restoration.tensors(keys)
    for position, obj, own, at in wanted:
        given = {name: v for (name, _), v in zip(own, values[at : at + len(own)])}
        ops = [op for op in nest.flatten(_give(restoration, position, obj, given)) if op is not None]
        if isinstance(restoration.prefix, Tensor):
            restoration.made[id(obj), own[0][1]] = obj, ops
        restoration.add_ops(ops)


def _give(restoration, position, obj, given):
    """Gives an object its values; in a graph, the ops that do."""
    if obj._has_own_tensors():
        return obj._restore_from_tensors(given)
    saveables, ops = obj._gather_saveables_for_checkpoint(), []
    for name, key in position.values():
        made = saveables.get(name)
        if made is None:
            restoration.unused.setdefault(position.node, []).append(name)
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
        others = _initializers(self._view, self._checkpoint.uid, self._checkpoint.bound)
        self.run_restore_ops(session)
        _session(session).run(others)

    def _unmatched(self):
        """Objects of the program that found nothing."""
        return [obj for obj in self._view.objects() if id(obj) not in self._checkpoint.bound and _has_values(obj)]

    def assert_existing_objects_matched(self):
        """AssertionError where an object of the program was not in the checkpoint."""
        for i, obj in sorted(self._checkpoint.objects.items()):
            if obj._update_uid < self._checkpoint.uid and self._checkpoint.graph.values(i):
                raise AssertionError(f"Object {self._checkpoint.proto.nodes[i]} not assigned a value from checkpoint.")
        unmatched = self._unmatched()
        if unmatched:
            shown = unmatched[:10]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed values, "
                "likely due to changes in the Python program. "
                f"Showing {len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def assert_consumed(self):
        """AssertionError where anything of the checkpoint or the program was left over."""
        self.assert_existing_objects_matched()
        checkpoint = self._checkpoint
        for i in checkpoint.graph.unresolved():
            name, node = checkpoint.graph.name(i), checkpoint.proto.nodes[i]
            raise AssertionError(f"Unresolved object in checkpoint {name}: {node}")
        for i in checkpoint.graph.open_optimizers():
            raise AssertionError(f"Unresolved slot restorations: {checkpoint.proto.nodes[i].slot_variables}")
        if checkpoint.unused:
            text = "".join(f"\n  {checkpoint.objects[i]}: {names}" for i, names in checkpoint.unused.items())
            raise AssertionError(
                f"Unused attributes in these objects (the attributes exist in the checkpoint but "
                f"were not restored):{text}"
            )
        return self

    def assert_nontrivial_match(self):
        """AssertionError where nothing but the root was found."""
        matched = [
            o
            for o in self._checkpoint.objects.values()
            if o is not self._view.root and not isinstance(o, TrackableDataStructure)
        ]
        if not matched:
            left = [o for o in self._unmatched() if o is not self._view.root]
            if left:
                raise AssertionError(
                    "Nothing except the root object matched a checkpointed value. Typically this "
                    "means that the checkpoint does not match the "
                    f"Python program. The following objects have no matching checkpointed value: "
                    f"{left}"
                )
            raise AssertionError("Nothing to load. No dependencies have been added to %s yet." % (self._view.root,))
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

    def _nothing(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    def assert_consumed(self):
        self._nothing()

    def assert_existing_objects_matched(self):
        self._nothing()

    def assert_nontrivial_match(self):
        self._nothing()

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

    def __init__(self, path, reader):
        self.path, self.reader, self.restore_uid = path, reader, next(_uids)
        self.unused = []  # (object, names)

    def named(self, obj):
        """Whether the object has a name that such a checkpoint can know."""
        if isinstance(obj, _weft.VariableBase):
            return True
        if _has_values(obj):
            self.unused.append((obj, [VARIABLE_VALUE_KEY]))
        return False

    def eager_restore(self, obj):
        if not self.named(obj):
            return
        if not self.reader.has(obj._shared_name):
            self.unused.append((obj, [obj._shared_name]))
            return
        with init_scope() if _weft.in_graph() else contextlib.nullcontext():
            obj._restore_from_tensors({VARIABLE_VALUE_KEY: self.reader.tensors([obj._shared_name])[0]})


class NameBasedSaverStatus(_Status):
    """What came of restoring a checkpoint of version 1."""

    def __init__(self, restoration, view):
        self._checkpoint, self._view, self._optional = restoration, view, []

    def add_to_optionally_restored(self, var):
        self._optional.append(var)

    def assert_consumed(self):
        unused = [(o, names) for o, names in self._checkpoint.unused if all(o is not x for x in self._optional)]
        if unused:
            shown = "".join(f"\n    {obj}: {names}" for obj, names in unused)
            raise AssertionError(f"Some objects had attributes which were not restored: {shown}")
        for obj in self._view.objects():
            obj._maybe_initialize_trackable()
            if obj._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {obj}")
        return self

    # Such a checkpoint knows nothing of objects: there is one question to ask.
    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        if not in_plain_graph():
            return
        from weft._src.compat.v1.train.saver import Saver

        found = []
        for obj in self._view.objects():
            obj._maybe_initialize_trackable()
            if obj._update_uid < self._checkpoint.restore_uid:
                obj._update_uid = self._checkpoint.restore_uid
                found += [obj] if self._checkpoint.named(obj) else []
        Saver(found).restore(_session(session), self._checkpoint.path)


def restore(path, reader, view, prefix=None, made=None, skip_slots=False):
    """Lays a checkpoint over the objects of a view."""
    if not reader.has(OBJECT_GRAPH_PROTO_KEY):
        named = NameBasedRestoration(path, reader)
        if not in_plain_graph():
            for obj in view.objects():
                obj._maybe_initialize_trackable()
                obj._name_based_attribute_restore(named)
        return NameBasedSaverStatus(named, view)
    graph = reader.tensors([OBJECT_GRAPH_PROTO_KEY])[0].numpy()
    restoration = Restoration(path, reader, graph, prefix, made, skip_slots)
    restoration.attached = {name: ref for name, ref in view.attached_dependencies}
    Position(restoration, 0).restore(view.root)
    return CheckpointLoadStatus(restoration, view)


def nothing(view):
    return InitializationOnlyStatus(view, next(_uids))
