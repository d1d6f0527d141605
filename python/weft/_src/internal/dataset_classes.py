"""Classes of datasets by TensorFlow's names, for isinstance: weft has one class, whose objects say what they are."""

import abc

from weft._src.data.dataset import Dataset


class _Named(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Dataset) and type(value).__name__ == cls.__name__


def __getattr__(name):
    if name.startswith("_") and name.endswith("Dataset"):
        return _Named(name, (), {"__module__": __name__})
    raise AttributeError(name)


class AnyDataset(abc.ABC):
    """tf.__internal__.types.data.Dataset: what every dataset is an instance of."""


AnyDataset.register(Dataset)
