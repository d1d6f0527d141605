"""tf.compat.v1.image."""

from weft._src.compat.v1.old_ops import extract_glimpse  # noqa: F401


def __getattr__(name):
    import weft.image as v2

    return getattr(v2, name)
