"""Distributions of counts and classes: Bernoulli, Categorical, Multinomial, DirichletMultinomial."""

from weft._src.compat.v1 import checks
from weft._src.compat.v1.distributions.base import Distribution, checked, positive, shape_of
from weft._src.compat.v1.distributions.reparameterization import NOT_REPARAMETERIZED
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.raw import raw
from weft._src.ops import array_ops, math_ops, nn_ops, random_ops


def _logits_and_probs(logits, probs, several, validate):
    """Both, of the one that was given."""
    if (probs is None) == (logits is None):
        raise ValueError("Must pass probs or logits, but not both.")
    if probs is None:
        logits = convert_to_tensor(logits, dtype_hint="float32", name="logits")
        return logits, nn_ops.softmax(logits) if several else math_ops.sigmoid(logits)
    probs = convert_to_tensor(probs, dtype_hint="float32", name="probs")
    if validate:
        one, least = array_ops.ones([], probs.dtype), checks.assert_non_negative(probs)
        if several:
            total = math_ops.reduce_sum(probs, -1)
            probs = checked(probs, least, checks.assert_near(total, one, message="probs does not sum to 1."))
        else:
            text = "probs has components greater than 1."
            probs = checked(probs, least, checks.assert_less_equal(probs, one, message=text))
    return (math_ops.log(probs) if several else math_ops.log(probs) - math_ops.log1p(-probs)), probs


class Bernoulli(Distribution):
    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Bernoulli"
    ):
        parameters = dict(locals())
        self._logits, self._probs = _logits_and_probs(logits, probs, False, validate_args)
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _like(self):
        return self._logits

    def _sample_n(self, n, seed):
        u = random_ops.uniform(shape_of(n, self._logits), dtype=self._probs.dtype, seed=seed)
        return math_ops.cast(u < self._probs, self._dtype)

    def _log_prob(self, event):
        event = math_ops.cast(event, self._logits.dtype)
        return -nn_ops.sigmoid_cross_entropy_with_logits(
            labels=event + array_ops.zeros_like(self._logits), logits=self._logits + array_ops.zeros_like(event)
        )

    def _entropy(self):
        return -self._logits * (math_ops.sigmoid(self._logits) - 1.0) + math_ops.softplus(-self._logits)

    def _mean(self):
        return array_ops.identity(self._probs)

    def _variance(self):
        return self._probs * (1.0 - self._probs)

    def _mode(self):
        return math_ops.cast(self._probs > 0.5, self._dtype)


class Categorical(Distribution):
    def __init__(
        self, logits=None, probs=None, dtype=dtypes.int32, validate_args=False, allow_nan_stats=True, name="Categorical"
    ):
        parameters = dict(locals())
        self._logits, self._probs = _logits_and_probs(logits, probs, True, validate_args)
        super().__init__(
            dtypes.as_dtype(dtype), NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    @property
    def event_size(self):
        return array_ops.shape(self._logits)[-1]

    def _like(self):
        return self._logits[..., 0]

    def _sample_n(self, n, seed):
        rows = array_ops.reshape(self._logits, array_ops.stack([-1, self.event_size]))
        drawn = random_ops.categorical(rows, n, self._dtype if self._dtype == dtypes.int64 else dtypes.int32, seed)
        drawn = math_ops.cast(array_ops.transpose(drawn), self._dtype)
        return array_ops.reshape(drawn, shape_of(n, self._like()))

    def _log_prob(self, k):
        k = math_ops.cast(k, dtypes.int32)
        places = k + array_ops.zeros_like(math_ops.cast(self._like(), dtypes.int32))
        logits = self._logits + array_ops.zeros_like(math_ops.cast(places, self._logits.dtype))[..., None]
        return -nn_ops.sparse_softmax_cross_entropy_with_logits(labels=places, logits=logits)

    def _cdf(self, k):
        k = math_ops.cast(k, dtypes.int32)
        numbers = math_ops.range(self.event_size)
        below = math_ops.cast(numbers < k[..., None], self._probs.dtype)
        return math_ops.reduce_sum(self._probs * below, -1)

    def _entropy(self):
        return -math_ops.reduce_sum(nn_ops.log_softmax(self._logits) * self._probs, -1)

    def _mode(self):
        return math_ops.cast(math_ops.argmax(self._logits, -1), self._dtype)


class _Counts(Distribution):
    """What distributions of counts of several classes share."""

    def _like(self):
        return self._total_count + array_ops.zeros_like(self._weights()[..., 0])

    @property
    def _event(self):
        return self._weights().shape[-1:]

    def event_shape_tensor(self, name="event_shape_tensor"):
        return array_ops.shape(self._weights())[-1:]

    total_count = property(lambda self: self._total_count)
    _sum_text = "counts last-dimension must sum to `self.total_count`"

    def _sample_checks(self, counts):
        found = [checks.assert_non_negative(counts, message=f"'{counts}' must be non-negative.")]
        if not counts.dtype.is_integer:
            whole = math_ops.cast(math_ops.cast(counts, dtypes.int64), counts.dtype)
            text = f"'{counts}' cannot contain fractional components."
            found.append(checks.assert_equal(counts, whole, message=text))
        total = math_ops.reduce_sum(counts, -1)
        return [*found, checks.assert_equal(self._total_count, total, message=self._sum_text)]

    def _draw(self, n, logits, seed):
        """Counts of total_count draws for each row of logits: [n, ..., classes]."""
        from weft._src.framework.static_value import get_static_value

        known = get_static_value(self._total_count)
        if known is None or known.size > 1 and known.min() != known.max():
            raise NotImplementedError("Samples with several values of total_count are not supported")
        total = int(known.reshape(-1)[0])
        classes = array_ops.shape(logits)[-1]
        rows = array_ops.reshape(logits, array_ops.stack([-1, classes]))
        drawn = random_ops.categorical(rows, total, dtypes.int32, seed)
        counts = math_ops.reduce_sum(array_ops.one_hot(drawn, classes, dtype=self._dtype), -2)
        return array_ops.reshape(counts, array_ops.shape(logits))


def _log_combinations(n, counts):
    """log(n! / (c1! c2! ...))"""
    return math_ops.lgamma(n + 1.0) - math_ops.reduce_sum(math_ops.lgamma(counts + 1.0), -1)


class Multinomial(_Counts):
    _sum_text = "counts must sum to `self.total_count`"

    def __init__(
        self, total_count, logits=None, probs=None, validate_args=False, allow_nan_stats=True, name="Multinomial"
    ):
        parameters = dict(locals())
        self._total_count = convert_to_tensor(total_count, dtype_hint="float32", name="total_count")
        self._logits, self._probs = _logits_and_probs(logits, probs, True, validate_args)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name)

    logits = property(lambda self: self._logits)
    probs = property(lambda self: self._probs)

    def _weights(self):
        return self._probs

    def _mean_probs(self):
        return self._probs * self._like()[..., None]

    def _sample_n(self, n, seed):
        logits = self._logits + array_ops.zeros_like(self._like())[..., None]
        shape = array_ops.concat([array_ops.reshape(n, [1]), array_ops.shape(logits)], axis=0)
        return self._draw(n, array_ops.broadcast_to(logits, shape), seed)

    def _log_prob(self, counts):
        unnormalized = math_ops.reduce_sum(counts * nn_ops.log_softmax(self._logits), -1)
        return unnormalized + _log_combinations(self._total_count, counts)

    def _mean(self):
        return array_ops.identity(self._mean_probs())

    def _variance(self):
        return self._mean_probs() - self._mean_probs() * self._probs

    def _covariance(self):
        p = self._probs * array_ops.ones_like(self._like())[..., None]
        outer = -math_ops.matmul(self._mean_probs()[..., None], p[..., None, :])
        return raw.MatrixSetDiag(input=outer, diagonal=self._variance())


class DirichletMultinomial(_Counts):
    def __init__(
        self, total_count, concentration, validate_args=False, allow_nan_stats=True, name="DirichletMultinomial"
    ):
        parameters = dict(locals())
        self._total_count = convert_to_tensor(total_count, dtype_hint="float32", name="total_count")
        self._concentration = positive(concentration, "concentration", validate_args)
        super().__init__(
            self._concentration.dtype, NOT_REPARAMETERIZED, validate_args, allow_nan_stats, parameters, name=name
        )

    concentration = property(lambda self: self._concentration)
    total_concentration = property(lambda self: math_ops.reduce_sum(self._concentration, -1))

    def _weights(self):
        return self._concentration

    def _sample_n(self, n, seed):
        weights = self._concentration + array_ops.zeros_like(self._like())[..., None]
        made = random_ops.gamma(array_ops.reshape(n, [1]), weights, dtype=self._dtype, seed=seed)
        return self._draw(n, math_ops.log(made), None if seed is None else seed + 1)

    def _log_prob(self, counts):
        ordered = math_ops.lbeta(self._concentration + counts) - math_ops.lbeta(self._concentration)
        return ordered + _log_combinations(self._total_count, counts)

    def _mean(self):
        return self._total_count[..., None] * self._concentration / self.total_concentration[..., None]

    def _spread(self):
        total = self.total_concentration[..., None]
        return math_ops.sqrt((1.0 + total / self._total_count[..., None]) / (1.0 + total))

    def _variance(self):
        scale = self._spread()
        x = scale * self._mean()
        return x * (self._total_count[..., None] * scale - x)

    def _covariance(self):
        x = self._spread() * self._mean()
        return raw.MatrixSetDiag(input=-x[..., None] * x[..., None, :], diagonal=self._variance())
