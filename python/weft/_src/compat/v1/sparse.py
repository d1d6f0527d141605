"""tf.compat.v1.sparse_*: where version 1's functions have other arguments or no name in version 2."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.compat.v1.old_ops import _one
from weft._src.ops import sparse_ops
from weft._src.ops.sparse_tensor import SparseTensor


class KeywordRequired:
    """The default of an argument that must not be given by its place."""

    def __repr__(self):
        return "KeywordRequired()"


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None):
    """Sparse tensors joined along an axis."""
    axis = _one("concat_dim", concat_dim, "axis", axis)
    expand = expand_nonconcat_dim if expand_nonconcat_dims is None else expand_nonconcat_dims
    return sparse_ops.concat(axis, sp_inputs, expand, name)


def sparse_split(
    keyword_required=KeywordRequired(), sp_input=None, num_split=None, axis=None, name=None, split_dim=None
):
    """Pieces along an axis."""
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    for name_, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{name_} is required")
    return sparse_ops.split(sp_input, num_split, _one("axis", axis, "split_dim", split_dim), name)


def _reduction(op, sp_input, axis, keepdims, reduction_axes, keep_dims, sparse=False):
    axis = _one("axis", axis, "reduction_axes", reduction_axes)
    keepdims = bool(_one("keepdims", keepdims, "keep_dims", keep_dims))
    return op(sp_input, axis, keepdims, output_is_sparse=sparse)


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduction(sparse_ops.reduce_sum, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduction(sparse_ops.reduce_max, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduction(sparse_ops.reduce_sum, sp_input, axis, keepdims, reduction_axes, keep_dims, sparse=True)


def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    return _reduction(sparse_ops.reduce_max, sp_input, axis, keepdims, reduction_axes, keep_dims, sparse=True)


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """Values at columns that ids tell."""
    several = isinstance(vocab_size, (list, tuple))
    ids = list(sp_ids) if isinstance(sp_ids, (list, tuple)) else [sp_ids]
    sizes = list(vocab_size) if several else [vocab_size]
    for one in ids:
        if not isinstance(one, SparseTensor):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(one)}")
    if not isinstance(sp_values, SparseTensor):
        raise TypeError(f"Argument `sp_values` must be SparseTensor. Received sp_values: {sp_values}")
    if len(ids) != len(sizes):
        raise ValueError("Argument `vocab_size` and `sp_ids` must have the same length.")
    columns = [raw.ExpandDims(input=raw.Cast(x=one.values, DstT=dtypes.int64), dim=1) for one in ids]
    indices = raw.ConcatV2(values=[ids[0].indices[:, :-1], *columns], axis=1)
    sizes = [raw.Reshape(tensor=raw.Cast(x=convert_to_tensor(s), DstT=dtypes.int64), shape=[1]) for s in sizes]
    shape = raw.ConcatV2(values=[ids[0].dense_shape[:-1], *sizes], axis=0)
    merged = SparseTensor(indices, sp_values.values, shape)
    if already_sorted:
        return merged
    ordered = sparse_ops.reorder(merged)
    return SparseTensor(ordered.indices, ordered.values, shape)
