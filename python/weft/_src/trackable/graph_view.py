"""The objects below a root, what they save, and the graph of them as a checkpoint holds it."""

from weft import _weft
from weft._src.trackable.base import SaveType, Trackable


class ObjectGraphView:
    """A root with its children; `attached_dependencies` are further children of the root that it does not know itself."""

    def __init__(self, root, attached_dependencies=None):
        self._root, self._attached = root, tuple(attached_dependencies or ())

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

    def objects(self):
        """All objects, breadth first from the root."""
        order, seen = [self._root], {id(self._root)}
        for obj in order:
            for child in self.children(obj).values():
                if id(child) not in seen:
                    seen.add(id(child))
                    order.append(child)
        return order


def own_tensors(obj, prefix):
    """[(local name, checkpoint key, value)]: what the object saves; a value is a tensor, a dict of parts by slice, or
    made when it is called."""
    if obj._has_own_tensors() if isinstance(obj, Trackable) else hasattr(obj, "_serialize_to_tensors"):
        return [
            (name, _weft.checkpoint_key(prefix, name), value) for name, value in obj._serialize_to_tensors().items()
        ]
    out = []
    for name, made in obj._gather_saveables_for_checkpoint().items():
        key = _weft.checkpoint_key(prefix, name)
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
    """All that a checkpoint of a view holds: `graph` (a TrackableObjectGraph, serialized) and `tensors` by key."""

    def __init__(self, view, skip_slots=False, made=None):
        """`made` keeps what objects of a graph of version 1 gave before: it may not be added to it again."""
        self.objects = view.objects()
        self.ids = {id(obj): i for i, obj in enumerate(self.objects)}
        children = [[(name, self.ids[id(child)]) for name, child in view.children(obj).items()] for obj in self.objects]
        slots = [] if skip_slots else self._slots()
        children += [[] for _ in slots]
        self.tensors, self.owners, values = {}, {}, []
        for obj, path in zip(self.objects, _weft.object_paths(children, slots)):
            if made is None:
                own = own_tensors(obj, path)
            elif (id(obj), path) in made:
                own = made[id(obj), path][1]
            else:
                own = own_tensors(obj, path)
                made[id(obj), path] = obj, own
            for _, key, value in own:
                self.tensors[key], self.owners[key] = value, obj
            values.append(list(dict.fromkeys((name, full_name(obj), key) for name, key, _ in own)))
        self.graph = _weft.encode_object_graph(children, slots, values)

    def _slots(self):
        """Optimizers of the older kind keep values beside variables: [(optimizer, variable, slot name, slot)] by number."""
        found = []
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
                            "a slot variable is a child of an object as well: it cannot be saved under two names"
                        )
                    self.ids[id(slot)] = len(self.objects)
                    self.objects.append(slot)
                    found.append((i, k, name, self.ids[id(slot)]))
        return found
