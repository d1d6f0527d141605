"""tf.compat.v1.scatter_*: variables that are changed at indices."""

from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor


def _scattered(op, ref, indices, updates, name):
    updates = convert_to_tensor(updates, dtype=ref.dtype.base_dtype)
    return ref._lazy_read(op(resource=ref, indices=indices, updates=updates, name=name))


def _scattered_nd(op, ref, indices, updates, name):
    updates = convert_to_tensor(updates, dtype=ref.dtype.base_dtype)
    return ref._lazy_read(op(ref=ref.handle, indices=indices, updates=updates, name=name))


def scatter_update(ref, indices, updates, use_locking=True, name=None):
    return _scattered(raw.ResourceScatterUpdate, ref, indices, updates, name)


def scatter_add(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterAdd, ref, indices, updates, name)


def scatter_sub(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterSub, ref, indices, updates, name)


def scatter_mul(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterMul, ref, indices, updates, name)


def scatter_div(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterDiv, ref, indices, updates, name)


def scatter_max(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterMax, ref, indices, updates, name)


def scatter_min(ref, indices, updates, use_locking=False, name=None):
    return _scattered(raw.ResourceScatterMin, ref, indices, updates, name)


def scatter_nd_update(ref, indices, updates, use_locking=True, name=None):
    return _scattered_nd(raw.ResourceScatterNdUpdate, ref, indices, updates, name)


def scatter_nd_add(ref, indices, updates, use_locking=False, name=None):
    return _scattered_nd(raw.ResourceScatterNdAdd, ref, indices, updates, name)


def scatter_nd_sub(ref, indices, updates, use_locking=False, name=None):
    return _scattered_nd(raw.ResourceScatterNdSub, ref, indices, updates, name)


def batch_scatter_update(ref, indices, updates, use_locking=True, name=None):
    """scatter_update whose indices have leading axes in common with the variable."""
    from weft._src.framework.graph import name_scope_v1
    from weft._src.ops import array_ops, math_ops
    from weft._src.ops.array_ops import range as numbers

    with name_scope_v1(name):
        indices = convert_to_tensor(indices, name="indices")
        sizes = array_ops.shape(indices)
        axes = indices.shape.rank
        number = math_ops.cast(math_ops.reduce_prod(sizes), indices.dtype)
        places = [array_ops.reshape(indices, [number])]
        stride = sizes[-1]
        for axis in reversed(range(axes - 1)):
            rows = math_ops.cast(sizes[axis], indices.dtype)
            place = math_ops.floormod(
                math_ops.floordiv(numbers(number, dtype=indices.dtype), math_ops.cast(stride, indices.dtype)), rows
            )
            places.insert(0, place)
            stride = stride * sizes[axis]
        rows = array_ops.shape(updates)[axes:]
        flat = array_ops.reshape(updates, array_ops.concat([[number], math_ops.cast(rows, indices.dtype)], axis=0))
        return scatter_nd_update(ref, array_ops.stack(places, axis=-1), flat, use_locking, name)


def count_up_to(ref, limit, name=None):
    """The value before it is raised by one; an error at the limit."""
    return raw.ResourceCountUpTo(resource=ref.handle, limit=limit, T=ref.dtype, name=name)
