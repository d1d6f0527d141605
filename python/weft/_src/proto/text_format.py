"""The part of google.protobuf.text_format that programs use."""

from weft import _weft
from weft._src.proto import _protobuf, _text
from weft._src.proto._message import ParseError, parse_text  # noqa: F401


def MessageToString(message, as_utf8=False, as_one_line=False, float_format=None, **options):
    """The message as text, as TensorFlow writes it into .pbtxt files."""
    if as_one_line:
        if _protobuf.available():
            from google.protobuf import text_format

            return text_format.MessageToString(message, as_one_line=True)
        return _text.one_line(message)
    return _weft.proto_text(message.DESCRIPTOR.full_name, message.SerializeToString())


def Merge(text, message, **options):
    """Adds the message that the text is."""
    return parse_text(text, message)


def Parse(text, message, **options):
    return parse_text(text, message)
