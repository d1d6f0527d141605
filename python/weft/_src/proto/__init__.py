"""The messages that TensorFlow exchanges: `weft.proto.GraphDef` and all others of the engine's schema, by name. They are classes of the package protobuf where it is
installed (_protobuf.py), else our own with the same interface (_message.py)."""

import functools

from weft import _weft
from weft._src.proto import text_format  # noqa: F401
from weft._src.proto import _protobuf
from weft._src.proto._message import ParseError, own_class  # noqa: F401
from weft._src.proto._schema import EncodeError, enum, enum_names, message_names  # noqa: F401

_PACKAGES = ("tensorflow.", "tensorflow.error.", "tensorflow.tf2xla.", "google.protobuf.")


@functools.cache
def message_class(full_name):
    """The class of a message of the schema."""
    return _protobuf.message_class(full_name) if _protobuf.available() else own_class(full_name)


def op_def(name):
    """The OpDef of a registered op."""
    return message_class("tensorflow.OpDef").FromString(_weft.op_def(name))


def generated_module(name):
    """What `tensorflow.core.framework.graph_pb2` is: protobuf's module of the file or, without protobuf, this one, which has all messages. None: not TensorFlow's."""
    import sys

    found = _protobuf.generated(name) if _protobuf.available() else None
    if found is None and (name.startswith("tensorflow.core.") or _protobuf.is_file(name)):
        return sys.modules[__name__]
    return found


def to_json(message):
    """protobuf's JSON form."""
    return _weft.proto_json(message.DESCRIPTOR.full_name, message.SerializeToString())


def _find(name):
    for package in _PACKAGES:
        if package + name in message_names():
            return message_class(package + name)
        if package + name in enum_names():
            return enum(package + name)
    for full_name in enum_names():
        if full_name.rpartition(".")[0] in ("tensorflow", "tensorflow.error"):
            values = enum(full_name)
            if name in values._numbers:
                return values._numbers[name]
    return None


def _shared(name):
    """The base of all messages and the error of bytes that are none: protobuf's, where messages are."""
    if name not in ("Message", "DecodeError"):
        return None
    if _protobuf.available():
        from google.protobuf import message
    else:
        from weft._src.proto import _message as message
    return getattr(message, name)


def __getattr__(name):
    found = None if name.startswith("__") else _shared(name) or _find(name)
    if found is None and name in ("make_tensor_proto", "make_ndarray"):
        from weft._src.proto import tensors

        found = getattr(tensors, name)
    if found is None:
        raise AttributeError(f"weft.proto has no message {name}")
    globals()[name] = found
    return found
