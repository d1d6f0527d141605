"""Parsing of tf.train.Example and SequenceExample."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops.parsing_config import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Params,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)


def _sparse(indices, values, shapes):
    if not indices:
        return []
    from weft._src.ops.sparse_tensor import SparseTensor

    return [SparseTensor(i, v, s) for i, v, s in zip(indices, values, shapes)]


def _ragged(values, splits):
    if not values:
        return []
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    return [RaggedTensor.from_row_splits(v, s, validate=False) for v, s in zip(values, splits)]


def _scalar(serialized):
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if serialized.shape.rank not in (None, 0):
        raise ValueError("Input serialized must be a scalar")
    return serialized


@dispatchable
def parse_example(serialized, features, example_names=None, name=None):
    """The features of a batch of serialized Examples, or of one, as a dict of tensors."""
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    allowed = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
    features = {k: _with_rows(f) for k, f in features.items()}
    params = Params(features, allowed)
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if params.ragged and serialized.shape.rank is None:
        raise ValueError("serialized must have statically-known rank to parse ragged features.")
    out = raw.ParseExampleV2(
        serialized=serialized,
        names=[] if example_names is None else example_names,
        sparse_keys=_keys(params.sparse),
        dense_keys=_keys(params.dense),
        ragged_keys=_keys(params.ragged),
        dense_defaults=params.defaults(),
        num_sparse=len(params.sparse),
        sparse_types=list(params.sparse.values()),
        ragged_value_types=[v for v, _ in params.ragged.values()],
        ragged_split_types=[s for _, s in params.ragged.values()],
        dense_shapes=params.shapes(),
        name=name,
    )
    indices, values, shapes, dense, ragged_values, ragged_splits = out
    batch = serialized.shape.rank != 0
    parsed = dict(zip(params.sparse, _sparse(indices, values, shapes)))
    parsed.update(zip(params.dense, dense))
    parsed.update(zip(params.ragged, _ragged(ragged_values, ragged_splits) if batch else ragged_values))
    return _composed(features, parsed, batch)


@dispatchable
def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized Example."""
    if not features:
        raise ValueError(
            "Invalid argument: features cannot be None."
            if features is None
            else "Invalid argument: features cannot be empty."
        )
    return parse_example(_scalar(serialized), features, example_names, name)


def _keys(table):
    return convert_to_tensor(list(table), dtype=dtypes.string)


def _with_rows(feature):
    """In batches, a FixedLenSequenceFeature has one dimension more, which is filled up."""
    if isinstance(feature, FixedLenSequenceFeature):
        if not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        return feature._replace(shape=[None] + list(feature.shape))
    return feature


def _composed(features, parsed, batch):
    """What several features make together."""
    out = {}
    for key, f in sorted(features.items()):
        if isinstance(f, SparseFeature):
            out[key] = _merge_sparse(f, parsed)
        elif isinstance(f, RaggedFeature):
            value = parsed[key if f.value_key is None else f.value_key]
            for p in reversed(f.partitions):
                value = (_rows_of_batch if batch else _rows_of_one)(value, p, parsed, f.row_splits_dtype, f.validate)
            out[key] = value
        else:
            out[key] = parsed[key]
    # In TensorFlow's order: sparse features, dense ones, ragged ones, then those of several.
    return {key: out[key] for key in [*(k for k in parsed if k in out), *(k for k in out if k not in parsed)]}


def _merge_sparse(f, parsed):
    from weft._src.ops import sparse_ops
    from weft._src.ops.sparse_tensor import SparseTensor

    keys, sizes = ([f.index_key], [f.size]) if isinstance(f.index_key, str) else (f.index_key, f.size)
    values = parsed[f.value_key]
    columns = [raw.ExpandDims(input=parsed[k].values, dim=-1) for k in keys]
    rank = values.indices.shape[1]
    if rank != 1:  # all columns but the last say which example it was
        columns.insert(0, raw.Slice(input=values.indices, begin=[0, 0], size=[-1, rank - 1]))
    sizes = [raw.Cast(x=s, DstT=dtypes.int64) if hasattr(s, "dtype") else s for s in sizes]
    lead = raw.Slice(input=values.dense_shape, begin=[0], size=[rank - 1])
    shape = raw.ConcatV2(values=[lead, convert_to_tensor(sizes, dtype=dtypes.int64)], axis=0)
    merged = SparseTensor(
        raw.ConcatV2(values=columns, axis=1) if len(columns) > 1 else columns[0], values.values, shape
    )
    return merged if f.already_sorted else sparse_ops.reorder(merged)


def _rows_of_one(value, p, parsed, dtype, validate):
    """One example's values in rows."""
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    if isinstance(p, RaggedFeature.UniformRowLength):
        return RaggedTensor.from_uniform_row_length(value, convert_to_tensor(p.length, dtype=dtype), validate=validate)
    part = raw.Cast(x=parsed[p.key], DstT=dtype)
    make = {
        RaggedFeature.RowSplits: RaggedTensor.from_row_splits,
        RaggedFeature.RowLengths: RaggedTensor.from_row_lengths,
        RaggedFeature.RowStarts: RaggedTensor.from_row_starts,
        RaggedFeature.RowLimits: RaggedTensor.from_row_limits,
        RaggedFeature.ValueRowIds: RaggedTensor.from_value_rowids,
    }[type(p)]
    return make(value, part, validate=validate)


def _rows_of_batch(value, p, parsed, dtype, validate):
    """The values of each example of a batch in rows: everything goes by lengths of rows, one example behind the other."""
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    inner = value.values
    if isinstance(p, RaggedFeature.UniformRowLength):
        length = convert_to_tensor(p.length, dtype=dtype)
        rows = RaggedTensor.from_uniform_row_length(inner, length, validate=validate)
        return RaggedTensor.from_row_splits(rows, raw.FloorDiv(x=value.row_splits, y=length), validate=validate)
    part = parsed[p.key]
    numbers, splits, example = raw.Cast(x=part.values, DstT=dtype), part.row_splits, part.value_rowids()
    last = raw.Equal(
        x=raw.AddV2(x=raw.Range(start=0, limit=raw.Size(input=numbers), delta=1), y=1),
        y=raw.Cast(
            x=raw.GatherV2(params=splits, indices=raw.AddV2(x=example, y=raw.OnesLike(x=example)), axis=0),
            DstT=dtypes.int32,
        ),
    )
    after = raw.Roll(input=numbers, shift=[-1], axis=[0])
    if isinstance(p, RaggedFeature.RowLengths):
        lengths, outer = numbers, splits
    elif isinstance(p, RaggedFeature.RowSplits):
        kept = raw.Reshape(tensor=raw.Where(input=raw.LogicalNot(x=last)), shape=[-1])
        lengths = raw.GatherV2(params=raw.Sub(x=after, y=numbers), indices=kept, axis=0)
        outer = raw.Sub(
            x=splits,
            y=raw.Range(
                start=convert_to_tensor(0, dtype=splits.dtype),
                limit=raw.Cast(x=raw.Size(input=splits), DstT=splits.dtype),
                delta=convert_to_tensor(1, dtype=splits.dtype),
            ),
        )
    elif isinstance(p, RaggedFeature.RowStarts):
        ends = raw.GatherV2(params=raw.Cast(x=value.row_lengths(), DstT=dtype), indices=example, axis=0)
        lengths, outer = raw.Sub(x=raw.SelectV2(condition=last, t=ends, e=after), y=numbers), splits
    elif isinstance(p, RaggedFeature.RowLimits):
        first = raw.Roll(input=last, shift=[1], axis=[0])
        before = raw.SelectV2(
            condition=first, t=raw.ZerosLike(x=numbers), e=raw.Roll(input=numbers, shift=[1], axis=[0])
        )
        lengths, outer = raw.Sub(x=numbers, y=before), splits
    else:
        rows = raw.UnsortedSegmentMax(
            data=raw.AddV2(x=numbers, y=raw.OnesLike(x=numbers)),
            segment_ids=example,
            num_segments=raw.Cast(x=part.nrows(), DstT=dtypes.int32),
        )
        rows = raw.Maximum(x=rows, y=raw.ZerosLike(x=rows))
        starts = raw.Cumsum(x=rows, axis=0, exclusive=True)
        ids = raw.AddV2(x=numbers, y=raw.GatherV2(params=starts, indices=example, axis=0))
        made = RaggedTensor.from_value_rowids(
            inner, ids, nrows=raw.Sum(input=rows, reduction_indices=[0]), validate=validate
        )
        return RaggedTensor.from_row_lengths(made, rows, validate=validate)
    return RaggedTensor.from_row_splits(
        RaggedTensor.from_row_lengths(inner, lengths, validate=validate), outer, validate=validate
    )


# ---- sequences -------------------------------------------------------------------------------------------


def _parse_sequences(serialized, context_features, sequence_features, names, name):
    if not (context_features or sequence_features):
        raise ValueError(
            "Both `context_features` and `sequence_features` argument are None, but at least one should have values."
        )
    context = Params(context_features, (VarLenFeature, FixedLenFeature, RaggedFeature))
    lists = Params(sequence_features, (VarLenFeature, FixedLenSequenceFeature, RaggedFeature))
    for key, (_, _, default) in lists.dense.items():
        if default is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
    serialized = convert_to_tensor(serialized, dtype=dtypes.string)
    if (context.ragged or lists.ragged) and serialized.shape.rank is None:
        raise ValueError("serialized must have statically-known rank to parse ragged features.")
    out = raw.ParseSequenceExampleV2(
        serialized=serialized,
        debug_name=[] if names is None else names,
        context_sparse_keys=_keys(context.sparse),
        context_dense_keys=_keys(context.dense),
        context_ragged_keys=_keys(context.ragged),
        feature_list_sparse_keys=_keys(lists.sparse),
        feature_list_dense_keys=_keys(lists.dense),
        feature_list_ragged_keys=_keys(lists.ragged),
        feature_list_dense_missing_assumed_empty=convert_to_tensor(
            [k in lists.missing_is_empty for k in lists.dense], dtype=dtypes.bool
        ),
        context_dense_defaults=context.defaults(),
        Ncontext_sparse=len(context.sparse),
        Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense),
        context_sparse_types=list(context.sparse.values()),
        context_ragged_value_types=[v for v, _ in context.ragged.values()],
        context_ragged_split_types=[s for _, s in context.ragged.values()],
        feature_list_dense_types=[t for t, _, _ in lists.dense.values()],
        feature_list_sparse_types=list(lists.sparse.values()),
        feature_list_ragged_value_types=[v for v, _ in lists.ragged.values()],
        feature_list_ragged_split_types=[s for _, s in lists.ragged.values()],
        context_dense_shapes=context.shapes(),
        feature_list_dense_shapes=lists.shapes(),
        name=name,
    )
    batch = serialized.shape.rank != 0
    of_context = dict(zip(context.sparse, _sparse(*out[0:3])))
    of_context.update(zip(context.dense, out[3]))
    of_context.update(zip(context.ragged, _ragged(out[4], out[5]) if batch else out[4]))
    of_lists = dict(zip(lists.sparse, _sparse(*out[6:9])))
    of_lists.update(zip(lists.dense, out[9]))
    inner = _ragged(out[11], out[13])
    of_lists.update(zip(lists.ragged, _ragged(inner, out[12]) if batch else inner))
    return of_context, of_lists, dict(zip(lists.dense, out[10]))


@dispatchable
def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """A batch of serialized SequenceExamples: dicts of the context, of the lists, and of the lengths of dense lists."""
    return _parse_sequences(serialized, context_features, sequence_features, example_names, name)


@dispatchable
def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """One serialized SequenceExample: dicts of the context and of the lists."""
    serialized = _scalar(serialized)
    return _parse_sequences(serialized, context_features, sequence_features, example_name, name)[:2]
