"""tf.autograph: Python control flow on tensors becomes graph control flow."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
autograph.convert: to_code to_graph
autograph.log: set_verbosity trace
"""

__getattr__, __dir__ = _lazily(globals(), "tf.autograph", _MODULES, ["experimental"])
__all__ = __dir__()
