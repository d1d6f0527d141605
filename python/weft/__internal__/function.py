"""tf.__internal__.function"""

from weft._src.function.function import Function  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.function")
