"""Sets and maps by identity. GPflow, tf-keras."""

import collections.abc
import weakref


class _Wrapper:
    """An object that equals itself alone."""

    __slots__ = ("_held", "__weakref__")

    def __init__(self, value):
        self._held = value

    @property
    def unwrapped(self):
        return self._held

    def __eq__(self, other):
        return isinstance(other, _Wrapper) and self.unwrapped is other.unwrapped

    def __hash__(self):
        return id(self.unwrapped)

    def __repr__(self):
        return f"<{type(self).__name__} wrapping {self.unwrapped!r}>"


class _Weak:
    """The same, without keeping the object."""

    __slots__ = ("_ref", "_id")

    def __init__(self, value, gone=None):
        self._ref, self._id = weakref.ref(value, None if gone is None else lambda _: gone(self)), id(value)

    @property
    def unwrapped(self):
        return self._ref()

    def __eq__(self, other):
        if not isinstance(other, _Weak):
            return False
        mine = self.unwrapped
        return self is other if mine is None else mine is other.unwrapped

    def __hash__(self):
        return self._id


class ObjectIdentityDictionary(collections.abc.MutableMapping):
    """A map whose keys are compared by identity."""

    def __init__(self, *args, **kwargs):
        self._storage = {}
        self.update(*args, **kwargs)

    def _wrap_key(self, key):
        return _Wrapper(key)

    def __getitem__(self, key):
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key, value):
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key):
        del self._storage[self._wrap_key(key)]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        for key in list(self._storage):
            if key.unwrapped is not None:
                yield key.unwrapped

    def __repr__(self):
        return f"ObjectIdentityDictionary({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same; a key that is gone is gone here."""

    def _wrap_key(self, key):
        return _Weak(key, lambda wrapped: self._storage.pop(wrapped, None))

    def __len__(self):
        return len(list(self))


class ObjectIdentitySet(collections.abc.MutableSet):
    """A set by identity."""

    def __init__(self, *args):
        self._storage = {self._wrap_key(value) for value in (args[0] if args else ())}

    @classmethod
    def _from_iterable(cls, values):
        return cls(values)

    def _wrap_key(self, key):
        return _Wrapper(key)

    def __contains__(self, key):
        return self._wrap_key(key) in self._storage

    def add(self, key):
        self._storage.add(self._wrap_key(key))

    def discard(self, key):
        self._storage.discard(self._wrap_key(key))

    def update(self, items):
        for item in items:
            self.add(item)

    def clear(self):
        self._storage.clear()

    def intersection(self, items):
        kept = {self._wrap_key(item) for item in items}
        return type(self)(key.unwrapped for key in self._storage if key in kept)

    def difference(self, items):
        left = {self._wrap_key(item) for item in items}
        return type(self)(key.unwrapped for key in self._storage if key not in left)

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        for key in list(self._storage):
            yield key.unwrapped


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same; what is gone is gone here."""

    def _wrap_key(self, key):
        return _Weak(key, lambda wrapped: self._storage.discard(wrapped))

    def __len__(self):
        return len(list(self))

    def __iter__(self):
        for key in list(self._storage):
            if key.unwrapped is not None:
                yield key.unwrapped
