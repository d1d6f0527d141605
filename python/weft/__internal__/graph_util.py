"""tf.__internal__.graph_util"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.graphs: graph_defs_equal
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.graph_util", _MODULES, ())
