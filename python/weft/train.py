"""tf.train: checkpoints and examples."""

import importlib

from weft._missing import missing as _missing

_WHERE = {
    "weft.proto": "Example Features Feature BytesList FloatList Int64List SequenceExample FeatureList FeatureLists ClusterDef JobDef ServerDef",
    "weft.trackable.checkpoint": "Checkpoint CheckpointManager CheckpointOptions latest_checkpoint load_checkpoint list_variables load_variable "
    "checkpoints_iterator get_checkpoint_state",
    "weft.trackable.views": "CheckpointView TrackableView",
    "weft.trackable.moving_averages": "ExponentialMovingAverage",
    "weft.compat.v1.train.monitored": "Coordinator",
    "weft.distribute.cluster_spec": "ClusterSpec",
}
_names = {name: module for module, names in _WHERE.items() for name in names.split()}
_none = _missing("tf.train")


def __getattr__(name):
    if name == "experimental":
        return importlib.import_module("weft.trackable.experimental_train")
    module = _names.get(name)
    if module is None:
        return _none(name)
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(_names)
