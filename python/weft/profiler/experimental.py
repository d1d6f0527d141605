"""tf.profiler.experimental: the calls are there; weft records no events yet, so the folder that they leave is empty of traces."""

import collections
import os
import time

from weft._missing import missing as _missing
from weft.framework import errors

_running = None

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions",
    ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=[2, 0, 1, None],
)


def start(logdir, options=None):
    """Starts a profile; stop() ends it."""
    global _running
    if _running is not None:
        raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
    _running = os.fspath(logdir)


def stop(save=True):
    """Ends the profile and leaves its folder."""
    global _running
    if _running is None:
        raise errors.UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
    folder, _running = _running, None
    if save:
        os.makedirs(os.path.join(folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S")), exist_ok=True)


class Profile:
    """A profile of a block."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, *error):
        stop()


class Trace:
    """Names a part of a profile."""

    def __init__(self, name, **kwargs):
        self._name, self._facts = name, kwargs

    def __enter__(self):
        return self

    def set_metadata(self, **kwargs):
        self._facts.update(kwargs)

    def __exit__(self, *error):
        pass


__getattr__ = _missing("tf.profiler.experimental")
