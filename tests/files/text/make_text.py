"""Asks TensorFlow and protobuf about messages in text form. Needs a Python with tensorflow.

    python make_text.py FOLDER_OF_MODELS

Writes beside itself
  schema.txt     every message, field and enum of proto/, from TensorFlow's descriptors
  messages.bin   messages: name, bytes, text, JSON; random ones and small ones of the models
  parse.bin      texts of ServerDef with TensorFlow's bytes (entries of maps sorted) or its first error
Strings in the .bin files are behind their length (32 bits).
"""
import ctypes
import importlib
import json
import os
import pathlib
import random
import re
import struct
import sys
import tempfile

import tensorflow as tf
from google.protobuf import descriptor_pool, descriptor_pb2, json_format, message_factory, text_format

from parse_cases import CASES

here = pathlib.Path(__file__).parent
core = pathlib.Path(tf.__file__).parent / "core"
for path in sorted(core.rglob("*_pb2.py")):
    importlib.import_module("tensorflow.core." + str(path.relative_to(core))[:-3].replace("/", "."))
importlib.import_module("tensorflow.python.training.checkpoint_state_pb2")
importlib.import_module("tensorflow.compiler.tf2xla.tf2xla_pb2")
pool = descriptor_pool.Default()

# What the formats are, and with them all that they contain.
ROOTS = """GraphDef NodeDef AttrValue NameAttrList FunctionDefLibrary OpList ApiDefs KernelList TensorProto FullTypeDef MetaGraphDef
SavedModel SavedObjectGraph StructuredValue TrackableObjectGraph BundleHeaderProto BundleEntryProto TensorSliceProto CheckpointState
VariableDef ConfigProto RunOptions RunMetadata StepStats CostGraphDef AllocationDescription TensorDescription DeviceAttributes
DeviceProperties NamedDevice FingerprintDef ServerDef ClusterDef JobDef ClusterDeviceFilters Example SequenceExample Event Summary
SummaryMetadata GraphDebugInfo QueueRunnerDef CondContextDef WhileContextDef NamedTensorProto SavedTensorSlices CallableOptions
SaveSliceInfoDef CompositeTensorVariantMetadata ReaderBaseState MemmappedFileSystemDirectory SerializedDType SummaryDescription
OptimizedFunctionGraph tf2xla.Config""".split()


def closure():
    found = {}

    def visit(d):
        if d.full_name in found:
            return
        found[d.full_name] = d
        for f in d.fields:
            if f.message_type:
                visit(f.message_type)
            if f.enum_type:
                found[f.enum_type.full_name] = f.enum_type
        for n in d.nested_types:
            visit(n)
        for e in d.enum_types:
            found[e.full_name] = e

    for root in ROOTS:
        visit(pool.FindMessageTypeByName("tensorflow." + root))
    return [found[k] for k in sorted(found)]


def write_schema():
    with open(here / "schema.txt", "w") as out:
        for d in closure():
            if not hasattr(d, "fields"):
                print("enum", d.full_name, file=out)
                for v in sorted(d.values, key=lambda v: v.number):
                    print("", v.number, v.name, file=out)
                continue
            options = d.GetOptions()
            proto = descriptor_pb2.DescriptorProto()
            d.CopyToProto(proto)
            print("message", d.full_name, "map" if options.map_entry else "-", ",".join(proto.reserved_name) or "-", file=out)
            for f in sorted(d.fields, key=lambda f: f.number):
                label = "repeated" if f.is_repeated else "present" if f.has_presence else "single"
                oneof = f.containing_oneof.name if f.containing_oneof else "-"
                if oneof.startswith("_"):  # an optional field of proto3
                    oneof = "-"
                kind = (f.message_type or f.enum_type).full_name if f.message_type or f.enum_type else "-"
                print("", f.number, f.name, f.type, label, "packed" if f.is_packed else "-", oneof, kind, file=out)


# ---- messages ----

FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e10, 1e-5, 3.4e38, 1e-45, 16777216.0, 123456789.0, float("inf"), float("-inf"), float("nan"), 1 / 3]
TEXTS = ["", "a", "node_1/Add", "with \"quotes\" and 'single'", "tab\tline\nreturn\r\\", "\x00\x01\x7f", "é ü 漢字 😀", "x" * 30]


def random_value(r, f):
    t = f.cpp_type
    if t == f.CPPTYPE_STRING:
        if f.type == f.TYPE_BYTES:
            return r.choice([b"", b"abc", bytes(range(256))[r.randrange(200):][:r.randrange(40)], b"\xff\xfe\x00"])
        return r.choice(TEXTS)
    if t == f.CPPTYPE_BOOL:
        return r.random() < 0.7
    if t == f.CPPTYPE_ENUM:
        return r.choice([v.number for v in f.enum_type.values] + ([] if f.enum_type.is_closed else [12345, -7]))
    if t == f.CPPTYPE_FLOAT:
        return struct.unpack("<f", struct.pack("<f", r.choice(FLOATS + [r.uniform(-1e3, 1e3)])))[0]
    if t == f.CPPTYPE_DOUBLE:
        return r.choice(FLOATS + [r.uniform(-1e3, 1e3), 5e-324, 1.7976931348623157e308, 12345678901234567890.0, 0.1 + 0.2])
    bits = 32 if t in (f.CPPTYPE_INT32, f.CPPTYPE_UINT32) else 64
    if t in (f.CPPTYPE_INT32, f.CPPTYPE_INT64):
        return r.choice([0, 1, -1, 7, 2 ** (bits - 1) - 1, -2 ** (bits - 1), r.randrange(-1000, 1000)])
    return r.choice([0, 1, 300, 2 ** bits - 1, r.randrange(1000)])


def fill(r, m, depth):
    if m.DESCRIPTOR.full_name == "google.protobuf.Any":
        inner = tf.compat.v1.NodeDef()
        fill(r, inner, 0)
        inner.ClearField("attr")  # a map, whose order in JSON is open
        m.Pack(inner)
        return
    oneofs = set()
    for f in m.DESCRIPTOR.fields:
        if r.random() < 0.35:
            continue
        if f.containing_oneof:
            if f.containing_oneof.name in oneofs:
                continue
            oneofs.add(f.containing_oneof.name)
        if f.message_type and f.message_type.GetOptions().map_entry:
            entry = f.message_type.fields_by_name
            for _ in range(r.randrange(3)):
                key = random_value(r, entry["key"])
                if entry["value"].message_type:
                    value = getattr(m, f.name)[key]
                    if depth > 0:
                        fill(r, value, depth - 1)
                else:
                    getattr(m, f.name)[key] = random_value(r, entry["value"])
        elif f.message_type:
            if f.is_repeated:
                for _ in range(r.randrange(3)):
                    item = getattr(m, f.name).add()
                    if depth > 0:
                        fill(r, item, depth - 1)
            else:
                getattr(m, f.name).SetInParent()
                if depth > 0:
                    fill(r, getattr(m, f.name), depth - 1)
        elif f.is_repeated:
            getattr(m, f.name).extend(random_value(r, f) for _ in range(r.randrange(4)))
        else:
            setattr(m, f.name, random_value(r, f))


def sorted_maps(m, js):
    """The JSON object of m with the entries of maps by key; protobuf leaves their order open."""
    if not isinstance(js, dict) or "@type" in js:
        return js
    for f, value in m.ListFields():
        got = js.get(f.json_name)
        if f.message_type and f.message_type.GetOptions().map_entry:
            ordered = {}
            for key in sorted(value):
                name = str(key)
                item = got[name]
                ordered[name] = sorted_maps(value[key], item) if f.message_type.fields_by_name["value"].message_type else item
            js[f.json_name] = ordered
        elif f.message_type and f.is_repeated:
            js[f.json_name] = [sorted_maps(a, b) for a, b in zip(value, got)]
        elif f.message_type:
            js[f.json_name] = sorted_maps(value, got)
    return js


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def canonical(m):
    """The bytes of m with the entries of maps by key; protobuf's own deterministic order differs between its versions."""
    out = b""
    for f, value in m.ListFields():
        head = varint(f.number << 3 | 2)
        single = type(m)()
        if f.message_type and f.message_type.GetOptions().map_entry:
            for key in sorted(value):
                single = type(m)()
                if not f.message_type.fields_by_name["value"].message_type:
                    getattr(single, f.name)[key] = value[key]
                    out += single.SerializeToString()
                    continue
                getattr(single, f.name)[key].SetInParent()
                whole = single.SerializeToString()
                entry = whole[len(head) + 1:-1]  # the key and the tag of an empty value; keys here are short
                assert len(whole) < 127 + len(head)
                inner = canonical(value[key])
                entry += varint(len(inner)) + inner
                out += head + varint(len(entry)) + entry
        elif f.message_type:
            for item in value if f.is_repeated else [value]:
                inner = canonical(item)
                out += head + varint(len(inner)) + inner
        else:
            if f.is_repeated:
                getattr(single, f.name).extend(value)
            else:
                setattr(single, f.name, value)
            out += single.SerializeToString()
    assert type(m).FromString(out) == m or "nan" in str(m)
    return out


def forms(m):
    text = text_format.MessageToString(m, as_utf8=False)
    js = sorted_maps(m, json.loads(json_format.MessageToJson(m)))
    return canonical(m), text.encode(), json.dumps(js, indent=2).encode()


def put(out, *strings):
    for s in strings:
        s = s if isinstance(s, bytes) else s.encode()
        out.write(struct.pack("<I", len(s)) + s)


def write_messages(models):
    r = random.Random(4)
    with open(here / "messages.bin", "wb") as out:
        for d in closure():
            if not hasattr(d, "fields") or d.GetOptions().map_entry or d.full_name.startswith("google"):
                continue
            kept = 0
            for _ in range(20):
                m = message_factory.GetMessageClass(d)()
                fill(r, m, 2)
                wire, text, js = forms(m)
                if len(text) < 1500:
                    put(out, d.full_name, wire, text, js)
                    kept += 1
                if kept == 2:
                    break
        saved_model = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.SavedModel"))
        fingerprint = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.FingerprintDef"))
        smallest = sorted(models.rglob("saved_model.pb"), key=lambda p: (p.stat().st_size, str(p)))[:2]
        for path in smallest:
            for name, cls in (("saved_model.pb", saved_model), ("fingerprint.pb", fingerprint)):
                put(out, cls.DESCRIPTOR.full_name, *forms(cls.FromString((path.parent / name).read_bytes())))


# ---- the reader ----


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p)]


def write_parse():
    lib = ctypes.CDLL(str(next(pathlib.Path(tf.__file__).parent.glob("libtensorflow_cc.so*"))))
    lib.TF_NewStatus.restype = ctypes.c_void_p
    lib.TF_GetCode.argtypes = [ctypes.c_void_p]
    lib.TFE_GetServerDef.restype = ctypes.POINTER(Buffer)
    lib.TFE_GetServerDef.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    status = lib.TF_NewStatus()
    server = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.ServerDef"))
    with open(here / "parse.bin", "wb") as out:
        for case in CASES:
            text = case.encode("latin-1")
            with tempfile.TemporaryFile() as log:
                old = os.dup(2)
                os.dup2(log.fileno(), 2)
                buffer = lib.TFE_GetServerDef(text, status)
                os.dup2(old, 2)
                os.close(old)
                log.seek(0)
                errors = re.findall(rb"(Error parsing text-format [^\n]*)", log.read())
            if lib.TF_GetCode(status) != 0:
                put(out, text, b"", errors[0])
                continue
            wire = ctypes.string_at(buffer.contents.data, buffer.contents.length)
            try:
                wire = canonical(server.FromString(wire))
            except Exception:  # the reader lets strings pass that are no UTF-8
                pass
            put(out, text, wire, b"")


if __name__ == "__main__":
    write_schema()
    write_messages(pathlib.Path(sys.argv[1]))
    write_parse()
