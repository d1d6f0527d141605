"""tf.__internal__.eager_context"""

from weft._src.internal.eager_context import eager_mode, get_device_name, set_soft_device_placement

__all__ = ["eager_mode", "get_device_name", "set_soft_device_placement"]
