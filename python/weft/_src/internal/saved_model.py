"""Names of tf.__internal__ that are about SavedModels."""

import contextlib
import threading


class _Current(threading.local):
    options = None


_current = _Current()


@contextlib.contextmanager
def load_context(load_options):
    """What is loaded in the block is loaded with these options."""
    before, _current.options = _current.options, load_options
    try:
        yield
    finally:
        _current.options = before


def get_load_options():
    return _current.options


def in_load_context():
    return _current.options is not None


def parse_saved_model(export_dir):
    """The SavedModel message of a folder."""
    import os

    from weft._src.framework import gfile
    from weft._src.proto import SavedModel, text_format
    from weft._src.saved_model import constants
    from weft._src.saved_model.load import missing_file

    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB)
    if gfile.exists(path):
        return SavedModel.FromString(gfile.read_bytes(path))
    path = os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PBTXT)
    if gfile.exists(path):
        return text_format.Parse(gfile.read_bytes(path).decode(), SavedModel())
    raise missing_file(export_dir)


def load_partial(export_dir, filters, tags=None, options=None):
    """{path: object} of some objects of a SavedModel; those that `filters` gives as (object, setter) are filled, not made."""
    from weft._src.saved_model.load_partial import load_partial as load

    return load(export_dir, filters, tags, options)


def encode_structure(nested_structure):
    """A structure of specs and plain values as a StructuredValue message."""
    from weft._src.saved_model.structured import encode

    return encode(nested_structure)


def decode_proto(proto):
    """The structure that a StructuredValue message describes."""
    from weft._src.saved_model.structured import decode

    return decode(proto)
