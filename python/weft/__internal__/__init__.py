"""tf.__internal__: what libraries that build on TensorFlow use of its inside."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
framework.composite: CompositeTensor
framework.graph: FuncGraph
framework.tensor: EagerTensor SymbolicTensor
internal.utilities: get_name_scope record_gradient
"""
_SPACES = "decorator distribute eager_context function monitoring nest ops smart_cond tf2 tracking train types"

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__", _MODULES, _SPACES.split())
