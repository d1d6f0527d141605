"""The main program of tests. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
framework.test_util: TestCase main
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.eager.test", _MODULES, otherwise=_absent)
