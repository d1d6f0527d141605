"""Benchmarks. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.benchmark: Benchmark ParameterizedBenchmark
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.platform.benchmark", _MODULES, otherwise=_absent)
