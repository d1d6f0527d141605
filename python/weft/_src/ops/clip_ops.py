"""tf.clip_by_* and the norm of a list of tensors."""

from weft._src.raw import raw
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops._direct import scope


def _is_slices(value):
    return type(value).__name__ == "IndexedSlices"


def _rewrapped(value, values):
    return type(value)(values, value.indices, value.dense_shape) if _is_slices(value) else values


@dispatchable
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """No element below the one bound or above the other."""
    with scope(name, "clip_by_value") as name:
        values = convert_to_tensor(t.values if _is_slices(t) else t, name="t")
        low = raw.Minimum(x=values, y=clip_value_max)
        values.shape.assert_is_compatible_with(low.shape)
        out = raw.Maximum(x=low, y=clip_value_min, name=name)
        values.shape.assert_is_compatible_with(out.shape)
        return _rewrapped(t, out)


@dispatchable
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scaled down to a norm of at most clip_norm."""
    from weft._src.ops.creation_ops import ones_like
    from weft._src.ops.reduction_ops import reduce_sum

    with scope(name, "clip_by_norm") as name:
        values = convert_to_tensor(t.values if _is_slices(t) else t, name="t")
        squares = reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        safe = raw.Select(condition=positive, t=squares, e=ones_like(squares))
        norm = raw.Select(condition=positive, t=raw.Sqrt(x=safe), e=squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        return _rewrapped(t, raw.Identity(input=scaled / raw.Maximum(x=norm, y=clip_norm), name=name))


@dispatchable
def global_norm(t_list, name=None):
    """The norm of all tensors of a list together."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    from weft._src.ops.array_ops import stack
    from weft._src.ops.reduction_ops import reduce_sum

    with scope(name, "global_norm"):
        halves = [raw.L2Loss(t=t.values if _is_slices(t) else t) for t in t_list if t is not None]
        half = reduce_sum(stack(halves))
        return raw.Sqrt(x=half * convert_to_tensor(2.0, half.dtype), name="global_norm")


@dispatchable
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Tensors scaled down together to a norm of at most clip_norm; and their norm before."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with scope(name, "clip_by_global_norm") as name:
        use_norm = convert_to_tensor(use_norm)
        small = clip_norm * raw.Minimum(x=1.0 / use_norm, y=convert_to_tensor(1.0, use_norm.dtype) / clip_norm)
        # A norm that is not finite makes everything NaN instead of hiding it.
        scale = small + (use_norm - use_norm)
        out = []
        for i, t in enumerate(t_list):
            if t is None:
                out.append(None)
                continue
            values = convert_to_tensor(t.values if _is_slices(t) else t)
            factor = scale if scale.dtype is values.dtype else raw.Cast(x=scale, DstT=values.dtype)
            out.append(_rewrapped(t, raw.Identity(input=values * factor, name=f"{name}_{i}")))
        return out, use_norm
