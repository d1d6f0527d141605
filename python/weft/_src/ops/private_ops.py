"""Ops that libraries reach by functions of TensorFlow's private modules (as_tensorflow.py)."""

from weft._src.ops._direct import define

define(
    globals(),
    """
dynamic_update_slice XlaDynamicUpdateSlice input, update, indices
sparse_tensor_to_csr_sparse_matrix SparseTensorToCSRSparseMatrix indices, values, dense_shape
csr_sparse_matrix_to_sparse_tensor CSRSparseMatrixToSparseTensor sparse_matrix, type
sparse_matrix_sparse_mat_mul a, b, type, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False
""",
)
