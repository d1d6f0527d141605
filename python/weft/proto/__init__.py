"""The messages that TensorFlow exchanges, `weft.proto.GraphDef` and all others of the engine's schema, by name."""

from weft._src import proto as _proto
from weft._src.proto import EncodeError, ParseError, enum, enum_names, message_class  # noqa: F401
from weft._src.proto import message_names, op_def, to_json  # noqa: F401
from weft.proto import text_format  # noqa: F401


def __getattr__(name):
    value = globals()[name] = getattr(_proto, name)
    return value
