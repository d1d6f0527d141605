"""tf.raw_ops: every op of the engine; arguments by name only."""

from weft._src.ops import raw_ops as _raw_ops
from weft._src.ops.raw_ops import __dir__  # noqa: F401


def __getattr__(name):
    value = globals()[name] = getattr(_raw_ops, name)
    return value
