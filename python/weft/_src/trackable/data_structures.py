"""Lists, dicts and tuples that are attributes of tracked objects: the same values, with children that checkpoints know.

A wrapper shares the list or dict that it was made of: each sees what is done to the other. A wrapper is a list (dict,
tuple) itself, so that code which looks
at the memory of one sees the elements; it takes over what changed outside whenever it is asked something."""

import collections

from weft._src.trackable.base import SaveType, Trackable


class NoDependency:
    """Marks a value that is set as an attribute and not tracked."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def _wants_wrapping(values):
    """Whether a tuple of these is more than plain data."""
    return any(
        isinstance(v, (NoDependency, Trackable))
        or type(v) in (dict, list, collections.OrderedDict)
        or (isinstance(v, tuple) and _wants_wrapping(v))
        for v in values
    )


def wrap_or_unwrap(value):
    """The value as a tracked object keeps it."""
    if isinstance(value, Trackable):
        return value
    if isinstance(value, NoDependency):
        return value.value
    kind = type(value)
    if kind is list:
        return ListWrapper(value)
    if kind is dict or kind is collections.OrderedDict:
        return _DictWrapper(value)
    if isinstance(value, tuple) and _wants_wrapping(value):
        return _wrap_tuple(value)
    return value


def sticky_attribute_assignment(trackable, name, value):
    """What an attribute becomes; a child of the object where it can be one."""
    if isinstance(value, NoDependency):
        return value.value
    value = wrap_or_unwrap(value)
    if isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


def _refuse(wrapper, kind, why):
    raise ValueError(
        f"Unable to save the object {wrapper!r} ({kind}). {why}\n\nIf you don't need this "
        f"{'list' if 'list' in kind else 'dictionary'} checkpointed, "
        "wrap it in a non-trackable object; it will be subsequently ignored."
    )


class TrackableDataStructure(Trackable):
    """What the wrappers share."""

    @property
    def _values(self):
        raise NotImplementedError

    def _track_value(self, value, name):
        tracked = not isinstance(value, NoDependency)
        value = wrap_or_unwrap(value)
        if tracked and isinstance(value, Trackable):
            try:
                self._track_trackable(value, name=name, overwrite=True)
            except ValueError:
                pass  # a value of another shape waited for it: tracked, and not restored, as in TensorFlow
        return value

    def _holds_trackables(self):
        return any(isinstance(v, Trackable) for v in self._values)

    def _gathered(self, attribute):
        out, seen = [], set()
        for v in self._values:
            found = [v] if hasattr(v, "handle") and attribute == "variables" else getattr(v, attribute, ())
            if hasattr(v, "handle") and attribute != "variables":
                found = [v] if v.trainable is (attribute == "trainable_variables") else ()
            for f in found:
                if id(f) not in seen:
                    seen.add(id(f))
                    out.append(f)
        return out

    @property
    def variables(self):
        return self._gathered("variables")

    @property
    def trainable_variables(self):
        return self._gathered("trainable_variables")

    @property
    def non_trainable_variables(self):
        return self._gathered("non_trainable_variables")

    weights, trainable_weights, non_trainable_weights = variables, trainable_variables, non_trainable_variables


def _reader(kind, name):
    method = getattr(kind, name)

    def call(self, *args, **kwargs):
        self._sync()
        return method(self, *args, **kwargs)

    call.__name__ = name
    return call


def _comparison(kind, name):
    method = getattr(kind, name)

    def call(self, other):
        self._sync()
        if isinstance(other, TrackableDataStructure) and hasattr(other, "_sync"):
            other._sync()
        return method(self, other)

    return call


class ListWrapper(TrackableDataStructure, list):
    """A list; only appending keeps it fit for checkpoints, once it holds trackable things."""

    def __init__(self, wrapped_list=()):
        self._self_shared = wrapped_list if type(wrapped_list) is list else list(wrapped_list)
        self._self_moved = self._self_changed_outside = False
        shared = self._self_shared
        for i, value in enumerate(shared):
            shared[i] = self._track_value(value, str(i))
        list.__init__(self, shared)

    def _sync(self):
        shared = self._self_shared
        if len(shared) == list.__len__(self):
            for a, b in zip(shared, list.__iter__(self)):
                if a is not b:
                    break
            else:
                return
        self._self_changed_outside = True
        list.__setitem__(self, slice(None), shared)

    @property
    def _values(self):
        self._sync()
        return list(list.__iter__(self))

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        self._sync()
        kind = "a list wrapper constructed to track trackable TensorFlow objects"
        if self._self_moved:
            _refuse(
                self,
                kind,
                "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, "
                "__delslice__), or moved (sort). In order to support "
                "restoration on object creation, tracking is exclusively for append-only data structures.",
            )
        if self._self_changed_outside and self._holds_trackables():
            raise ValueError(
                f"Unable to save the object {self!r} ({kind}). The wrapped list was modified outside the "
                "wrapper (its final value was "
                f"{self._self_shared}, its value when a checkpoint dependency was added was None), which "
                "breaks restoration on object creation.\n\n"
                "If you don't need this list checkpointed, wrap it in a NoDependency object; it will be "
                "subsequently ignored."
            )
        children = super()._trackable_children(save_type, **kwargs)
        if save_type == SaveType.SAVEDMODEL:
            children.update({str(i): v for i, v in enumerate(list(self)) if _is_function(v)})
        return children

    def _share(self):
        self._self_shared[:] = list.__iter__(self)

    def append(self, value):
        self._sync()
        list.append(self, self._track_value(value, str(list.__len__(self))))
        self._share()

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def _moving(name):  # noqa: N805: makes methods of this class
        method = getattr(list, name)

        def call(self, *args, **kwargs):
            self._sync()
            held = self._holds_trackables()
            result = method(self, *args, **kwargs)
            for i, value in enumerate(list.__iter__(self)):
                wrapped = wrap_or_unwrap(value)
                if wrapped is not value:
                    list.__setitem__(self, i, wrapped)
            self._share()
            self._self_moved |= held or self._holds_trackables()
            return self if name == "__imul__" else result

        call.__name__ = name
        return call

    insert, pop, remove, clear, sort, reverse = map(_moving, "insert pop remove clear sort reverse".split())
    __delitem__, __imul__ = _moving("__delitem__"), _moving("__imul__")
    _replace = _moving("__setitem__")
    del _moving

    def __setitem__(self, key, value):
        if (
            isinstance(key, slice)
            or not isinstance(self[key], Trackable)
            and not isinstance(wrap_or_unwrap(value), Trackable)
        ):
            self._replace(key, value) if isinstance(key, slice) else self._put(key, value)
        elif self[key] is not value:
            self._replace(key, value)

    def _put(self, key, value):
        list.__setitem__(self, key, value)
        self._share()

    __getitem__, __iter__, __len__, __contains__, __reversed__, index, count, __mul__, __rmul__ = (
        _reader(list, n)
        for n in "__getitem__ __iter__ __len__ __contains__ __reversed__ index count __mul__ __rmul__".split()
    )
    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = (
        _comparison(list, n) for n in "__eq__ __ne__ __lt__ __le__ __gt__ __ge__".split()
    )
    __hash__ = None

    def __add__(self, other):
        return list(self) + list(other)

    def __radd__(self, other):
        return list(other) + list(self)

    def copy(self):
        return ListWrapper(list(self))

    __copy__ = copy

    def __deepcopy__(self, memo):
        import copy

        made = ListWrapper([])
        memo[id(self)] = made
        for value in self:
            made.append(copy.deepcopy(value, memo))
        made._self_moved = self._self_moved
        return made

    def __reduce_ex__(self, protocol):
        return ListWrapper, (list(self),)

    def __repr__(self):
        return f"ListWrapper({list(self)!r})"


class _DictWrapper(TrackableDataStructure, dict):
    """A dict; values under text keys are children."""

    def __init__(self, *args, **kwargs):
        given = args[0] if args and not kwargs else None
        wrapped = given if type(given) in (dict, collections.OrderedDict) else dict(*args, **kwargs)
        self._self_shared = wrapped
        self._self_other_key = False
        for key in list(wrapped):
            wrapped[key] = self._take(key, wrapped[key])
        dict.__init__(self, wrapped)

    def _take(self, key, value):
        tracked = not isinstance(value, NoDependency)
        value = wrap_or_unwrap(value)
        if tracked and isinstance(value, Trackable):
            if isinstance(key, str):
                self._track_trackable(value, name=key, overwrite=True)
            else:
                self._self_other_key = True
        return value

    def _sync(self):
        shared = self._self_shared
        if len(shared) == dict.__len__(self):
            for (k, a), (l, b) in zip(shared.items(), dict.items(self)):
                if a is not b or k is not l:
                    break
            else:
                return
        for key in list(shared):
            shared[key] = self._take(key, shared[key])
        dict.clear(self)
        dict.update(self, shared)

    @property
    def _values(self):
        self._sync()
        return list(dict.values(self))

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        self._sync()
        if self._self_other_key:
            raise ValueError(
                f"Unable to save the object {self._self_shared!r} (a dictionary wrapper constructed "
                "automatically on attribute assignment). The wrapped "
                "dictionary contains a non-string key which maps to a trackable object or mutable data "
                "structure.\n\nIf you don't need this "
                "dictionary checkpointed, wrap it in a non-trackable object; it will be subsequently "
                "ignored."
            )
        children = super()._trackable_children(save_type, **kwargs)
        if save_type == SaveType.SAVEDMODEL:
            children.update({k: v for k, v in self.items() if _is_function(v)})
        return children

    def __setitem__(self, key, value):
        self._sync()
        value = self._take(key, value)
        self._self_shared[key] = value
        dict.__setitem__(self, key, value)

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def __ior__(self, other):
        self.update(other)
        return self

    def _removing(name):  # noqa: N805: makes methods of this class
        method = getattr(dict, name)

        def call(self, *args):
            self._sync()
            result = method(self, *args)
            shared = self._self_shared
            for key in [k for k in shared if not dict.__contains__(self, k)]:
                del shared[key]
            return result

        call.__name__ = name
        return call

    pop, popitem, clear, __delitem__ = map(_removing, "pop popitem clear __delitem__".split())
    del _removing

    __getitem__, __iter__, __len__, __contains__, __reversed__, get, keys, values, items, __or__, __ror__ = (
        _reader(dict, n)
        for n in "__getitem__ __iter__ __len__ __contains__ __reversed__ get keys values items __or__ __ror__".split()
    )
    __eq__, __ne__ = _comparison(dict, "__eq__"), _comparison(dict, "__ne__")
    __hash__ = None

    def copy(self):
        return _DictWrapper(type(self._self_shared)(self))

    __copy__ = copy

    def __deepcopy__(self, memo):
        import copy

        made = _DictWrapper()
        memo[id(self)] = made
        for key, value in self.items():
            made[copy.deepcopy(key, memo)] = copy.deepcopy(value, memo)
        return made

    def __reduce_ex__(self, protocol):
        return _DictWrapper, (type(self._self_shared)(self),)

    def __repr__(self):
        self._sync()
        return f"DictWrapper({self._self_shared!r})"

    def __str__(self):
        self._sync()
        return str(self._self_shared)


class _TupleMethods(TrackableDataStructure):
    """A tuple's children are its elements, by number, and by name where they have names."""

    @property
    def _values(self):
        return list(tuple.__iter__(self))

    def _trackable_children(self, save_type=SaveType.CHECKPOINT, **kwargs):
        fields = getattr(self, "_fields", ())
        children = {
            str(i): v
            for i, v in enumerate(self)
            if isinstance(v, Trackable) or (save_type == SaveType.SAVEDMODEL and _is_function(v))
        }
        children.update({f: children[str(i)] for i, f in enumerate(fields) if str(i) in children})
        return children

    @property
    def _checkpoint_dependencies(self):
        from weft._src.trackable.base import TrackableReference

        return [TrackableReference(n, v) for n, v in self._trackable_children().items()]

    def _lookup_dependency(self, name, cached_dependencies=None):
        return self._trackable_children().get(name)

    def __deepcopy__(self, memo):
        import copy

        return wrap_or_unwrap(self._plain()(copy.deepcopy(list(self), memo)))

    def __copy__(self):
        return self

    def _plain(self):
        kind = getattr(type(self), "_wrapped_type", tuple)
        return tuple if kind is tuple else kind._make

    def __reduce_ex__(self, protocol):
        return wrap_or_unwrap, (self._plain()(list(self)),)

    def __repr__(self):
        return f"_TupleWrapper({self._plain()(list(self))!r})"

    def __str__(self):
        return str(self._plain()(list(self)))


class _TupleWrapper(_TupleMethods, tuple):
    pass


_named = {}  # class of named tuples -> its wrapper


def _wrap_tuple(value):
    kind = type(value)
    elements = [wrap_or_unwrap(v) for v in value]
    if not hasattr(kind, "_fields"):
        return _TupleWrapper(elements)
    wrapper = _named.get(kind)
    if wrapper is None:
        wrapper = _named[kind] = type("_TupleWrapper", (_TupleMethods, kind), {"_wrapped_type": kind})
    return tuple.__new__(wrapper, elements)


def _is_function(value):
    """Whether a SavedModel saves it as a function."""
    try:
        from weft._src.function import function
    except ImportError:
        return False
    return isinstance(
        value,
        tuple(
            c
            for c in (getattr(function, "Function", None), getattr(function, "ConcreteFunction", None))
            if c is not None
        ),
    )
