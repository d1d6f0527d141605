"""tf.summary"""

from weft._src.namespace import missing as _missing
from weft._src.ops.summary_ops import (  # noqa: F401
    SummaryWriter,
    audio,
    create_file_writer,
    create_noop_writer,
    flush,
    graph,
    histogram,
    image,
    record_if,
    scalar,
    should_record_summaries,
    text,
    trace_export,
    trace_off,
    trace_on,
    write,
)
from weft.summary import experimental  # noqa: F401

__getattr__ = _missing("tf.summary")
