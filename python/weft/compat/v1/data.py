"""tf.compat.v1.data: tf.data with iterators that sessions initialise."""

from weft._src.compat.v1.data import (  # noqa: F401
    __getattr__,
    Iterator,
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
