"""Shapes and parts of tensors: reshape, concat, stack, split, pad, transpose, gather, scatter, where, sort ..."""

from builtins import range as _count

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import _pack, constant, constant_value, convert_to_tensor, get_static_value
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import shaped
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import Dimension, TensorShape, as_shape
from weft._src.ops._direct import define, scope, vector
from weft._src.ops.creation_ops import (  # noqa: F401
    eye,
    fill,
    linspace,
    meshgrid,
    one_hot,
    ones,
    ones_like,
    range,
    sequence_mask,
    zeros,
    zeros_like,
)
from weft._src.ops.sort_ops import argsort, searchsorted, sort  # noqa: F401

define(
    globals(),
    """
bitcast input, type
broadcast_to input, shape
check_pinned tensor
dynamic_partition data, partitions, num_partitions
extract_volume_patches input, ksizes, strides, padding
invert_permutation x
no_op NoOp
ragged_fill_empty_rows value_rowids, values, nrows, default_value
ragged_fill_empty_rows_grad reverse_index_map, grad_values
reverse ReverseV2 tensor, axis
roll input, shift, axis
scatter_nd indices, updates, shape, bad_indices_policy=''
space_to_batch_nd SpaceToBatchND input, block_shape, paddings
tensor_scatter_nd_add TensorScatterAdd tensor, indices, updates, bad_indices_policy=''
tensor_scatter_nd_max TensorScatterMax tensor, indices, updates, bad_indices_policy=''
tensor_scatter_nd_min TensorScatterMin tensor, indices, updates, bad_indices_policy=''
tensor_scatter_nd_sub TensorScatterSub tensor, indices, updates, bad_indices_policy=''
tensor_scatter_nd_update TensorScatterUpdate tensor, indices, updates
tile input, multiples
timestamp Timestamp
unravel_index indices, dims
""",
)


# ---- shapes -----------------------------------------------------------------------------------------------


@dispatchable
def shape(input, out_type=None, name=None):
    """The shape as a tensor."""
    return _shape(input, out_type, name)


def _shape(input, out_type=None, name=None):
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    input = convert_to_tensor(input)
    if _weft.in_graph():
        sizes = input._shape_tuple()
        if sizes is not None and None not in sizes:
            return constant(list(sizes), out_type, [len(sizes)], name=name or "Shape")
    return raw.Shape(input=input, out_type=out_type, name=name)


@dispatchable
def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of a list of tensors."""
    return raw.ShapeN(input=input, out_type=out_type, name=name)


@dispatchable
def size(input, out_type=None, name=None):
    """The number of elements as a tensor."""
    out_type = dtypes.int32 if out_type is None else dtypes.as_dtype(out_type)
    if getattr(type(input), "_is_composite", False) and hasattr(input, "dense_shape"):
        return raw.Cast(x=raw.Prod(input=input.dense_shape, reduction_indices=0, name=name), DstT=out_type)
    input = convert_to_tensor(input)
    if _weft.in_graph() and input.shape.is_fully_defined():
        return constant(input.shape.num_elements(), out_type, name=name or "Size")
    return raw.Size(input=input, out_type=out_type, name=name)


@dispatchable
def rank(input, name=None):
    """The number of axes as a tensor."""
    if getattr(type(input), "_is_composite", False) and hasattr(input, "dense_shape"):
        return size(input.dense_shape, name=name)
    with scope(name, "Rank") as name:
        input = convert_to_tensor(input)
        if input.shape.rank is not None:
            return constant(input.shape.rank, dtypes.int32, name=name)
        return raw.Rank(input=input, name=name)


@dispatchable
def reshape(tensor, shape, name=None):
    """The same elements in another shape."""
    return shaped(raw.Reshape(tensor=tensor, shape=shape, name=name), shape)


@dispatchable
def expand_dims(input, axis, name=None):
    """With an axis of size 1 more."""
    return raw.ExpandDims(input=input, dim=axis, name=name)


@dispatchable
def squeeze(input, axis=None, name=None):
    """Without axes of size 1."""
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
    if axis is None:
        axis = []
    elif not isinstance(axis, (list, tuple)):
        axis = axis.tolist() if getattr(axis, "ndim", 0) else [int(axis)]
    return raw.Squeeze(input=input, squeeze_dims=list(axis), name=name)


@dispatchable
def ensure_shape(x, shape, name=None):
    """The tensor itself, once its shape was seen to fit."""
    return raw.EnsureShape(input=x, shape=as_shape(shape), name=name)


@dispatchable
def broadcast_static_shape(shape_x, shape_y):
    """The shape that two shapes are broadcast to."""
    a, b = as_shape(shape_x), as_shape(shape_y)
    if a.rank is None or b.rank is None:
        return TensorShape(None)
    n = max(a.rank, b.rank)
    out = []
    for x, y in zip([1] * (n - a.rank) + a.as_list(), [1] * (n - b.rank) + b.as_list()):
        if x == 1 or y == 1:
            out.append(y if x == 1 else x)
        elif x is None or y is None:
            out.append(x if y is None else y)
        elif x == y:
            out.append(x)
        else:
            raise ValueError(
                f"Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either equal or one of them is 1. "
                f"Received: {a} and {b}."
            )
    return TensorShape(out)


@dispatchable
def broadcast_dynamic_shape(shape_x, shape_y):
    """As broadcast_static_shape, of shapes that are tensors."""
    return raw.BroadcastArgs(s0=shape_x, s1=shape_y)


@dispatchable
def identity(input, name=None):
    """The value, as an output of its own."""
    if getattr(type(input), "_is_composite", False):
        from weft._src.framework import nest

        return nest.map_structure(lambda t: raw.Identity(input=t, name=name), input, expand_composites=True)
    return raw.Identity(input=input, name=name)


@dispatchable
def identity_n(input, name=None):
    """Values as outputs of one op."""
    return raw.IdentityN(input=input, name=name)


@dispatchable
def stop_gradient(input, name=None):
    """The value, through which no gradient flows."""
    return raw.StopGradient(input=input, name=name)


def guarantee_const(input, name=None):
    """The value; a promise that it does not change."""
    return raw.GuaranteeConst(input=input, name=name)


# ---- putting together and taking apart --------------------------------------------------------------------


@dispatchable
def concat(values, axis, name="concat"):
    """Tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with scope(name, "concat") as name:
            convert_to_tensor(axis, dtypes.int32, name="concat_dim").shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return raw.ConcatV2(values=values, axis=axis, name=name)


@dispatchable
def stack(values, axis=0, name="stack"):
    """Tensors of one shape along a new axis."""
    if axis == 0 and not (
        isinstance(values, (list, tuple)) and any(isinstance(v, (Tensor, _weft.VariableBase)) for v in values)
    ):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError, NotImplementedError):
            pass
    if isinstance(values, (list, tuple)) and len(values):
        if axis == 0 and _weft.in_graph() and any(isinstance(v, (bool, int, float)) for v in values):
            return _pack(values, None, name)
        first = values[0]
        sizes = (first if isinstance(first, (Tensor, _weft.VariableBase)) else convert_to_tensor(first)).shape
        if sizes.rank is not None and not -sizes.rank - 1 <= axis <= sizes.rank:
            raise ValueError(f"Argument `axis` = {axis} not in range [{-sizes.rank - 1}, {sizes.rank + 1})")
    return raw.Pack(values=values, axis=axis, name=name)


@dispatchable
def unstack(value, num=None, axis=0, name="unstack"):
    """The parts of a tensor along an axis, as a list."""
    if num is None:
        value = convert_to_tensor(value)
        sizes = value._shape_tuple()
        if sizes is not None:
            if not -len(sizes) <= axis < len(sizes):
                raise ValueError(f"Argument `axis` = {axis} not in range [{-len(sizes)}, {len(sizes)})")
            num = sizes[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {value.shape}")
    return raw.Unpack(value=value, num=num, axis=axis, name=name)


@dispatchable
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Parts of a tensor along an axis: so many equal ones, or of these sizes."""
    if isinstance(num_or_size_splits, int):
        return raw.Split(split_dim=axis, num_split=num_or_size_splits, value=value, name=name)
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.rank == 0:
        if isinstance(sizes, EagerTensor):
            return raw.Split(split_dim=axis, num_split=int(sizes), value=value, name=name)
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: %s"
            % (num_or_size_splits,)
        )
    if num is None:
        num = sizes.shape.as_list()[0] if sizes.shape.rank is not None else None
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return raw.SplitV(value=value, size_splits=sizes, split_dim=axis, num_split=num, name=name)


@dispatchable
def parallel_stack(values, name="parallel_stack"):
    """tf.stack along the first axis whose parts are computed beside each other; in graphs only."""
    if not _weft.in_graph():
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    with scope(name, "parallel_stack"):
        parts = [convert_to_tensor(v) for v in values]
        sizes = parts[0].shape
        return raw.ParallelConcat(
            values=[expand_dims(p, 0) for p in parts], shape=TensorShape([len(parts)]).concatenate(sizes)
        )


@dispatchable
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Elements more before and after along each axis."""
    mode = mode.upper()
    if mode == "CONSTANT":
        import numpy as np

        if (
            not isinstance(constant_values, Tensor)
            and np.ndim(constant_values) == 0
            and constant_values == np.zeros_like(constant_values)
        ):
            result = raw.Pad(input=tensor, paddings=paddings, name=name)
        else:
            result = raw.PadV2(input=tensor, paddings=paddings, constant_values=constant_values, name=name)
    elif mode in ("REFLECT", "SYMMETRIC"):
        result = raw.MirrorPad(input=tensor, paddings=paddings, mode=mode, name=name)
    else:
        raise ValueError(
            f'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or "SYMMETRIC". Received `mode` = {mode}'
        )
    if not isinstance(result, EagerTensor) and not result.shape.is_fully_defined():
        _set_padded_shape(result, paddings)
    return result


def _set_padded_shape(result, paddings):
    """What is known of single paddings; the op's own rule wants to know all of them."""
    shape = result.op.inputs[0].shape
    known = _known_paddings(paddings)
    if shape.rank is not None and known is not None:
        result.set_shape(
            [
                None if row is None or dim is None or any(n is None for n in row) else int(sum(row)) + dim
                for row, dim in zip(known, shape.as_list())
            ]
        )


def _known_paddings(paddings):
    if isinstance(paddings, Tensor):
        return get_static_value(paddings, partial=True)
    return [_known_paddings(row) for row in paddings] if isinstance(paddings, (list, tuple)) else paddings


@dispatchable
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """The axes in another order; without one, reversed."""
    if not _weft.in_graph() and isinstance(a, EagerTensor) and not conjugate:
        return raw.Transpose(x=a, perm=vector(*_count(a.shape.rank - 1, -1, -1)) if perm is None else perm, name=name)
    with scope(name, "transpose") as name:
        a = convert_to_tensor(a, name="a")
        if perm is None:
            n = a.shape.rank
            perm = (
                raw.Sub(x=raw.Sub(x=raw.Rank(input=a), y=1), y=range(0, raw.Rank(input=a), 1))
                if n is None
                else list(_count(n - 1, -1, -1))
            )
        if conjugate and a.dtype.is_complex:
            return raw.ConjugateTranspose(x=a, perm=perm, name=name)
        return raw.Transpose(x=a, perm=perm, name=name)


@dispatchable
def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """The last two axes exchanged."""
    with scope(name, "matrix_transpose"):
        a = convert_to_tensor(a, name="a")
        n = a.shape.rank
        if n is None:
            last = raw.Rank(input=a)
            perm = raw.ConcatV2(values=[range(last - 2), [last - 1, last - 2]], axis=0)
        elif n < 2:
            raise ValueError(
                f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: {a.shape}"
            )
        else:
            perm = [*_count(n - 2), n - 1, n - 2]
        return transpose(a, perm, conjugate)


@dispatchable
def repeat(input, repeats, axis=None, name=None):
    """Each part along an axis so many times."""
    from weft._src.ops import math_ops

    with scope(name, "Repeat"):
        input = convert_to_tensor(input)
        if axis is None:
            input, axis = reshape(input, [-1]), 0
        if input.shape.rank == 0:
            input = reshape(input, [1])
        repeats = convert_to_tensor(repeats)
        if repeats.dtype not in (dtypes.int32, dtypes.int64):
            repeats = math_ops.cast(repeats, dtypes.int32)
        if repeats.shape.rank is not None and repeats.shape.rank > 1:
            raise ValueError(f"`repeats` must be a scalar or a vector, not of shape {repeats.shape}")
        n = input.shape.rank
        if n is None:
            if axis < 0:
                raise ValueError(f"axis={axis} may only be negative if rank(data) is statically known.")
            repeats = broadcast_to(repeats, reshape(_shape(input)[axis], [1]))
            places = searchsorted(
                math_ops.cumsum(repeats), range(math_ops.reduce_sum(repeats), dtype=repeats.dtype), side="right"
            )
            return gather(reshape(input, _shape(input)), places, axis=axis)
        if not -n <= axis < n:
            raise ValueError(f"axis={axis} out of bounds: expected {-n}<=axis<{n}")
        axis = axis % n
        if repeats.shape.num_elements() == 1:
            repeats = reshape(repeats, [])
            wide = tile(
                expand_dims(input, axis + 1),
                (
                    stack([repeats if i == axis + 1 else 1 for i in _count(n + 1)])
                    if not isinstance(repeats, EagerTensor)
                    else [int(repeats) if i == axis + 1 else 1 for i in _count(n + 1)]
                ),
            )
            sizes = _shape(input)
            along = math_ops.cast(repeats, sizes.dtype) * sizes[axis]
            sizes = concat([sizes[:axis], [along], sizes[axis + 1 :]], 0)
            return reshape(wide, sizes)
        if repeats.shape.rank == 1:
            Dimension(input.shape[axis]).assert_is_compatible_with(repeats.shape[0])
        if not repeats.shape.is_fully_defined():
            repeats = broadcast_to(repeats, reshape(_shape(input)[axis], [1]))
        ends = math_ops.cumsum(repeats)
        total = math_ops.reduce_sum(repeats)
        places = searchsorted(ends, range(total, dtype=repeats.dtype), side="right")
        # Through a reshape: the gradient is a tensor, as TensorFlow's is.
        return gather(reshape(input, _shape(input)), places, axis=axis)


# ---- parts by index ---------------------------------------------------------------------------------------


@dispatchable
def slice(input_, begin, size, name=None):
    """The part that starts at `begin` and has this size; -1 is all that is left."""
    return raw.Slice(input=input_, begin=begin, size=size, name=name)


@dispatchable
def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """What tensor[begin:end:strides] is, with masks for what is left out."""
    if var is not None:
        raise NotImplementedError("tf.strided_slice with a variable; assign to variable[begin:end] instead")
    if strides is None:
        strides = ones_like(begin)
    return raw.StridedSlice(
        input=input_,
        begin=begin,
        end=end,
        strides=strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name or "StridedSlice",
    )


@dispatchable
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The parts of params along an axis that indices name."""
    if axis is None:
        axis = batch_dims
    if (
        isinstance(params, _weft.VariableBase)
        and batch_dims == 0
        and isinstance(axis, int)
        and axis == 0
        and hasattr(params, "sparse_read")
    ):
        return params.sparse_read(indices, name=name)
    if (
        batch_dims == 0
        and not isinstance(axis, Tensor)
        and axis == 0
        and not isinstance(params, Tensor)
        and hasattr(params, "sparse_read")
    ):
        return params.sparse_read(indices, name=name)
    return raw.GatherV2(params=params, indices=indices, axis=axis, batch_dims=batch_dims, name=name)


@dispatchable
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The parts of params that rows of indices name."""
    batch = constant_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if batch == 0:
        if isinstance(params, _weft.VariableBase) and hasattr(params, "gather_nd") and not bad_indices_policy:
            return params.gather_nd(indices, name=name)
        return raw.GatherNd(params=params, indices=indices, bad_indices_policy=bad_indices_policy, name=name)
    with scope(name, "GatherNd"):
        params, indices = convert_to_tensor(params), convert_to_tensor(indices)
        n = indices.shape.rank
        if n is None:
            raise ValueError("batch_gather_nd does not allow indices with unknown shape.")
        if batch < 0 or batch >= n or (params.shape.rank is not None and batch >= params.shape.rank):
            raise ValueError(
                f"batch_dims = {batch} must be less than rank(`indices`) = {n}"
                if batch >= n
                else f"batch_dims = {batch} must be less than rank(`params`)"
            )
        # Each index gets the place of its own batch in front of it.
        sizes = _shape(indices)
        lead = meshgrid(*[range(sizes[i]) for i in _count(batch)], indexing="ij")
        lead = raw.Cast(x=raw.Pack(values=lead, axis=-1), DstT=indices.dtype)
        lead = reshape(lead, concat([sizes[:batch], [1] * (n - 1 - batch), [batch]], 0))
        lead = broadcast_to(lead, concat([sizes[:-1], [batch]], 0))
        return raw.GatherNd(params=params, indices=concat([lead, indices], -1), bad_indices_policy=bad_indices_policy)


@dispatchable
def where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y; of a condition alone, the places where it holds."""
    if x is None and y is None:
        with scope(name, "Where") as name:
            return raw.Where(input=convert_to_tensor(condition, dtype_hint=dtypes.bool, name="condition"), name=name)
    if x is not None and y is not None:
        return raw.SelectV2(condition=_weft.convert(condition, None, dtypes.bool), t=x, e=y, name=name)
    raise ValueError("x and y must both be non-None or both be None.")


@dispatchable
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The parts of a tensor where a mask holds."""
    with scope(name, "boolean_mask"):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        n, known = mask.shape.rank, tensor.shape
        if n == 0:
            raise ValueError("mask cannot be scalar.")
        if n is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] is ok, but shape=None is not."
            )
        axis = 0 if axis is None else int(constant_value(axis) if isinstance(axis, Tensor) else axis)
        if axis < 0:
            axis += known.rank
        known[axis : axis + n].assert_is_compatible_with(mask.shape)
        count = raw.Prod(input=_shape(tensor)[axis : axis + n], reduction_indices=[0])
        flat = reshape(tensor, concat([_shape(tensor)[:axis], [count], _shape(tensor)[axis + n :]], 0))
        if known.rank is not None and flat.shape.rank is not None and not isinstance(flat, EagerTensor):
            inner = known[axis : axis + n].num_elements()
            flat.set_shape(known[:axis].concatenate([inner]).concatenate(known[axis + n :]))
        places = squeeze(raw.Where(input=reshape(mask, [-1])), [1])
        return gather(flat, places, axis=axis)


def dynamic_stitch(indices, data, name=None):
    """Parts put into one tensor at the places that indices name."""
    return raw.DynamicStitch(indices=indices, data=data, name=name)


@dispatchable
def unique(x, out_idx=dtypes.int32, name=None):
    """The different elements in their order, and the place of each element among them."""
    return raw.Unique(x=x, out_idx=out_idx, name=name)


@dispatchable
def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """As unique, with how often each is there."""
    return raw.UniqueWithCounts(x=x, out_idx=out_idx, name=name)


@dispatchable
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """The first so many parts of each row, reversed."""
    return raw.ReverseSequence(
        input=input,
        seq_lengths=seq_lengths,
        seq_dim=seq_axis,
        batch_dim=0 if batch_axis is None else batch_axis,
        name=name,
    )


# ---- blocks -----------------------------------------------------------------------------------------------


@dispatchable
def space_to_batch(input, block_shape, paddings, name=None):
    """Blocks of space as batches."""
    return raw.SpaceToBatchND(input=input, block_shape=block_shape, paddings=paddings, name=name)


@dispatchable
def batch_to_space(input, block_shape, crops, name=None):
    """Batches as blocks of space."""
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return raw.BatchToSpaceND(input=input, block_shape=block_shape, crops=crops, name=name)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Paddings and crops with which block_shape divides the space."""
    with scope(name, "required_space_to_batch_paddings"):
        input_shape = convert_to_tensor(input_shape, dtypes.int32)
        block_shape = convert_to_tensor(block_shape, dtypes.int32)
        n = block_shape.shape[0]
        if n == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        base = zeros([n, 2], dtypes.int32) if base_paddings is None else convert_to_tensor(base_paddings, dtypes.int32)
        before, after = base[:, 0], base[:, 1]
        extra = (block_shape - (input_shape + before + after) % block_shape) % block_shape
        paddings = stack([before, after + extra], axis=1, name="paddings")
        crops = stack([zeros_like(extra), extra], axis=1, name="crops")
        return paddings, crops


@dispatchable
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Blocks of space as channels."""
    return raw.SpaceToDepth(input=input, block_size=block_size, data_format=data_format, name=name)


@dispatchable
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Channels as blocks of space."""
    return raw.DepthToSpace(input=input, block_size=block_size, data_format=data_format, name=name)


@dispatchable
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Levenshtein's distance between rows of two sparse tensors."""
    for which, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not hasattr(value, "indices"):
            raise TypeError(f"{which} must be a SparseTensor.")
    return raw.EditDistance(
        hypothesis_indices=hypothesis.indices,
        hypothesis_values=hypothesis.values,
        hypothesis_shape=hypothesis.dense_shape,
        truth_indices=truth.indices,
        truth_values=truth.values,
        truth_shape=truth.dense_shape,
        normalize=normalize,
        name=name,
    )


@dispatchable
def fingerprint(data, method="farmhash64", name=None):
    """Eight bytes for each row that tell it from others."""
    return raw.Fingerprint(data=data, method=method, name=name)
