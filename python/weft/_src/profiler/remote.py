"""tf.profiler.experimental.client and server: profiles of other processes, by TensorFlow's ProfilerService."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor

from weft import _weft
from weft._src.framework import errors
from weft._src.framework.misc import get_logger
from weft._src.profiler.wire import bytes_field, number_field

_SERVICE = "/tensorflow.ProfilerService/"
_PREFIX = "grpc://"
_HOST_AND_PORT = re.compile(r"[^:/]+:\d+|\[[0-9a-fA-F:.]+\]:\d+")
_NO_EVENTS = "No trace event was collected because there were no responses from clients or the responses did not have trace data."
_MAX_EVENTS = 1000000
_TOOLS = "trace_viewer op_profile input_pipeline kernel_stats memory_viewer memory_profile overview_page pod_viewer tensorflow_stats xplane.pb"
_NAMES = {v: k for k, v in vars(errors).items() if k.isupper() and isinstance(v, int)}


def trace(service_addr, logdir, duration_ms, worker_list="", num_tracing_attempts=3, options=None):
    """Has these servers write profiles of the next `duration_ms` to LOGDIR/plugins/profile/TIME/HOST_PORT.xplane.pb."""
    if duration_ms <= 0:
        raise errors.InvalidArgumentError(None, None, "duration_ms must be greater than zero.")
    chosen = options._asdict() if options is not None else {}
    addresses = [_address(a) for a in service_addr.split(",")]
    logdir = os.fspath(logdir)
    session = time.strftime("%Y_%m_%d_%H_%M_%S")
    for left in reversed(range(num_tracing_attempts)):
        print(f"Starting to trace for {duration_ms} ms. Remaining attempt(s): {left}", flush=True)
        requests = [_profile_request(a, logdir, session, duration_ms, chosen) for a in addresses]
        with ThreadPoolExecutor(len(addresses)) as pool:
            answers = list(pool.map(lambda a, q: _profile(a, q, duration_ms), addresses, requests))
        if any(answers):
            return
        if left:
            print("No trace event is collected. Automatically retrying.\n", flush=True)
    print(
        f"No trace event is collected after {num_tracing_attempts} attempt(s). Perhaps, you want to try again (with more attempts?).\n"
        "Tip: increase number of attempts with --num_tracing_attempts.",
        flush=True,
    )
    raise RuntimeError(f"UNAVAILABLE: {_NO_EVENTS}")


def monitor(service_addr, duration_ms, level=1):
    """The summary of a server of TPUs; others say that it is not implemented."""
    request = number_field(1, duration_ms) + number_field(2, level) + number_field(3, 1)
    try:
        answer = _weft.cluster_call(_address(service_addr), _SERVICE + "Monitor", request, duration_ms / 1000 + 60)
    except errors.OpError as e:
        raise _as_runtime_error(e) from None
    return _text_of(answer)


def start(port):
    """Other processes may ask for profiles of this one from now on. One that cannot listen is told of in the log, as TensorFlow does it."""
    try:
        _weft.serve_profiler(port)
    except errors.OpError as e:
        get_logger().error("tf.profiler.experimental.server: port %s: %s", port, e.message)


def _address(given):
    address = given.removeprefix(_PREFIX)
    if not _HOST_AND_PORT.fullmatch(address):
        raise RuntimeError(f'INVALID_ARGUMENT: Could not interpret "{address}" as a host-port pair.')
    return address


def _profile_request(address, logdir, session, duration_ms, options):
    begin = time.time_ns() + 1000000 * (options.get("delay_ms") or 0)
    opts = number_field(1, 1) + number_field(2, options.get("host_tracer_level", 2))
    opts += number_field(3, options.get("device_tracer_level", 1))
    opts += number_field(4, options.get("python_tracer_level", 0))
    opts += number_field(5, 1) + number_field(7, 1) + number_field(8, begin) + number_field(9, duration_ms)
    request = number_field(1, duration_ms) + number_field(2, _MAX_EVENTS)
    request += b"".join(bytes_field(3, tool) for tool in _TOOLS.split())
    request += bytes_field(4, opts + bytes_field(10, logdir))
    request += bytes_field(5, os.path.join(logdir, "plugins/profile"))
    return request + bytes_field(6, session) + bytes_field(7, address)


def _profile(address, request, duration_ms):
    """Whether the server saw something."""
    try:
        answer = _weft.cluster_call(address, _SERVICE + "Profile", request, 60 + 2 * duration_ms / 1000)
    except errors.OpError as e:
        get_logger().warning("No trace event is collected from %s: %s", address, e.message)
        return False
    return not answer.startswith(number_field(7, 1))  # empty_trace


def _text_of(response):
    """The string in the first field of a MonitorResponse."""
    if not response.startswith(b"\n"):
        return ""
    size = shift = 0
    for at, byte in enumerate(response[1:], 2):
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return response[at : at + size].decode()
    return ""


def _as_runtime_error(e):
    return RuntimeError(f"{_NAMES.get(e.error_code, 'UNKNOWN')}: {e.message}")
