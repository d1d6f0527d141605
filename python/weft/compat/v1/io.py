"""tf.compat.v1.io: files and records."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.io: TFRecordCompressionType
ops.io_ops: tf_record_iterator
"""

__getattr__, __dir__ = _namespace(globals(), "io", _MODULES)
