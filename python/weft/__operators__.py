"""tf.__operators__: the operators of tensors as functions, which libraries take calls of over."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.operators: add eq getitem ne ragged_getitem
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__operators__", _MODULES)
