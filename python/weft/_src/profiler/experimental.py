"""tf.profiler.experimental: what ran when, in the files that TensorBoard's profile plugin reads."""

import collections
import os
import time
from types import SimpleNamespace as _Names

from weft._src.namespace import missing as _missing
from weft._src.framework import errors
from weft._src.profiler import remote

_running = _folder = None

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions",
    ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=[2, 0, 1, None],
)


def start(logdir, options=None):
    """Starts a profile; stop() ends it."""
    global _running, _folder
    from weft._src.profiler.recording import Recording

    if _running is not None:
        raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
    _folder = os.fspath(logdir)
    _running = Recording(options)


def stop(save=True):
    """Ends the profile and writes LOGDIR/plugins/profile/TIME/HOST.xplane.pb, and a Chrome trace beside it."""
    global _running
    from weft._src.profiler import xplane

    if _running is None:
        raise errors.UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
    recording, _running = _running, None
    events = recording.stop()
    if save:
        run = os.path.join(_folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
        xplane.write(
            run, os.uname().nodename, events, recording.thread_name, recording.start, recording.end, recording.planes
        )


class Profile:
    """A profile of a block."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, *error):
        stop()


class Trace:
    """Names a part of a profile, with facts such as step_num."""

    def __init__(self, name, **kwargs):
        self._name, self._facts, self._start = name, kwargs, None

    def __enter__(self):
        if _running is not None:
            self._start = time.time_ns()
        return self

    def set_metadata(self, **kwargs):
        self._facts.update(kwargs)

    def __exit__(self, *error):
        if self._start is not None and _running is not None:
            _running.add(self._name, self._start, self._facts)


client = _Names(trace=remote.trace, monitor=remote.monitor)
server = _Names(start=remote.start)

__getattr__ = _missing("tf.profiler.experimental")
