"""tf.*_initializer: callables that make first values of variables."""

import numpy as np

from weft._src.framework import dtypes
from weft._src.framework.convert import constant
from weft._src.ops import array_ops, random_ops, stateless_random_ops


FIRST_VALUES = (int, float, bool, str, bytes, complex, list, tuple, np.ndarray, np.generic)  # of constant initializers


class Initializer:
    """Makes a tensor of a shape and type."""

    def __call__(self, shape, dtype=None, **kwargs):
        raise NotImplementedError

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        config.pop("dtype", None)
        return cls(**config)


def _checked(kwargs):
    names = ["partition_shape", "partition_offset"]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"Keyword argument should be one of {names}. Received: {name}")


def _part(shape, kwargs):
    """The shape of the part that is wanted of a variable in parts."""
    _checked(kwargs)
    return kwargs.get("partition_shape") or shape


class zeros_initializer(Initializer):
    """All zeros."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = _part(shape, kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype is dtypes.string:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        return array_ops.zeros(shape, dtype)


class ones_initializer(Initializer):
    """All ones."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = _part(shape, kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_numpy_compatible or dtype is dtypes.string:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        return array_ops.ones(shape, dtype)


class constant_initializer(Initializer):
    """One value everywhere, or the elements of a list."""

    def __init__(self, value=0, support_partition=False):
        if not isinstance(value, FIRST_VALUES):
            raise TypeError(
                f"Invalid type for initial value: {type(value).__name__}. Expected Python scalar, list or tuple of values, or numpy.ndarray."
            )
        self.value, self.support_partition = value, support_partition

    def __call__(self, shape, dtype=None, **kwargs):
        _checked(kwargs)
        if not self.support_partition and kwargs.get("partition_shape"):
            raise ValueError("Constant initializer doesn't support partition-related arguments")
        return constant(self.value, None if dtype is None else dtypes.as_dtype(dtype), shape)

    def get_config(self):
        return {"value": self.value}


class _Seeded(Initializer):
    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        shape = _part(shape, kwargs)
        return self._draw(shape, dtypes.as_dtype(dtype))


class random_uniform_initializer(_Seeded):
    """Numbers between two bounds."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _draw(self, shape, dtype):
        if not (dtype.is_floating or dtype.is_integer):
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        if self.seed:
            return stateless_random_ops.stateless_uniform(shape, [self.seed, 0], self.minval, self.maxval, dtype)
        return random_ops.uniform(shape, self.minval, self.maxval, dtype)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


class random_normal_initializer(_Seeded):
    """Numbers of a normal distribution."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _draw(self, shape, dtype):
        if not dtype.is_floating:
            raise ValueError(f"Argument `dtype` is expected to be floating point. Received: {dtype}.")
        if self.seed:
            return stateless_random_ops.stateless_normal(shape, [self.seed, 0], self.mean, self.stddev, dtype)
        return random_ops.normal(shape, self.mean, self.stddev, dtype)

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}
