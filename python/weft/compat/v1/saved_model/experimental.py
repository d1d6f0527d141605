"""tf.compat.v1.saved_model.experimental: what may change."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
saved_model.save: save
"""

__getattr__, __dir__ = _namespace(globals(), "saved_model.experimental", _MODULES)
