"""Ops that no other family calls: sparse matrices, ragged tensors as variants, and others."""
import numpy as np
import tensorflow as tf

F, D, I, L = np.float32, np.float64, np.int32, np.int64
text = lambda s: np.array(s.encode(), dtype=object)


def sparse_matrices(r):
    for t, kind in ((F, tf.float32), (D, tf.float64)):
        a = np.array([[0, 2, 0], [1, 0, 3], [0, 0, 4]], t)
        r.seq(f"CSRSparseMatrix/{np.dtype(t).name}")
        m = r.op("DenseToCSRSparseMatrix", a, np.argwhere(a).astype(L))
        r.op("CSRSparseMatrixToDense", m, type=kind)
        r.op("CSRSparseMatrixToSparseTensor", m, type=kind)
        r.op("CSRSparseMatrixComponents", m, I(0), type=kind)
        r.op("SparseMatrixNNZ", m)
        n = r.op("SparseTensorToCSRSparseMatrix", np.argwhere(a).astype(L), a[a != 0], np.array([3, 3], L))
        r.op("CSRSparseMatrixToDense", n, type=kind)
        r.op("SparseMatrixMatMul", m, np.arange(6, dtype=t).reshape(3, 2))
        r.op("SparseMatrixMatMul", m, np.arange(6, dtype=t).reshape(3, 2), transpose_a=True)
        turned = r.op("SparseMatrixTranspose", m, type=kind)
        r.op("CSRSparseMatrixToDense", turned, type=kind)
        product = r.op("SparseMatrixSparseMatMul", m, turned, type=kind)
        r.op("CSRSparseMatrixToDense", product, type=kind)
        spd = np.array([[4, 1, 0], [1, 5, 2], [0, 2, 6]], t)
        s = r.op("DenseToCSRSparseMatrix", spd, np.argwhere(spd).astype(L))
        order = r.op("SparseMatrixOrderingAMD", s)
        lower = r.op("SparseMatrixSparseCholesky", s, np.array([0, 1, 2], I), type=kind)
        r.op("CSRSparseMatrixToDense", lower, type=kind)


def ragged_variants(r):
    r.seq("RaggedTensorToVariant")
    v = r.op("RaggedTensorToVariant", np.array([0, 2, 2, 5], L), np.arange(5, dtype=F), RAGGED_RANK=1, Tvalues=tf.float32, Tsplits=tf.int64, batched_input=False)
    r.op("RaggedTensorFromVariant", v, input_ragged_rank=1, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64)
    b = r.op("RaggedTensorToVariant", np.array([0, 2, 2, 5], L), np.arange(5, dtype=F), RAGGED_RANK=1, Tvalues=tf.float32, Tsplits=tf.int64, batched_input=True)
    r.op("RaggedTensorFromVariant", b, input_ragged_rank=0, output_ragged_rank=1, Tvalues=tf.float32, Tsplits=tf.int64)
    r.op("RaggedTensorToVariantGradient", b, np.array([0, 2, 2, 5], L), np.array([5], I), Tvalues=tf.float32, Tsplits=tf.int64)


def various(r):
    r.seq("ParallelConcat")
    r.op("ParallelConcat", np.ones((1, 2), F), np.zeros((1, 2), F), shape=[2, 2])
    r.seq("DecodeWebP")
    r.op("DecodeWebP", text("not an image"), channels=0, dtype=tf.uint8, fails=True)
    r.seq("CheckPinned")
    r.op("CheckPinned", np.ones(2, F), fails=True)


def record(r):
    sparse_matrices(r)
    ragged_variants(r)
    various(r)
