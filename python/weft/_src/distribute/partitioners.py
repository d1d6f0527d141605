"""tf.distribute.experimental.partitioners: into how many parts a variable is divided along its first dimension."""

import math

from weft._src.namespace import missing
from weft._src.framework import dtypes


class Partitioner:
    """The base: called with a shape and a type, gives the number of parts along each dimension."""

    def __call__(self, shape, dtype, axis=0):
        raise NotImplementedError


def _parts(shape, axis, count):
    parts = [1] * len(shape)
    parts[axis] = count
    return parts


def _sizes(shape, dtype, axis, bytes_per_string):
    """The rows, and the bytes of each and of all."""
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    rows = shape.as_list()[axis]
    whole = math.prod(shape.as_list())
    size = bytes_per_string if dtype == dtypes.string else dtypes.as_dtype(dtype).size
    return rows, whole * size


class FixedShardsPartitioner(Partitioner):
    """Always as many parts, or one for each row where there are fewer."""

    def __init__(self, num_shards):
        self._num_shards = num_shards

    def __call__(self, shape, dtype, axis=0):
        return _parts(shape, axis, min(self._num_shards, shape[axis]))


class MinSizePartitioner(Partitioner):
    """As many parts as can have a size."""

    def __init__(self, min_shard_bytes=256 << 10, max_shards=1, bytes_per_string=16):
        _check("min_shard_bytes", min_shard_bytes)
        _check("max_shards", max_shards)
        _check("bytes_per_string", bytes_per_string)
        self._min_shard_bytes, self._max_shards, self._bytes_per_string = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        rows, whole = _sizes(shape, dtype, axis, self._bytes_per_string)
        return _parts(shape, axis, max(1, min(self._max_shards, rows, math.ceil(whole / self._min_shard_bytes))))


class MaxSizePartitioner(Partitioner):
    """As few parts as are not above a size."""

    def __init__(self, max_shard_bytes, max_shards=None, bytes_per_string=16):
        if max_shard_bytes < 1:
            raise ValueError(f"Argument `max_shard_bytes` must be positive. Received {max_shard_bytes}")
        if max_shards and max_shards < 1:
            raise ValueError(f"Argument `max_shards` must be positive. Received {max_shards}")
        _check("bytes_per_string", bytes_per_string)
        self._max_shard_bytes, self._max_shards, self._bytes_per_string = max_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape, dtype, axis=0):
        rows, whole = _sizes(shape, dtype, axis, self._bytes_per_string)
        row = whole // max(rows, 1)
        in_one = max(1, self._max_shard_bytes // max(row, 1))
        count = max(1, math.ceil(rows / in_one))
        return _parts(shape, axis, min(count, self._max_shards) if self._max_shards else count)


def _check(name, value):
    if value < 1:
        raise ValueError(f"Argument `{name}` must be positive. Received: {value}")


__all__ = ["FixedShardsPartitioner", "MaxSizePartitioner", "MinSizePartitioner", "Partitioner"]
__getattr__ = missing("tf.distribute.experimental.partitioners")
