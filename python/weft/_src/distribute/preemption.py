"""tf.distribute.experimental.PreemptionCheckpointHandler: a checkpoint when this machine, or that of another worker, is about to be
taken away, and training from there when the program is started again."""

import os
import shutil
import signal
import sys
import threading
import time

from weft._src.distribute import collectives, multi_worker_util
from weft._src.framework.contexts import contextmanager
from weft._src.distribute.cluster_spec import ClusterSpec
from weft._src.distribute.options import CommunicationOptions
from weft._src.distribute.values import full_device
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import constant
from weft._src.framework.misc import get_logger
from weft._src.trackable.checkpoint import Checkpoint
from weft._src.trackable.checkpoint_manager import CheckpointManager
from weft._src.trackable.variable import Variable

_COUNT = "checkpointed_runs"  # the name under which checkpoints have the number of runs
_GROUP = 1 << 20  # the group key of what workers tell each other here, far from those of strategies
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
                self._peers = _peers(workers)
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

    def _wants_to_save(self):
        if not self._told.is_set() or self._save_at is not None:
            return False
        return not self._last_phase or self._told_at + self._grace_period - 6 * self._run_seconds < time.time()

    def _check(self, *args, **kwargs):
        """One more step after the workers know of the end, then the checkpoint, at the same step of all."""
        if self._save_at == self._counter:
            self._save_at = None
            self._save(*args, **kwargs)
            if self._grace_period <= 0 or self._last_phase:
                self._end()
                return
            self._last_phase = True
        wants = self._wants_to_save()
        if self._peers is not None and self._save_at is None:
            wants = self._peers(wants)
        if wants:
            get_logger().info("PreemptionCheckpointHandler: a worker is about to end")
            self._save_at = self._counter + 1

    def _save(self, *args, **kwargs):
        self._runs.assign(self._counter)
        if self._save_fn:
            self._save_fn(*args, **kwargs)
        else:
            self._writer.save(*args, **kwargs)

    def _end(self):
        if self._own_managers and not self._is_chief:
            shutil.rmtree(os.path.dirname(self._writer.directory), ignore_errors=True)
        get_logger().info("PreemptionCheckpointHandler: checkpoint saved. Exiting.")
        self._exit_fn()


def _peers(workers):
    """A function that tells whether any worker says yes; all must call it, at each step."""
    where = full_device("/device:CPU:0")
    keys = collectives.CollectiveKeys(_GROUP)
    member = collectives.Member(keys.group([where]), workers, keys, where, CommunicationOptions())

    def any_of(own):
        return int(member.all_reduce(constant([int(own)], dtypes.int32), None)[0]) > 0

    return any_of
