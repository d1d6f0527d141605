"""tf.compat.v1.distributions: distributions."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.distributions.base: Distribution
compat.v1.distributions.continuous: Beta Dirichlet Exponential Gamma Laplace Normal StudentT Uniform
compat.v1.distributions.discrete: Bernoulli Categorical DirichletMultinomial Multinomial
compat.v1.distributions.divergence: RegisterKL kl_divergence
compat.v1.distributions.reparameterization: FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType
"""

__getattr__, __dir__ = _namespace(globals(), "distributions", _MODULES)
