"""The engine's schema as tables: what fields a message has, and how their values are checked, written and read."""

import functools
import operator
import struct

from weft import _weft

(
    DOUBLE,
    FLOAT,
    INT64,
    UINT64,
    INT32,
    FIXED64,
    FIXED32,
    BOOL,
    STRING,
    GROUP,
    MESSAGE,
    BYTES,
    UINT32,
    ENUM,
    SFIXED32,
    SFIXED64,
    SINT32,
    SINT64,
) = range(1, 19)
_REPEATED, _PACKED, _PRESENCE = 1, 2, 4
_FIXED = {DOUBLE: "<d", FLOAT: "<f", FIXED64: "<Q", FIXED32: "<I", SFIXED32: "<i", SFIXED64: "<q"}
_RANGES = {
    INT64: (-1 << 63, (1 << 63) - 1),
    UINT64: (0, (1 << 64) - 1),
    INT32: (-1 << 31, (1 << 31) - 1),
    UINT32: (0, (1 << 32) - 1),
}
_RANGES.update(
    {
        SINT64: _RANGES[INT64],
        SFIXED64: _RANGES[INT64],
        FIXED64: _RANGES[UINT64],
        SINT32: _RANGES[INT32],
        SFIXED32: _RANGES[INT32],
        FIXED32: _RANGES[UINT32],
        ENUM: _RANGES[INT32],
    }
)


class DecodeError(Exception):
    """Bytes or text that are not the message that they should be."""


class EncodeError(Exception):
    """A message that cannot be written."""


@functools.cache
def _tables():
    return _weft.proto_schema()


def message_names():
    return _tables()[0].keys()


def enum_names():
    return _tables()[1].keys()


# ---- enums -----------------------------------------------------------------------------------------------


class Enum:
    """An enum: its values are plain numbers."""

    def __init__(self, full_name):
        self.full_name, self.name = full_name, full_name.rpartition(".")[2]
        self._items = list(_tables()[1][full_name])
        self._numbers = dict(self._items)
        self._names = {}
        for name, number in self._items:
            self._names.setdefault(number, name)
        self.DESCRIPTOR = self
        self.values_by_name = {name: EnumValue(self, name, number) for name, number in self._items}
        self.values_by_number = {number: self.values_by_name[name] for number, name in self._names.items()}

    def Name(self, number):
        if number not in self._names:
            raise ValueError(f"Enum {self.name} has no name defined for value {number!r}")
        return self._names[number]

    def Value(self, name):
        if name not in self._numbers:
            raise ValueError(f"Enum {self.name} has no value defined for name {name!r}")
        return self._numbers[name]

    def keys(self):
        return [name for name, _ in self._items]

    def values(self):
        return [number for _, number in self._items]

    def items(self):
        return list(self._items)

    def __getattr__(self, name):
        if not name.startswith("_") and name in self._numbers:
            return self._numbers[name]
        raise AttributeError(f"Enum {self.full_name} has no value {name!r}")


class EnumValue:
    def __init__(self, type, name, number):
        self.type, self.name, self.number, self.index = type, name, number, number


@functools.cache
def enum(full_name):
    return Enum(full_name)


# ---- the wire --------------------------------------------------------------------------------------------


def put_varint(out, value):
    if value < 0:
        value += 1 << 64
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def get_varint(data, at):
    """(value, where it ends)"""
    byte = data[at]
    if byte < 128:
        return byte, at + 1
    value, shift = byte & 127, 7
    while True:
        at += 1
        byte = data[at]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFFFFFFFFFFFFFF, at + 1
        shift += 7
        if shift > 63:
            raise DecodeError("a number has too many bytes")


def skip(data, at, kind):
    """Where a value of this wire type ends."""
    if kind == 0:
        return get_varint(data, at)[1]
    if kind == 1:
        return at + 8
    if kind == 2:
        size, at = get_varint(data, at)
        return at + size
    if kind == 5:
        return at + 4
    raise DecodeError(f"wire type {kind} is not known")


# ---- fields ----------------------------------------------------------------------------------------------


def _to_float32(value):
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _number(value):
    if isinstance(value, (str, bytes)):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return float(value)


class Field:
    """A field: facts, and what to do with one value of it."""

    LABEL_OPTIONAL, LABEL_REQUIRED, LABEL_REPEATED = 1, 2, 3

    def __init__(self, owner, row, message_class):
        self.name, self.number, self.type, flags, self.ref, self.oneof, self._default = row
        self.full_name = f"{owner}.{self.name}"
        self.repeated, self.packed, self.presence = (
            bool(flags & _REPEATED),
            bool(flags & _PACKED),
            bool(flags & _PRESENCE),
        )
        self.label = self.LABEL_REPEATED if self.repeated else self.LABEL_OPTIONAL
        self._message_class = message_class
        self.is_message = self.type in (MESSAGE, GROUP)
        self.is_map = self.is_message and self.repeated and _tables()[0][self.ref][0]
        self.wire = (
            1
            if self.type in (DOUBLE, FIXED64, SFIXED64)
            else 5
            if self.type in (FLOAT, FIXED32, SFIXED32)
            else 2
            if self.type in (STRING, BYTES, MESSAGE)
            else 0
        )
        self.tag = bytearray()
        put_varint(self.tag, self.number << 3 | (2 if self.packed else self.wire))

    @functools.cached_property
    def message(self):
        return self._message_class(self.ref)

    @property
    def message_type(self):
        return self.message.DESCRIPTOR if self.is_message else None

    @property
    def enum_type(self):
        return enum(self.ref) if self.type == ENUM else None

    @property
    def default_value(self):
        return self.default

    @functools.cached_property
    def key(self):
        return self.message._fields["key"]

    @functools.cached_property
    def value(self):
        return self.message._fields["value"]

    @functools.cached_property
    def default(self):
        if self.type == STRING:
            return self._default
        if self.type == BYTES:
            return self._default.encode()
        if self.type in (DOUBLE, FLOAT):
            return float(self._default or 0)
        if self.type == BOOL:
            return self._default == "true"
        if self.type == ENUM:
            return (
                enum(self.ref).Value(self._default)
                if self._default
                else enum(self.ref).values()[0]
                if 0 not in enum(self.ref)._names
                else 0
            )
        return int(self._default or 0)

    def check(self, value):
        """The value as the field holds it."""
        kind = self.type
        if kind == STRING:
            if isinstance(value, bytes):
                return value.decode("utf-8")
            if not isinstance(value, str):
                raise TypeError("bad argument type for built-in operation")
            return str(value)
        if kind == BYTES:
            if not isinstance(value, (bytes, bytearray, memoryview)):
                raise TypeError(f"expected bytes, {type(value).__name__} found")
            return bytes(value)
        if kind == FLOAT:
            return _to_float32(_number(value))
        if kind == DOUBLE:
            return _number(value)
        if kind == ENUM and isinstance(value, str):
            return enum(self.ref).Value(value)
        if not isinstance(value, int) and isinstance(value, float):
            raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
        number = operator.index(value)
        if kind == BOOL:
            return bool(number)
        low, high = _RANGES[kind]
        if not low <= number <= high:
            raise ValueError(f"Value out of range: {number}")
        return number

    # one value without its tag

    def put(self, out, value):
        kind = self.type
        if kind == STRING:
            value = value.encode("utf-8")
        elif kind == MESSAGE:
            value = value._encode()
        elif kind in _FIXED:
            out += struct.pack(_FIXED[kind], value)
            return
        elif kind != BYTES:
            if kind in (SINT32, SINT64):
                value = value << 1 if value >= 0 else (-value << 1) - 1
            put_varint(out, int(value))
            return
        put_varint(out, len(value))
        out += value

    def get(self, data, at):
        """(value, where it ends), for all but messages."""
        kind = self.type
        if self.wire == 0:
            value, at = get_varint(data, at)
            if kind == BOOL:
                return value != 0, at
            if kind in (INT32, ENUM):
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value, at
            if kind == INT64:
                return value - (1 << 64) if value >> 63 else value, at
            if kind in (SINT32, SINT64):
                return (value >> 1) ^ -(value & 1), at
            return value & 0xFFFFFFFF if kind == UINT32 else value, at
        if self.wire == 2:
            size, at = get_varint(data, at)
            end = at + size
            if end > len(data):
                raise DecodeError(f"the field {self.full_name} is cut off")
            value = data[at:end]
            return value.decode("utf-8") if kind == STRING else value, end
        form = _FIXED[kind]
        end = at + (8 if self.wire == 1 else 4)
        if end > len(data):
            raise DecodeError(f"the field {self.full_name} is cut off")
        return struct.unpack_from(form, data, at)[0], end

    def put_packed(self, out, values):
        out += self.tag
        if self.type in _FIXED:
            form = _FIXED[self.type]
            content = struct.pack(f"<{len(values)}{form[1]}", *values)
        else:
            content = bytearray()
            for value in values:
                self.put(content, value)
        put_varint(out, len(content))
        out += content

    def get_packed(self, data, at, into):
        size, at = get_varint(data, at)
        end = at + size
        if end > len(data):
            raise DecodeError(f"the field {self.full_name} is cut off")
        if self.type in _FIXED:
            form = _FIXED[self.type]
            width = 8 if self.wire == 1 else 4
            if size % width:
                raise DecodeError(f"the field {self.full_name} is cut off")
            into.extend(struct.unpack_from(f"<{size // width}{form[1]}", data, at))
            return end
        while at < end:
            value, at = self.get(data, at)
            into.append(value)
        return end
