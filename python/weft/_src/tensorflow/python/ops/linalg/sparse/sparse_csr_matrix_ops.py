"""Products of sparse matrices. keras."""

from weft._src.namespace import lazily as _lazily
from weft._src.tensorflow import absent as _absent

_MODULES = """
ops.private_ops: csr_sparse_matrix_to_sparse_tensor sparse_matrix_sparse_mat_mul sparse_tensor_to_csr_sparse_matrix
"""

__getattr__, __dir__ = _lazily(
    globals(), "tf.python.ops.linalg.sparse.sparse_csr_matrix_ops", _MODULES, otherwise=_absent
)
