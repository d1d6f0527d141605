"""tf.__internal__.dispatch"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
framework.dispatchers: GlobalOpDispatcher OpDispatcher add_dispatch_support
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.dispatch", _MODULES, ())
