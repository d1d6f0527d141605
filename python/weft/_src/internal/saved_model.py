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
    from weft._src.saved_model.load import read_saved_model

    return read_saved_model(export_dir)


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
