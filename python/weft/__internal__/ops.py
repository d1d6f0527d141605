"""tf.__internal__.ops"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.utilities: is_resource_variable get_resource_handle_data
ops.weights: broadcast_weights
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.ops", _MODULES, ())
