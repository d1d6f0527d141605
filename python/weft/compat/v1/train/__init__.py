"""tf.compat.v1.train: optimisers, savers, steps."""

import importlib as _importlib

_WHERE = {
    "weft.compat.v1.train.optimizers": "Optimizer GradientDescentOptimizer MomentumOptimizer AdamOptimizer AdagradOptimizer RMSPropOptimizer FtrlOptimizer "
    "AdadeltaOptimizer",
    "weft.compat.v1.train.steps": "get_global_step create_global_step get_or_create_global_step global_step assert_global_step exponential_decay "
    "natural_exp_decay inverse_time_decay polynomial_decay piecewise_constant cosine_decay",
    "weft.compat.v1.train.checkpoint": "Checkpoint",
    "weft.compat.v1.train.saver": "Saver import_meta_graph export_meta_graph init_from_checkpoint",
    "weft.compat.v1.train.monitored": "SessionRunHook SessionRunArgs SessionRunContext SessionRunValues StopAtStepHook LoggingTensorHook Scaffold "
    "MonitoredSession MonitoredTrainingSession SingularMonitoredSession FinalOpsHook FeedFnHook ChiefSessionCreator",
    "weft.compat.v1.train.coordinator": "Coordinator LooperThread",
    "weft.compat.v1.train.queue_runner": "QueueRunner add_queue_runner start_queue_runners",
    "weft.compat.v1.train.input": "match_filenames_once limit_epochs input_producer string_input_producer range_input_producer slice_input_producer batch "
    "maybe_batch batch_join maybe_batch_join shuffle_batch maybe_shuffle_batch shuffle_batch_join maybe_shuffle_batch_join",
    "weft.trackable.checkpoint_files": "checkpoint_exists get_checkpoint_state update_checkpoint_state latest_checkpoint load_checkpoint load_variable "
    "list_variables checkpoints_iterator remove_checkpoint",
    "weft.io": "write_graph",
    "weft.distribute.server": "Server",
}
_names = {name: module for module, names in _WHERE.items() for name in names.split()}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "NewCheckpointReader":
        from weft.trackable.checkpoint_files import CheckpointReader

        return CheckpointReader
    module = _names.get(name)
    if module is not None:
        value = getattr(_importlib.import_module(module), name)
    else:
        value = _other(name)
    globals()[name] = value
    return value


def _other(name):
    from weft import proto, train

    try:
        return getattr(train, name)
    except AttributeError:
        pass
    try:
        return getattr(proto, name)
    except AttributeError:
        raise AttributeError(f"module 'tensorflow._api.v2.compat.v1.train' has no attribute {name!r}") from None
