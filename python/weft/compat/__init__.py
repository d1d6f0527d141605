"""tf.compat: text and bytes, and version 1's API."""

from weft._src.compat.compat import (  # noqa: F401
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    dimension_at_index,
    dimension_value,
    forward_compatibility_horizon,
    forward_compatible,
    integral_types,
    path_to_bytes,
    path_to_str,
    real_types,
)
from weft._src.namespace import lazily as _lazily

__getattr__, _ = _lazily(globals(), "tf.compat", "", ["v1", "v2"])
