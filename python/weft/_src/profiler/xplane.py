"""What ran when, in the files of TensorBoard's profile plugin: XSpace (tsl/profiler/protobuf/xplane.proto) and Chrome's trace."""

import gzip
import json
import os
import struct

from weft import _weft
from weft._src.framework import gfile
from weft._src.profiler.wire import bytes_field, number_field, varint


class _Names:
    """Numbers for texts: the metadata of events and of their facts."""

    def __init__(self):
        self.ids = {}

    def __getitem__(self, name):
        return self.ids.setdefault(name, len(self.ids) + 1)

    def messages(self, field, display=None):
        out = []
        for name, i in self.ids.items():
            shown = display.get(name) if display else None
            entry = number_field(1, i) + bytes_field(2, name) + (bytes_field(4, shown) if shown else b"")
            out.append(bytes_field(field, number_field(1, i) + bytes_field(2, entry)))
        return b"".join(out)


def _fact(names, key, value):
    out = number_field(1, names[key])
    if isinstance(value, bool) or isinstance(value, int):
        return out + varint(4 << 3) + varint(int(value))
    if isinstance(value, float):
        return out + varint(2 << 3 | 1) + struct.pack("<d", value)
    return out + bytes_field(5, str(value))


def encode(events, thread_names, host, start, stop):
    """events: dicts of name, display, start and end (nanoseconds of the wall clock), thread, facts."""
    names, facts, display = _Names(), _Names(), {}
    by_thread = {}
    for e in events:
        by_thread.setdefault(e["thread"], []).append(e)
        if e.get("display"):
            display[e["name"]] = e["display"]
    lines = b""
    for thread, mine in sorted(by_thread.items()):
        # Those around others first, as readers expect.
        mine.sort(key=lambda e: (e["start"], -e["end"]))
        line = number_field(1, thread) + bytes_field(2, thread_names(thread)) + number_field(3, start)
        line += bytes_field(11, thread_names(thread))
        for e in mine:
            event = number_field(1, names[e["name"]]) + number_field(2, max(e["start"] - start, 0) * 1000)
            event += number_field(3, max(e["end"] - e["start"], 0) * 1000)
            event += b"".join(bytes_field(4, _fact(facts, k, v)) for k, v in e["facts"].items())
            line += bytes_field(4, event)
        lines += bytes_field(3, line)
    plane = bytes_field(2, "/host:CPU") + lines + names.messages(4, display) + facts.messages(5)
    times = _Names()
    stats = b""
    for key, value in (("profile_start_time", start), ("profile_stop_time", stop)):
        stats += bytes_field(6, number_field(1, times[key]) + number_field(3, value))
    environment = bytes_field(2, "Task Environment") + times.messages(5) + stats
    return bytes_field(1, plane) + bytes_field(1, environment) + bytes_field(4, host)


def chrome_trace(events, thread_names, start):
    """The same for chrome://tracing and Perfetto."""
    out = [{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/host:CPU"}}]
    for thread in sorted({e["thread"] for e in events}):
        out.append({"ph": "M", "pid": 1, "tid": thread, "name": "thread_name", "args": {"name": thread_names(thread)}})
    for e in events:
        entry = {"ph": "X", "pid": 1, "tid": e["thread"], "name": e["name"]}
        entry.update(ts=(e["start"] - start) / 1000, dur=(e["end"] - e["start"]) / 1000)
        if e["facts"]:
            entry["args"] = {k: str(v) for k, v in e["facts"].items()}
        out.append(entry)
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": out}


def write(folder, host, events, thread_names, start, stop, planes=b""):
    """HOST.xplane.pb and HOST.trace.json.gz in the folder of one run; `planes` is an XSpace that others made."""
    gfile.makedirs(folder)
    _weft.replace_file(
        os.path.join(folder, f"{host}.xplane.pb"), encode(events, thread_names, host, start, stop) + planes
    )
    trace = json.dumps(chrome_trace(events, thread_names, start)).encode()
    _weft.replace_file(os.path.join(folder, f"{host}.trace.json.gz"), gzip.compress(trace))
