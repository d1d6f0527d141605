"""Calls of tf.linalg: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""

import numpy as np


def setup(tf):
    r = np.random.RandomState(0)
    a = tf.constant(r.randn(4, 4))
    s = tf.constant((r.randn(2, 3, 3) @ np.ones((3, 3)) * 0.1 + np.eye(3) * 2).astype("f"))
    s = tf.matmul(s, s, transpose_b=True)
    return dict(
        L=tf.linalg,
        A=a,
        S=s,
        S3=s[0],
        R=tf.constant(r.randn(4, 2)),
        T=tf.constant(r.randn(5, 3)),
        Cx=tf.complex(a, a * 2),
    )


CASES = """
L.adjoint(Cx), L.matrix_transpose(A)
L.band_part(A,1,0), L.cholesky(S), L.cholesky_solve(L.cholesky(S3),tf.ones([3,1])), L.cross([1.,2,3],[4.,5,6]), L.det(A), L.inv(A), L.inv(A,adjoint=True)
L.diag([1,2,3]), L.diag([[1,2,3],[4,5,6]],k=1), L.diag([[1,2],[4,5]],k=(0,1),padding_value=9), L.diag_part(A), L.diag_part(A,k=-1), L.diag_part(A,k=(-1,1)), L.set_diag(A,tf.ones([4],tf.float64)), L.set_diag(A,tf.ones([3],tf.float64),k=1)
tf.math.abs(L.eigvals(A))
L.eigh(S)[0], L.eigvalsh(S)
L.svd(A,compute_uv=False), L.svd(A)[0], L.svd(T,full_matrices=True)[1].shape
L.expm(A), L.expm(S*0.2), L.expm(tf.zeros([2,2])), L.expm(Cx)
L.logdet(S), L.slogdet(A), L.logm(tf.cast(S3,tf.complex64)), L.sqrtm(S3)
L.lstsq(T,tf.ones([5,2],tf.float64)), L.lstsq(T,tf.ones([5,2],tf.float64),l2_regularizer=0.5), L.lstsq(tf.transpose(T),tf.ones([3,2],tf.float64)), L.lstsq(T,tf.ones([5,2],tf.float64),fast=False)
L.lu(A), L.lu_solve(*L.lu(A),R), L.lu_reconstruct(*L.lu(A)), L.lu_matrix_inverse(*L.lu(A)), L.lu_solve(*L.lu(S),tf.ones([2,3,1])), L.lu_reconstruct(*L.lu(S))
L.matmul(A,R), L.matvec(A,tf.ones([4],tf.float64)), L.matvec(S,tf.ones([2,3])), L.matmul(S,S,transpose_a=True), L.matmul(Cx,Cx,adjoint_a=True), L.matmul(A,A,a_is_sparse=True)
L.matmul(tf.constant([[1,2]],tf.int8),tf.constant([[1],[2]],tf.int8),output_type=tf.int32)
L.matrix_rank(A), L.matrix_rank([[1.,1.],[1.,1.]]), L.pinv(T), L.pinv(S)
L.norm(A), L.norm(A,1), L.norm(A,np.inf), L.norm(A,2,axis=1), L.norm(A,axis=[0,1]), L.norm(A,2,axis=[0,1]), L.norm(A,1,axis=[0,1]), L.norm(A,np.inf,axis=[-2,-1],keepdims=True), L.norm(A,3,axis=0,keepdims=True), L.norm(S,2,axis=(0,2)), L.norm(Cx), L.norm(A,"fro",axis=[0,1]), tf.norm(A)
L.normalize(A), L.normalize(A,1,axis=0)
L.qr(A)[1].shape, tf.abs(L.qr(A)[1]), tf.abs(L.qr(T,full_matrices=True)[0]).shape
L.solve(A,R), L.solve(A,R,adjoint=True), L.triangular_solve(A,R), L.triangular_solve(A,R,lower=False,adjoint=True)
L.tensor_diag([1,2]), L.tensor_diag_part(A), L.trace(A), L.trace(S)
L.tridiagonal_solve(tf.constant([[1.,2,0],[4,5,6],[0,1,2]]),tf.constant([1.,2,3])), L.tridiagonal_solve([tf.constant([1.,2]),tf.constant([4.,5,6]),tf.constant([1.,2])],tf.constant([1.,2,3]),"sequence"), L.tridiagonal_solve(tf.linalg.band_part(S3,1,1),tf.constant([[1.],[2],[3]]),"matrix"), L.tridiagonal_matmul(tf.constant([[1.,2,0],[4,5,6],[0,1,2]]),tf.constant([[1.],[2],[3]])), L.tridiagonal_matmul([tf.constant([1.,2,0]),tf.constant([4.,5,6]),tf.constant([0,1.,2])],tf.constant([[1.],[2],[3]]),"sequence")
L.banded_triangular_solve([[1.,2,3],[0,1,2]],[[1.],[2],[3]])
L.eigh_tridiagonal([1.,2,3],[0.5,0.6]), L.eigh_tridiagonal([1.,2,3],[0.5,0.6],select="i",select_range=(0,1)), L.eigh_tridiagonal([1.,2,3],[0.5,0.6],select="v",select_range=(1.,3.))
tf.tensordot(A,R,1), tf.tensordot(S,S,[[1,2],[1,2]]), tf.tensordot(A,A,0), tf.tensordot(A,A,[1,0]), tf.tensordot(A,A,[[0],[-1]])
tf.einsum("ij,jk->ik",A,R), tf.einsum("ij->ji",A), tf.einsum("ij,jk",A,R), tf.einsum("...ij,...jk->...ik",S,S), tf.einsum("ij,jk,kl,l->i",A,A,A,A[0]), tf.einsum("ii->i",A), tf.einsum("ii",A), tf.einsum("bij,bjk,bkl->bil",S,S,S), tf.einsum("i,j->",A[0],A[1])
L.global_norm([A,R]), tf.clip_by_global_norm([A,None,R],1.0), tf.clip_by_norm(A,1.), tf.clip_by_norm(A,1.,axes=[0]), tf.clip_by_value(A,-0.5,0.5)
tf.clip_by_value([1,2,3],2,2)
tf.bitwise.bitwise_and([5],[3]), tf.bitwise.bitwise_or([5],[3]), tf.bitwise.bitwise_xor([5],[3]), tf.bitwise.invert([5]), tf.bitwise.left_shift([5],[3]), tf.bitwise.right_shift([5],[1])
tf.eye(2,batch_shape=[3]), tf.eye(2,3,batch_shape=[2]), tf.eye(3,2)
L.matmul(A,R,transpose_a=True,adjoint_a=True)
L.matmul(A,T)
L.norm(A,"foo")
L.norm(A,axis=[0,0])
tf.einsum("ij,jk->ik",A)
tf.einsum("ijk,jk->ik",A,A)
tf.tensordot(A,A,[[0,1],[1]])
tf.tensordot(A,A,5)
tf.matmul([[1.,2.]],[[1,2]])
tf.clip_by_global_norm(A,1.)
"""
