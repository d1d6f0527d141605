"""The part of google.protobuf.text_format that programs use."""

from weft._src.proto.text_format import Merge, MessageToString, Parse, ParseError

__all__ = ["Merge", "MessageToString", "Parse", "ParseError"]
