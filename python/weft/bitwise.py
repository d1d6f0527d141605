"""tf.bitwise."""

from weft._src.ops.bitwise_ops import (  # noqa: F401
    __getattr__,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    invert,
    left_shift,
    right_shift,
)
