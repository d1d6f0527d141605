"""tf.graph_util"""

from weft._src.namespace import missing as _missing
from weft._src.framework.importer import import_graph_def  # noqa: F401

__getattr__ = _missing("tf.graph_util")
