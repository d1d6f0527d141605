"""tf.__internal__.eager_context"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.eager_context: eager_mode get_device_name set_soft_device_placement get_config get_executor
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.eager_context", _MODULES, ())
