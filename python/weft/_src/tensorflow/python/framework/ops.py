"""Graphs, scopes and conversion. tf-keras, tensorflow-probability, tensorflow_text."""

import contextlib

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
compat.v1.graphs: convert_to_tensor=convert_to_tensor_v1
framework.tensor: EagerTensor
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


def convert_to_tensor_or_composite(value, dtype=None, name=None):
    """A composite tensor as it is, all else as a tensor."""
    from weft._src.framework.convert import convert_to_tensor

    if getattr(type(value), "_is_composite", False):
        if dtype is not None and not value.dtype.is_compatible_with(dtype):
            raise ValueError(
                f"Tensor conversion dtype mismatch. Requested dtype is {dtype.name}, Tensor has dtype {value.dtype.name}: {value!r}"
            )
        return value
    return convert_to_tensor(value, dtype, name=name)


def name_scope(name, default_name=None, values=None, skip_on_eager=True):
    """A scope for names of nodes; of eager ops only where that is asked for."""
    from weft._src.framework.graph import executing_eagerly, name_scope_v1

    if not executing_eagerly():
        return name_scope_v1(name, default_name, values)
    return contextlib.nullcontext() if skip_on_eager else name_scope_v1(name or default_name or "")


def colocate_with(op, ignore_existing=False):
    from weft.compat import v1

    return v1.colocate_with(op, ignore_existing)


__getattr__, __dir__ = _lazily(globals(), "tf.python.framework.ops", _MODULES, otherwise=_absent)
