"""Messages as classes of the package protobuf, where it is installed: descriptors are made from the engine's schema, a file at a time, when a message of it is
first asked for. They are in protobuf's default pool under TensorFlow's file names, so that other packages' generated modules find them."""

import copyreg
import functools
import importlib.util
import types

from weft._src.proto import _schema as s
from weft._src.proto.files import PROTO2, TEXT

_OURS = ("google/protobuf/any.proto", "google/protobuf/wrappers.proto")  # the package has these itself


@functools.cache
def available():
    """Whether the package is there; this does not load it."""
    try:
        return importlib.util.find_spec("google.protobuf") is not None
    except ModuleNotFoundError:
        return False


@functools.cache
def _files():
    """{file: (package, [top names])}"""
    table = {}
    for line in TEXT.strip().splitlines():
        head, _, names = line.partition(":")
        file, _, package = head.partition(" ")
        table.setdefault(file, (package, []))[1].extend(names.split())
    return table


@functools.cache
def _homes():
    """{whole name of a top message or enum: its file}"""
    homes = {f"{package}.{name}": file for file, (package, names) in _files().items() for name in names}
    homes["google.protobuf.Any"], homes["google.protobuf.BoolValue"] = _OURS
    return homes


def _home(full_name):
    """The file of a message or enum, which may be inside of another."""
    name = full_name
    while name not in _homes():
        name = name.rpartition(".")[0]
        if not name:
            raise KeyError(full_name)
    return _homes()[name], full_name[len(name) + 1 :]


def _inside(full_name, names):
    """The names one level below."""
    start = full_name + "."
    return [n for n in names if n.startswith(start) and "." not in n[len(start) :]]


def _describe_enum(made, full_name):
    made.name = full_name.rpartition(".")[2]
    numbers = set()
    for name, number in sorted(s._tables()[1][full_name], key=lambda v: v[1] != 0):  # zero is the default, and first
        made.value.add(name=name, number=number)
        if number in numbers:
            made.options.allow_alias = True
        numbers.add(number)


def _describe_field(made, row, oneofs, message, proto2, needed):
    name, number, kind, flags, ref, oneof, default = row
    made.name, made.number, made.type = name, number, kind
    made.label = 3 if flags & s._REPEATED else 1
    if ref:
        made.type_name = "." + ref
        needed.add(_home(ref)[0])
    if oneof:
        if oneof not in oneofs:
            oneofs[oneof] = len(oneofs)
            message.oneof_decl.add(name=oneof)
        made.oneof_index = oneofs[oneof]
    if default and proto2:
        made.default_value = default
    packable = kind not in (s.STRING, s.BYTES, s.MESSAGE, s.GROUP)
    if flags & s._REPEATED and packable and bool(flags & s._PACKED) == proto2:
        made.options.packed = bool(flags & s._PACKED)


def _describe(made, full_name, proto2, needed):
    """Fills a DescriptorProto."""
    is_map_entry, rows = s._tables()[0][full_name]
    made.name = full_name.rpartition(".")[2]
    made.options.map_entry = is_map_entry
    if not is_map_entry:
        made.ClearField("options")
    oneofs, optional = {}, []
    for row in sorted(rows, key=lambda r: r[1]):
        field = made.field.add()
        _describe_field(field, row, oneofs, made, proto2, needed)
        single = row[2] not in (s.MESSAGE, s.GROUP) and not row[5] and not row[3] & s._REPEATED
        if not proto2 and single and row[3] & s._PRESENCE:
            optional.append(field)
    for field in optional:  # what `optional` means in the newer syntax: a oneof of its own, after all others
        field.proto3_optional = True
        field.oneof_index = len(made.oneof_decl)
        made.oneof_decl.add(name="_" + field.name)
    for inner in _inside(full_name, s.message_names()):
        _describe(made.nested_type.add(), inner, proto2, needed)
    for inner in _inside(full_name, s.enum_names()):
        _describe_enum(made.enum_type.add(), inner)


@functools.cache
def module(file):
    """The module that protobuf's compiler would make of a file: classes, enums and their values, DESCRIPTOR."""
    from google.protobuf import any_pb2, descriptor_pool, wrappers_pb2
    from google.protobuf.internal import builder

    if file in _OURS:
        return any_pb2 if "any" in file else wrappers_pb2
    pool = descriptor_pool.Default()
    name = file.removesuffix(".proto").replace("/", ".") + "_pb2"
    try:
        descriptor = pool.FindFileByName(file)
    except KeyError:
        descriptor = pool.AddSerializedFile(_serialized(file))
    made = types.ModuleType(name, f"The messages of {file}.")
    made.DESCRIPTOR = descriptor
    builder.BuildMessageAndEnumDescriptors(descriptor, made.__dict__)
    builder.BuildTopDescriptorsAndMessages(descriptor, name, made.__dict__)
    for value in list(vars(made).values()):
        if isinstance(value, type):
            copyreg.pickle(value, _reduce)
    return made


def _serialized(file):
    from google.protobuf import descriptor_pb2

    package, names = _files()[file]
    described = descriptor_pb2.FileDescriptorProto(name=file, package=package)
    proto2, needed = file in PROTO2, set()
    if not proto2:
        described.syntax = "proto3"
    for name in names:
        full_name = f"{package}.{name}"
        if full_name in s.enum_names():
            _describe_enum(described.enum_type.add(), full_name)
        else:
            _describe(described.message_type.add(), full_name, proto2, needed)
    needed.discard(file)
    for other in sorted(needed):
        module(other)
        described.dependency.append(other)
    return described.SerializeToString()


def _reduce(message):
    return unpickle, (message.DESCRIPTOR.full_name, message.SerializeToString())


def unpickle(full_name, data):
    from weft._src.proto import message_class

    return message_class(full_name).FromString(data)


def message_class(full_name):
    """protobuf's class of a message of the schema."""
    file, inner = _home(full_name)
    top = full_name[: len(full_name) - len(inner) - 1] if inner else full_name
    found = getattr(module(file), top.rpartition(".")[2])
    for part in inner.split(".") if inner else ():
        found = getattr(found, part)
    return found


def _file_of(name):
    """The file of a module's name, or None. Some messages were moved to other files; their former modules are still imported."""
    file = name.removesuffix("_pb2").replace(".", "/") + ".proto"
    return next((known for known in (file, _MOVED.get(file)) if known in _files()), None)


def is_file(name):
    return _file_of(name) is not None


def generated(name):
    """The module of a name such as tensorflow.core.framework.graph_pb2, or None."""
    file = _file_of(name)
    return None if file is None else module(file)


_MOVED = {
    "tensorflow/core/protobuf/error_codes.proto": "xla/tsl/protobuf/error_codes.proto",
    "tensorflow/core/lib/core/error_codes.proto": "xla/tsl/protobuf/error_codes.proto",
    "tensorflow/tsl/protobuf/histogram.proto": "xla/tsl/protobuf/histogram.proto",
}
