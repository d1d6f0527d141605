"""The objects below a root, what they save, and the graph of them as a checkpoint holds it."""

import collections

from weft import _weft
from weft.trackable.base import SaveType, Trackable


class ObjectGraphView:
    """A root with its children; `attached` are further children of the root that it does not know itself."""

    def __init__(self, root, attached=()):
        self._root, self._attached = root, attached

    @property
    def root(self):
        return self._root

    @property
    def attached_dependencies(self):
        return self._attached

    def children(self, obj, save_type=SaveType.CHECKPOINT):
        obj._maybe_initialize_trackable()
        found = dict(obj._trackable_children(save_type=save_type))
        if obj is self._root:
            for name, ref in self._attached:
                found.setdefault(name, ref)
        return {name: ref for name, ref in found.items() if isinstance(ref, Trackable)}

    def breadth_first(self):
        """[(object, path)], the root first; a path is a tuple of names."""
        order, seen, todo = [], {id(self._root)}, collections.deque([(self._root, ())])
        while todo:
            obj, path = todo.popleft()
            order.append((obj, path))
            for name, child in self.children(obj).items():
                if id(child) not in seen:
                    seen.add(id(child))
                    todo.append((child, (*path, name)))
        return order

    def objects(self):
        return [obj for obj, _ in self.breadth_first()]


def escape(name):
    return name.replace(".", "..").replace("/", ".S")


def object_key(path):
    return "/".join(escape(name) for name in path)


def value_key(prefix, name):
    return f"{prefix}/.ATTRIBUTES/{escape(name)}"


def slot_prefix(variable_prefix, optimizer_prefix, slot):
    return f"{variable_prefix}/.OPTIMIZER_SLOT/{optimizer_prefix}/{escape(slot)}"


def own_tensors(obj, prefix):
    """[(local name, checkpoint key, value)]: what the object saves; a value is a tensor, a dict of parts by slice, or
    made when it is called."""
    if obj._has_own_tensors() if isinstance(obj, Trackable) else hasattr(obj, "_serialize_to_tensors"):
        return [(name, value_key(prefix, name), value) for name, value in obj._serialize_to_tensors().items()]
    out = []
    for name, made in obj._gather_saveables_for_checkpoint().items():
        key = value_key(prefix, name)
        if isinstance(made, Trackable) and made._has_own_tensors():
            out.extend((name, key, value) for value in made._serialize_to_tensors().values())
            continue
        saveable = made(name=key) if callable(made) else made
        if hasattr(saveable, "specs"):
            out.extend((name, spec.name, spec.tensor) for spec in saveable.specs)
        else:
            out.append((name, key, saveable))
    return out


def full_name(obj):
    """What version 1's checkpoints would call it."""
    shared = getattr(obj, "_shared_name", None)
    is_variable = isinstance(obj, _weft.VariableBase) or hasattr(obj, "_should_act_as_resource_variable")
    return shared if isinstance(shared, str) and is_variable else ""


class Saved:
    """All that a checkpoint of a view holds: `proto` (a TrackableObjectGraph) and `tensors` by key."""

    def __init__(self, view, skip_slots=False, made=None):
        """`made` keeps what objects of a graph of version 1 gave before: it may not be added to it again."""
        from weft.proto import TrackableObjectGraph

        ordered = view.breadth_first()
        self.ids = {id(obj): i for i, (obj, _) in enumerate(ordered)}
        prefixes = [object_key(path) for _, path in ordered]
        self.objects = [obj for obj, _ in ordered]
        slots = {} if skip_slots else self._slots(prefixes)
        self.proto, self.tensors, self.owners = TrackableObjectGraph(), {}, {}
        nodes = []
        for i, obj in enumerate(self.objects):
            node = self.proto.nodes.add()
            nodes.append(node)
            children = {} if i >= len(ordered) else view.children(obj)
            for name, child in children.items():
                node.children.add(node_id=self.ids[id(child)], local_name=name)
            for original, name, slot in slots.get(i, ()):
                node.slot_variables.add(original_variable_node_id=original, slot_name=name, slot_variable_node_id=slot)
            listed = set()
            if made is None:
                own = own_tensors(obj, prefixes[i])
            elif (id(obj), prefixes[i]) in made:
                own = made[id(obj), prefixes[i]][1]
            else:
                own = own_tensors(obj, prefixes[i])
                made[id(obj), prefixes[i]] = obj, own
            for name, key, value in own:
                self.tensors[key], self.owners[key] = value, obj
                if (name, key) not in listed:
                    listed.add((name, key))
                    node.attributes.add(name=name, checkpoint_key=key, full_name=full_name(obj))
        self._mark_values(nodes)

    def _slots(self, prefixes):
        """Optimizers of the older kind keep values beside variables: {optimizer: [(variable, slot name, slot)]} by
        number."""
        found = {}
        known = list(enumerate(self.objects))
        for i, optimizer in known:
            names = getattr(optimizer, "get_slot_names", None)
            if not callable(names):
                continue
            for name in names():
                for k, variable in known:
                    if not isinstance(variable, _weft.VariableBase):
                        continue
                    try:
                        slot = optimizer.get_slot(variable, name)
                    except (AttributeError, KeyError):
                        continue
                    if slot is None:
                        continue
                    if id(slot) in self.ids:
                        raise NotImplementedError(
                            "a slot variable is a child of an object as well: it cannot be " "saved under two names"
                        )
                    self.ids[id(slot)] = len(self.objects)
                    self.objects.append(slot)
                    prefixes.append(slot_prefix(prefixes[k], prefixes[i], name))
                    found.setdefault(i, []).append((k, name, self.ids[id(slot)]))
        return found

    @staticmethod
    def _mark_values(nodes):
        """Says of each node whether values hang below it."""
        holds = [bool(n.attributes) for n in nodes]
        parents = collections.defaultdict(list)
        for i, node in enumerate(nodes):
            for child in node.children:
                parents[child.node_id].append(i)
            for slot in node.slot_variables:
                parents[slot.slot_variable_node_id].append(i)
        todo = [i for i, h in enumerate(holds) if h]
        while todo:
            for parent in parents[todo.pop()]:
                if not holds[parent]:
                    holds[parent] = True
                    todo.append(parent)
        for node, value in zip(nodes, holds):
            node.has_checkpoint_values.SetInParent()
            if value:
                node.has_checkpoint_values.value = True
