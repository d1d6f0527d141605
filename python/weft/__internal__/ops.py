"""tf.__internal__.ops"""

from weft._src.internal.utilities import is_resource_variable  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.ops")
