"""tf.train.TrackableView and CheckpointView: objects of a program and of a checkpoint, to look at and to compare."""

import collections

from weft import _weft
from weft._src.trackable.base import OBJECT_GRAPH_PROTO_KEY, Trackable
from weft._src.trackable.data_structures import wrap_or_unwrap
from weft._src.trackable.graph_view import ObjectGraphView


class TrackableView:
    """An object and what it holds."""

    def __init__(self, root):
        self._root = root

    @property
    def root(self):
        return self._root

    @classmethod
    def children(cls, obj, save_type="checkpoint", **kwargs):
        """The children of an object, by name."""
        obj._maybe_initialize_trackable()
        found = obj._trackable_children(save_type=save_type, **kwargs)
        wrapped = {name: wrap_or_unwrap(child) for name, child in found.items()}
        return {name: child for name, child in wrapped.items() if isinstance(child, Trackable)}

    def descendants(self):
        """Everything below the root, the root first."""
        order, seen = [self._root], {id(self._root)}
        for obj in order:
            for child in self.children(obj).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    order.append(child)
        return order


class CheckpointView:
    """The objects that a checkpoint holds, by number."""

    def __init__(self, save_path):
        from weft._src.proto import TrackableObjectGraph

        reader = _weft.BundleReader(save_path)
        if not reader.has(OBJECT_GRAPH_PROTO_KEY):
            raise ValueError(
                f'The specified checkpoint "{save_path}" does not appear to be object-based (saved '
                "with TF2) since it is missing the key "
                f'"{OBJECT_GRAPH_PROTO_KEY}". Likely it was created with the TF1 name-based saver and '
                "does not contain an object dependency graph."
            )
        self._proto = TrackableObjectGraph.FromString(reader.tensors([OBJECT_GRAPH_PROTO_KEY])[0].numpy())

    def children(self, node_id):
        return {child.local_name: child.node_id for child in self._proto.nodes[node_id].children}

    def descendants(self):
        return list(self._descendants_with_paths())

    def _descendants_with_paths(self):
        paths, todo = {0: "root"}, collections.deque([0])
        while todo:
            at = todo.popleft()
            for name, child in self.children(at).items():
                if child not in paths:
                    paths[child] = f"{paths[at]}.{name}"
                    todo.append(child)
        return paths

    def match(self, obj):
        """node -> object, for those that have the same names on the way from the root."""
        if not isinstance(obj, Trackable):
            raise ValueError(f"Expected a Trackable, got {obj} of type {type(obj)}.")
        view = ObjectGraphView(obj)
        found, seen, todo = {0: obj}, {id(obj)}, collections.deque([0])
        while todo:
            at = todo.popleft()
            there = view.children(found[at])
            for name, child in self.children(at).items():
                other = there.get(name)
                if other is not None and child not in found and id(other) not in seen:
                    found[child] = other
                    seen.add(id(other))
                    todo.append(child)
        return found

    def diff(self, obj):
        """(what matches, nodes without an object, objects without a node)"""
        matched = self.match(obj)
        bound = {id(o) for o in matched.values()}
        return (
            matched,
            [n for n in self.descendants() if n not in matched],
            [o for o in ObjectGraphView(obj).objects() if id(o) not in bound],
        )
