"""Messages as protobuf's text. (The engine reads text, and writes the form of .pbtxt files.)"""

import struct

from weft._src.proto import _schema as s

_ESCAPES = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def quote(data, keep_utf8):
    """In quotes, with escapes; text keeps the characters that are not ASCII."""
    if keep_utf8:
        return (
            '"'
            + "".join(
                _ESCAPES.get(ord(c)) or (c if 32 <= ord(c) and ord(c) != 127 else f"\\{ord(c):03o}") for c in data
            )
            + '"'
        )
    return '"' + "".join(_ESCAPES.get(b) or (chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in data) + '"'


def _float(value, single):
    if value != value:
        return "nan"
    short = f"{value:.6g}" if single else f"{value:.15g}"
    same = (
        struct.pack("<f", float(short)) == struct.pack("<f", value)
        if single and abs(float(short)) < 3.4028236e38
        else float(short) == value
    )
    return short if same else f"{value:.9g}" if single else f"{value:.17g}"


def scalar(field, value):
    if field.type == s.STRING:
        return quote(value, True)
    if field.type == s.BYTES:
        return quote(value, False)
    if field.type == s.BOOL:
        return "true" if value else "false"
    if field.type == s.ENUM:
        return s.enum(field.ref)._names.get(value, str(value))
    if field.type in (s.FLOAT, s.DOUBLE):
        return _float(value, field.type == s.FLOAT)
    return str(value)


def _lines(message, indent, out):
    pad = " " * indent
    for field, value in message.ListFields():
        if field.is_map:
            for key in sorted(value):
                out.append(f"{pad}{field.name} {{")
                out.append(f"{pad}  key: {scalar(field.key, key)}")
                _one(field.value, value._dict[key], indent + 2, out)
                out.append(pad + "}")
        else:
            for v in value if field.repeated else [value]:
                _one(field, v, indent, out)


def _one(field, value, indent, out):
    pad = " " * indent
    if field.is_message:
        out.append(f"{pad}{field.name} {{")
        _lines(value, indent + 2, out)
        out.append(pad + "}")
    else:
        out.append(f"{pad}{field.name}: {scalar(field, value)}")


def print_message(message):
    out = []
    _lines(message, 0, out)
    return "".join(line + "\n" for line in out)


def one_line(message):
    out = []
    _lines(message, 0, out)
    return " ".join(line.strip() for line in out)
