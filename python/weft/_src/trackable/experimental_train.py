"""tf.train.experimental: state of Python's in a checkpoint."""

import abc

from weft._src.namespace import missing
from weft._src.framework.convert import constant
from weft._src.trackable.base import Trackable
from weft._src.trackable.sharding import MaxShardSizePolicy, ShardableTensor, ShardByTaskPolicy, ShardingCallback  # noqa: F401

PYTHON_STATE_KEY = "py_state"


class PythonState(Trackable, metaclass=abc.ABCMeta):
    """An object that is saved as text that it makes itself."""

    @abc.abstractmethod
    def serialize(self):
        """The state as bytes or text."""

    @abc.abstractmethod
    def deserialize(self, string_value):
        """Takes the state of serialize()."""

    def _serialize_to_tensors(self):
        return {PYTHON_STATE_KEY: constant(self.serialize())}

    def _restore_from_tensors(self, restored_tensors):
        self.deserialize(restored_tensors[PYTHON_STATE_KEY].numpy())


__getattr__ = missing("tf.train.experimental")
