"""tf.zeros_initializer and its kin: first values of variables, in version 2's form."""

from weft.compat.v1 import initializers as _v1
from weft.framework import dtypes


class Initializer:
    """Gives a tensor for a shape."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        for key in kwargs:
            if key not in ("partition_shape", "partition_offset"):
                raise TypeError(f"Keyword argument should be one of ('partition_shape', 'partition_offset'). Received: {key}")
        return self._made()(kwargs.get("partition_shape") or shape, dtypes.as_dtype(dtype))

    def get_config(self):
        return dict(self.__dict__)

    @classmethod
    def from_config(cls, config):
        return cls(**{k: v for k, v in config.items() if k != "dtype"})


class zeros_initializer(Initializer):
    """Zeros."""

    def _made(self):
        return _v1.Zeros()


class ones_initializer(Initializer):
    """Ones."""

    def _made(self):
        return _v1.Ones()


class constant_initializer(Initializer):
    """One value, or the values of a list."""

    def __init__(self, value=0, support_partition=False):
        self.value = value

    def _made(self):
        return _v1.Constant(self.value)


class random_uniform_initializer(Initializer):
    """Evenly distributed random values."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _made(self):
        return _v1.RandomUniform(self.minval, self.maxval, self.seed)


class random_normal_initializer(Initializer):
    """Normally distributed random values."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def _made(self):
        return _v1.RandomNormal(self.mean, self.stddev, self.seed)
