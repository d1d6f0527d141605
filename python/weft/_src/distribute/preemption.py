"""tf.distribute.experimental.PreemptionCheckpointHandler: a checkpoint when this machine, or that of another worker, is about to be
taken away, and training from there when the program is started again."""

import os
import shutil
import signal
import sys
import threading
import time

from weft._src.distribute import multi_worker_util
from weft._src.framework.contexts import contextmanager
from weft._src.distribute.cluster_spec import ClusterSpec
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant
from weft._src.framework.eager_context import context
from weft._src.framework.misc import get_logger
from weft._src.trackable.checkpoint import Checkpoint
from weft._src.trackable.checkpoint_manager import CheckpointManager
from weft._src.trackable.variable import Variable

_COUNT = "checkpointed_runs"  # the name under which checkpoints have the number of runs
_EXIT_CODE = 42  # by which who started the program knows that it wants to be started again


class TerminationConfig:
    """How a termination is noticed, and what is done then."""

    def __init__(self, termination_watcher_fn=None, exit_fn=None, grace_period=None, save_fn=None):
        self.termination_watcher_fn, self.exit_fn = termination_watcher_fn, exit_fn
        self.grace_period, self.save_fn = grace_period, save_fn


class PreemptionCheckpointHandler:
    """Runs steps; between two of them all workers save a checkpoint and end when one of them was told to end."""

    def __init__(
        self, cluster_resolver, checkpoint_or_checkpoint_manager, checkpoint_dir=None, termination_config=None
    ):
        if isinstance(checkpoint_or_checkpoint_manager, Checkpoint) and not checkpoint_dir:
            raise errors.InvalidArgumentError(
                None, None, "When a checkpoint is passed, a checkpoint_dir must be passed as well."
            )
        spec = ClusterSpec({}) if cluster_resolver is None else ClusterSpec(cluster_resolver.cluster_spec())
        if "ps" in spec.jobs:
            raise NotImplementedError(
                "PreemptionCheckpointHandler does not supportusage with "
                "tf.distribute.experimental.ParameterServerStrategy."
            )
        config = termination_config or TerminationConfig()
        self._exit_fn = config.exit_fn or (lambda: sys.exit(_EXIT_CODE))
        self._save_fn, self._grace_period = config.save_fn, config.grace_period or 0
        self._is_chief, self._peers, self._task_id = True, None, None
        if spec.jobs:
            task = cluster_resolver.task_type, cluster_resolver.task_id
            self._is_chief, self._task_id = multi_worker_util.is_chief(spec, *task), task[1]
            workers = multi_worker_util.worker_count(spec, task[0])
            if workers > 1:
                self._peers = _Peers(workers, multi_worker_util.id_in_cluster(spec, *task))
        self._runs = Variable(constant(0, dtypes.int64), trainable=False, name=_COUNT)
        self._make_managers(checkpoint_or_checkpoint_manager, checkpoint_dir)
        for manager in {id(m): m for m in (self._reader, self._writer)}.values():
            if not hasattr(manager._checkpoint, _COUNT):
                setattr(manager._checkpoint, _COUNT, self._runs)
        self._reader.restore_or_initialize()
        self._counter = int(self._runs.numpy())
        self._told = threading.Event()
        self._told_at, self._run_seconds, self._save_at = None, 0.0, None
        self._last_phase = False  # a checkpoint is there, the grace period runs
        if self._peers is not None:
            threading.Thread(target=self._listen, daemon=True).start()
        if config.termination_watcher_fn:
            watcher = threading.Thread(target=self._poll, args=(config.termination_watcher_fn,), daemon=True)
            watcher.start()
        else:
            signal.signal(signal.SIGTERM, lambda number, frame: self._tell())

    def _make_managers(self, given, folder):
        """Every worker must save, since reading some variables needs all; what the others than the chief write is thrown away."""
        self._own_managers = not isinstance(given, CheckpointManager)
        if not self._own_managers:
            self._reader = self._writer = given
            return
        self._reader = self._writer = CheckpointManager(given, directory=folder, max_to_keep=1)
        if not self._is_chief:
            folder, name = os.path.split(folder)
            folder = os.path.join(folder, f"workertemp_{self._task_id}")
            os.makedirs(folder, exist_ok=True)
            self._writer = CheckpointManager(given, directory=os.path.join(folder, name), max_to_keep=1)

    @property
    def total_run_calls(self):
        """How many steps there were, with those before a restart."""
        return self._counter

    def run(self, distributed_train_function, *args, **kwargs):
        """A step, unless it is time to save and to end."""
        self._check()
        begin = time.time()
        result = distributed_train_function(*args, **kwargs)
        self._counter += 1
        self._run_seconds += (time.time() - begin - self._run_seconds) / self._counter
        return result

    def save_checkpoint_if_preempted(self, *args, **kwargs):
        """Between steps of a loop of one's own."""
        self._check(*args, **kwargs)
        self._counter += 1
        self._run_seconds = 0.0

    @contextmanager
    def watch_preemption_scope(self):
        """The block's steps are watched; what they do is seen in save_checkpoint_if_preempted."""
        yield

    def _poll(self, is_time):
        while not is_time():
            time.sleep(1)
        self._tell()

    def _tell(self):
        self._told_at = time.time()
        self._told.set()

    def _listen(self):
        """Has the step after which to save from the worker that was told to end, which may be this one."""
        try:
            for key in (_FIRST_SAVE, _LAST_SAVE) if self._grace_period > 0 else (_FIRST_SAVE,):
                step = self._peers.wait_for(key)
                if step is None:
                    return
                self._save_at = step
                self._peers.acknowledge(key)
        except errors.OpError as e:  # the cluster has ended, or failed: training hears of it by itself
            get_logger().info("PreemptionCheckpointHandler: no news of other workers: %s", e)

    def _leads(self):
        """Whether this worker says when to save: it was told to end, before all others."""
        if not self._told.is_set():
            return False
        if self._last_phase:
            return self._told_at + self._grace_period - 6 * self._run_seconds < time.time()
        return self._peers is None or self._peers.claim()

    def _check(self, *args, **kwargs):
        """One more step after the workers know of the end, then the checkpoint, at the same step of all."""
        if self._save_at is not None:
            if self._save_at != self._counter:
                return
            self._save_at = None
            self._save(*args, **kwargs)
            if self._grace_period <= 0 or self._last_phase:
                self._end()
                return
            self._last_phase = True
        elif self._leads():
            get_logger().info("PreemptionCheckpointHandler: this worker is about to end")
            if self._peers is None:
                self._save_at = self._counter + 1
            else:
                self._peers.announce(_LAST_SAVE if self._last_phase else _FIRST_SAVE, self._counter + 1)

    def _save(self, *args, **kwargs):
        self._runs.assign(self._counter)
        if self._save_fn:
            self._save_fn(*args, **kwargs)
        else:
            self._writer.save(*args, **kwargs)

    def _end(self):
        if self._peers is not None:
            self._peers.end()
        if self._own_managers and not self._is_chief:
            shutil.rmtree(os.path.dirname(self._writer.directory), ignore_errors=True)
        get_logger().info("PreemptionCheckpointHandler: checkpoint saved. Exiting.")
        self._exit_fn()


# Keys of the coordination service's store, and a value: those of TensorFlow's handlers, which may be in the same cluster.
_FIRST_SAVE, _LAST_SAVE = "RUN_TO_CHECKPOINT", "LAST_RUN_TO_CHECKPOINT"
_TOLD, _SEEN = "TERMINATED_WORKER", "RECEIVED_SIGNAL"
_NO_STEP = "STOP_WATCHER"


class _Peers:
    """What workers tell each other. Nobody is more than a step ahead of another, so a step that all know of before the next one ends is the same for all."""

    def __init__(self, workers, own):
        self._workers, self._own, self._claimed = workers, own, None

    def claim(self):
        """Whether this worker is the first that was told to end."""
        if self._claimed is None:
            self._claimed = self._put(_TOLD, self._own)
        return self._claimed

    def announce(self, key, step):
        """Says after which step to save, and waits until all know."""
        context().set_config_key_value(key, str(step))
        for i in range(self._workers):
            context().get_config_key_value(f"{_SEEN}_{key}_{i}")

    def wait_for(self, key):
        """The step that was announced; None: training ends without one."""
        step = context().get_config_key_value(key)
        return None if step == _NO_STEP else int(step)

    def acknowledge(self, key):
        context().set_config_key_value(f"{_SEEN}_{key}_{self._own}", "1")

    def end(self):
        """Lets those go that wait for a step."""
        try:
            for key in (_FIRST_SAVE, _LAST_SAVE):
                self._put(key, _NO_STEP)
        except errors.OpError:  # others may have ended
            pass

    @staticmethod
    def _put(key, value):
        try:
            context().set_config_key_value(key, str(value))
        except errors.AlreadyExistsError:
            return False
        return True
