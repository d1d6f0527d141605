"""tf.sparse: functions of sparse tensors."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.ops.sparse_tensor import SparseTensor, SparseTensorSpec, SparseTensorValue  # noqa: F401


def _sparse(value):
    if isinstance(value, SparseTensor):
        return value
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    raise TypeError("Input must be a SparseTensor.")


def _parts(value):
    value = _sparse(value)
    return value.indices, value.values, value.dense_shape


def _zero(dtype):
    return convert_to_tensor("" if dtype is dtypes.string else False if dtype is dtypes.bool else 0, dtype)


# ---- to and from dense ------------------------------------------------------------------------------------


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The whole tensor."""
    sp = _sparse(sp_input)
    default = _zero(sp.dtype) if default_value is None else default_value
    made = raw.SparseToDense(
        sparse_indices=sp.indices,
        output_shape=sp.dense_shape,
        sparse_values=sp.values,
        default_value=default,
        validate_indices=validate_indices,
        name=name,
    )
    made.set_shape(sp.shape)
    return made


def from_dense(tensor, name=None):
    """The elements that are not zero (or empty)."""
    tensor = convert_to_tensor(tensor)
    places = raw.Where(input=raw.NotEqual(x=tensor, y=_zero(tensor.dtype)))
    return SparseTensor(
        places, raw.GatherNd(params=tensor, indices=places), raw.Shape(input=tensor, out_type=dtypes.int64)
    )


def to_indicator(sp_input, vocab_size, name=None):
    """Whether each id is in each row: the values stand for places of the last axis."""
    sp = _sparse(sp_input)
    marks = sp.with_values(raw.Fill(dims=raw.Shape(input=sp.values), value=True))
    return to_dense(_merge_ids(sp, marks, vocab_size), default_value=False, validate_indices=False)


def _merge_ids(ids, values, vocab_size):
    kept = ids.indices[:, :-1]
    last = raw.ExpandDims(input=raw.Cast(x=ids.values, DstT=dtypes.int64), dim=1)
    size = raw.Cast(x=convert_to_tensor(vocab_size), DstT=dtypes.int64)
    shape = raw.ConcatV2(values=[ids.dense_shape[:-1], raw.Reshape(tensor=size, shape=[1])], axis=0)
    return reorder(SparseTensor(raw.ConcatV2(values=[kept, last], axis=1), values.values, shape))


# ---- order, shape, parts ---------------------------------------------------------------------------------


def reorder(sp_input, name=None):
    """In the order of the places."""
    sp = _sparse(sp_input)
    made = raw.SparseReorder(input_indices=sp.indices, input_values=sp.values, input_shape=sp.dense_shape, name=name)
    return _of(made[0], made[1], sp.dense_shape, sp.shape)


def _of(indices, values, dense_shape, static=None):
    made = SparseTensor(indices, values, dense_shape)
    if static is not None and made._static_shape.is_compatible_with(static):
        made._static_shape = made._static_shape.merge_with(static)
    return made


@dispatchable
def reshape(sp_input, shape, name=None):
    """The same elements in another shape."""
    sp = _sparse(sp_input)
    shape = (
        raw.Cast(x=shape, DstT=dtypes.int64) if isinstance(shape, Tensor) else convert_to_tensor(shape, dtypes.int64)
    )
    made = raw.SparseReshape(input_indices=sp.indices, input_shape=sp.dense_shape, new_shape=shape, name=name)
    return SparseTensor(made[0], sp.values, made[1])


def slice(sp_input, start, size, name=None):
    """A box of the tensor."""
    indices, values, shape = _parts(sp_input)
    made = raw.SparseSlice(
        indices=indices, values=values, shape=shape, start=_int64(start), size=_int64(size), name=name
    )
    return SparseTensor(made[0], made[1], made[2])


def _int64(value):
    return (
        raw.Cast(x=value, DstT=dtypes.int64)
        if isinstance(value, Tensor) and value.dtype is not dtypes.int64
        else convert_to_tensor(value, dtypes.int64)
    )


def split(sp_input=None, num_split=None, axis=None, name=None):
    """Pieces along an axis."""
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    if axis is None:
        raise ValueError("axis is required")
    indices, values, shape = _parts(sp_input)
    made = raw.SparseSplit(
        split_dim=_int64(axis), indices=indices, values=values, shape=shape, num_split=num_split, name=name
    )
    return [SparseTensor(*part) for part in zip(*made)]


def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Sparse tensors joined along an axis."""
    if not isinstance(sp_inputs, (list, tuple)):
        sp_inputs = [sp_inputs]
    inputs = [_sparse(s) for s in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    shapes = [s.dense_shape for s in inputs]
    if expand_nonconcat_dims:
        rank = next(s.shape.rank for s in inputs)
        at = axis % rank
        largest = raw.Max(input=raw.Pack(values=shapes, axis=0), reduction_indices=0)
        shapes = [raw.ConcatV2(values=[largest[:at], s[at : at + 1], largest[at + 1 :]], axis=0) for s in shapes]
    made = raw.SparseConcat(
        indices=[s.indices for s in inputs],
        values=[s.values for s in inputs],
        shapes=shapes,
        concat_dim=axis,
        name=name,
    )
    out = SparseTensor(made[0], made[1], made[2])
    known = [s.shape for s in inputs]
    if not expand_nonconcat_dims and isinstance(axis, int) and all(s.rank is not None for s in known):
        sizes, along = known[0].as_list(), [s.as_list()[axis] for s in known]
        sizes[axis] = None if None in along else sum(along)
        out.set_shape(sizes)
    return out


def transpose(sp_input, perm=None, name=None):
    """With the axes in another order."""
    sp = _sparse(sp_input)
    if perm is None:
        rank = sp.shape.rank
        perm = (
            list(range(rank))[::-1]
            if rank is not None
            else raw.ReverseV2(tensor=raw.Range(start=0, limit=raw.Size(input=sp.dense_shape), delta=1), axis=[0])
        )
    indices = raw.GatherV2(params=sp.indices, indices=perm, axis=1)
    shape = raw.GatherV2(params=sp.dense_shape, indices=perm, axis=0)
    made = SparseTensor(indices, sp.values, shape)
    order = constant_value(perm) if isinstance(perm, Tensor) else perm
    if order is not None and sp.shape.rank is not None:
        made._static_shape = TensorShape([sp.shape[int(i)] for i in order])
    return reorder(made)


def expand_dims(sp_input, axis=None, name=None):
    """With an axis of size 1 more."""
    sp = _sparse(sp_input)
    rank = sp.dense_shape.shape[0]
    axis = -1 if axis is None else axis
    if isinstance(axis, Tensor):
        axis = int(axis)
    if axis < 0:
        axis = axis + rank + 1
    column = raw.Fill(
        dims=raw.ConcatV2(
            values=[raw.Shape(input=sp.indices, out_type=dtypes.int64)[:1], convert_to_tensor([1], dtypes.int64)],
            axis=0,
        ),
        value=convert_to_tensor(0, dtypes.int64),
    )
    rows = raw.Size(input=sp.values)
    before = raw.Slice(input=sp.indices, begin=[0, 0], size=raw.Pack(values=[rows, axis], axis=0))
    indices = raw.ConcatV2(values=[before, column, sp.indices[:, axis:]], axis=1)
    shape = raw.ConcatV2(
        values=[sp.dense_shape[:axis], convert_to_tensor([1], dtypes.int64), sp.dense_shape[axis:]], axis=0
    )
    return SparseTensor(indices, sp.values, shape)


def reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape, or in the smallest that holds them."""
    from weft._src.ops.ragged import checks

    sp = _sparse(sp_input)
    if new_shape is None:
        low = convert_to_tensor(0, dtypes.int64)
        last = raw.Max(
            input=raw.ConcatV2(
                values=[
                    sp.indices,
                    raw.Sub(x=raw.ZerosLike(x=sp.dense_shape), y=convert_to_tensor(1, dtypes.int64))[None],
                ],
                axis=0,
            ),
            reduction_indices=0,
        )
        return SparseTensor(
            sp.indices, sp.values, raw.Maximum(x=raw.AddV2(x=last, y=convert_to_tensor(1, dtypes.int64)), y=low)
        )
    wanted = _int64(new_shape)
    have, want = constant_value(sp.dense_shape), constant_value(wanted)
    if have is not None and want is not None:
        if len(have) != len(want):
            raise ValueError(f"Dimensions {len(have)} and {len(want)} are not compatible")
        if (want < have).any():
            raise ValueError(
                f"Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
                f"({have}), sp_input.shape ({want})."
            )
    else:
        checks.at_most(sp.dense_shape, wanted)
    return SparseTensor(sp.indices, sp.values, wanted)


def retain(sp_input, to_retain):
    """Only the elements that to_retain marks."""
    sp = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    have, want = sp.values.shape[0], to_retain.shape.with_rank(1)[0]
    if have is not None and want is not None and have != want:
        raise ValueError(f"Dimensions {have} and {want} are not compatible")
    places = raw.Reshape(tensor=raw.Where(input=to_retain), shape=[-1])
    return _of(
        raw.GatherV2(params=sp.indices, indices=places, axis=0),
        raw.GatherV2(params=sp.values, indices=places, axis=0),
        sp.dense_shape,
        sp.shape,
    )


def fill_empty_rows(sp_input, default_value, name=None):
    """With default_value at the start of rows that have nothing; and which rows these are."""
    sp = _sparse(sp_input)
    default = convert_to_tensor(default_value, sp.dtype)
    made = raw.SparseFillEmptyRows(
        indices=sp.indices, values=sp.values, dense_shape=sp.dense_shape, default_value=default, name=name
    )
    return _of(made[0], made[1], sp.dense_shape, sp.shape), made[2]


def mask(a, mask_indices, name=None):
    """IndexedSlices without the rows that mask_indices name."""
    indices = convert_to_tensor(a.indices)
    rest, places = raw.ListDiff(x=indices, y=raw.Cast(x=convert_to_tensor(mask_indices), DstT=indices.dtype))
    return IndexedSlices(raw.GatherV2(params=a.values, indices=places, axis=0), rest, a.dense_shape)


# ---- arithmetic ------------------------------------------------------------------------------------------


def add(a, b, threshold=0):
    """a + b of which at least one is sparse; sums below the threshold are left out."""
    kinds = (SparseTensor, SparseTensorValue)
    if not isinstance(a, kinds) and not isinstance(b, kinds):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if isinstance(a, kinds) and isinstance(b, kinds):
        a, b = _sparse(a), _sparse(b)
        limit = convert_to_tensor(threshold, a.dtype.real_dtype)
        made = raw.SparseAdd(
            a_indices=a.indices,
            a_values=a.values,
            a_shape=a.dense_shape,
            b_indices=b.indices,
            b_values=b.values,
            b_shape=b.dense_shape,
            thresh=limit,
        )
        return _of(made[0], made[1], made[2], a.shape.most_specific_compatible_shape(b.shape))
    sparse, dense = (_sparse(a), b) if isinstance(a, kinds) else (_sparse(b), a)
    return raw.SparseTensorDenseAdd(
        a_indices=sparse.indices,
        a_values=sparse.values,
        a_shape=sparse.dense_shape,
        b=convert_to_tensor(dense, sparse.dtype),
    )


def _binary(op, a, b, name):
    a, b = _sparse(a), _sparse(b)
    made = op(
        a_indices=a.indices,
        a_values=a.values,
        a_shape=a.dense_shape,
        b_indices=b.indices,
        b_values=b.values,
        b_shape=b.dense_shape,
        name=name,
    )
    return SparseTensor(made[0], made[1], a.dense_shape)


def maximum(sp_a, sp_b, name=None):
    """The greater of the elements."""
    return _binary(raw.SparseSparseMaximum, sp_a, sp_b, name)


def minimum(sp_a, sp_b, name=None):
    """The lesser of the elements."""
    return _binary(raw.SparseSparseMinimum, sp_a, sp_b, name)


def softmax(sp_input, name=None):
    """Softmax of the elements of each row."""
    sp = _sparse(sp_input)
    made = raw.SparseSoftmax(sp_indices=sp.indices, sp_values=sp.values, sp_shape=sp.dense_shape, name=name)
    return _of(sp.indices, made, sp.dense_shape, sp.shape)


def _reduction(dense, sparse, axis, sp_input, keepdims, output_is_sparse, name):
    sp = _sparse(sp_input)
    if axis is None:
        axis = raw.Range(start=0, limit=raw.Size(input=sp.dense_shape), delta=1)
    made = (sparse if output_is_sparse else dense)(
        input_indices=sp.indices,
        input_values=sp.values,
        input_shape=sp.dense_shape,
        reduction_axes=axis,
        keep_dims=bool(keepdims),
        name=name,
    )
    return SparseTensor(made[0], made[1], made[2]) if output_is_sparse else made


def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sum over axes."""
    return _reduction(raw.SparseReduceSum, raw.SparseReduceSumSparse, axis, sp_input, keepdims, output_is_sparse, name)


def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The greatest of the elements over axes."""
    return _reduction(raw.SparseReduceMax, raw.SparseReduceMaxSparse, axis, sp_input, keepdims, output_is_sparse, name)


def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse and a dense matrix, in either order."""
    if isinstance(b, (SparseTensor, SparseTensorValue)):
        # b a' = (a b')'
        from weft._src.ops import array_ops

        flipped = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        return array_ops.matrix_transpose(flipped, conjugate=flipped.dtype.is_complex)
    sp = _sparse(sp_a)
    return raw.SparseTensorDenseMatMul(
        a_indices=sp.indices,
        a_values=sp.values,
        a_shape=sp.dense_shape,
        b=convert_to_tensor(b),
        adjoint_a=adjoint_a,
        adjoint_b=adjoint_b,
        name=name,
    )


def map_values(op, *args, **kwargs):
    """op of the values of the sparse tensors among the arguments, which have the same places."""
    from weft._src.ops.ragged import checks

    found = []

    def values(x):
        if isinstance(x, SparseTensor):
            found.append(x)
            return x.values
        if isinstance(x, (list, tuple)):
            return type(x)(values(v) for v in x)
        return x

    args = [values(v) for v in args]
    kwargs = {k: values(v) for k, v in kwargs.items()}
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")
    first = found[0]
    for other in found[1:]:
        for a, b in ((first.indices, other.indices), (first.dense_shape, other.dense_shape)):
            if a is not b:
                checks.equal(raw.Shape(input=a), raw.Shape(input=b), "Mismatched indices!")
                checks.equal(a, b, "Mismatched indices!")
    made = convert_to_tensor(op(*args, **kwargs))
    made.shape.with_rank(1)
    return first.with_values(made)


# ---- others ----------------------------------------------------------------------------------------------


def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal."""
    rows = _int64(num_rows)
    columns = rows if num_columns is None else _int64(num_columns)
    count = raw.Minimum(x=rows, y=columns)
    diagonal = raw.Range(
        start=convert_to_tensor(0, dtypes.int64), limit=count, delta=convert_to_tensor(1, dtypes.int64)
    )
    ones = raw.Fill(dims=raw.ExpandDims(input=count, dim=0), value=convert_to_tensor(1, dtypes.as_dtype(dtype)))
    return SparseTensor(raw.Pack(values=[diagonal, diagonal], axis=1), ones, raw.Pack(values=[rows, columns], axis=0))


def _cross_inputs(inputs):
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    if not isinstance(inputs, (list, tuple)):
        raise TypeError("Inputs must be a list")
    sparse, dense = [], []
    for item in inputs:
        if isinstance(item, SparseTensorValue):
            item = SparseTensor.from_value(item)
        if isinstance(item, RaggedTensor):
            raise TypeError("All inputs must be Tensors or SparseTensors.")
        (sparse if isinstance(item, SparseTensor) else dense).append(
            item if isinstance(item, SparseTensor) else convert_to_tensor(item)
        )

    def typed(t):
        return raw.Cast(x=t, DstT=dtypes.int64) if t.dtype.is_integer and t.dtype is not dtypes.int64 else t

    return {
        "indices": [s.indices for s in sparse],
        "values": [typed(s.values) for s in sparse],
        "shapes": [s.dense_shape for s in sparse],
        "dense_inputs": [typed(d) for d in dense],
    }


def cross(inputs, name=None, separator=None):
    """Every combination of the elements of rows, as text."""
    given = _cross_inputs(inputs)
    given["values"] = [v if v.dtype is dtypes.string else raw.AsString(input=v) for v in given["values"]]
    given["dense_inputs"] = [v if v.dtype is dtypes.string else raw.AsString(input=v) for v in given["dense_inputs"]]
    made = raw.SparseCrossV2(**given, sep="_X_" if separator is None else separator, name=name)
    return SparseTensor(made[0], made[1], made[2])


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Every combination of the elements of rows, as hashes."""
    given = _cross_inputs(inputs)
    numbers = any(v.dtype is not dtypes.string for v in given["values"] + given["dense_inputs"])
    made = raw.SparseCross(
        **given,
        hashed_output=True,
        num_buckets=num_buckets,
        hash_key=0xDECAFCAFFE if hash_key is None else hash_key,
        out_type=dtypes.int64,
        internal_type=dtypes.int64 if numbers else dtypes.string,
        name=name,
    )
    return SparseTensor(made[0], made[1], made[2])


@dispatchable
def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """How often each number occurs, as a sparse tensor: in all (axis=0) or in each row (axis=-1)."""
    from weft._src.ops.ragged.ragged_tensor import RaggedTensor

    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    is_ragged = isinstance(values, RaggedTensor)
    if not is_ragged and not isinstance(values, SparseTensor):
        values = convert_to_tensor(values)
    if axis == 0:
        if isinstance(values, SparseTensor):
            weights = None if weights is None else weights.values
            values = values.values
        elif is_ragged:
            weights = None if weights is None else weights.flat_values
            values = values.flat_values
        else:
            weights = None if weights is None else raw.Reshape(tensor=convert_to_tensor(weights), shape=[-1])
        values = raw.Reshape(tensor=values, shape=[-1])
        is_ragged = False
    options = {
        "minlength": -1 if minlength is None else minlength,
        "maxlength": -1 if maxlength is None else maxlength,
        "binary_output": binary_output,
    }
    own = values.values.dtype if isinstance(values, SparseTensor) or is_ragged else values.dtype
    none = convert_to_tensor([], dtypes.int64 if own is dtypes.int64 else dtypes.int32)  # counts have its type

    def integers(t):
        return t if t.dtype in (dtypes.int32, dtypes.int64) else raw.Cast(x=t, DstT=dtypes.int32)

    if isinstance(values, SparseTensor):
        made = raw.SparseCountSparseOutput(
            indices=values.indices,
            values=integers(values.values),
            dense_shape=values.dense_shape,
            weights=none if weights is None else weights.values,
            **options,
        )
    elif is_ragged:
        made = raw.RaggedCountSparseOutput(
            splits=values.row_splits,
            values=integers(values.values),
            weights=none if weights is None else weights.values,
            **options,
        )
    else:
        made = raw.DenseCountSparseOutput(
            values=integers(values), weights=none if weights is None else convert_to_tensor(weights), **options
        )
    return SparseTensor(made[0], made[1], made[2])


def _segment(op, with_count):
    def function(data, indices, segment_ids, num_segments=None, name=None, sparse_gradient=False):
        if num_segments is None:
            return op(data=data, indices=indices, segment_ids=segment_ids, sparse_gradient=sparse_gradient, name=name)
        return with_count(
            data=data,
            indices=indices,
            segment_ids=segment_ids,
            num_segments=num_segments,
            sparse_gradient=sparse_gradient,
            name=name,
        )

    return function


segment_sum, segment_mean, segment_sqrt_n = (
    _segment(raw.SparseSegmentSum, raw.SparseSegmentSumWithNumSegments),
    _segment(raw.SparseSegmentMean, raw.SparseSegmentMeanWithNumSegments),
    _segment(raw.SparseSegmentSqrtN, raw.SparseSegmentSqrtNWithNumSegments),
)
for _name, _doc in (
    ("segment_sum", "Sums"),
    ("segment_mean", "Means"),
    ("segment_sqrt_n", "Sums over the root of their number"),
):
    globals()[_name].__name__ = _name
    globals()[_name].__doc__ = f"{_doc} of the rows that indices name, by segment."


def sampled_addmm(indices, values, dense_shape, mat1, mat2, beta=1.0, alpha=1.0, output_type=dtypes.float32):
    """beta * values + alpha * (mat1 @ mat2), at the given places only."""
    from weft._src.ops import array_ops, product_ops

    indices, dense_shape = convert_to_tensor(indices), convert_to_tensor(dense_shape)
    values, mat1, mat2 = (convert_to_tensor(v, output_type) for v in (values, mat1, mat2))
    products = array_ops.gather_nd(product_ops.matmul(mat1, mat2), indices, batch_dims=indices.shape.rank - 2)
    alpha, beta = convert_to_tensor(alpha, output_type), convert_to_tensor(beta, output_type)
    return indices, products * alpha + values * beta, dense_shape


def placeholder(dtype, shape=None, name=None):
    """A sparse tensor that a session is fed (tf.compat.v1.sparse_placeholder)."""
    rank = None if shape is None else TensorShape(shape).rank
    prefix = (name + "/") if name else ""

    def make(dtype, shape, label):
        return raw.Placeholder(dtype=dtype, shape=shape, name=f"{prefix}{label}" if name else None)

    made = SparseTensor(
        make(dtypes.int64, TensorShape([None, rank]), "indices"),
        make(dtype, TensorShape([None]), "values"),
        make(dtypes.int64, TensorShape([rank]), "shape"),
    )
    if shape is not None:
        made._static_shape = TensorShape(shape)
    return made


sparse_placeholder = placeholder


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """Values at places of a tensor (tf.compat.v1.sparse_to_dense)."""
    values = convert_to_tensor(sparse_values)
    return raw.SparseToDense(
        sparse_indices=sparse_indices,
        output_shape=output_shape,
        sparse_values=values,
        default_value=convert_to_tensor(default_value, values.dtype),
        validate_indices=validate_indices,
        name=name,
    )


# The names of version 1, by which other parts of the package know them.
sparse_reshape, sparse_retain, sparse_fill_empty_rows, sparse_reorder, sparse_concat, sparse_slice = (
    reshape,
    retain,
    fill_empty_rows,
    reorder,
    concat,
    slice,
)
sparse_tensor_to_dense, sparse_add, sparse_tensor_dense_matmul = to_dense, add, sparse_dense_matmul
