"""tf.__internal__.smart_cond"""

from weft._src.internal.smart_cond import smart_cond, smart_constant_value

__all__ = ["smart_cond", "smart_constant_value"]
