"""Metrics that libraries count their use by: kept in this process, told to nobody. tensorflow_text."""

import bisect
import threading

from weft._src.internal.utilities import BoolGauge

__all__ = ["BoolGauge", "Buckets", "Counter", "ExponentialBuckets", "IntGauge", "Sampler", "StringGauge"]


class Metric:
    """A cell for each combination of labels."""

    def __init__(self, name, description, *labels):
        self._metric_name = name
        self._label_length = len(labels)
        self._cells = {}

    def get_cell(self, *labels):
        if len(labels) != self._label_length:
            raise ValueError(f"The {self._metric_name} expects taking {self._label_length} labels")
        return self._cells.setdefault(labels, self._cell())

    def _cell(self):
        return Cell(type(self)._zero)


class Cell:
    def __init__(self, zero):
        self._lock = threading.Lock()
        self._value = zero

    def value(self):
        return self._value

    def set(self, value):
        self._value = value

    def increase_by(self, value):
        with self._lock:
            self._value += value


class Counter(Metric):
    _zero = 0


class IntGauge(Metric):
    _zero = 0


class StringGauge(Metric):
    _zero = ""


class Buckets:
    def __init__(self, limits):
        self.limits = list(limits)


class ExponentialBuckets(Buckets):
    def __init__(self, scale, growth_factor, bucket_count):
        super().__init__(scale * growth_factor**i for i in range(bucket_count))


class SamplerCell:
    def __init__(self, buckets):
        self._limits, self._counts = buckets.limits, [0] * (len(buckets.limits) + 1)

    def add(self, sample):
        self._counts[bisect.bisect_right(self._limits, sample)] += 1

    def value(self):
        return list(self._counts)


class Sampler(Metric):
    def __init__(self, name, buckets, description, *labels):
        super().__init__(name, description, *labels)
        self._buckets = buckets

    def _cell(self):
        return SamplerCell(self._buckets)
