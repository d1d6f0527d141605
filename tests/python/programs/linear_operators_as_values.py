"""tf.linalg.LinearOperator* as arguments and results of functions, in loops, branches, structures and SavedModels."""

import tempfile
import warnings

import tensorflow as tf
from calls import tell
from tensorflow.python.framework import type_spec_registry as registry

warnings.simplefilter("ignore")
L = tf.linalg
diag = L.LinearOperatorDiag([1.0, 2.0])
full = L.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]], is_square=True)
tril = L.LinearOperatorLowerTriangular([[1.0, 0.0], [3.0, 4.0]])
eye = L.LinearOperatorIdentity(2)
scaled = L.LinearOperatorScaledIdentity(2, 3.0)
zeros = L.LinearOperatorZeros(2)
both = L.LinearOperatorComposition([diag, full])
blocks = L.LinearOperatorBlockDiag([diag, scaled])
kron = L.LinearOperatorKronecker([diag, diag])
x = tf.constant([[1.0], [1.0]])
traces = []


@tf.function
def times(op, x):
    traces.append(type(op).__name__)
    return op.matmul(x)


@tf.function
def turned(op):
    return op.adjoint(), {"inverse": op.inverse(), "trace": op.trace()}


@tf.function
def grown(d, n):
    op = L.LinearOperatorDiag(d)
    i = 0
    while i < n:
        op = L.LinearOperatorDiag(op.diag * 2.0)
        i += 1
    return op


@tf.function
def chosen(flag):
    if flag:
        op = L.LinearOperatorDiag([1.0, 2.0])
    else:
        op = L.LinearOperatorDiag([3.0, 4.0])
    return op.matvec([1.0, 1.0])


class Model(tf.Module):
    @tf.function(input_signature=[tf.type_spec_from_value(L.LinearOperatorDiag([1.0, 2.0])), tf.TensorSpec([2, None])])
    def __call__(self, op, x):
        return op.matmul(x)


def saved():
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        return tf.saved_model.load(folder)(L.LinearOperatorDiag([5.0, 6.0]), x)


tell(
    """
    times(diag, x)
    times(L.LinearOperatorDiag([3.0, 4.0]), x)
    times(full, x)
    times(tril, x)
    times(eye, x)
    times(scaled, x)
    times(zeros, x)
    times(both, x)
    times(blocks, tf.ones([4, 1]))
    times(kron, tf.ones([4, 1]))
    traces
    [type(o).__name__ for o in tf.nest.flatten(turned(diag))]
    turned(diag)[1]["trace"]
    turned(diag)[0].to_dense()
    grown([1.0, 2.0], tf.constant(3)).diag
    chosen(tf.constant(True))
    chosen(tf.constant(False))
    tf.cond(True, lambda: diag, lambda: diag).to_dense()
    tf.nest.flatten(diag, expand_composites=True)
    tf.nest.flatten(both, expand_composites=True)
    tf.nest.map_structure(lambda t: t * 2, diag, expand_composites=True).diag
    tf.is_tensor(diag)
    type(tf.type_spec_from_value(diag)).__name__
    tf.type_spec_from_value(diag) == tf.type_spec_from_value(L.LinearOperatorDiag([3.0, 4.0]))
    tf.type_spec_from_value(diag) == tf.type_spec_from_value(L.LinearOperatorDiag([3.0]))
    tf.type_spec_from_value(diag).is_compatible_with(L.LinearOperatorDiag([3.0, 4.0]))
    registry.get_name(type(tf.type_spec_from_value(diag)))
    registry.lookup("tf.linalg.LinearOperatorFullMatrixSpec").__name__
    tf.data.Dataset.from_tensors(diag).map(lambda o: o.to_dense()).get_single_element()
    saved()
    """,
    globals(),
)
