"""tf.summary.experimental"""

from weft._src.namespace import missing as _missing
from weft._src.ops.summary_ops import get_step, set_step, summary_scope, write_raw_pb  # noqa: F401

__getattr__ = _missing("tf.summary.experimental")
