"""tf.version."""

from weft import _weft
from weft._src.namespace import missing

VERSION = "2.21.0"
GIT_VERSION = _weft.version()
COMPILER_VERSION = "weft"
GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER, GRAPH_DEF_VERSION_MIN_PRODUCER = 2474, 0, 0

__getattr__ = missing("tf.version")
