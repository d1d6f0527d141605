"""tf.summary: values written into event files."""

import contextlib
import re
import threading

from weft import _weft
from weft._src.framework.contexts import contextmanager
from weft._src.raw import raw
from weft._src.framework import dtypes, errors
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import control_dependencies, init_scope, name_scope_v1
from weft._src.framework.misc import get_logger
from weft._src.trackable.resource import TrackableResource


class _State(threading.local):
    writer = None
    step = None
    recording = True  # or a tensor, or a function


_state = _State()


# ---- whether and at which step ---------------------------------------------------------------------------


def get_step():
    """tf.summary.experimental.get_step"""
    return _state.step


def set_step(step):
    """The step of summaries that are not told one."""
    _state.step = step


@contextmanager
def record_if(condition):
    """Summaries of the block are written only where the condition holds."""
    before = _state.recording
    _state.recording = condition
    try:
        yield
    finally:
        _state.recording = before


def should_record_summaries():
    """Whether a summary would be written now, as a tensor."""
    if _state.writer is None or isinstance(_state.writer, NoopSummaryWriter):
        return convert_to_tensor(False)
    condition = _state.recording() if callable(_state.recording) else _state.recording
    return convert_to_tensor(condition, dtype=dtypes.bool)


def _when_recording(function):
    """function() where summaries are recorded; else False."""
    if _state.writer is None or isinstance(_state.writer, NoopSummaryWriter):
        return convert_to_tensor(False)
    condition = _state.recording() if callable(_state.recording) else _state.recording
    if isinstance(condition, bool):
        return function() if condition else convert_to_tensor(False)
    from weft._src.function.control_flow import cond

    return cond(condition, function, lambda: convert_to_tensor(False))


# ---- writers ---------------------------------------------------------------------------------------------


class SummaryWriter:
    """Where summaries go."""

    def set_as_default(self, step=None):
        """The writer of this thread from here on."""
        self.as_default(step).__enter__()

    def as_default(self, step=None):
        raise NotImplementedError

    def init(self):
        raise NotImplementedError

    def flush(self):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


@contextlib.contextmanager
def _default(writer, step):
    before = _state.writer, _state.step
    _state.writer = writer
    if step is not None:
        _state.step = step
    try:
        yield writer
        if not writer._closed:
            writer.flush()
    finally:
        _state.writer = before[0]
        if step is not None:
            _state.step = before[1]


class NoopSummaryWriter(SummaryWriter):
    """Writes nothing."""

    _closed = False

    def as_default(self, step=None):
        return _default(self, step)

    def init(self):
        pass

    def flush(self):
        pass

    def close(self):
        pass


class FileWriter(SummaryWriter, TrackableResource):
    """Writes an event file."""

    def __init__(self, logdir, max_queue, flush_millis, filename_suffix, name):
        TrackableResource.__init__(self)
        self._arguments = logdir, max_queue, flush_millis, filename_suffix
        self._name, self._closed = name, False
        with init_scope():
            self._resource_handle = self._create_resource()
            self._init_op = self._initialize()

    def _create_resource(self):
        import uuid

        return raw.SummaryWriter(shared_name=f"writer_{uuid.uuid4()}", name=self._name)

    def _initialize(self):
        import os

        logdir, max_queue, flush_millis, suffix = self._arguments
        logdir = os.fspath(logdir) if isinstance(logdir, os.PathLike) else logdir
        return raw.CreateSummaryFileWriter(
            writer=self._resource_handle,
            logdir=logdir,
            max_queue=10 if max_queue is None else max_queue,
            flush_millis=2 * 60 * 1000 if flush_millis is None else flush_millis,
            filename_suffix=".v2" if suffix is None else suffix,
        )

    def as_default(self, step=None):
        if not _weft.in_graph() and self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")
        return _default(self, step)

    def init(self):
        return self._init_op

    def flush(self):
        """Waits until everything is in the file."""
        if not _weft.in_graph() and self._closed:
            return None
        with init_scope() if not _weft.in_graph() else contextlib.nullcontext():
            return raw.FlushSummaryWriter(writer=self.resource_handle)

    def close(self):
        if not _weft.in_graph() and self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")
        self.flush()
        op = raw.CloseSummaryWriter(writer=self.resource_handle)
        if not _weft.in_graph():
            self._closed = True
        return op


def create_file_writer(
    logdir,
    max_queue=None,
    flush_millis=None,
    filename_suffix=None,
    name=None,
    experimental_trackable=False,
    experimental_mesh=None,
):
    """A writer into a file of this folder."""
    if logdir is None:
        return NoopSummaryWriter()
    if _weft.in_graph() and _weft.current_graph().building_function:
        with init_scope():
            return FileWriter(logdir, max_queue, flush_millis, filename_suffix, name)
    return FileWriter(logdir, max_queue, flush_millis, filename_suffix, name)


def create_noop_writer():
    """A writer that writes nothing."""
    return NoopSummaryWriter()


def flush(writer=None, name=None):
    """Waits until what was written is in the file."""
    writer = _state.writer if writer is None else writer
    return (
        writer.flush()
        if isinstance(writer, SummaryWriter)
        else raw.FlushSummaryWriter(writer=writer, name=name)
        if writer is not None
        else None
    )


# ---- values ----------------------------------------------------------------------------------------------


@contextmanager
def summary_scope(name, default_name="summary", values=None):
    """(the tag under the scopes around, the scope for the ops that compute the summary)"""
    name = name or default_name
    current = _weft.name_scope()
    tag = current + name
    with name_scope_v1(re.sub(r"[^-_/.A-Za-z0-9]", "", name) or default_name) as scope:
        yield tag, scope


def _step(step):
    step = _state.step if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()"
        )
    from weft._src.ops.math_ops import cast

    value = step.read_value() if isinstance(step, _weft.VariableBase) else step
    return cast(convert_to_tensor(value), dtypes.int64)


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag; whether it was written."""
    if _state.writer is None:
        return convert_to_tensor(False)
    content = b"" if metadata is None else metadata if isinstance(metadata, bytes) else metadata.SerializeToString()

    def record():
        at = _step(step)
        with name_scope_v1(name or "write_summary"):
            value = tensor() if callable(tensor) and not hasattr(tensor, "dtype") else tensor
            op = raw.WriteSummary(
                writer=_state.writer.resource_handle,
                step=at,
                tensor=convert_to_tensor(value),
                tag=tag,
                summary_metadata=content,
            )
            with control_dependencies([op] if op is not None else None):
                return raw.Identity(input=convert_to_tensor(True))

    if (
        not isinstance(_state.writer, NoopSummaryWriter)
        and step is None
        and _state.step is None
        and _state.recording is True
    ):
        _step(None)
    return _when_recording(record)


def write_raw_pb(tensor, step=None, name=None):
    """Writes a serialized Summary."""

    def record():
        op = raw.WriteRawProtoSummary(
            writer=_state.writer.resource_handle, step=_step(step), tensor=convert_to_tensor(tensor), name=name
        )
        with control_dependencies([op] if op is not None else None):
            return raw.Identity(input=convert_to_tensor(True))

    return _when_recording(record)


def graph(graph_data):
    """Writes a graph."""
    if not isinstance(graph_data, bytes):
        graph_data = (
            graph_data.as_graph_def() if hasattr(graph_data, "as_graph_def") else graph_data
        ).SerializeToString()

    def record():
        raw.WriteGraphSummary(
            writer=_state.writer.resource_handle,
            step=convert_to_tensor(0, dtype=dtypes.int64),
            tensor=convert_to_tensor(graph_data),
        )
        return convert_to_tensor(True)

    return _when_recording(record)


def _metadata(plugin, description, content=b""):
    """For TensorBoard, which knows the class of data by the plugin."""
    from weft._src.proto import SummaryMetadata

    made = SummaryMetadata(summary_description=description or "")
    made.plugin_data.plugin_name, made.plugin_data.content = plugin, content
    return made


def scalar(name, data, step=None, description=None):
    """Writes a number."""
    from weft._src.ops.math_ops import cast

    with summary_scope(name, "scalar_summary", [data, step]) as (tag, _):
        value = cast(convert_to_tensor(data), dtypes.float32)
        if value.shape.rank not in (None, 0):
            raise ValueError(f"Expected scalar shape, saw shape: {value.shape}.")
        return write(tag, value, step, _metadata("scalars", description))


def _buckets(data, count):
    """[left, right, number] of buckets of one width."""
    from weft._src.ops import array_ops, math_ops

    data = array_ops.reshape(math_ops.cast(convert_to_tensor(data), dtypes.float64), [-1])

    def empty():
        return array_ops.zeros([count, 3], dtypes.float64)

    def filled():
        low, high = math_ops.reduce_min(data), math_ops.reduce_max(data)
        span = high - low
        width = span / count
        single = math_ops.equal(span, 0.0)
        edges = math_ops.cast(array_ops.range(count + 1), dtypes.float64)
        lefts = array_ops.where(single, low - 0.5, low + edges[:-1] * width)
        rights = array_ops.where(
            single, low + 0.5, array_ops.concat([low + edges[1:-1] * width, array_ops.reshape(high, [1])], 0)
        )
        places = math_ops.cast(math_ops.floor(raw.DivNoNan(x=data - low, y=width)), dtypes.int32)
        places = math_ops.minimum(places, count - 1)
        counts = math_ops.cast(
            raw.Bincount(arr=places, size=count, weights=convert_to_tensor([], dtype=dtypes.float64)), dtypes.float64
        )
        # All values are one: they are in the last bucket.
        alone = array_ops.one_hot(count - 1, count, dtype=dtypes.float64) * math_ops.cast(
            array_ops.size(data), dtypes.float64
        )
        return array_ops.stack([lefts, rights, array_ops.where(single, alone, counts)], axis=1)

    from weft._src.function.control_flow import cond

    return cond(math_ops.equal(array_ops.size(data), 0), empty, filled)


def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how values are distributed."""
    with summary_scope(name, "histogram_summary", [data, buckets, step]) as (tag, _):
        return write(
            tag, lambda: _buckets(data, 30 if buckets is None else buckets), step, _metadata("histograms", description)
        )


def text(name, data, step=None, description=None):
    """Writes text, which is shown as Markdown."""
    with summary_scope(name, "text_summary", [data, step]) as (tag, _):
        value = convert_to_tensor(data)
        if value.dtype != dtypes.string:
            raise ValueError(f"Expected type <dtype: 'string'> but found {value.dtype}")
        return write(tag, value, step, _metadata("text", description))


def image(name, data, step=None, max_outputs=3, description=None):
    """Writes pictures: [count, height, width, channels]; floats from 0 to 1, or bytes."""
    with summary_scope(name, "image_summary", [data, max_outputs, step]) as (tag, _):

        def encode():
            from weft._src.ops import array_ops, math_ops

            pictures = convert_to_tensor(data)
            if pictures.shape.rank not in (None, 4):
                raise ValueError(f"Expected data of rank 4, saw shape: {pictures.shape}.")
            if pictures.dtype.is_floating:
                pictures = math_ops.saturate_cast(
                    math_ops.clip_by_value(math_ops.cast(pictures, dtypes.float32), 0.0, 1.0) * 255.999, dtypes.uint8
                )
            elif pictures.dtype not in (dtypes.uint8, dtypes.uint16):
                pictures = math_ops.saturate_cast(pictures, dtypes.uint8)
            shape = array_ops.shape(pictures)
            encoded = raw.EncodePng(image=pictures[:max_outputs])
            return array_ops.concat(
                [array_ops.stack([raw.AsString(input=shape[2]), raw.AsString(input=shape[1])]), encoded], 0
            )

        return write(tag, encode, step, _metadata("images", description))


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes sounds: [count, samples, channels], from -1 to 1."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    with summary_scope(name, "audio_summary", [data, sample_rate, max_outputs, step]) as (tag, _):

        def encode():
            from weft._src.ops import array_ops

            clips = convert_to_tensor(data, dtype=dtypes.float32)
            count = min(max_outputs, clips.shape[0]) if clips.shape[0] is not None else None
            if count is None:
                raise NotImplementedError("tf.summary.audio of an unknown number of clips")
            sounds = [raw.EncodeWav(audio=clips[i], sample_rate=sample_rate) for i in range(count)]
            labels = [convert_to_tensor("")] * count
            return array_ops.stack([array_ops.stack(sounds), array_ops.stack(labels)], axis=1)

        # AudioPluginData: encoding WAV.
        return write(tag, encode, step, _metadata("audio", description, b"\x10\x0b"))


# ---- traces ----------------------------------------------------------------------------------------------

_trace = {}


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """From here on, functions that are traced are kept for trace_export, and what runs goes into a profile."""
    if profiler and profiler_outdir is None:
        get_logger().warning("No `profiler_outdir` passed to trace_on(). Profiler won't be enabled.")
        profiler = False
    _trace.update(graph=graph, profiler=profiler, before=set(_weft.library_functions()))
    if profiler:
        from weft._src.profiler import experimental

        experimental.start(profiler_outdir)


def trace_off():
    """Ends what trace_on began; a profile is written."""
    profiler = _trace.get("profiler")
    _trace.clear()
    if profiler:
        from weft._src.profiler import experimental

        try:
            experimental.stop()
        except errors.UnavailableError as error:
            get_logger().warning("Error while stopping profiler: %s", error.message)


def trace_export(name, step=None, profiler_outdir=None):
    """Writes the functions that were traced since trace_on."""
    if profiler_outdir:
        get_logger().warning(
            "Ignoring `profiler_outdir` passed to trace_export(). Please pass it to trace_on() instead."
        )
    if not _trace:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    if _state.writer is None:
        raise RuntimeError("Calling tf.summary.trace_export requires a default summary writer.")
    if _trace["graph"]:
        from weft._src.proto import FunctionDef, RunMetadata
        from weft._src.saved_model.function_graph import graph_def_of

        made = RunMetadata()
        for function in sorted(set(_weft.library_functions()) - _trace["before"]):
            made.function_graphs.add().pre_optimization_graph.CopyFrom(
                graph_def_of(FunctionDef.FromString(_weft.function_def(function)))[0]
            )
        write(name, made.SerializeToString(), step, _metadata("graph_run_metadata_graph", None, b"1"))
    trace_off()
