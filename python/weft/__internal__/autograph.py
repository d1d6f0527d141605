"""tf.__internal__.autograph"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
autograph.context: control_status_ctx
autograph.convert: tf_convert
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.autograph", _MODULES, ())
