"""tf.compat.v1.strings."""

from weft._src.compat.v1.old_ops import strings_split as split  # noqa: F401


def __getattr__(name):
    import weft.strings as v2

    return getattr(v2, name)
