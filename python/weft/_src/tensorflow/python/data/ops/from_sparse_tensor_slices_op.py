"""A class of datasets. tf-keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
internal.dataset_classes: _SparseTensorSliceDataset
"""

__getattr__, __dir__ = _lazily(
    globals(), "tf.python.data.ops.from_sparse_tensor_slices_op", _MODULES, otherwise=_absent
)
