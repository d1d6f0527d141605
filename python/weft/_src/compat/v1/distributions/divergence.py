"""The Kullback-Leibler divergence between distributions, by their classes."""

from weft._src.compat.v1.distributions.continuous import Beta, Dirichlet, Gamma, Normal
from weft._src.compat.v1.distributions.discrete import Bernoulli, Categorical
from weft._src.framework.graph import name_scope_v1
from weft._src.ops import array_ops, math_ops, nn_ops

_registered = {}


class RegisterKL:
    """Decorates the function for two classes."""

    def __init__(self, dist_cls_a, dist_cls_b):
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn):
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _registered:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: {_registered[self._key]}"
            )
        _registered[self._key] = kl_fn
        return kl_fn


def _function(a, b):
    """That of the nearest bases."""
    found = [
        (i + j, _registered[p, q])
        for i, p in enumerate(a.__mro__)
        for j, q in enumerate(b.__mro__)
        if (p, q) in _registered
    ]
    return min(found, key=lambda entry: entry[0])[1] if found else None


def kl_divergence(distribution_a, distribution_b, allow_nan_stats=True, name=None):
    """KL(a || b)"""
    function = _function(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type {type(distribution_a).__name__} and distribution_b "
            f"type {type(distribution_b).__name__}"
        )
    with name_scope_v1(name or "KullbackLeibler"):
        made = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return made
        from weft._src.ops.check_ops import check_numerics

        return check_numerics(made, "KL calculation between two distributions returned NaN values")


@RegisterKL(Normal, Normal)
def _normal(a, b, name=None):
    ratio = math_ops.square(a.scale) / math_ops.square(b.scale)
    return math_ops.square(a.loc - b.loc) / (2.0 * math_ops.square(b.scale)) + 0.5 * (ratio - 1.0 - math_ops.log(ratio))


@RegisterKL(Bernoulli, Bernoulli)
def _bernoulli(a, b, name=None):
    return math_ops.sigmoid(a.logits) * (
        math_ops.softplus(-b.logits) - math_ops.softplus(-a.logits)
    ) + math_ops.sigmoid(-a.logits) * (math_ops.softplus(b.logits) - math_ops.softplus(a.logits))


@RegisterKL(Categorical, Categorical)
def _categorical(a, b, name=None):
    difference = nn_ops.log_softmax(a.logits) - nn_ops.log_softmax(b.logits)
    return math_ops.reduce_sum(nn_ops.softmax(a.logits) * difference, -1)


@RegisterKL(Gamma, Gamma)
def _gamma(a, b, name=None):
    return (
        (a.concentration - b.concentration) * math_ops.digamma(a.concentration)
        + math_ops.lgamma(b.concentration)
        - math_ops.lgamma(a.concentration)
        + b.concentration * math_ops.log(a.rate)
        - b.concentration * math_ops.log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )


@RegisterKL(Beta, Beta)
def _beta(a, b, name=None):
    def difference(function, name):
        return function(getattr(b, name)) - function(getattr(a, name))

    constants = (
        difference(math_ops.lgamma, "concentration1")
        + difference(math_ops.lgamma, "concentration0")
        - difference(math_ops.lgamma, "total_concentration")
    )
    return (
        constants
        - math_ops.digamma(a.concentration1) * difference(array_ops.identity, "concentration1")
        - math_ops.digamma(a.concentration0) * difference(array_ops.identity, "concentration0")
        + math_ops.digamma(a.total_concentration) * difference(array_ops.identity, "total_concentration")
    )


@RegisterKL(Dirichlet, Dirichlet)
def _dirichlet(a, b, name=None):
    slopes = math_ops.digamma(a.concentration) - math_ops.digamma(a.total_concentration)[..., None]
    difference = a.concentration - b.concentration
    return (
        math_ops.reduce_sum(difference * slopes, -1) - math_ops.lbeta(a.concentration) + math_ops.lbeta(b.concentration)
    )
