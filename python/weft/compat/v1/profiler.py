"""tf.compat.v1.profiler: the profiler of graphs."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.profile_options: ProfileOptionBuilder
"""

__getattr__, __dir__ = _namespace(globals(), "profiler", _MODULES)
