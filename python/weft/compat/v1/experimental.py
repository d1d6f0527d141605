"""tf.compat.v1.experimental: what may change."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.graphs: output_all_intermediates
"""

__getattr__, __dir__ = _namespace(globals(), "experimental", _MODULES)
