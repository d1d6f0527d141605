"""tf.__internal__.types.data"""

from weft._src.namespace import lazily as _lazily

_MODULES = """
internal.dataset_classes: Dataset=AnyDataset
"""

__getattr__, __dir__ = _lazily(globals(), "tf.__internal__.types.data", _MODULES)
