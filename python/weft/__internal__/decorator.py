"""tf.__internal__.decorator"""

from weft._src.internal.utilities import make_decorator, unwrap  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.decorator")
