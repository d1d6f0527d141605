"""One recording of what runs: ops from the engine, parts that the program names, and Python's calls where they are asked for."""

import os
import sys
import threading
import time

from weft import _weft
from weft._src.framework import errors


class Recording:
    """Between start and stop; events are dicts as profiler/xplane.py takes them."""

    def __init__(self, options):
        self._host = options is None or options.host_tracer_level > 0
        self._python = options is not None and options.python_tracer_level > 0
        self._main = _weft.trace_thread()
        self.events = []
        self.start = time.time_ns()
        self._devices = options is None or options.device_tracer_level > 0
        self.planes = b""  # what the profilers of plug-ins saw
        if self._host and not _weft.start_trace():
            raise errors.AlreadyExistsError(None, None, "Another profiling session active.")
        if self._devices:
            _weft.start_profilers()
        if self._python:
            self._open = threading.local()
            threading.setprofile(self._called)
            sys.setprofile(self._called)

    def add(self, name, start, facts):
        """A part that ends now."""
        if self._host:
            self.events.append(
                {"name": name, "start": start, "end": time.time_ns(), "thread": _weft.trace_thread(), "facts": facts}
            )

    def _called(self, frame, event, argument):
        stack = self._open.__dict__.setdefault("stack", [])
        if event == "call":
            stack.append(time.time_ns())
        elif event == "return" and stack:
            code = frame.f_code
            name = f"${os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_name}"
            self.events.append(
                {"name": name, "start": stack.pop(), "end": time.time_ns(), "thread": _weft.trace_thread(), "facts": {}}
            )

    def stop(self):
        """Ends it; gives all events."""
        if self._python:
            sys.setprofile(None)
            threading.setprofile(None)
        for node, op, device, start, end, thread, outputs in _weft.stop_trace() if self._host else ():
            facts = {"device": device}
            if outputs:
                facts["shapes"] = ", ".join(f"{dtype}{shape}" for dtype, shape in outputs)
            name = f"{node}:{op}"
            self.events.append(
                {"name": name, "display": op, "start": start, "end": end, "thread": thread, "facts": facts}
            )
        if self._devices:
            self.planes = _weft.stop_profilers()
        self.end = time.time_ns()
        return self.events

    def thread_name(self, thread):
        return "python" if thread == self._main else f"weft/{thread}"
