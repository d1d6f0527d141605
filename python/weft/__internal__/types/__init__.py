"""tf.__internal__.types"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
framework.tensor: Tensor=AnyTensor
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.types", _MODULES, ["data"])
