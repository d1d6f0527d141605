"""The messages that TensorFlow exchanges, without protobuf: `weft.proto.GraphDef` and all others of the engine's schema, by name."""

from weft import _weft
from weft._src.proto import text_format  # noqa: F401
from weft._src.proto._message import DecodeError, Message, ParseError, message_class  # noqa: F401
from weft._src.proto._schema import EncodeError, enum, enum_names, message_names  # noqa: F401

_PACKAGES = ("tensorflow.", "tensorflow.error.", "tensorflow.tf2xla.", "google.protobuf.")


def op_def(name):
    """The OpDef of a registered op."""
    return OpDef.FromString(_weft.op_def(name))


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


def __getattr__(name):
    found = None if name.startswith("__") else _find(name)
    if found is None and name in ("make_tensor_proto", "make_ndarray"):
        from weft._src.proto import tensors

        found = getattr(tensors, name)
    if found is None:
        raise AttributeError(f"weft.proto has no message {name}")
    globals()[name] = found
    return found


OpDef = __getattr__("OpDef")
