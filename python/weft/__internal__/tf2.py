"""tf.__internal__.tf2"""

from weft._src.internal.utilities import enabled  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.tf2")
