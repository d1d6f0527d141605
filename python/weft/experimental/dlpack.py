"""tf.experimental.dlpack: tensors to and from other libraries."""

from weft._missing import missing
from weft.framework.convert import constant


def to_dlpack(tf_tensor):
    """A capsule with the tensor's values: copied, for a tensor must not change and plain capsules are for writing."""
    return tf_tensor.numpy().__dlpack__()


class _Capsule:
    """A capsule as numpy takes it."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


def from_dlpack(dlcapsule):
    """A tensor of a capsule (or of what gives one)."""
    import numpy as np

    return constant(np.from_dlpack(dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)))


__all__ = ["from_dlpack", "to_dlpack"]
__getattr__ = missing("tf.experimental.dlpack")
