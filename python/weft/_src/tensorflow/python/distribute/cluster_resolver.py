"""Where the tasks of a cluster are. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
distribute.cluster_resolver: ClusterResolver SimpleClusterResolver TFConfigClusterResolver
"""

__getattr__, __dir__ = _lazily(globals(), "tf.python.distribute.cluster_resolver", _MODULES, otherwise=_absent)
