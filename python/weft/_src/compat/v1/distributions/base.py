"""What distributions share. A subclass has some of _sample_n, _log_prob, _prob, _cdf, _mean ...; the rest is computed from them."""

import inspect

from weft._src.compat.v1 import checks
from weft._src.compat.v1.distributions.reparameterization import NOT_REPARAMETERIZED
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import name_scope_v1
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops import array_ops, math_ops


class Distribution:
    """Random values: samples of them, and how likely values are."""

    def __init__(
        self,
        dtype,
        reparameterization_type,
        validate_args,
        allow_nan_stats,
        parameters=None,
        graph_parents=None,
        name=None,
    ):
        self._dtype, self._reparameterization_type = dtype, reparameterization_type or NOT_REPARAMETERIZED
        self._validate_args, self._allow_nan_stats = validate_args, allow_nan_stats
        self._parameters = {
            k: v for k, v in (parameters or {}).items() if k not in ("self", "__class__") and not k.startswith("_")
        }
        self._name = name or type(self).__name__

    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    parameters = property(lambda self: dict(self._parameters))
    reparameterization_type = property(lambda self: self._reparameterization_type)
    allow_nan_stats = property(lambda self: self._allow_nan_stats)
    validate_args = property(lambda self: self._validate_args)

    def copy(self, **override_parameters_kwargs):
        """The same with some parameters changed."""
        return type(self)(**{**self._parameters, **override_parameters_kwargs})

    @classmethod
    def param_shapes(cls, sample_shape, name="DistributionParamShapes"):
        return {k: convert_to_tensor(v) for k, v in cls.param_static_shapes(sample_shape).items()}

    @classmethod
    def param_static_shapes(cls, sample_shape):
        """The shapes of the parameters for samples of this shape."""
        names = [
            n for n in inspect.signature(cls.__init__).parameters if n in ("loc", "scale", "low", "high", "logits")
        ]
        return {name: TensorShape(sample_shape) for name in names}

    # ---- shapes; a subclass has _batch_tensor (of the shape of a batch) and _event

    def _like(self):
        """A tensor of the batch's shape."""
        raise NotImplementedError

    _event = ()

    @property
    def batch_shape(self):
        return self._like().shape

    @property
    def event_shape(self):
        return TensorShape(self._event)

    def batch_shape_tensor(self, name="batch_shape_tensor"):
        return array_ops.shape(self._like(), name=name)

    def event_shape_tensor(self, name="event_shape_tensor"):
        return convert_to_tensor(list(self._event), "int32")

    def is_scalar_event(self, name="is_scalar_event"):
        return convert_to_tensor(self.event_shape.rank == 0)

    def is_scalar_batch(self, name="is_scalar_batch"):
        return math_ops.equal(array_ops.rank(self._like()), 0)

    # ---- samples

    def sample(self, sample_shape=(), seed=None, name="sample"):
        """Samples: sample_shape + batch_shape + event_shape."""
        with name_scope_v1(f"{self._name}/{name}"):
            shape = array_ops.reshape(convert_to_tensor(sample_shape, "int32"), [-1])
            made = self._sample_n(math_ops.reduce_prod(shape), seed)
            out = array_ops.reshape(made, array_ops.concat([shape, array_ops.shape(made)[1:]], axis=0))
            if isinstance(sample_shape, (int, list, tuple)):
                front = TensorShape([sample_shape] if isinstance(sample_shape, int) else sample_shape)
                out.set_shape(front.concatenate(self.batch_shape).concatenate(self.event_shape))
            return out

    # ---- probabilities

    def _value(self, value):
        return convert_to_tensor(value, dtype_hint=self._dtype)

    def _has(self, name):
        return getattr(type(self), name, None) is not None

    def _refuse(self, name):
        raise NotImplementedError(f"{name} is not implemented: {type(self).__name__}")

    def log_prob(self, value, name="log_prob"):
        with name_scope_v1(f"{self._name}/{name}"):
            if self._has("_log_prob"):
                return self._log_prob(self._valid(self._value(value)))
            return math_ops.log(self._prob(self._valid(self._value(value))))

    def prob(self, value, name="prob"):
        with name_scope_v1(f"{self._name}/{name}"):
            if self._has("_prob"):
                return self._prob(self._valid(self._value(value)))
            return math_ops.exp(self._log_prob(self._valid(self._value(value))))

    def cdf(self, value, name="cdf"):
        if not self._has("_cdf"):
            self._refuse("cdf")
        with name_scope_v1(f"{self._name}/{name}"):
            return self._cdf(self._value(value))

    def log_cdf(self, value, name="log_cdf"):
        if self._has("_log_cdf"):
            return self._log_cdf(self._value(value))
        return math_ops.log(self.cdf(value))

    def survival_function(self, value, name="survival_function"):
        if self._has("_survival_function"):
            return self._survival_function(self._value(value))
        return 1.0 - self.cdf(value)

    def log_survival_function(self, value, name="log_survival_function"):
        return math_ops.log(self.survival_function(value))

    def quantile(self, value, name="quantile"):
        if not self._has("_quantile"):
            self._refuse("quantile")
        return self._quantile(convert_to_tensor(value, dtype_hint=self._dtype))

    # ---- numbers that describe it

    def _asked(self, name):
        if not self._has("_" + name):
            self._refuse(name)
        with name_scope_v1(f"{self._name}/{name}"):
            return getattr(self, "_" + name)()

    def entropy(self, name="entropy"):
        return self._asked("entropy")

    def mean(self, name="mean"):
        return self._asked("mean")

    def mode(self, name="mode"):
        return self._asked("mode")

    def variance(self, name="variance"):
        return self._asked("variance") if self._has("_variance") else math_ops.square(self._asked("stddev"))

    def stddev(self, name="stddev"):
        return self._asked("stddev") if self._has("_stddev") else math_ops.sqrt(self._asked("variance"))

    def covariance(self, name="covariance"):
        return self._asked("covariance")

    def cross_entropy(self, other, name="cross_entropy"):
        from weft._src.compat.v1.distributions.divergence import kl_divergence

        return self.entropy() + kl_divergence(self, other, self._allow_nan_stats)

    def kl_divergence(self, other, name="kl_divergence"):
        from weft._src.compat.v1.distributions.divergence import kl_divergence

        return kl_divergence(self, other, self._allow_nan_stats)

    def _nan_or_raise(self, defined, value, *limits):
        """NaN where a number is not defined, or an error where NaN is not allowed: limits are pairs of a parameter, which must be above 1, and a text."""
        if self._allow_nan_stats:
            return array_ops.where(defined, value, convert_to_tensor(float("nan"), value.dtype))
        one = array_ops.ones([], value.dtype)
        return checked(value, *[checks.assert_less(one, limit, message=text) for limit, text in limits])

    def _valid(self, sample):
        """A sample; where arguments are to be validated, one that is checked."""
        return checked(sample, *self._sample_checks(sample)) if self._validate_args else sample

    def _sample_checks(self, sample):
        return []

    def __str__(self):
        return (
            f'tfp.distributions.{type(self).__name__}("{self._name}", batch_shape={self.batch_shape}, event_shape={self.event_shape}, '
            f"dtype={self._dtype.name})"
        )

    def __repr__(self):
        return (
            f"<tfp.distributions.{type(self).__name__} '{self._name}' batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self._dtype.name}>"
        )


def checked(value, *assertions):
    """A value that is there only after checks."""
    from weft._src.ops.control import after

    made = [check for check in assertions if check is not None]
    return after(made, value) if made else value


def positive(value, name, validate, message=None):
    """A parameter; where arguments are to be validated, one that is checked."""
    value = convert_to_tensor(value, dtype_hint="float32", name=name)
    return checked(value, checks.assert_positive(value, message=message)) if validate else value


def shape_of(count, like, *event):
    """[count] + the batch's shape + the event's, as a tensor."""
    parts = [array_ops.reshape(count, [1]), array_ops.shape(like)]
    return array_ops.concat([*parts, *([list(event)] if event else [])], axis=0)
