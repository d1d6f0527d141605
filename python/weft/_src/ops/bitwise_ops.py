"""tf.bitwise."""

from weft._src.namespace import missing
from weft._src.ops._direct import define

define(
    globals(),
    """
bitwise_and BitwiseAnd x, y
bitwise_or BitwiseOr x, y
bitwise_xor BitwiseXor x, y
invert Invert x
left_shift LeftShift x, y
right_shift RightShift x, y
""",
)
del define

__getattr__ = missing("tf.bitwise")
