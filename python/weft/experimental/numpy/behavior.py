"""experimental_enable_numpy_behavior: numpy's methods, indices and types for all tensors of the process."""

import numpy as np

import weft as tf
from weft.experimental.numpy import arrays, elementwise, reductions, types
from weft.framework import operators
from weft.framework.tensor import Tensor

_enabled = False


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """From here on tensors have numpy's methods and promote types as numpy does."""
    global _enabled
    if dtype_conversion_mode not in ("legacy", "off", None):
        raise NotImplementedError(f"dtype_conversion_mode={dtype_conversion_mode!r}: tensors with weak types")
    types.set_prefer_float32(prefer_float32)
    if _enabled:
        return
    _enabled = True
    _add_methods()
    if dtype_conversion_mode == "legacy":
        operators.use_promotion(_promote)
    from weft.ops import slicing

    plain = slicing.getitem
    Tensor.__getitem__ = lambda self, key: _getitem(plain, self, key)


def _promote(x, y):
    """Both sides of an operator, as numpy would see them."""
    try:
        return types.promoted(x, y)
    except TypeError:
        return None


def _add_methods():
    def reshape(self, *shape, **kwargs):
        return arrays.reshape(self, shape[0] if len(shape) == 1 else shape, **kwargs)

    def transpose(self, *axes):
        return arrays.transpose(self, None if not axes else axes[0] if len(axes) == 1 else axes)

    Tensor.T = property(arrays.transpose)
    Tensor.size = property(arrays.size)
    Tensor.data = property(lambda self: self)
    Tensor.reshape, Tensor.transpose = reshape, transpose
    Tensor.astype = lambda self, dtype: types.as_tensor(self, dtype)
    Tensor.tolist = lambda self: self.numpy().tolist()
    Tensor.ravel, Tensor.clip = arrays.ravel, elementwise.clip
    Tensor.max, Tensor.min, Tensor.mean = reductions.max, reductions.min, reductions.mean


def _is_array_index(key):
    return isinstance(key, (list, np.ndarray)) or (
        isinstance(key, Tensor) and (key.dtype == tf.bool or key.shape.rank not in (0, None))
    )


def _getitem(plain, tensor, key):
    """Lists, masks and tensors of numbers as indices, beside what tensors take anyway."""
    if not (_is_array_index(key) or (isinstance(key, tuple) and any(_is_array_index(k) for k in key))):
        return plain(tensor, key)
    keys = list(key) if isinstance(key, tuple) else [key]
    if len(keys) == 1:
        index = types.as_tensor(keys[0])
        if index.dtype == tf.bool:
            return tf.boolean_mask(tensor, index)
        return tf.gather(tensor, _positive(index, tensor, 0))
    if Ellipsis in [k for k in keys if not isinstance(k, (Tensor, np.ndarray, list))]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (tensor.shape.rank - len([k for k in keys if k is not None]) + 1)
    places = [i for i, k in enumerate(keys) if _is_array_index(k)]
    # The plain ones first; numbers then count as indices beside the arrays.
    if any(isinstance(k, (int, np.integer)) for k in keys):
        keys = [types.as_tensor(k) if isinstance(k, (int, np.integer)) else k for k in keys]
        places = [i for i, k in enumerate(keys) if not isinstance(k, slice) and k is not None]
    tensor = plain(tensor, tuple(slice(None) if i in places else k for i, k in enumerate(keys)))
    indices = []
    for i in places:
        index = types.as_tensor(keys[i])
        index = tf.reshape(tf.where(index), [-1]) if index.dtype == tf.bool else index
        indices.append(_positive(index, tensor, i))
    together = places == list(range(places[0], places[0] + len(places)))
    rest = [i for i in range(tensor.shape.rank) if i not in places]
    moved = tf.transpose(tensor, places + rest)
    shape = indices[0].shape
    for index in indices[1:]:
        shape = tf.broadcast_static_shape(shape, index.shape)
    at = tf.stack([tf.broadcast_to(tf.cast(i, tf.int64), shape) for i in indices], -1)
    made = tf.gather_nd(moved, at)
    if not together or places[0] == 0:
        return made
    n = shape.rank
    before = len([i for i in rest if i < places[0]])
    return tf.transpose(
        made, [n + i for i in range(before)] + list(range(n)) + [n + i for i in range(before, len(rest))]
    )


def _positive(index, tensor, axis):
    size = tf.cast(tf.shape(tensor)[axis], index.dtype)
    return tf.where(index < 0, index + size, index)
