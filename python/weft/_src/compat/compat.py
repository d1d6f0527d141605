"""tf.compat: text and bytes, dimensions of both versions, and what older readers understand."""

import contextlib as _contextlib
import datetime as _datetime
import numbers as _numbers
import os as _os

import numpy as _np


def as_bytes(bytes_or_text, encoding="utf-8"):
    """Text or bytes as bytes."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """Text or bytes as text."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text, encoding="utf-8"):
    return as_text(bytes_or_text, encoding)


def as_str_any(value, encoding="utf-8"):
    """Any value as text; bytes are decoded."""
    return as_str(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """A path object as text; other values as they are."""
    return as_str_any(_os.fspath(path)) if hasattr(path, "__fspath__") else path


def path_to_bytes(path):
    return as_bytes(_os.fspath(path) if hasattr(path, "__fspath__") else path)


def dimension_value(dimension):
    """The size of a dimension of either version's shapes."""
    return getattr(dimension, "value", dimension)


def dimension_at_index(shape, index):
    from weft._src.framework.tensor_shape import Dimension

    return Dimension(None) if shape.rank is None else Dimension(shape[index])


_horizon = _datetime.date(2026, 1, 16)  # of TensorFlow 2.21


def forward_compatible(year, month, day):
    """Whether readers from before that day need not be thought of."""
    return _horizon > _datetime.date(year, month, day)


@_contextlib.contextmanager
def forward_compatibility_horizon(year, month, day):
    """Within the block, forward_compatible answers as it would on that day."""
    global _horizon
    before, _horizon = _horizon, _datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before


bytes_or_text_types = (bytes, str)
real_types = (_numbers.Real, _np.integer, _np.floating)
integral_types = (_numbers.Integral, _np.integer)
complex_types = (_numbers.Complex, _np.number)
