"""Readers of version 1: records out of files whose names come from a queue."""

from weft._src.raw import raw as _raw
from weft._src.framework import dtypes as _dtypes
from weft._src.framework.convert import convert_to_tensor as _convert
from weft._src.framework.graph import executing_eagerly as _eager


class ReaderBase:
    """What all readers do. Graphs only."""

    def __init__(self, reader_ref, supports_serialize=False):
        _check_graph()
        self._reader_ref, self._supports_serialize = reader_ref, supports_serialize

    reader_ref = property(lambda self: self._reader_ref)
    supports_serialize = property(lambda self: self._supports_serialize)

    def _op(self, for_ref, for_resource):
        """The op for this reader's kind of handle."""
        return for_resource if self._reader_ref.dtype == _dtypes.resource else for_ref

    def _queue(self, queue):
        ref = queue if hasattr(queue, "dtype") else queue.queue_ref
        # A reader of the first kind asks for a queue's handle of the first kind.
        if self._reader_ref.dtype != _dtypes.resource and ref.dtype == _dtypes.resource:
            return _raw.FakeQueue(resource=ref)
        return ref

    def read(self, queue, name=None):
        op = self._op(_raw.ReaderRead, _raw.ReaderReadV2)
        return op(reader_handle=self._reader_ref, queue_handle=self._queue(queue), name=name)

    def read_up_to(self, queue, num_records, name=None):
        return self._op(_raw.ReaderReadUpTo, _raw.ReaderReadUpToV2)(
            reader_handle=self._reader_ref,
            queue_handle=self._queue(queue),
            num_records=_convert(num_records, _dtypes.int64),
            name=name,
        )

    def num_records_produced(self, name=None):
        op = self._op(_raw.ReaderNumRecordsProduced, _raw.ReaderNumRecordsProducedV2)
        return op(reader_handle=self._reader_ref, name=name)

    def num_work_units_completed(self, name=None):
        op = self._op(_raw.ReaderNumWorkUnitsCompleted, _raw.ReaderNumWorkUnitsCompletedV2)
        return op(reader_handle=self._reader_ref, name=name)

    def serialize_state(self, name=None):
        op = self._op(_raw.ReaderSerializeState, _raw.ReaderSerializeStateV2)
        return op(reader_handle=self._reader_ref, name=name)

    def restore_state(self, state, name=None):
        op = self._op(_raw.ReaderRestoreState, _raw.ReaderRestoreStateV2)
        return op(reader_handle=self._reader_ref, state=state, name=name)

    def reset(self, name=None):
        return self._op(_raw.ReaderReset, _raw.ReaderResetV2)(reader_handle=self._reader_ref, name=name)


def _check_graph():
    if _eager():
        raise RuntimeError(
            "Readers are not supported when eager execution is enabled. Instead, please use tf.data to get data into your model."
        )


class WholeFileReader(ReaderBase):
    """The contents of files, by name."""

    def __init__(self, name=None):
        _check_graph()
        super().__init__(_raw.WholeFileReaderV2(name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Lines of text; keys tell file and line."""

    def __init__(self, skip_header_lines=None, name=None):
        _check_graph()
        super().__init__(_raw.TextLineReaderV2(skip_header_lines=skip_header_lines or 0, name=name))


class FixedLengthRecordReader(ReaderBase):
    """Records of one length."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        _check_graph()
        super().__init__(
            _raw.FixedLengthRecordReaderV2(
                record_bytes=record_bytes,
                header_bytes=header_bytes or 0,
                footer_bytes=footer_bytes or 0,
                hop_bytes=hop_bytes or 0,
                encoding=encoding or "",
                name=name,
            )
        )


class TFRecordReader(ReaderBase):
    """Records of TFRecord files."""

    def __init__(self, name=None, options=None):
        from weft._src.ops.io_ops import TFRecordOptions

        _check_graph()
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(_raw.TFRecordReaderV2(name=name, compression_type=compression))


class LMDBReader(ReaderBase):
    """Records of LMDB databases."""

    def __init__(self, name=None, options=None):
        _check_graph()
        super().__init__(_raw.LMDBReader(name=name))


class IdentityReader(ReaderBase):
    """What the queue gives, as key and as value."""

    def __init__(self, name=None):
        _check_graph()
        super().__init__(_raw.IdentityReaderV2(name=name), supports_serialize=True)
