"""Graphs, scopes and conversion. tf-keras, tensorflow-probability."""

import contextlib

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.convert: convert_to_tensor
framework.tensor: EagerTensor
compat.v1.values: convert_to_tensor_or_composite=convert_to_tensor_or_sparse_tensor
"""

NullContextmanager = contextlib.nullcontext
_last = 0


def uid():
    """A number that no call gave before."""
    global _last
    _last += 1
    return _last


def name_from_scope_name(name):
    """A scope's name without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


def colocate_with(op, ignore_existing=False):
    from weft.compat import v1

    return v1.colocate_with(op, ignore_existing)


__getattr__, __dir__ = _lazily(globals(), "tf.python.framework.ops", _MODULES, otherwise=_absent)
