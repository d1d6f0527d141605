"""tf.__internal__.monitoring"""

from weft._src.internal.utilities import BoolGauge  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.monitoring")
