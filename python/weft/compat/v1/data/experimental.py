"""tf.compat.v1.data.experimental: tf.data.experimental, with what structures of elements were."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.data: RaggedTensorStructure SparseTensorStructure Structure TensorArrayStructure TensorStructure map_and_batch_with_legacy_function
"""

__getattr__, __dir__ = _namespace(globals(), "data.experimental", _MODULES)
