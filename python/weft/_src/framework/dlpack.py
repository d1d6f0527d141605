"""tf.experimental.dlpack: tensors to and from other libraries, without copies."""

from weft import _weft
from weft._src.namespace import missing


class _Exporter:
    """What numpy asks for a capsule."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


def to_dlpack(tf_tensor):
    """A capsule with the tensor's memory."""
    return tf_tensor.__dlpack__()


def from_dlpack(dlcapsule):
    """A tensor on the memory of a capsule, which must not change while the tensor lives."""
    import numpy as np

    from weft._src.framework.dtypes import as_dtype

    array = np.from_dlpack(dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Exporter(dlcapsule))
    array = np.ascontiguousarray(array)
    return _weft.borrow_buffer(
        array.view(np.uint8) if array.ndim else array.reshape(1).view(np.uint8), as_dtype(array.dtype), array.shape
    )


__getattr__ = missing("tf.experimental.dlpack")
