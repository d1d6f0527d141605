"""tf.compat.v1.flags: absl's flags."""

from weft._src.compat.v1.flags import __dir__, __getattr__  # noqa: F401
