"""The values of repeated fields and maps. Each tells its message when it changes."""

import collections.abc


class Repeated(collections.abc.MutableSequence):
    """Numbers, text or bytes of a repeated field."""

    __slots__ = ("_owner", "_field", "_list")

    def __init__(self, owner, field):
        self._owner, self._field, self._list = owner, field, []

    def __len__(self):
        return len(self._list)

    def __iter__(self):
        return iter(self._list)

    def __getitem__(self, index):
        return self._list[index]

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            self._list[index] = [self._field.check(v) for v in value]
        else:
            self._list[index] = self._field.check(value)
        self._owner._changed()

    def __delitem__(self, index):
        del self._list[index]
        self._owner._changed()

    def insert(self, index, value):
        self._list.insert(index, self._field.check(value))
        self._owner._changed()

    def append(self, value):
        self._list.append(self._field.check(value))
        self._owner._changed()

    def extend(self, values):
        if values is not None:
            check = self._field.check
            self._list.extend([check(v) for v in values])
            self._owner._changed()

    def MergeFrom(self, other):
        self.extend(other)

    def sort(self, *, key=None, reverse=False):
        self._list.sort(key=key, reverse=reverse)

    def __eq__(self, other):
        if isinstance(other, Repeated):
            return self._list == other._list
        return (
            self._list == list(other)
            if isinstance(other, collections.abc.Sequence) and not isinstance(other, (str, bytes))
            else NotImplemented
        )

    __hash__ = None

    def __repr__(self):
        return repr(self._list)

    def __array__(self, dtype=None, copy=None):
        import numpy as np

        return np.array(self._list, dtype)

    def __deepcopy__(self, memo):
        return list(self._list)


class RepeatedMessages(Repeated):
    """Messages of a repeated field: made by add, or copied."""

    __slots__ = ()

    def add(self, **fields):
        made = self._field.message(**fields)
        self._list.append(made)
        self._owner._changed()
        return made

    def _copy_of(self, value):
        kind = self._field.message
        if isinstance(value, dict):
            return kind(**value)
        if not isinstance(value, kind):
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected {kind.DESCRIPTOR.full_name} got {type(value).__name__}."
            )
        made = kind()
        made.CopyFrom(value)
        return made

    def append(self, value):
        self._list.append(self._copy_of(value))
        self._owner._changed()

    def insert(self, index, value):
        self._list.insert(index, self._copy_of(value))
        self._owner._changed()

    def extend(self, values):
        if values is not None:
            self._list.extend([self._copy_of(v) for v in values])
            self._owner._changed()

    def __setitem__(self, index, value):
        raise TypeError(f"'{type(self).__name__}' object does not support item assignment")

    def __deepcopy__(self, memo):
        return [self._copy_of(v) for v in self._list]


class Map(collections.abc.MutableMapping):
    """A map with numbers, text or bytes as values."""

    __slots__ = ("_owner", "_field", "_dict")

    def __init__(self, owner, field):
        self._owner, self._field, self._dict = owner, field, {}

    def __len__(self):
        return len(self._dict)

    def __iter__(self):
        return iter(self._dict)

    def __contains__(self, key):
        return self._field.key.check(key) in self._dict

    def __getitem__(self, key):
        key = self._field.key.check(key)
        if key not in self._dict:
            self._dict[key] = self._missing()
            self._owner._changed()
        return self._dict[key]

    def _missing(self):
        return self._field.value.default

    def __setitem__(self, key, value):
        self._dict[self._field.key.check(key)] = self._field.value.check(value)
        self._owner._changed()

    def __delitem__(self, key):
        del self._dict[self._field.key.check(key)]
        self._owner._changed()

    def get(self, key, default=None):
        return self._dict.get(self._field.key.check(key), default)

    def clear(self):
        self._dict.clear()

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def MergeFrom(self, other):
        for key, value in other.items():
            self[key] = value

    def __eq__(self, other):
        return self._dict == (other._dict if isinstance(other, Map) else other)

    __hash__ = None

    def __repr__(self):
        return repr(self._dict)

    def __deepcopy__(self, memo):
        return dict(self._dict)


class MessageMap(Map):
    """A map with messages as values: reading an entry makes it."""

    __slots__ = ()

    def _missing(self):
        return self._field.value.message()

    def get_or_create(self, key):
        return self[key]

    def __setitem__(self, key, value):
        raise ValueError("Direct assignment of submessage not allowed")

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key]._set_from(value)

    def MergeFrom(self, other):
        for key, value in other.items():
            self[key].CopyFrom(value)

    def __deepcopy__(self, memo):
        return {k: v.__deepcopy__(memo) for k, v in self._dict.items()}
