"""Whether a SavedModel is being written: functions are traced anew then, and distributed variables stand for one of their
copies."""

import contextlib
import threading


class _Local(threading.local):
    saving = False
    expand = False  # every copy of a distributed variable is saved


_local = _Local()


@contextlib.contextmanager
def saving(expand):
    before = _local.saving, _local.expand
    _local.saving, _local.expand = True, expand
    try:
        yield
    finally:
        _local.saving, _local.expand = before


def in_save_context():
    return _local.saving


def one_copy():
    """Whether the first copy of a distributed variable stands for the variable."""
    return _local.saving and not _local.expand
