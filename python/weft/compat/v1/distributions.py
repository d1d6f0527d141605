"""tf.compat.v1.distributions: distributions."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.reparameterization: FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType
"""

__getattr__, __dir__ = _namespace(globals(), "distributions", _MODULES)
