"""tf.train: checkpoints and examples."""

from weft._src.namespace import lazily as _lazily

_MODULES = """
proto: Example Features Feature BytesList FloatList Int64List SequenceExample FeatureList FeatureLists ClusterDef
proto: JobDef ServerDef
trackable.checkpoint: Checkpoint CheckpointManager CheckpointOptions latest_checkpoint load_checkpoint list_variables
trackable.checkpoint: load_variable checkpoints_iterator get_checkpoint_state
trackable.views: CheckpointView TrackableView
trackable.moving_averages: ExponentialMovingAverage
compat.v1.train.monitored: Coordinator
distribute.cluster_spec: ClusterSpec
"""

__getattr__, __dir__ = _lazily(globals(), "tf.train", _MODULES, ["experimental"])
