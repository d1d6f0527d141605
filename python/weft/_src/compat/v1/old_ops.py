"""Ops whose arguments had other names or orders in version 1."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable


def _one(name, new, other, old):
    """The value of an argument that has an old and a new name."""
    if old is not None:
        if new is not None:
            raise ValueError(f"Cannot specify both '{other}' and '{name}'.")
        return old
    return new


def _cast_to(dtype, word):
    def cast(x, name="To" + word):
        from weft._src.ops.math_ops import cast

        return cast(x, dtype, name=name)

    cast.__name__ = "to_" + word.lower()
    cast.__doc__ = f"The value as {dtype.name}."
    return cast


to_float, to_double = _cast_to(dtypes.float32, "Float"), _cast_to(dtypes.float64, "Double")
to_int32, to_int64 = _cast_to(dtypes.int32, "Int32"), _cast_to(dtypes.int64, "Int64")
to_bfloat16 = _cast_to(dtypes.bfloat16, "BFloat16")
to_complex64, to_complex128 = _cast_to(dtypes.complex64, "Complex64"), _cast_to(dtypes.complex128, "Complex128")


def _reduction(name):
    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        from weft._src.ops import math_ops

        axis, keep = (
            _one("axis", axis, "reduction_indices", reduction_indices),
            _one("keepdims", keepdims, "keep_dims", keep_dims),
        )
        return getattr(math_ops, reduce.__name__)(input_tensor, axis=axis, keepdims=bool(keep), name=name)

    reduce.__name__ = name
    reduce.__doc__ = f"tf.{name} with version 1's names of arguments too."
    return reduce


reduce_sum, reduce_mean, reduce_max, reduce_min = (
    _reduction("reduce_sum"),
    _reduction("reduce_mean"),
    _reduction("reduce_max"),
    _reduction("reduce_min"),
)
reduce_prod, reduce_all, reduce_any = _reduction("reduce_prod"), _reduction("reduce_all"), _reduction("reduce_any")
reduce_logsumexp = _reduction("reduce_logsumexp")


def count_nonzero(
    input_tensor=None,
    axis=None,
    keepdims=None,
    dtype=dtypes.int64,
    name=None,
    reduction_indices=None,
    keep_dims=None,
    input=None,
):  # noqa: A002
    from weft._src.ops import math_ops

    return math_ops.count_nonzero(
        _one("input", input, "input_tensor", input_tensor),
        _one("axis", axis, "reduction_indices", reduction_indices),
        bool(_one("keepdims", keepdims, "keep_dims", keep_dims)),
        dtype,
        name,
    )


def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):  # noqa: A002
    from weft._src.ops import math_ops

    axis = _one("axis", axis, "dimension", dimension)
    return math_ops.argmax(input, 0 if axis is None else axis, output_type, name)


def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):  # noqa: A002
    from weft._src.ops import math_ops

    axis = _one("axis", axis, "dimension", dimension)
    return math_ops.argmin(input, 0 if axis is None else axis, output_type, name)


def div(x, y, name=None):
    """Python 2's division: whole numbers give whole numbers."""
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, dtype=x.dtype.base_dtype)
    return (
        raw.RealDiv(x=x, y=y, name=name)
        if x.dtype.is_floating or x.dtype.is_complex
        else raw.FloorDiv(x=x, y=y, name=name)
    )


def floor_div(x, y, name=None):
    return raw.FloorDiv(x=convert_to_tensor(x), y=convert_to_tensor(y), name=name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):  # noqa: A002
    from weft._src.ops import array_ops

    axis = _one("axis", axis, "squeeze_dims", squeeze_dims)
    return array_ops.squeeze(input, axis, name)


def expand_dims(input, axis=None, name=None, dim=None):  # noqa: A002
    from weft._src.ops import array_ops

    axis = _one("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return array_ops.expand_dims(input, axis, name)


@dispatchable
def where(condition, x=None, y=None, name=None):
    """Version 1's: x and y have one shape, and the condition may tell rows."""
    from weft._src.ops import array_ops

    if x is None and y is None:
        return array_ops.where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.Select(condition=condition, t=x, e=y, name=name)


def concat(values, axis, name="concat"):
    from weft._src.ops import array_ops

    return array_ops.concat(values, axis, name)


def sparse_to_dense_v1(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    return raw.SparseToDense(
        sparse_indices=sparse_indices,
        output_shape=output_shape,
        sparse_values=sparse_values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    from weft._src.ops.random_ops import categorical

    return categorical(logits, num_samples, output_dtype, seed, name)


def string_split(source, sep=None, skip_empty=True, delimiter=None, result_type="SparseTensor", name=None):
    """Words of texts, as a sparse or ragged tensor."""
    from weft._src.ops.sparse_tensor import SparseTensor

    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError('result_type must be "RaggedTensor" or "SparseTensor".')
    sep = _one("sep", sep, "delimiter", delimiter)
    indices, values, shape = raw.StringSplit(
        input=source, delimiter=" " if sep is None else sep, skip_empty=skip_empty, name=name
    )
    made = SparseTensor(indices, values, shape)
    if result_type == "RaggedTensor":
        from weft._src.ops.ragged.ragged_tensor import RaggedTensor

        return RaggedTensor.from_sparse(made)
    return made


def strings_split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Words of texts (tf.compat.v1.strings.split)."""
    from weft._src.ops.ragged.factory import stack
    from weft._src.ops.string_ops import split

    text = convert_to_tensor(source if input is None else input, dtypes.string)
    made = split(stack([text]) if text.shape.rank == 0 else text, sep, maxsplit)
    if result_type == "RaggedTensor":
        return made
    if result_type != "SparseTensor":
        raise ValueError('result_type must be "RaggedTensor" or "SparseTensor".')
    return made.to_sparse()


@dispatchable
def batch_gather(params, indices, name=None):
    from weft._src.ops import array_ops

    rank = convert_to_tensor(indices).shape.rank
    if rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return array_ops.gather(params, indices, batch_dims=rank - 1, name=name)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    from weft._src.function.control_flow import case as run

    return run(
        list(pred_fn_pairs.items()) if isinstance(pred_fn_pairs, dict) else pred_fn_pairs,
        default,
        exclusive,
        strict,
        name,
    )


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    from weft._src.function.control_flow import cond as run

    return run(pred, _one("true_fn", true_fn, "fn1", fn1), _one("false_fn", false_fn, "fn2", fn2), name=name)


def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
    maximum_iterations=None,
    return_same_structure=False,
):
    """Version 1's order; one variable comes back without its list."""
    from weft._src.function.control_flow import while_loop as run

    def listed(*values):
        out = body(*values)
        return out if isinstance(out, (list, tuple)) else [out]

    result = run(
        cond,
        listed if isinstance(loop_vars, (list, tuple)) and len(loop_vars) == 1 else body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        swap_memory,
        maximum_iterations,
        name,
    )
    if not return_same_structure and isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def in_top_k(predictions, targets, k, name=None):
    """Whether the class of each row is among its k greatest."""
    from weft._src.ops.search_ops import in_top_k as find

    return find(targets, predictions, k, name)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number comes."""
    from weft._src.ops.math_ops import bincount as count

    return count(arr, weights, minlength, maxlength, dtype)


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):  # noqa: A002
    """Bytes as numbers."""
    data = _one("input_bytes", input_bytes, "bytes", bytes)
    if data is None:
        raise ValueError("No encoded bytes were given: `input_bytes` is None")
    return raw.DecodeRaw(bytes=data, out_type=out_type, little_endian=little_endian, name=name)


def clip_by_average_norm(t, clip_norm, name=None):
    """The values scaled so that their average norm is at most `clip_norm`."""
    from weft._src.framework.graph import name_scope_v1
    from weft._src.ops import array_ops, math_ops

    with name_scope_v1(name, "clip_by_average_norm", [t, clip_norm]) as name:
        t = convert_to_tensor(t, name="t")
        size = math_ops.cast(array_ops.size(t), t.dtype)
        inverse = math_ops.rsqrt(math_ops.reduce_sum(t * t, math_ops.range(array_ops.rank(t)))) * size
        least = math_ops.minimum(inverse, convert_to_tensor(1.0, t.dtype) / clip_norm)
        return raw.Identity(input=t * clip_norm * least, name=name)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """What x has and y does not, and where."""
    return raw.ListDiff(x=x, y=y, out_idx=index_dtype, name=name)


def self_adjoint_eigvals(tensor, name=None):
    """Eigenvalues of symmetric matrices."""
    from weft._src.ops.linalg_ops import eigvalsh

    return eigvalsh(tensor, name=name)


def sparse_matmul(a, b, transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The op SparseMatMul: matrices that have many zeros."""
    return raw.SparseMatMul(
        a=a,
        b=b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        a_is_sparse=a_is_sparse,
        b_is_sparse=b_is_sparse,
        name=name,
    )


def my_fact():
    """The op Fact."""
    return raw.Fact()


def batch_to_space(input, crops, block_size, name=None, block_shape=None):  # noqa: A002
    """The op BatchToSpaceND with square blocks."""
    size = _one("block_shape", block_shape, "block_size", block_size)
    return raw.BatchToSpaceND(input=input, block_shape=[size, size], crops=crops, name=name)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):  # noqa: A002
    """The op SpaceToBatchND with square blocks."""
    size = _one("block_shape", block_shape, "block_size", block_size)
    return raw.SpaceToBatchND(input=input, block_shape=[size, size], paddings=paddings, name=name)
