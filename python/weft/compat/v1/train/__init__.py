"""tf.compat.v1.train: optimisers, savers, steps."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.train.optimizers: Optimizer GradientDescentOptimizer MomentumOptimizer AdamOptimizer AdagradOptimizer
compat.v1.train.optimizers: RMSPropOptimizer FtrlOptimizer AdadeltaOptimizer
compat.v1.train.steps: get_global_step create_global_step get_or_create_global_step global_step assert_global_step
compat.v1.train.steps: exponential_decay natural_exp_decay inverse_time_decay polynomial_decay piecewise_constant
compat.v1.train.steps: cosine_decay cosine_decay_restarts linear_cosine_decay noisy_linear_cosine_decay piecewise_constant_decay=piecewise_constant
compat.v1.train.proximal: AdagradDAOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer
compat.v1.train.hooks: CheckpointSaverHook CheckpointSaverListener GlobalStepWaiterHook NanLossDuringTrainingError NanTensorHook SecondOrStepTimer
compat.v1.train.hooks: StepCounterHook SummarySaverHook
compat.v1.train.sdca: sdca_fprint sdca_optimizer sdca_shrink_l1
compat.v1.train.device_setter: replica_device_setter
compat.v1.train.warm_start: VocabInfo warm_start
compat.v1.train.session_manager: SessionManager
compat.v1.train.supervisor: Supervisor basic_train_loop
compat.v1.summary: summary_iterator
compat.v1.train.checkpoint: Checkpoint
compat.v1.train.saver: Saver import_meta_graph export_meta_graph init_from_checkpoint
compat.v1.train.monitored: SessionRunHook SessionRunArgs SessionRunContext SessionRunValues StopAtStepHook
compat.v1.train.monitored: LoggingTensorHook Scaffold MonitoredSession MonitoredTrainingSession
compat.v1.train.monitored: SingularMonitoredSession FinalOpsHook FeedFnHook ChiefSessionCreator
compat.v1.train.monitored: SessionCreator WorkerSessionCreator
compat.v1.train.coordinator: Coordinator LooperThread
compat.v1.train.queue_runner: QueueRunner add_queue_runner start_queue_runners
compat.v1.train.input: match_filenames_once limit_epochs input_producer string_input_producer range_input_producer
compat.v1.train.input: slice_input_producer batch maybe_batch batch_join maybe_batch_join shuffle_batch
compat.v1.train.input: maybe_shuffle_batch shuffle_batch_join maybe_shuffle_batch_join
trackable.checkpoint_files: checkpoint_exists get_checkpoint_state update_checkpoint_state latest_checkpoint
trackable.checkpoint_files: load_checkpoint load_variable list_variables checkpoints_iterator
compat.v1.train.checkpoint: NewCheckpointReader generate_checkpoint_state_proto get_checkpoint_mtimes remove_checkpoint
distribute.server: Server
ops.io_ops: write_graph
"""

__getattr__, __dir__ = _namespace(globals(), "train", _MODULES, ["experimental", "queue_runner"])
