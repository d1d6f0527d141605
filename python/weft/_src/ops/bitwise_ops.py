"""tf.bitwise."""

from weft._src.namespace import missing
from weft._src.ops._direct import define

define(
    globals(),
    """
bitwise_and x, y
bitwise_or x, y
bitwise_xor x, y
invert x
left_shift x, y
right_shift x, y
""",
)
del define

__getattr__ = missing("tf.bitwise")
