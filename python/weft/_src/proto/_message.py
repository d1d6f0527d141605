"""Messages: classes made from the engine's schema, with the interface of protobuf's."""

import functools
import sys
import threading

from weft import _weft
from weft._src.proto import _text
from weft._src.proto._containers import Map, MessageMap, Repeated, RepeatedMessages
from weft._src.proto._schema import (
    DecodeError,
    Field,
    _tables,
    enum,
    enum_names,
    get_varint,
    message_names,
    put_varint,
    skip,
)


class Descriptor:
    """What a message class says of itself."""

    def __init__(self, full_name, fields):
        self.full_name, self.name = full_name, full_name.rpartition(".")[2]
        self.fields = list(fields.values())
        self.fields_by_name = dict(fields)
        self.fields_by_number = {f.number: f for f in self.fields}
        self.oneofs_by_name = {}
        for f in self.fields:
            if f.oneof:
                self.oneofs_by_name.setdefault(f.oneof, []).append(f)


def _unpickle(full_name, data):
    from weft._src.proto import message_class

    return message_class(full_name).FromString(data)


class Message:
    """The base of all messages. `_v` has the values by field; a message that was only looked at is in it too, and is not set.

    A message that was read from bytes keeps them as `_pending`, and has neither `_v` nor `_unknown`, until somebody asks for one of the two."""

    __slots__ = ("_v", "_owner", "_unknown", "_pending", "_cached", "__weakref__")
    _fields = {}
    DESCRIPTOR = None

    def __init__(self, *args, **fields):
        if args:
            raise TypeError("No positional arguments allowed")
        self._v, self._owner, self._unknown, self._pending = {}, None, b"", None
        if fields:
            self._fill(fields)

    def _fill(self, values):
        for name, value in values.items():
            field = self._fields.get(name)
            if field is None:
                raise ValueError(f'Protocol message {self.DESCRIPTOR.name} has no "{name}" field.')
            if value is None:
                continue
            if field.is_map:
                self._get(field).update(value)
            elif field.repeated:
                if not hasattr(value, "__iter__"):
                    raise TypeError("must assign iterable")
                self._get(field).extend(value)
            elif field.is_message:
                self._get(field)._set_from(value)
            else:
                self._set(field, value)

    def _set_from(self, value):
        if isinstance(value, dict):
            self.SetInParent()
            self._fill(value)
        elif isinstance(value, type(self)):
            self.SetInParent()
            self.MergeFrom(value)
        else:
            raise TypeError(
                f"Parameter to initialize message field must be dict or instance of same class: expected {type(self)} got {type(value)}."
            )

    # ---- values

    def _changed(self):
        """Something was set here: so is this message, in the one that it belongs to."""
        owner = self._owner
        if owner is not None:
            self._owner = None
            message, field = owner
            if field.oneof:
                message._leave_oneof(field)
            message._v[field.name] = self
            message._changed()

    def _leave_oneof(self, field):
        for other in self.DESCRIPTOR.oneofs_by_name[field.oneof]:
            if other is not field:
                self._drop(other.name)

    def _drop(self, name):
        old = self._v.pop(name, None)
        if isinstance(old, Message) and old._owner is not None:
            old._owner = None

    def _get(self, field):
        value = self._v.get(field.name)
        if value is not None:
            return value
        if field.is_map:
            value = (MessageMap if field.value.is_message else Map)(self, field)
        elif field.repeated:
            value = (RepeatedMessages if field.is_message else Repeated)(self, field)
        elif field.is_message:
            value = field.message()
            value._owner = (self, field)
        else:
            return field.default
        self._v[field.name] = value
        return value

    def _set(self, field, value):
        if field.repeated:
            raise AttributeError(
                f'Assignment not allowed to map, or repeated field "{field.name}" in protocol message object.'
            )
        if field.is_message:
            raise AttributeError(f'Assignment not allowed to message field "{field.name}" in protocol message object.')
        value = field.check(value)
        if field.oneof:
            self._leave_oneof(field)
        self._v[field.name] = value
        if self._owner is not None:
            self._changed()

    def _present(self, field, value):
        if field.repeated:
            return len(value) > 0
        if field.is_message:
            return value._owner is None
        return field.presence or bool(value) or (isinstance(value, float) and str(value) == "-0.0")

    def ListFields(self):
        """(field, value) for all that are set, by number."""
        v = self._v
        return [(f, v[name]) for name, f in self._fields.items() if name in v and self._present(f, v[name])]

    def _field_named(self, name):
        field = self._fields.get(name)
        if field is None:
            raise ValueError(f'Protocol message {self.DESCRIPTOR.name} has no "{name}" field.')
        return field

    def HasField(self, name):
        if name in self.DESCRIPTOR.oneofs_by_name:
            return self.WhichOneof(name) is not None
        field = self._field_named(name)
        if field.repeated or not field.presence:
            raise ValueError(f"Field {field.full_name} does not have presence.")
        return name in self._v and self._present(field, self._v[name])

    def WhichOneof(self, name):
        members = self.DESCRIPTOR.oneofs_by_name.get(name)
        if members is None:
            raise ValueError(f'Protocol message {self.DESCRIPTOR.name} has no "{name}" field.')
        return next((f.name for f in members if f.name in self._v and self._present(f, self._v[f.name])), None)

    def ClearField(self, name):
        for field in self.DESCRIPTOR.oneofs_by_name.get(name) or [self._field_named(name)]:
            self._drop(field.name)
        self._changed()

    def Clear(self):
        self._v, self._unknown, self._pending = {}, b"", None
        self._changed()

    def SetInParent(self):
        self._changed()

    def IsInitialized(self, errors=None):
        return True

    def FindInitializationErrors(self):
        return []

    def UnknownFields(self):
        return self._unknown

    def DiscardUnknownFields(self):
        self._unknown = b""

    # ---- copies

    def MergeFrom(self, other):
        if not isinstance(other, type(self)):
            raise TypeError(
                f"Parameter to MergeFrom() must be instance of same class: expected {self.DESCRIPTOR.full_name} got {type(other).__name__}."
            )
        for field, value in other.ListFields():
            if field.repeated:
                self._get(field).MergeFrom(value)
            elif field.is_message:
                mine = self._get(field)
                mine._changed()
                mine.MergeFrom(value)
            else:
                self._set(field, value)
        self._unknown += other._unknown
        self._changed()

    def CopyFrom(self, other):
        if other is not self:
            if not isinstance(other, type(self)):
                raise TypeError(
                    f"Parameter to CopyFrom() must be instance of same class: expected {self.DESCRIPTOR.full_name} got {type(other).__name__}."
                )
            self.Clear()
            self.MergeFrom(other)

    def __deepcopy__(self, memo):
        made = type(self)()
        made.MergeFrom(self)
        return made

    __copy__ = lambda self: self.__deepcopy__(None)  # noqa: E731

    def __reduce__(self):
        return _unpickle, (self.DESCRIPTOR.full_name, self.SerializeToString())

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return self.ListFields() == other.ListFields() and self._unknown == other._unknown

    __hash__ = None

    # ---- bytes

    def _encode(self):
        if (pending := self._pending) is not None:
            return pending
        out = bytearray()
        for field, value in self.ListFields():
            if field.is_map:
                _encode_map(out, field, value)
            elif field.repeated:
                if field.packed:
                    field.put_packed(out, value._list)
                else:
                    for v in value._list:
                        out += field.tag
                        field.put(out, v)
            else:
                out += field.tag
                field.put(out, value)
        out += self._unknown
        return out

    def SerializeToString(self, deterministic=None):
        return bytes(self._encode())

    SerializePartialToString = SerializeToString

    def ByteSize(self):
        return len(self._encode())

    def ParseFromString(self, serialized):
        self.Clear()
        return self.MergeFromString(serialized)

    def MergeFromString(self, serialized):
        data = serialized if type(serialized) is bytes else bytes(serialized)
        try:
            if (
                len(data) >= _LARGE
                and not self._v
                and not self._unknown
                and _weft.proto_is_plain(self._full_name, data)
            ):
                _wait(self, data)
            else:
                self._decode(data, 0, len(data))
        except (IndexError, UnicodeDecodeError, DecodeError) as e:
            raise DecodeError(
                f"Error parsing message with type '{self.DESCRIPTOR.full_name}': {str(e) if isinstance(e, DecodeError) else 'Wire format was corrupt'}"
            ) from None
        self._changed()
        return len(serialized)

    @classmethod
    def FromString(cls, serialized):
        made = cls()
        made.ParseFromString(serialized)
        return made

    def _decode(self, data, at, size, plain=False):
        """Takes what lies in data from at to size. Of what is known to be well-formed (`plain`), messages inside are left for later."""
        table, v = self._by_tag, self._v
        while at < size:
            start = at
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = get_varint(data, start)
            field, how = table.get(tag, _NO_FIELD)
            if how == _INNER:
                length = data[at]
                at += 1
                if length > 127:
                    length, at = get_varint(data, at - 1)
                end = at + length
                if end > size:
                    raise DecodeError("Wire format was corrupt")
                self._decode_message(field, data, at, end, plain)
                at = end
            elif how == _SINGLE:
                value, at = field.get(data, at)
                if field.oneof and v:
                    self._leave_oneof(field)
                v[field.name] = value
            elif how == _MANY:
                value, at = field.get(data, at)
                self._get(field)._list.append(value)
            elif how == _PACKED:
                at = field.get_packed(data, at, self._get(field)._list)
            else:
                if tag >> 3 == 0:
                    raise DecodeError("Wire format was corrupt")
                at = skip(data, at, tag & 7)
                self._unknown += data[start:at]
        if at > size:
            raise DecodeError("Wire format was corrupt")

    def _decode_message(self, field, data, at, end, plain):
        if field.is_map:
            entry = _empty(field.message)
            entry._decode(data, at, end, plain)
            value = entry._v.get("value")
            if value is None:
                value = field.value.message() if field.value.is_message else field.value.default
            elif field.value.is_message:
                value._owner = None
            key = entry._v.get("key")
            self._get(field)._dict[field.key.default if key is None else key] = value
        elif field.repeated:
            if plain:
                made = _waiting(field.message, data[at:end])
            else:
                made = _empty(field.message)
                made._decode(data, at, end)
            self._get(field)._list.append(made)
        else:
            if field.oneof and self._v:
                self._leave_oneof(field)
            inner = self._v.get(field.name)
            if inner is None and plain:
                self._v[field.name] = _waiting(field.message, data[at:end])
                return
            if inner is None:
                inner = self._v[field.name] = _empty(field.message)
            inner._owner = None
            inner._decode(data, at, end)

    # ---- text

    def __str__(self):
        return _text.print_message(self)

    __repr__ = __str__

    def __getattr__(self, name):
        if name == "_v" or name == "_unknown":
            _read_pending(self)
            return object.__getattribute__(self, name)
        raise AttributeError(name)

    def __setattr__(self, name, value):
        try:
            object.__setattr__(self, name, value)
        except AttributeError:
            if hasattr(type(self), name):
                raise
            raise AttributeError(f'Protocol message {type(self).__name__} has no "{name}" field.') from None


def _empty(cls):
    """A message without fields, without the way through its constructor."""
    made = object.__new__(cls)
    _set_values(made, {})
    _set_owner(made, None)
    _set_unknown(made, b"")
    _set_pending(made, None)
    return made


# Bytes of at least so many are read when somebody looks: a graph of a million nodes may go from a file into the engine unseen.
_LARGE = 4096
_reading = threading.RLock()
# Past Message.__setattr__, which costs more than all else here.
_set_values, _set_owner, _set_unknown, _set_pending = (
    getattr(Message, slot).__set__ for slot in ("_v", "_owner", "_unknown", "_pending")
)


def _waiting(cls, data):
    """A message whose bytes nobody has looked at."""
    made = object.__new__(cls)
    _set_owner(made, None)
    _set_pending(made, data)
    return made


def _wait(message, data):
    _set_pending(message, data)
    del message._v, message._unknown


def _read_pending(message):
    with _reading:
        data = message._pending
        if data is None:  # another thread was here
            return
        made = _empty(type(message))  # so that nobody sees a part of it
        made._decode(data, 0, len(data), True)
        for value in made._v.values():
            if not isinstance(value, Message) and hasattr(value, "_owner"):  # repeated, or a map
                value._owner = message
        _set_values(message, made._v)
        _set_unknown(message, made._unknown)
        _set_pending(message, None)


# How a field with a tag is read.
_SINGLE, _MANY, _PACKED, _INNER, _UNKNOWN = range(5)
_NO_FIELD = (None, _UNKNOWN)


def _tags(fields):
    """tag -> (field, how it is read); numbers may come packed or one by one."""
    table = {}
    for f in fields.values():
        table[f.number << 3 | f.wire] = (f, _INNER if f.is_message else _MANY if f.repeated else _SINGLE)
        if f.repeated and f.wire != 2:
            table[f.number << 3 | 2] = (f, _PACKED)
    return table


def _encode_map(out, field, value):
    key, item = field.key, field.value
    for k in sorted(value._dict):
        entry = bytearray(key.tag)
        key.put(entry, k)
        entry += item.tag
        item.put(entry, value._dict[k])
        out += field.tag
        put_varint(out, len(entry))
        out += entry


def _property(field):
    name, get = field.name, Message._get

    def read(self):
        value = self._v.get(name)
        return value if value is not None else get(self, field)

    def write(self, value):
        self._set(field, value)

    return property(read, write)


_EXAMPLES = {"Example": "example", "SequenceExample": "example"} | dict.fromkeys(
    ("BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList", "FeatureLists"), "feature"
)


def _module(name):
    """Where the class says that it is: where TensorFlow has it, when `tensorflow` means weft."""
    file = _EXAMPLES.get(name) if "weft.as_tensorflow" in sys.modules else None
    return f"tensorflow.core.example.{file}_pb2" if file else "weft.proto"


@functools.cache
def own_class(full_name):
    """The class of a message of the schema, without protobuf."""
    rows = _tables()[0][full_name][1]
    fields = {row[0]: Field(full_name, row, own_class) for row in sorted(rows, key=lambda r: r[1])}
    name = full_name.rpartition(".")[2]
    body = {
        "__slots__": (),
        "__module__": _module(name),
        "__qualname__": name,
        "_fields": fields,
        "_by_tag": _tags(fields),
        "DESCRIPTOR": Descriptor(full_name, fields),
        "_full_name": full_name,
        "__doc__": f"The message {full_name}.",
    }
    inner = full_name + "."
    for e in enum_names():
        if e.startswith(inner) and "." not in e[len(inner) :]:
            body[enum(e).name] = enum(e)
            body.update(enum(e).items())
    for f in fields.values():
        body[f.name] = _property(f)
        body[f"{f.name.upper()}_FIELD_NUMBER"] = f.number
    cls = type(name, (Message,), body)
    for m in message_names():
        if m.startswith(inner) and "." not in m[len(inner) :]:
            setattr(cls, m[len(inner) :], own_class(m))
    return cls


def parse_text(text, message):
    """Adds what the text says to the message, which is given back."""
    from weft._src.framework.errors import InvalidArgumentError

    if isinstance(text, bytes):
        text = text.decode("utf-8")
    try:
        message.MergeFromString(_weft.proto_parse_text(message.DESCRIPTOR.full_name, text))
    except InvalidArgumentError as e:
        raise ParseError(str(e)) from None
    return message


class ParseError(DecodeError):
    """Text that is not the message that it should be."""
