"""tf.compat.v1.data: tf.data with iterators that sessions initialise."""

from weft._src.compat.v1.version_2 import namespace as _namespace
from weft._src.compat.v1.data import (  # noqa: F401
    Iterator,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)

__getattr__, __dir__ = _namespace(globals(), "data", spaces=["experimental"])
