"""experimental_enable_numpy_behavior: numpy's methods, indices and types for all tensors of the process."""

import sys

import numpy as np

import weft as tf
from weft._src.numpy import arrays, elementwise, reductions, types
from weft._src.framework import operators
from weft._src.framework.tensor import Tensor

_enabled = False


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """From here on tensors have numpy's methods; operators promote types as numpy does ("legacy"), functions too, by weak types ("all", "safe"), or none ("off")."""
    global _enabled
    if dtype_conversion_mode not in ("off", "legacy", "safe", "all"):
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. Make sure the provided dtype conversion mode is one of the followings: "
            "'off', 'legacy', 'safe' or 'all'."
        )
    types.set_prefer_float32(prefer_float32)
    if not _enabled:
        _enabled = True
        from weft._src.ops import slicing

        plain = slicing.getitem
        Tensor.__getitem__ = lambda self, key: _getitem(plain, self, key)
        _add_methods(Tensor)
    operators.use_promotion(_promote if dtype_conversion_mode == "legacy" else None)
    if dtype_conversion_mode in ("safe", "all"):
        from weft._src.numpy import weak
        from weft._src.framework import misc

        misc.get_logger().warning(
            "UserWarning: enabling the new type promotion must happen at the beginning of the program. Please ensure no TF APIs have been used yet."
        )
        weak.set_mode(weak.PromoMode[dtype_conversion_mode.upper()])
        _add_methods(weak.WeakTensor)
    elif "weft._src.numpy.weak" in sys.modules:
        sys.modules["weft._src.numpy.weak"].set_mode(None)


def _promote(x, y):
    """Both sides of an operator, as numpy would see them."""
    try:
        return types.promoted(x, y)
    except TypeError:
        return None


def _add_methods(cls):
    def reshape(self, *shape, **kwargs):
        return arrays.reshape(self, shape[0] if len(shape) == 1 else shape, **kwargs)

    def transpose(self, *axes):
        return arrays.transpose(self, None if not axes else axes[0] if len(axes) == 1 else axes)

    cls.T = property(lambda self: arrays.transpose(self))
    cls.size = property(lambda self: arrays.size(self))
    cls.data = property(lambda self: self)
    cls.reshape, cls.transpose = reshape, transpose
    cls.__pos__ = lambda self: self
    cls.__round__ = lambda self, ndigits=0: elementwise.around(self, ndigits)
    cls.astype = lambda self, dtype: types.as_tensor(self, tf.as_dtype(dtype))
    cls.tolist = lambda self: self.numpy().tolist()
    cls.ravel, cls.clip = arrays.ravel, elementwise.clip
    cls.max, cls.min, cls.mean = reductions.max, reductions.min, reductions.mean


def _is_array_index(key):
    return isinstance(key, (list, np.ndarray)) or (
        isinstance(key, Tensor) and (key.dtype == tf.bool or key.shape.rank not in (0, None))
    )


def _getitem(plain, tensor, key):
    """Lists, masks and tensors of numbers as indices, beside what tensors take anyway."""
    if isinstance(key, tuple):  # tuples inside are lists
        key = tuple(list(k) if isinstance(k, tuple) else k for k in key)
    if not (_is_array_index(key) or (isinstance(key, tuple) and any(_is_array_index(k) for k in key))):
        bad = [k for k in (key if isinstance(key, tuple) else (key,)) if isinstance(k, (str, bytes, float))]
        if bad:
            raise IndexError(
                f"only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices, got {bad[0]!r}"
            )
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
