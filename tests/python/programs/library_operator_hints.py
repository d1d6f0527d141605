# What operators know of themselves from their parts.
import tensorflow as tf
L=tf.linalg
def h(n,o): print(n, o.is_non_singular, o.is_self_adjoint, o.is_positive_definite, o.is_square)
full=lambda **k: L.LinearOperatorFullMatrix([[2.,0.],[0.,2.]],**k)
rect=L.LinearOperatorFullMatrix([[1.,2.]])
for k in ({},{'is_non_singular':True},{'is_self_adjoint':True},{'is_positive_definite':True,'is_self_adjoint':True},{'is_non_singular':False}):
    a,b=full(**k),full(**k)
    for c in (L.LinearOperatorKronecker,L.LinearOperatorBlockDiag,L.LinearOperatorComposition):
        h(c.__name__+str(k), c([a,b])); h(c.__name__+'1'+str(k), c([a,full()]))
    h('adj',L.LinearOperatorAdjoint(a)); h('inv',L.LinearOperatorInversion(full(**{**k,'is_non_singular':True})))
    h('lowtri',L.LinearOperatorBlockLowerTriangular([[a],[full(),b]]))
    h('lru', L.LinearOperatorLowRankUpdate(a,[[1.],[2.]],is_diag_update_positive=True))
    h('lru2', L.LinearOperatorLowRankUpdate(a,[[1.],[2.]]))
    h('lru3', L.LinearOperatorLowRankUpdate(a,[[1.],[2.]],[1.]))
    h('lru4', L.LinearOperatorLowRankUpdate(a,[[1.],[2.]],[1.],v=[[1.],[3.]]))
    h('a.H@a',a.H@a); h('a@b',a@b); h('comp self',L.LinearOperatorComposition([a,a.H]))
h('diag',L.LinearOperatorDiag([1.,2.])); h('diagc',L.LinearOperatorDiag([1.+1j,2.])); h('id',L.LinearOperatorIdentity(2)); h('sid',L.LinearOperatorScaledIdentity(2,3.)); h('zeros',L.LinearOperatorZeros(2)); h('tril',L.LinearOperatorLowerTriangular([[1.,0.],[1.,1.]]))
h('circ',L.LinearOperatorCirculant([1.+0j,2.])); h('circ',L.LinearOperatorCirculant([1.,2.])); h('house',L.LinearOperatorHouseholder([1.,0.])); h('perm',L.LinearOperatorPermutation([1,0])); h('toe',L.LinearOperatorToeplitz([1.,2.],[1.,3.])); h('tri',L.LinearOperatorTridiag([[1.,2.],[1.,2.],[1.,2.]])); h('rect',rect)
h('kron rect',L.LinearOperatorKronecker([rect,full()])); h('comp rect',L.LinearOperatorComposition([rect,full()]))
o=L.LinearOperatorLowRankUpdate(full(),[[1.],[2.]],[3.],is_diag_update_positive=True).diag_operator
print(type(o).__name__, o.to_dense().numpy(), o.is_positive_definite)
o=L.LinearOperatorLowRankUpdate(full(),[[1.],[2.]]).diag_operator
print(type(o).__name__, o.to_dense().numpy(), o.is_positive_definite)
f=full(is_non_singular=True)
for c in (L.LinearOperatorKronecker,L.LinearOperatorBlockDiag,L.LinearOperatorComposition):
    try: c([f,f],is_non_singular=False); print('ok')
    except ValueError as e: print(e)
sa=full(is_self_adjoint=True)
for c in (L.LinearOperatorKronecker,L.LinearOperatorBlockDiag):
    try: c([sa,sa],is_self_adjoint=False); print('ok')
    except ValueError as e: print(e)
k=L.LinearOperatorKronecker([full(is_positive_definite=True,is_self_adjoint=True)]*2)
print(k.solve(tf.ones([4,1])).numpy().ravel().round(4), k.log_abs_determinant().numpy().round(4), k.cholesky().to_dense().numpy()[0].round(4))
h=L.LinearOperatorHouseholder([1.,1.]); print(h.solve([[1.],[2.]]).numpy().ravel().round(4)+0.0, abs(h.log_abs_determinant().numpy()) < 1e-5)
p=L.LinearOperatorPermutation([1,0]); print(p.solve([[1.],[2.]]).numpy().ravel())
