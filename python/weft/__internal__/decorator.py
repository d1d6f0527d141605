"""tf.__internal__.decorator"""

from weft._src.namespace import missing
from weft._src.tensorflow.python.util.tf_decorator import make_decorator, unwrap  # noqa: F401

__getattr__ = missing("tf.__internal__.decorator")
