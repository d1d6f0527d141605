"""tf.compat.v1.initializers: first values of variables."""

import math

from weft._src.framework import dtypes
from weft._src.framework.convert import constant as _constant
from weft._src.ops.init_ops import FIRST_VALUES


class Initializer:
    """Gives a tensor for a shape."""

    _floating = False  # whether there are none but floating point values of it

    def __init__(self, dtype=dtypes.float32, seed=None):
        self.dtype, self.seed = dtypes.as_dtype(dtype), seed
        if self._floating and not self.dtype.is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {self.dtype}.")

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._value([int(d) for d in shape], self.dtype if dtype is None else dtypes.as_dtype(dtype))

    def get_config(self):
        """The arguments that make the same again."""
        code = type(self).__init__.__code__
        names = [n for n in code.co_varnames[1 : code.co_argcount] if n != "verify_shape"]
        return {n: self.dtype.name if n == "dtype" else getattr(self, n) for n in names}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


class Zeros(Initializer):
    def __init__(self, dtype=dtypes.float32):
        super().__init__(dtype)

    def _value(self, shape, dtype):
        return _constant(False if dtype.is_bool else "" if dtype == dtypes.string else 0, dtype=dtype, shape=shape)


class Ones(Initializer):
    def __init__(self, dtype=dtypes.float32):
        super().__init__(dtype)

    def _value(self, shape, dtype):
        return _constant(1 if not dtype.is_bool else True, dtype=dtype, shape=shape)


class Constant(Initializer):
    """The same value everywhere, or the values of a list."""

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        super().__init__(dtype)
        if not isinstance(value, FIRST_VALUES):
            raise TypeError(
                f"Invalid type for initial value={value} of type: {type(value).__name__}. Expected Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value, self._verify = value, verify_shape

    def _value(self, shape, dtype):
        from weft._src.compat.v1.graphs import constant

        return constant(self.value, dtype, shape, verify_shape=self._verify)


class RandomUniform(Initializer):
    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32):
        super().__init__(dtype, seed)
        self.minval, self.maxval = minval, maxval

    def _value(self, shape, dtype):
        from weft._src.ops.random_ops import uniform as random_uniform

        return random_uniform(
            shape,
            self.minval,
            1.0 if self.maxval is None and not dtype.is_integer else self.maxval,
            dtype,
            seed=self.seed,
        )


class RandomNormal(Initializer):
    _floating = True

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype, seed)
        self.mean, self.stddev = mean, stddev

    def _value(self, shape, dtype):
        from weft._src.ops.random_ops import normal as random_normal

        return random_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


class TruncatedNormal(RandomNormal):
    def _value(self, shape, dtype):
        from weft._src.ops.random_ops import truncated_normal

        return truncated_normal(shape, self.mean, self.stddev, dtype, seed=self.seed)


def _fans(shape):
    """How many inputs and outputs a value of a kernel of this shape has."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


class VarianceScaling(Initializer):
    """Random values whose variance goes by the number of inputs or outputs."""

    _floating = True

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        super().__init__(dtype, seed)
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                f"Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', 'untruncated_normal'). Received: {distribution}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = shape if partition_info is None else partition_info.full_shape
        return self._value(
            [int(d) for d in shape], self.dtype if dtype is None else dtypes.as_dtype(dtype), [int(d) for d in whole]
        )

    def _value(self, shape, dtype, whole):
        from weft._src.ops.random_ops import normal as random_normal, truncated_normal, uniform as random_uniform

        inputs, outputs = _fans(whole)
        scale = self.scale / max(
            1.0, {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2.0}[self.mode]
        )
        if self.distribution == "uniform":
            limit = math.sqrt(3.0 * scale)
            return random_uniform(shape, -limit, limit, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        # A normal distribution that is cut at two deviations has this part of its deviation.
        return truncated_normal(shape, 0.0, math.sqrt(scale) / 0.87962566103423978, dtype, seed=self.seed)


class UniformUnitScaling(Initializer):
    """Uniform numbers that keep the scale of the input."""

    _floating = True

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype, seed)
        self.factor = factor

    def _value(self, shape, dtype):
        import math

        from weft._src.ops.random_ops import uniform

        size = 1.0
        for dim in shape[:-1]:
            size *= float(dim)
        most = math.sqrt(3 / max(1.0, size)) * self.factor
        return uniform(shape, -most, most, dtype, self.seed)


class GlorotUniform(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed)  # TensorFlow does not look at the type


class GlorotNormal(VarianceScaling):
    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)  # TensorFlow does not look at the type


class Orthogonal(Initializer):
    """A matrix whose rows or columns are orthogonal."""

    _floating = True

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        super().__init__(dtype, seed)
        self.gain = gain

    def _value(self, shape, dtype):
        from weft._src.raw import raw
        from weft._src.ops.random_ops import normal as random_normal

        if len(shape) < 2:
            raise ValueError(
                f"The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape={shape}"
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        q, r = raw.Qr(
            input=random_normal([max(rows, columns), min(rows, columns)], dtype=dtype, seed=self.seed),
            full_matrices=False,
        )
        q = q * raw.Sign(x=raw.MatrixDiagPart(input=r))
        if rows < columns:
            q = raw.Transpose(x=q, perm=[1, 0])
        return self.gain * raw.Reshape(tensor=q, shape=shape)


class Identity(Initializer):
    _floating = True

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        super().__init__(dtype)
        self.gain = gain

    def _value(self, shape, dtype):
        from weft._src.ops.array_ops import eye

        if len(shape) != 2:
            raise ValueError(
                f"The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape={shape}"
            )
        return self.gain * eye(shape[0], shape[1], dtype=dtype)


def he_normal(seed=None):
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed=None):
    return VarianceScaling(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed=None):
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed=None):
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


zeros, ones, constant, random_uniform, random_normal, truncated_normal = (
    Zeros,
    Ones,
    Constant,
    RandomUniform,
    RandomNormal,
    TruncatedNormal,
)
variance_scaling, glorot_uniform, glorot_normal, orthogonal, identity = (
    VarianceScaling,
    GlorotUniform,
    GlorotNormal,
    Orthogonal,
    Identity,
)
