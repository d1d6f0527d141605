"""tf.__internal__.test"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
framework.benchmark: ParameterizedBenchmark
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.test", _MODULES, ["combinations"])
