"""tf.graph_util"""

from weft._missing import missing as _missing
from weft.framework.importer import import_graph_def  # noqa: F401

__getattr__ = _missing("tf.graph_util")
