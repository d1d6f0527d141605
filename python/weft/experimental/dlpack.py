"""tf.experimental.dlpack: tensors to and from other libraries, without copies."""

from weft._src.framework.dlpack import (  # noqa: F401
    __getattr__,
    from_dlpack,
    to_dlpack,
)
