"""tf.__internal__.types"""

from weft._src.framework.tensor import AnyTensor as Tensor  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.types")
