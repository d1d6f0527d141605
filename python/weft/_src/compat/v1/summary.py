"""tf.compat.v1.summary: ops whose values are Summary messages, and files of events that they are written to."""

import contextlib
import os
import re
import socket
import time
import warnings

from weft import _weft
from weft._src import proto
from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import get_default_graph, name_scope_v1

_SUMMARIES = "summaries"


def _clean(name):
    """A tag of characters that names of nodes may have."""
    return None if name is None else re.sub(r"[^-/\w.]", "_", name).lstrip("/")


@contextlib.contextmanager
def _scope(name, family=None, default_name=None, values=None):
    """(tag, scope) of a summary."""
    name, family = _clean(name), _clean(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope_v1(base, default_name, values) as scope:
        scope = scope if scope is not None else base or default_name
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def _collect(value, collections, default=(_SUMMARIES,)):
    if _weft.in_graph():
        graph = _weft.current_graph()
        for key in default if collections is None else collections:
            graph.add_to_collections([key], value)
    return value


def _v2(name):
    """Version 2's function where its writer takes summaries: eagerly, with a writer and a step."""
    from weft._src.ops import summary_ops

    if _weft.in_graph():
        return None
    if summary_ops._state.writer is None:
        warnings.warn(
            "Cannot activate TF2 compatibility support for TF1 summary ops: default summary writer not found.",
            stacklevel=3,
        )
        return None
    if summary_ops.get_step() is None:
        warnings.warn(
            "Cannot activate TF2 compatibility support for TF1 summary ops: global step not set. To set step for summary writer, use "
            "`with SummaryWriter.as_default(step=_):`, `tf.summary.experimental.set_step()` or `tf.compat.v1.train.create_global_step()`.",
            stacklevel=3,
        )
        return None
    return getattr(summary_ops, name)


def scalar(name, tensor, collections=None, family=None):
    """A number."""
    v2 = _v2("scalar")
    if v2 is not None:
        v2(name if family is None else f"{family}/{name}", tensor)
        return convert_to_tensor(b"")
    with _scope(name, family, values=[tensor]) as (tag, scope):
        return _collect(raw.ScalarSummary(tags=tag, values=tensor, name=scope), collections)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """Pictures: [number, height, width, channels]."""
    v2 = _v2("image")
    if v2 is not None:
        v2(name if family is None else f"{family}/{name}", tensor, max_outputs=max_outputs)
        return convert_to_tensor(b"")
    with _scope(name, family, values=[tensor]) as (tag, scope):
        made = raw.ImageSummary(tag=tag, tensor=tensor, max_images=max_outputs, name=scope)
        return _collect(made, collections)


def histogram(name, values, collections=None, family=None):
    """How values are distributed."""
    v2 = _v2("histogram")
    if v2 is not None:
        v2(name if family is None else f"{family}/{name}", values)
        return convert_to_tensor(b"")
    with _scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        return _collect(raw.HistogramSummary(tag=tag, values=values, name=scope), collections)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """Sounds: [number, samples] or [number, samples, channels]."""
    v2 = _v2("audio")
    if v2 is not None:
        tensor = convert_to_tensor(tensor)
        sounds = tensor if tensor.shape.rank == 3 else raw.ExpandDims(input=tensor, axis=-1)
        v2(name if family is None else f"{family}/{name}", sounds, sample_rate, max_outputs=max_outputs)
        return convert_to_tensor(b"")
    with _scope(name, family, values=[tensor]) as (tag, scope):
        from weft._src.framework import dtypes

        rate = convert_to_tensor(sample_rate, dtypes.float32, name="sample_rate")
        made = raw.AudioSummaryV2(tag=tag, tensor=tensor, max_outputs=max_outputs, sample_rate=rate, name=scope)
        return _collect(made, collections)


def text(name, tensor, collections=None):
    """Texts."""
    from weft._src.framework import dtypes

    tensor = convert_to_tensor(tensor)
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    v2 = _v2("text")
    if v2 is not None:
        v2(name, tensor)
        return convert_to_tensor(b"")
    metadata = proto.SummaryMetadata(plugin_data={"plugin_name": "text", "content": b"{}"})
    return tensor_summary(name, tensor, collections=collections, summary_metadata=metadata)


def tensor_summary(
    name, tensor, summary_description=None, collections=None, summary_metadata=None, family=None, display_name=None
):
    """A whole tensor, for a plugin that the metadata names."""
    metadata = proto.SummaryMetadata() if summary_metadata is None else summary_metadata
    if display_name is not None:
        metadata.display_name = display_name
    if summary_description is not None:
        metadata.summary_description = summary_description
    with _scope(name, family, values=[tensor]) as (tag, scope):
        made = raw.TensorSummaryV2(
            tensor=tensor, tag=tag, name=scope, serialized_summary_metadata=metadata.SerializeToString()
        )
        return _collect(made, collections)


def merge(inputs, collections=None, name=None):
    """One summary of several."""
    if not _weft.in_graph():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
        )
    with name_scope_v1(_clean(name), "Merge", inputs):
        return _collect(raw.MergeSummary(inputs=inputs, name=_clean(name)), collections, ())


def merge_all(key=_SUMMARIES, scope=None, name=None):
    """One summary of all that the graph has, or None."""
    if not _weft.in_graph():
        raise RuntimeError(
            "Merging tf.summary.* ops is not compatible with eager execution. Use tf.contrib.summary instead."
        )
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def get_summary_description(node_def):
    """The SummaryDescription of a TensorSummary node."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Cannot get_summary_description on {node_def.op}")
    import json

    written = json.loads(node_def.attr["description"].s or b"{}")
    return proto.SummaryDescription(type_hint=written.get("typeHint", written.get("type_hint", "")))


def all_v2_summary_ops():
    """Version 2's summaries of the graph."""
    return [] if not _weft.in_graph() else get_default_graph().get_collection("_SUMMARY_V2")


def initialize(graph=None, session=None):
    """Runs what a graph's writer of version 2 needs at the start."""
    from weft._src.compat.session import get_default_session
    from weft._src.ops import summary_ops

    if not _weft.in_graph():
        return
    if summary_ops._state.writer is None:
        raise RuntimeError("No default tf.contrib.summary.SummaryWriter found")
    session = get_default_session() if session is None else session
    if session is None:
        raise ValueError("Argument `session must be passed if no default session exists.")
    session.run(summary_ops._state.writer.init())


# ---- files ------------------------------------------------------------------------------------------------


class FileWriter:
    """Writes events of a program to a file that TensorBoard reads."""

    def __init__(
        self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None, filename_suffix=None, session=None
    ):
        if not _weft.in_graph() and not getattr(graph, "as_graph_def", None):
            from weft._src.compat.v1.graphs import executing_eagerly_outside_functions

            if executing_eagerly_outside_functions():
                raise RuntimeError(
                    "tf.summary.FileWriter is not compatible with eager execution. Use `tf.summary.create_file_writer`, or a "
                    "`with tf.Graph().as_default():` context"
                )
        self._logdir, self._suffix = os.fspath(logdir), filename_suffix or ""
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._seen_tags, self._closed = set(), False
        self._open()
        if graph is not None:
            self.add_graph(graph)
        elif graph_def is not None:
            self.add_graph(None, graph_def=graph_def)

    def _open(self):
        os.makedirs(self._logdir, exist_ok=True)
        stamp = time.time()
        name = f"events.out.tfevents.{int(stamp):010d}.{socket.gethostname()}{self._suffix}"
        path = os.path.join(self._logdir, name)
        number = 0
        while os.path.exists(path):  # one of this second is there
            number += 1
            path = os.path.join(self._logdir, f"{name}.{number}")
        self._writer = _weft.RecordWriter.create(path, "")
        self._waiting, self._flushed = 0, stamp
        self.add_event(proto.Event(wall_time=stamp, file_version="brain.Event:2"))
        self._writer.flush()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def get_logdir(self):
        return self._logdir

    def add_event(self, event):
        """Writes an Event message."""
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the FileWriter is explicitly reopened.",
                stacklevel=2,
            )
            return
        self._writer.write(event.SerializeToString())
        self._waiting += 1
        if self._waiting >= self._max_queue or time.time() - self._flushed > self._flush_secs:
            self.flush()

    def _add(self, global_step=None, **what):
        event = proto.Event(wall_time=time.time(), **what)
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def add_summary(self, summary, global_step=None):
        """Writes a Summary, as a message or as the bytes that an op gave."""
        if isinstance(summary, bytes):
            summary = proto.Summary.FromString(summary)
        else:
            summary = proto.Summary.FromString(summary.SerializeToString())
        for value in summary.value:  # a plugin needs the metadata of a tag once
            if not value.HasField("metadata"):
                continue
            if value.tag in self._seen_tags:
                value.ClearField("metadata")
            else:
                self._seen_tags.add(value.tag)
        self._add(global_step, summary=summary)

    def add_session_log(self, session_log, global_step=None):
        self._add(global_step, session_log=session_log)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Writes a graph and, of a Graph, its MetaGraphDef."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        if graph is None or hasattr(graph, "node"):
            graph_def = graph_def if graph is None else graph
            if not hasattr(graph_def, "node"):
                raise TypeError(
                    f"The passed graph must be an instance of `Graph` or the deprecated `GraphDef`. Received: {graph_def}"
                )
            self._add(global_step, graph_def=graph_def.SerializeToString())
            return
        from weft._src.compat.v1.train.saver import make_meta_graph

        self._add(global_step, graph_def=graph.as_graph_def(add_shapes=True).SerializeToString())
        self.add_meta_graph(make_meta_graph(graph), global_step)

    def add_meta_graph(self, meta_graph_def, global_step=None):
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Writes what a session told of a run."""
        tagged = proto.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add(global_step, tagged_run_metadata=tagged)

    def flush(self):
        if not self._closed:
            self._writer.flush()
            self._waiting, self._flushed = 0, time.time()

    def close(self):
        if not self._closed:
            self.flush()
            self._writer.finish()
            self._closed = True

    def reopen(self):
        """Goes on in a new file."""
        if self._closed:
            self._closed = False
            self._open()


class FileWriterCache:
    """One writer for each folder."""

    _cache = {}

    @staticmethod
    def clear():
        for writer in FileWriterCache._cache.values():
            if writer is not None:
                writer.close()
        FileWriterCache._cache = {}

    @staticmethod
    def get(logdir):
        if logdir not in FileWriterCache._cache:
            FileWriterCache._cache[logdir] = FileWriter(logdir, graph=get_default_graph())
        return FileWriterCache._cache[logdir]


def summary_iterator(path):
    """The events of a file."""
    from weft._src.ops.io_ops import tf_record_iterator

    for record in tf_record_iterator(path):
        yield proto.Event.FromString(record)
