"""Checkpoints that are written while the program goes on."""

import threading
import weakref

from weft._src.framework import fork


class Writer:
    """One write at a time in a thread of its own. What fails is told by the next wait."""

    def __init__(self):
        self._pool = self._pending = None

    def wait(self):
        """Until nothing is being written; raises what the last write raised."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def submit(self, work):
        """Runs work, which must hold all values that it writes; the write before must be over."""
        if self._pool is None:
            import concurrent.futures

            self._pool = concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
            # The thread ends with its checkpoint; at the end of the program it finishes first (concurrent.futures).
            weakref.finalize(self, self._pool.shutdown, wait=False)
        self._pending = self._pool.submit(work)


_writers = weakref.WeakKeyDictionary()
_lock = fork.lock()


def writer_of(checkpoint):
    """The one writer of a checkpoint."""
    with _lock:
        if checkpoint not in _writers:
            _writers[checkpoint] = Writer()
        return _writers[checkpoint]


def wait_for(checkpoint):
    """For what that checkpoint is writing, if anything."""
    with _lock:
        writer = _writers.get(checkpoint)
    if writer is not None:
        writer.wait()
