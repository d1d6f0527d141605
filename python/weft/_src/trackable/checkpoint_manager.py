"""tf.train.CheckpointManager: numbered checkpoints in a folder, of which the last are kept."""

import collections
import os
import time

from weft._src.trackable import checkpoint_files as files
from weft._src.trackable.async_write import wait_for
from weft._src.trackable.restore import in_plain_graph


def _number(value):
    """Of a number, tensor or variable, in the default session where a graph of version 1 is built."""
    if in_plain_graph() and not isinstance(value, int):
        from weft._src.compat.session import default_session

        value = default_session(None, "run").run(value)
    return int(value)


class CheckpointManager:
    """Saves, remembers what it saved, and deletes what is too old."""

    def __init__(
        self,
        checkpoint,
        directory,
        max_to_keep,
        keep_checkpoint_every_n_hours=None,
        checkpoint_name="ckpt",
        step_counter=None,
        checkpoint_interval=None,
        init_fn=None,
        last_checkpoint_step=None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}.")
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError("`step_counter` should be passed if `checkpoint_interval` is not None.")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._every_hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix_path = os.path.join(self._directory, checkpoint_name)
        self._init_fn, self._step_counter = init_fn, step_counter
        self._interval, self._last_step = checkpoint_interval, last_checkpoint_step
        self._kept = collections.OrderedDict()  # path -> time, of those that may be deleted
        self._latest = None
        state = files.get_checkpoint_state(self._directory)
        now = time.time()
        self._last_preserved = now
        if state is None:
            return
        times = list(state.all_model_checkpoint_timestamps)
        paths = list(state.all_model_checkpoint_paths)
        if len(times) != len(paths):  # Checkpoint.save writes no times: those are not managed
            paths = []
        self._last_preserved = state.last_preserved_timestamp or now
        self._latest = state.model_checkpoint_path
        self._kept.update((p, t) for p, t in zip(paths, times) if files.checkpoint_exists(p))

    @property
    def directory(self):
        return self._directory

    @property
    def checkpoint_interval(self):
        return self._interval

    @property
    def latest_checkpoint(self):
        """The path of the last one, or None; one that is being written is waited for."""
        wait_for(self._checkpoint)
        return self._latest

    @property
    def checkpoints(self):
        """Those that are managed, the oldest first."""
        wait_for(self._checkpoint)
        return list(self._kept)

    @property
    def checkpoint(self):
        return self._checkpoint

    @property
    def _prefix(self):
        return self._prefix_path

    def _sweep(self):
        """Deletes the oldest, but for those that stay by the hour."""
        if not self._max_to_keep:
            return
        while len(self._kept) > self._max_to_keep:
            path, when = next(iter(self._kept.items()))
            del self._kept[path]
            if self._every_hours and when - self._every_hours * 3600.0 >= self._last_preserved:
                self._last_preserved = when
                continue
            files.remove_checkpoint(path)

    def _note(self, path):
        """A checkpoint is written."""
        self._latest = path
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._sweep()
        paths, times = zip(*self._kept.items())
        files.update_checkpoint_state(
            self._directory,
            self._latest,
            paths,
            all_model_checkpoint_timestamps=times,
            last_preserved_timestamp=self._last_preserved,
        )

    def save(self, checkpoint_number=None, check_interval=True, options=None):
        """Saves under the next number, or the one given; gives the path, or None before the interval is over."""
        if self._interval is not None:
            step = _number(self._step_counter)
            if check_interval and self._last_step is not None and step < self._last_step + self._interval:
                return None
            self._last_step = step
        if in_plain_graph():
            counted = self._checkpoint._next_number()
        else:
            counted = self._checkpoint.save_counter.assign_add(1).numpy()
        number = counted if checkpoint_number is None else _number(checkpoint_number)
        return self._checkpoint._write(f"{self._prefix_path}-{int(number)}", options, self._note)

    def restore_or_initialize(self):
        """Restores the latest, or calls init_fn where there is none; gives the path or None."""
        if self.latest_checkpoint is not None:
            self._checkpoint.restore(self._latest)
            if self._interval is not None:
                self._last_step = _number(self._step_counter)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self):
        self._checkpoint.sync()
