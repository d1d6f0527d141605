"""Distributions that validate their arguments and samples, and numbers that are not defined; complex matrices' singular values; names in private modules."""

import tensorflow as tf
from tensorflow.python.ops import control_flow_ops
from tensorflow.python.ops.distributions import multinomial
from tensorflow.python.ops.linalg import linalg, linalg_impl

D = tf.compat.v1.distributions


def tell(what, call):
    try:
        made = call()
        print(what, made.dtype.name, made.numpy().round(4).tolist())
    except Exception as e:
        print(what, type(e).__name__, str(e).splitlines()[0])


beta = D.Beta([1.0, 2.0], [2.0, 3.0], validate_args=True, allow_nan_stats=False)
gamma = D.Gamma([1.0, 3.0], [2.0, 3.0], validate_args=True, allow_nan_stats=False)
dirichlet = D.Dirichlet([1.0, 3.0], validate_args=True, allow_nan_stats=False)
student = D.StudentT([1.0, 3.0], 0.0, 1.0, allow_nan_stats=False)
counts = D.Multinomial(3.0, probs=[0.5, 0.5], validate_args=True)
mixed = D.DirichletMultinomial(3.0, [1.0, 2.0], validate_args=True)
for name, distribution, good, bad in (
    ("beta", beta, [0.5, 0.5], ([0.5, 1.5], [0.0, 0.5], [-1.0, 0.5])),
    ("gamma", gamma, [1.0, 2.0], ([-1.0, 1.0], [0.0, 1.0])),
    ("dirichlet", dirichlet, [0.25, 0.75], ([0.5, 0.6], [-0.5, 1.5])),
    ("counts", counts, [1.0, 2.0], ([1.0, 1.0], [-1.0, 4.0], [1.5, 1.5])),
    ("mixed", mixed, [1.0, 2.0], ([1.0, 1.0], [-1.0, 4.0], [1.5, 1.5])),
):
    for value in (good, *bad):
        tell(name, lambda: distribution.prob(value))
for value in ([0.5, 0.5], [1.5, 0.5], [-1.0, 0.5]):
    tell("cdf", lambda: beta.cdf(value))
    tell("cdf", lambda: gamma.cdf(value))
tell("mode", beta.mode)
tell("mode", gamma.mode)
tell("mode", dirichlet.mode)
tell("mean", student.mean)
tell("variance", student.variance)
tell("mode", D.Gamma([1.0, 3.0], [2.0, 3.0]).mode)
for name, call in {
    "concentration": lambda: D.Beta(-1.0, 2.0, validate_args=True).mean(),
    "classes": lambda: D.Dirichlet([1.0], validate_args=True).mean(),
    "rank": lambda: D.Dirichlet(1.0, validate_args=True).mean(),
    "probability": lambda: D.Bernoulli(probs=[0.5, 1.5], validate_args=True).mean(),
    "negative": lambda: D.Bernoulli(probs=[-0.5], validate_args=True).mean(),
    "sum": lambda: D.Multinomial(2.0, probs=[0.5, 0.6], validate_args=True).mean(),
    "not validated": lambda: D.Bernoulli(probs=[0.5, 1.5]).mean(),
}.items():
    tell(name, call)

matrix = tf.constant([[1 + 1j, 2.0], [0, 1j]], tf.complex64)
tell("singular values", lambda: tf.linalg.svd(matrix, compute_uv=False))
tell("with vectors", lambda: tf.linalg.svd(matrix)[0])
tell("norm", lambda: tf.linalg.norm(matrix, 2, axis=[-2, -1]))
tell("rank", lambda: tf.linalg.matrix_rank(matrix))
tell("pinv", lambda: tf.math.real(tf.linalg.pinv(matrix)))
print(multinomial.Multinomial is D.Multinomial)
for module in (linalg, linalg_impl):
    tell("inv", lambda: module.inv([[2.0, 1.0], [1.0, 1.0]]))
    tell("transpose", lambda: module.transpose([[2.0, 1.0]]))
    tell("diag_part", lambda: module.diag_part(tf.constant([[2.0, 1.0], [1.0, 1.0]])))
tell("after", lambda: control_flow_ops.with_dependencies([], tf.constant(1.0)))


@tf.function
def after():
    v = tf.constant(2.0)
    return control_flow_ops.with_dependencies([tf.debugging.assert_positive(v)], v)


tell("after", after)
