"""tf.nn: rows of tables by ids, dense and sparse."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor
from weft._src.ops import array_ops, math_ops
from weft._src.ops._direct import scope
from weft._src.ops.clip_ops import clip_by_norm


def _clipped(rows, ids, max_norm):
    if max_norm is None:
        return rows
    axes = list(range(ids.shape.rank, rows.shape.rank))
    return clip_by_norm(rows, max_norm, axes=axes)


@dispatchable
def embedding_lookup(params, ids, max_norm=None, name=None):
    """Rows of a table (or of one that is cut into parts) by ids."""
    params = parts_of(params)
    if params is None or (isinstance(params, (list, tuple)) and not params):
        raise ValueError(
            "params must be specified"
            if params is None
            else "Length of params is currently 0. Need at least one parameter."
        )
    if not isinstance(params, (list, tuple)):
        params = [params]
    with scope(name, "embedding_lookup") as name:
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1:
            rows = array_ops.gather(params[0], ids, name=name)
            return raw.Identity(input=_clipped(rows, ids, max_norm))
        return from_parts(params, ids, max_norm, _one_after_the_other)


def parts_of(params):
    """Those of a partitioned variable of version 1."""
    return params._get_variable_list() if hasattr(params, "_get_variable_list") else params


def _one_after_the_other(params, flat):
    """(part, row in it) of each id: the parts are pieces of the table; the first ones may have a row more."""
    count = len(params)
    sizes = [p.shape[0] for p in params]
    total = (
        convert_to_tensor(sum(sizes), flat.dtype)
        if None not in sizes
        else math_ops.cast(sum(array_ops.shape(p)[0] for p in params), flat.dtype)
    )
    each, extra = total // count, total % count
    border = extra * (each + 1)
    assignments = math_ops.maximum(flat // (each + 1), (flat - extra) // each)
    return assignments, array_ops.where(flat < border, flat % (each + 1), (flat - extra) % each)


def one_by_one(params, flat):
    """(part, row in it) of each id where rows were dealt out to the parts in turn."""
    return flat % len(params), flat // len(params)


def from_parts(params, ids, max_norm, places_of):
    """Rows of a table in parts."""
    params = [p if isinstance(p, (Tensor, _weft.VariableBase)) else convert_to_tensor(p) for p in params]
    flat = array_ops.reshape(ids, [-1])
    count = len(params)
    assignments, inner = places_of(params, flat)
    assignments = math_ops.cast(assignments, dtypes.int32)
    ids_by_part = array_ops.dynamic_partition(inner, assignments, count)
    places = array_ops.dynamic_partition(array_ops.range(array_ops.shape(flat)[0]), assignments, count)
    rows = [array_ops.gather(p, i) for p, i in zip(params, ids_by_part)]
    out = raw.ParallelDynamicStitch(indices=places, data=rows)
    width = array_ops.shape(convert_to_tensor(params[0]))[1:]
    out = array_ops.reshape(out, array_ops.concat([array_ops.shape(ids), width], 0))
    out.set_shape(ids.shape.concatenate(params[0].shape[1:]))
    return _clipped(out, ids, max_norm)


def _checked_combiner(combiner):
    if combiner is None:
        return "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    return combiner


@dispatchable
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """Rows of a table by the ids of each row of a sparse tensor, put together into one."""
    combiner = _checked_combiner(combiner)
    if not hasattr(sp_ids, "indices"):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        if not hasattr(sp_weights, "indices"):
            raise TypeError(f"sp_weights must be either None or SparseTensor,got {type(sp_weights)}")
        sp_ids.values.shape.assert_is_compatible_with(sp_weights.values.shape)
    with scope(name, "embedding_lookup_sparse") as name:
        segments = math_ops.cast(sp_ids.indices[:, 0], dtypes.int32)
        ids, places = array_ops.unique(sp_ids.values)
        rows = embedding_lookup(params, ids, max_norm=max_norm)
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = math_ops.cast(rows, dtypes.float32)
        if sp_weights is None:
            op = {"sum": raw.SparseSegmentSum, "mean": raw.SparseSegmentMean, "sqrtn": raw.SparseSegmentSqrtN}[combiner]
            return op(data=rows, indices=places, segment_ids=segments, name=name)
        weights = math_ops.cast(sp_weights.values, rows.dtype)
        rows = array_ops.gather(rows, places)
        wide = array_ops.reshape(weights, [-1] + [1] * (rows.shape.rank - 1))
        total = math_ops.segment_sum(rows * wide, segments)
        if combiner == "sum":
            return total
        power = math_ops.segment_sum(weights if combiner == "mean" else weights * weights, segments)
        power = power if combiner == "mean" else math_ops.sqrt(power)
        return math_ops.divide_no_nan(total, array_ops.reshape(power, [-1] + [1] * (rows.shape.rank - 1)))


@dispatchable
def safe_embedding_lookup_sparse(
    embedding_weights,
    sparse_ids,
    sparse_weights=None,
    combiner="mean",
    default_id=None,
    max_norm=None,
    name=None,
    allow_fast_lookup=False,
):
    """As embedding_lookup_sparse; ids below zero do not count, and rows without any are zeros (or default_id's)."""
    from weft._src.ops import sparse_ops

    if embedding_weights is None:
        raise ValueError("Missing embedding_weights %s." % embedding_weights)
    weights = list(embedding_weights) if isinstance(embedding_weights, (list, tuple)) else [embedding_weights]
    weights = [w if isinstance(w, (Tensor, _weft.VariableBase)) else convert_to_tensor(w) for w in weights]
    combiner = _checked_combiner(combiner)
    with scope(name, "embedding_lookup"):
        # More than two axes: the last one holds the ids, the others are rows.
        shape, rank = sparse_ids.dense_shape, sparse_ids.dense_shape.shape[0]
        lead = raw.Prod(input=shape[: rank - 1], reduction_indices=[0])
        sparse_ids = sparse_ops.sparse_reshape(sparse_ids, array_ops.stack([lead, shape[rank - 1]]))
        if sparse_weights is not None:
            sparse_weights = type(sparse_ids)(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        valid = sparse_ids.values >= 0
        if combiner != "sum" and sparse_weights is not None:
            valid = math_ops.logical_and(valid, sparse_weights.values > 0)
        ids = sparse_ops.sparse_retain(sparse_ids, valid)
        own = None if sparse_weights is None else sparse_ops.sparse_retain(sparse_weights, valid)
        ids, empty = sparse_ops.sparse_fill_empty_rows(ids, default_id or 0)
        if own is not None:
            own, _ = sparse_ops.sparse_fill_empty_rows(own, 1.0)
        result = embedding_lookup_sparse(
            weights if len(weights) > 1 else weights[0], ids, own, combiner=combiner, max_norm=max_norm
        )
        if default_id is None:
            result = array_ops.where(array_ops.reshape(empty, [-1, 1]), array_ops.zeros_like(result), result)
        final = array_ops.reshape(
            result, array_ops.concat([math_ops.cast(shape[: rank - 1], dtypes.int32), array_ops.shape(result)[1:]], 0)
        )
        return final
