"""tf.__internal__.distribute.interim"""

from weft._src.distribute.context import maybe_merge_call  # noqa: F401
from weft._src.namespace import missing

__getattr__ = missing("tf.__internal__.distribute.interim")
