"""Building graphs of version 1."""

from weft import _weft
from weft._raw import raw


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value a session is fed."""
    if not _weft.in_graph():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return raw.Placeholder(dtype=dtype, shape=shape, name=name)


def placeholder_with_default(input, shape, name=None):
    """A tensor that a session may be fed in place of this one."""
    return raw.PlaceholderWithDefault(input=input, shape=shape, name=name)
