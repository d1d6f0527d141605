"""Distributions of numbers: Normal, Uniform, Laplace, StudentT, Gamma, Exponential, Beta, Dirichlet."""

import math

from weft._src.compat.v1 import checks
from weft._src.compat.v1.distributions.base import Distribution, checked, positive, shape_of
from weft._src.compat.v1.distributions.reparameterization import FULLY_REPARAMETERIZED
from weft._src.framework.convert import convert_to_tensor
from weft._src.raw import raw
from weft._src.ops import array_ops, math_ops, random_ops

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def _float(value, name=None, like=None):
    return convert_to_tensor(value, dtype_hint="float32" if like is None else like, name=name)


_POSITIVE = "Concentration parameter must be positive."


class Normal(Distribution):
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Normal"):
        parameters = dict(locals())
        self._loc = _float(loc, "loc")
        self._scale = positive(scale, "scale", validate_args)
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _like(self):
        return self._loc + array_ops.zeros_like(self._scale)

    def _sample_n(self, n, seed):
        return self._loc + self._scale * random_ops.normal(shape_of(n, self._like()), dtype=self._dtype, seed=seed)

    def _z(self, x):
        return (x - self._loc) / self._scale

    def _log_prob(self, x):
        return -0.5 * math_ops.square(self._z(x)) - (_HALF_LOG_TWO_PI + math_ops.log(self._scale))

    def _cdf(self, x):
        return 0.5 * math_ops.erfc(-self._z(x) / math.sqrt(2.0))

    def _survival_function(self, x):
        return 0.5 * math_ops.erfc(self._z(x) / math.sqrt(2.0))

    def _log_cdf(self, x):
        z = self._z(x)
        # Far to the left the logarithm of the probability is that of the density over the distance, and a few terms.
        far = math_ops.minimum(z, -5.0)
        square = math_ops.square(far)
        series = 1.0 - 1.0 / square + 3.0 / math_ops.square(square) - 15.0 / (square * math_ops.square(square))
        tail = -0.5 * square - math_ops.log(-far) - _HALF_LOG_TWO_PI + math_ops.log(series)
        return array_ops.where(
            z < -10.0, tail, math_ops.log(0.5 * math_ops.erfc(-math_ops.maximum(z, -10.0) / math.sqrt(2.0)))
        )

    def _quantile(self, p):
        return self._loc + self._scale * math_ops.ndtri(p)

    def _entropy(self):
        return 0.5 + _HALF_LOG_TWO_PI + math_ops.log(self._scale) * array_ops.ones_like(self._loc)

    def _mean(self):
        return self._loc * array_ops.ones_like(self._scale)

    def _stddev(self):
        return self._scale * array_ops.ones_like(self._loc)

    _mode = _mean


class Uniform(Distribution):
    def __init__(self, low=0.0, high=1.0, validate_args=False, allow_nan_stats=True, name="Uniform"):
        parameters = dict(locals())
        self._low, self._high = _float(low, "low"), _float(high, "high")
        if validate_args:
            from weft._src.compat.v1.checks import assert_less

            assert_less(self._low, self._high, message="uniform not defined when low >= high.")
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name)

    low = property(lambda self: self._low)
    high = property(lambda self: self._high)

    def range(self, name="range"):
        return self._high - self._low

    def _like(self):
        return self._low + array_ops.zeros_like(self._high)

    def _sample_n(self, n, seed):
        return self._low + self.range() * random_ops.uniform(shape_of(n, self._like()), dtype=self._dtype, seed=seed)

    def _prob(self, x):
        inside = math_ops.logical_and(x >= self._low, x < self._high)
        made = array_ops.where(
            inside, 1.0 / (self.range() * array_ops.ones_like(x)), array_ops.zeros_like(x + self._like())
        )
        return array_ops.where(math_ops.is_nan(x), x, made)

    def _cdf(self, x):
        part = (x - self._low) / self.range()
        return array_ops.where(x >= self._high, array_ops.ones_like(part), math_ops.maximum(part, 0.0))

    def _entropy(self):
        return math_ops.log(self.range())

    def _mean(self):
        return (self._low + self._high) / 2.0

    def _variance(self):
        return math_ops.square(self.range()) / 12.0

    def _stddev(self):
        return self.range() / math.sqrt(12.0)


class Laplace(Distribution):
    def __init__(self, loc, scale, validate_args=False, allow_nan_stats=True, name="Laplace"):
        parameters = dict(locals())
        self._loc, self._scale = _float(loc, "loc"), positive(scale, "scale", validate_args)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name)

    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)
    _like = Normal._like
    _z = Normal._z

    def _sample_n(self, n, seed):
        least = -1.0 + 2**-23
        u = random_ops.uniform(shape_of(n, self._like()), least, 1.0, dtype=self._dtype, seed=seed)
        return self._loc - self._scale * math_ops.sign(u) * math_ops.log1p(-math_ops.abs(u))

    def _log_prob(self, x):
        return -math_ops.abs(self._z(x)) - math.log(2.0) - math_ops.log(self._scale)

    def _cdf(self, x):
        z = self._z(x)
        return 0.5 - 0.5 * math_ops.sign(z) * (math_ops.exp(-math_ops.abs(z)) - 1.0)

    def _entropy(self):
        return math.log(2.0) + 1.0 + math_ops.log(self._scale + array_ops.zeros_like(self._loc))

    def _mean(self):
        return self._loc + array_ops.zeros_like(self._scale)

    def _stddev(self):
        return math.sqrt(2.0) * self._scale + array_ops.zeros_like(self._loc)

    _mode = _mean


class Gamma(Distribution):
    def __init__(self, concentration, rate, validate_args=False, allow_nan_stats=True, name="Gamma"):
        parameters = dict(locals())
        self._concentration = positive(concentration, "concentration", validate_args)
        self._rate = positive(rate, "rate", validate_args)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    concentration = property(lambda self: self._concentration)
    rate = property(lambda self: self._rate)

    def _like(self):
        return self._concentration + array_ops.zeros_like(self._rate)

    def _sample_n(self, n, seed):
        return random_ops.gamma(array_ops.reshape(n, [1]), self._like(), self._rate, dtype=self._dtype, seed=seed)

    def _log_prob(self, x):
        shape, rate = self._concentration, self._rate
        return (shape - 1.0) * math_ops.log(x) - rate * x - (math_ops.lgamma(shape) - shape * math_ops.log(rate))

    def _cdf(self, x):
        return math_ops.igamma(self._concentration, self._rate * self._valid(x))

    def _entropy(self):
        shape = self._concentration
        return shape - math_ops.log(self._rate) + math_ops.lgamma(shape) + (1.0 - shape) * math_ops.digamma(shape)

    def _mean(self):
        return self._concentration / self._rate

    def _variance(self):
        return self._concentration / math_ops.square(self._rate)

    def _stddev(self):
        return math_ops.sqrt(self._concentration) / self._rate

    def _mode(self):
        text = "mode not defined when any concentration <= 1"
        value = (self._concentration - 1.0) / self._rate
        return self._nan_or_raise(self._like() > 1.0, value, (self._concentration, text))

    def _sample_checks(self, x):
        return [checks.assert_positive(x)]


class Exponential(Gamma):
    def __init__(self, rate, validate_args=False, allow_nan_stats=True, name="Exponential"):
        parameters = dict(locals())
        given = _float(rate, "rate")
        super().__init__(array_ops.ones_like(given), given, validate_args, allow_nan_stats, name)
        self._parameters = {
            k: v for k, v in parameters.items() if k in ("rate", "validate_args", "allow_nan_stats", "name")
        }

    def _sample_n(self, n, seed):
        u = random_ops.uniform(shape_of(n, self._rate), 1.1754944e-38, 1.0, dtype=self._dtype, seed=seed)
        return -math_ops.log(u) / self._rate


class StudentT(Distribution):
    def __init__(self, df, loc, scale, validate_args=False, allow_nan_stats=True, name="StudentT"):
        parameters = dict(locals())
        self._df, self._loc = positive(df, "df", validate_args), _float(loc, "loc")
        self._scale = _float(scale, "scale")
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    df = property(lambda self: self._df)
    loc = property(lambda self: self._loc)
    scale = property(lambda self: self._scale)

    def _like(self):
        return self._df + array_ops.zeros_like(self._loc) + array_ops.zeros_like(self._scale)

    def _sample_n(self, n, seed):
        normal = random_ops.normal(shape_of(n, self._like()), dtype=self._dtype, seed=seed)
        square = random_ops.gamma(array_ops.reshape(n, [1]), 0.5 * self._like(), 0.5, dtype=self._dtype, seed=seed)
        return self._loc + self._scale * normal * math_ops.rsqrt(square / self._df)

    def _log_prob(self, x):
        y = (x - self._loc) / self._scale
        constant = (
            math_ops.log(math_ops.abs(self._scale))
            + 0.5 * math_ops.log(self._df)
            + 0.5 * math.log(math.pi)
            + math_ops.lgamma(0.5 * self._df)
            - math_ops.lgamma(0.5 * (self._df + 1.0))
        )
        return -0.5 * (self._df + 1.0) * math_ops.log1p(math_ops.square(y) / self._df) - constant

    def _cdf(self, x):
        y = (x - self._loc) / math_ops.abs(self._scale)
        half = 0.5 * math_ops.betainc(
            0.5 * self._df * array_ops.ones_like(y),
            0.5 * array_ops.ones_like(y),
            self._df / (math_ops.square(y) + self._df),
        )
        return array_ops.where(y < 0.0, half, 1.0 - half)

    def _entropy(self):
        half, other = 0.5 * self._like(), 0.5 * (self._like() + 1.0)
        beta = math_ops.lgamma(half) + math.lgamma(0.5) - math_ops.lgamma(other)
        slope = math_ops.digamma(other) - math_ops.digamma(half)
        return math_ops.log(math_ops.abs(self._scale)) + 0.5 * math_ops.log(self._df) + beta + other * slope

    def _mean(self):
        value = self._loc * array_ops.ones_like(self._like())
        return self._nan_or_raise(self._like() > 1.0, value, (self._df, "mean not defined for components of df <= 1"))

    def _variance(self):
        df, scale = self._like(), self._scale
        below = array_ops.where(df > 2.0, df - 2.0, array_ops.ones_like(df))
        finite = math_ops.square(scale) * df / below
        value = array_ops.where(df > 2.0, finite, convert_to_tensor(float("inf"), finite.dtype))
        return self._nan_or_raise(df > 1.0, value, (self._df, "variance not defined for components of df <= 1"))

    def _mode(self):
        return array_ops.identity(self._loc)


class Beta(Distribution):
    def __init__(
        self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True, name="Beta"
    ):
        parameters = dict(locals())
        self._a = positive(concentration1, "concentration1", validate_args, _POSITIVE)
        self._b = positive(concentration0, "concentration0", validate_args, _POSITIVE)
        super().__init__(self._a.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name)

    concentration1 = property(lambda self: self._a)
    concentration0 = property(lambda self: self._b)
    total_concentration = property(lambda self: self._a + self._b)

    def _like(self):
        return self._a + array_ops.zeros_like(self._b)

    def _sample_n(self, n, seed):
        count = array_ops.reshape(n, [1])
        one = random_ops.gamma(count, self._like(), dtype=self._dtype, seed=seed)
        other = random_ops.gamma(
            count, self._b + array_ops.zeros_like(self._a), dtype=self._dtype, seed=seed if seed is None else seed + 1
        )
        return one / (one + other)

    def _constant(self):
        return math_ops.lgamma(self._a) + math_ops.lgamma(self._b) - math_ops.lgamma(self._a + self._b)

    def _log_prob(self, x):
        return (self._a - 1.0) * math_ops.log(x) + (self._b - 1.0) * math_ops.log1p(-x) - self._constant()

    def _cdf(self, x):
        ones = array_ops.ones_like(x + self._like())
        return math_ops.betainc(self._a * ones, self._b * ones, x * ones)

    def _entropy(self):
        total = self.total_concentration
        return (
            self._constant()
            - (self._a - 1.0) * math_ops.digamma(self._a)
            - (self._b - 1.0) * math_ops.digamma(self._b)
            + (total - 2.0) * math_ops.digamma(total)
        )

    def _mean(self):
        return self._a / self.total_concentration

    def _variance(self):
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self):
        defined = math_ops.logical_and(self._a > 1.0, self._b > 1.0)
        value = (self._a - 1.0) / (self.total_concentration - 2.0)
        limits = [(c, f"Mode undefined for concentration{i} <= 1.") for c, i in ((self._a, 1), (self._b, 0))]
        return self._nan_or_raise(defined, value, *limits)

    def _sample_checks(self, x):
        one = array_ops.ones([], self._dtype)
        return [
            checks.assert_positive(x, message="sample must be positive"),
            checks.assert_less(x, one, message="sample must be less than `1`."),
        ]


class Dirichlet(Distribution):
    def __init__(self, concentration, validate_args=False, allow_nan_stats=True, name="Dirichlet"):
        parameters = dict(locals())
        self._concentration = positive(concentration, "concentration", validate_args, _POSITIVE)
        if validate_args:
            sizes = array_ops.shape(self._concentration)
            text = "Concentration parameter must have"
            rank = checks.assert_rank_at_least(self._concentration, 1, message=f"{text} >=1 dimensions.")
            classes = checks.assert_less(1, sizes[-1], message=f"{text} event_size >= 2.")
            self._concentration = checked(self._concentration, rank, classes)
        super().__init__(
            self._concentration.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: math_ops.reduce_sum(self._concentration, -1))

    def _like(self):
        return self.total_concentration

    @property
    def _event(self):
        return self._concentration.shape[-1:]

    def event_shape_tensor(self, name="event_shape_tensor"):
        return array_ops.shape(self._concentration)[-1:]

    def _sample_n(self, n, seed):
        made = random_ops.gamma(array_ops.reshape(n, [1]), self._concentration, dtype=self._dtype, seed=seed)
        return made / math_ops.reduce_sum(made, -1, keepdims=True)

    def _log_prob(self, x):
        return math_ops.reduce_sum((self._concentration - 1.0) * math_ops.log(x), -1) - math_ops.lbeta(
            self._concentration
        )

    def _entropy(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self._dtype)
        total = self.total_concentration
        return (
            math_ops.lbeta(self._concentration)
            + (total - k) * math_ops.digamma(total)
            - math_ops.reduce_sum((self._concentration - 1.0) * math_ops.digamma(self._concentration), -1)
        )

    def _mean(self):
        return self._concentration / self.total_concentration[..., None]

    def _scale(self):
        return math_ops.rsqrt(1.0 + self.total_concentration[..., None])

    def _variance(self):
        scale = self._scale()
        x = scale * self._mean()
        return x * (scale - x)

    def _covariance(self):
        x = self._scale() * self._mean()
        return raw.MatrixSetDiag(input=-x[..., None] * x[..., None, :], diagonal=self._variance())

    def _mode(self):
        k = math_ops.cast(self.event_shape_tensor()[0], self._dtype)
        value = (self._concentration - 1.0) / (self.total_concentration[..., None] - k)
        defined = math_ops.reduce_all(self._concentration > 1.0, -1, keepdims=True)
        text = "Mode undefined when any concentration <= 1"
        return self._nan_or_raise(defined, value, (self._concentration, text))

    def _sample_checks(self, x):
        one, total = array_ops.ones([], self._dtype), math_ops.reduce_sum(x, -1)
        return [
            checks.assert_positive(x, message="samples must be positive"),
            checks.assert_near(one, total, message="sample last-dimension must sum to `1`"),
        ]
