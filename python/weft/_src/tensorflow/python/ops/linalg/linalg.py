"""Matrices by the names that TensorFlow's own modules use: version 1's functions, and two names of their own. tensorflow-probability."""

_OWN_NAMES = {"transpose": "matrix_transpose", "matrix_exponential": "expm"}


def __getattr__(name):
    from weft.compat.v1 import linalg

    if not name.startswith("_"):
        return getattr(linalg, _OWN_NAMES.get(name, name))
    raise AttributeError(name)
