"""Products of tensors: matmul, matvec, tensordot, einsum."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.ops._direct import scope


@dispatchable
def matmul(
    a,
    b,
    transpose_a=False,
    transpose_b=False,
    adjoint_a=False,
    adjoint_b=False,
    a_is_sparse=False,
    b_is_sparse=False,
    output_type=None,
    grad_a=False,
    grad_b=False,
    name=None,
):
    """The product of matrices; of stacks of them, one by one."""
    if not (
        transpose_a or transpose_b or adjoint_a or adjoint_b or a_is_sparse or b_is_sparse or output_type is not None
    ):
        out = _weft.matrix_product(a, b)
        if out is not NotImplemented:
            return out
    if transpose_a and adjoint_a:
        raise ValueError(
            f"Only one of `transpose_a` and `adjoint_a` can be True. Received `transpose_a`={transpose_a}, `adjoint_a`={adjoint_a}."
        )
    if transpose_b and adjoint_b:
        raise ValueError(
            f"Only one of `transpose_b` and `adjoint_b` can be True. Received `transpose_b`={transpose_b}, `adjoint_b`={adjoint_b}."
        )
    with scope(name, "MatMul") as name:
        a = (
            a
            if isinstance(a, Tensor)
            else convert_to_tensor(a, dtype_hint=b.dtype.base_dtype if isinstance(b, Tensor) else None, name="a")
        )
        b = b if isinstance(b, Tensor) else convert_to_tensor(b, dtype_hint=a.dtype.base_dtype, name="b")
        if output_type is not None:
            output_type = dtypes.as_dtype(output_type)
        wide = output_type is not None and output_type is not a.dtype.base_dtype
        ranks = a.shape.rank, b.shape.rank
        batched = wide or any(r is None or r > 2 for r in ranks)
        if not (a_is_sparse or b_is_sparse) and batched:
            a, adjoint_a = _adjoint(a, transpose_a, adjoint_a)
            b, adjoint_b = _adjoint(b, transpose_b, adjoint_b)
            if wide or a.dtype is not b.dtype:
                return raw.BatchMatMulV3(
                    x=a, y=b, adj_x=adjoint_a, adj_y=adjoint_b, Tout=output_type or a.dtype, name=name
                )
            return raw.BatchMatMulV2(x=a, y=b, adj_x=adjoint_a, adj_y=adjoint_b, name=name)
        if adjoint_a:
            a, transpose_a = _conj(a), True
        if adjoint_b:
            b, transpose_b = _conj(b), True
        small = (dtypes.bfloat16, dtypes.float32)
        if (a_is_sparse or b_is_sparse) and a.dtype in small and b.dtype in small:
            out = raw.SparseMatMul(
                a=a,
                b=b,
                transpose_a=transpose_a,
                transpose_b=transpose_b,
                a_is_sparse=a_is_sparse,
                b_is_sparse=b_is_sparse,
                name=name,
            )
            return raw.Cast(x=out, DstT=dtypes.bfloat16) if a.dtype is b.dtype is dtypes.bfloat16 else out
        return raw.MatMul(a=a, b=b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def _conj(x):
    return raw.Conj(input=x) if x.dtype.is_complex else x


def _adjoint(x, transpose, adjoint):
    """A transposition as the adjoint that ops for stacks of matrices know."""
    return (_conj(x), True) if transpose else (x, adjoint)


@dispatchable
def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """Matrices times vectors."""
    from weft._src.ops.array_ops import expand_dims

    with scope(name, "MatVec"):
        b = convert_to_tensor(b, dtype_hint=a.dtype.base_dtype if isinstance(a, Tensor) else None)
        out = matmul(
            a,
            expand_dims(b, axis=-1),
            transpose_a=transpose_a,
            adjoint_a=adjoint_a,
            a_is_sparse=a_is_sparse,
            b_is_sparse=b_is_sparse,
        )
        return raw.Squeeze(input=out, squeeze_dims=[-1])


def _contracted(a, b, axes):
    """The axes argument as two lists of axes."""
    if isinstance(axes, (int,)) and not isinstance(axes, bool):
        if axes < 0:
            raise ValueError(f"`axes` must be at least 0. Received: {axes}.")
        rank = a.shape.rank
        if rank is None:
            raise NotImplementedError("tf.tensordot by a number of axes of a tensor without a known rank")
        if axes > rank:
            raise ValueError(
                f"`axes` must not be larger than the number of dimensions of tensor {a}.  Received {axes}, vs tensor dimensions {rank}."
            )
        return list(range(rank - axes, rank)), list(range(axes))
    if isinstance(axes, EagerTensor):
        axes = axes._to_list()
        if isinstance(axes, int):
            return _contracted(a, b, axes)
    if isinstance(axes, Tensor):
        raise NotImplementedError("tf.tensordot with axes that are known only when the graph runs")
    axes = axes.tolist() if hasattr(axes, "tolist") else axes
    if len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    ones, others = ([int(x)] if not hasattr(x, "__len__") else [int(v) for v in x] for x in axes)
    if len(ones) != len(others):
        raise ValueError(f"Different number of contraction axes `a` and `b`, {len(ones)} != {len(others)}.")
    return ones, others


def _dot_of_open_ranks(a, b, ones, others):
    """tensordot where the ranks are known only when the graph runs."""
    from weft._src.ops.array_ops import concat, range, shape, where

    def matrix(t, axes, last):
        rank = raw.Rank(input=t)
        axes = convert_to_tensor(axes, dtypes.int32)
        axes = where(axes < 0, axes + rank, axes)
        free = raw.ListDiff(x=range(rank), y=axes).out
        sizes = raw.GatherV2(params=shape(t), indices=free, axis=0)
        inner = raw.Prod(input=raw.GatherV2(params=shape(t), indices=axes, axis=0), reduction_indices=[0])
        outer = raw.Prod(input=sizes, reduction_indices=[0])
        moved = raw.Transpose(x=t, perm=concat([free, axes] if last else [axes, free], 0))
        return raw.Reshape(tensor=moved, shape=raw.Pack(values=[outer, inner] if last else [inner, outer])), sizes

    left, rows = matrix(a, ones, True)
    right, cols = matrix(b, others, False)
    return raw.Reshape(tensor=matmul(left, right), shape=concat([rows, cols], 0))


@dispatchable
def tensordot(a, b, axes, name=None):
    """The sum of products over pairs of axes."""
    from weft._src.ops.array_ops import concat, shape

    with scope(name, "Tensordot") as name:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, dtype_hint=a.dtype, name="b")
        ones, others = _contracted(a, b, axes)
        if a.shape.rank is None or b.shape.rank is None:
            return _dot_of_open_ranks(a, b, ones, others)
        ones = [x % a.shape.rank for x in ones]
        others = [x % b.shape.rank for x in others]
        free_a = [i for i in range(a.shape.rank) if i not in ones]
        free_b = [i for i in range(b.shape.rank) if i not in others]

        def matrix(t, first, second):
            perm = first + second
            t = t if perm == list(range(t.shape.rank)) else raw.Transpose(x=t, perm=perm, name="transpose")
            sizes = t.shape.as_list()
            if None in sizes:
                sizes_now = shape(t)
                left = raw.Prod(input=sizes_now[: len(first)], reduction_indices=[0])
                right = raw.Prod(input=sizes_now[len(first) :], reduction_indices=[0])
                return raw.Reshape(tensor=t, shape=raw.Pack(values=[left, right]))
            rows = cols = 1
            for s in sizes[: len(first)]:
                rows *= s
            for s in sizes[len(first) :]:
                cols *= s
            return t if sizes == [rows, cols] else raw.Reshape(tensor=t, shape=[rows, cols])

        product = matmul(matrix(a, free_a, ones), matrix(b, others, free_b))
        sizes = [a.shape[i] for i in free_a] + [b.shape[i] for i in free_b]
        if None in sizes:
            dynamic = concat(
                [
                    raw.GatherV2(params=shape(a), indices=convert_to_tensor(free_a, dtypes.int32), axis=0),
                    raw.GatherV2(params=shape(b), indices=convert_to_tensor(free_b, dtypes.int32), axis=0),
                ],
                0,
            )
            out = raw.Reshape(tensor=product, shape=dynamic, name=name)
            out.set_shape(sizes)
            return out
        return (
            product
            if product._shape_tuple() == tuple(sizes)
            else raw.Reshape(tensor=product, shape=_weft.convert(sizes, dtypes.int32), name=name)
        )


@dispatchable
def einsum(equation, *inputs, **kwargs):
    """Einstein's sum: products of tensors summed over letters that the result does not have."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for this function: {', '.join(kwargs)}. Expected: name, optimize.")
    with scope(name, "einsum"):
        inputs = [
            convert_to_tensor(x)
            for x in (inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else inputs)
        ]
        terms, result = _equation(equation, [x.shape for x in inputs])
        if len(inputs) <= 2:
            return raw.Einsum(inputs=inputs, equation=f"{','.join(terms)}->{result}")
        return _pairwise(terms, result, inputs)


def _equation(equation, shapes):
    """(terms, result) with the result written out and the dots of each term kept."""
    equation = equation.replace(" ", "")
    left, arrow, result = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f'Got {len(shapes)} inputs for equation "{equation}", expecting {len(terms)}')
    words = [*terms, result]
    if "->" in result or any(not (w.replace("...", "", 1) == "" or w.replace("...", "", 1).isalpha()) for w in words):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    if arrow:
        for letter in result.replace("...", ""):
            if letter not in left:
                raise ValueError(f"Output subscripts contain the label {letter} not present in the input subscripts.")
            if result.count(letter) > 1:
                raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
    if not arrow:
        # As numpy: the letters that are there once, in alphabetical order, behind what the dots stand for.
        every = left.replace("...", "").replace(",", "")
        result = ("..." if "..." in left else "") + "".join(sorted(c for c in set(every) if every.count(c) == 1))
    return terms, result


def _pairwise(terms, result, inputs):
    """More than two tensors: two at a time, in the order that numpy finds cheapest."""
    import numpy as np

    # Letters for the axes that dots stand for, so that every pair is an equation of its own.
    used = set("".join(terms)) | set(result)
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in used]
    most = max((x.shape.rank - len(t.replace("...", "")) for t, x in zip(terms, inputs) if "..." in t), default=0)
    dots = "".join(spare[:most])

    def spelt(term, x):
        n = x.shape.rank - len(term.replace("...", ""))
        return term.replace("...", dots[len(dots) - n :])

    if not dots and "..." in "".join(terms) + result:
        terms, result = [t.replace("...", "") for t in terms], result.replace("...", "")
    broadcasts = dots and any(x.shape[i] == 1 for t, x in zip(terms, inputs) if "..." in t for i in range(x.shape.rank))
    if broadcasts:
        raise NotImplementedError("tf.einsum of three or more tensors that are broadcast over the axes of '...'")
    terms = [spelt(t, x) if "..." in t else t for t, x in zip(terms, inputs)]
    result = result.replace("...", dots)
    stand_ins = [np.broadcast_to(np.float32(0), [d or 2 for d in x.shape.as_list()]) for x in inputs]
    path, _ = np.einsum_path(",".join(terms) + "->" + result, *stand_ins, optimize="greedy")
    terms, inputs = list(terms), list(inputs)
    for step in path[1:]:
        picked = sorted(step, reverse=True)
        taken = [(terms.pop(i), inputs.pop(i)) for i in picked][::-1]
        kept = set(result) | set("".join(terms))
        letters = "".join(dict.fromkeys("".join(t for t, _ in taken)))
        out = result if not terms else "".join(c for c in letters if c in kept)
        while len(taken) > 2:
            (t0, x0), (t1, x1) = taken[:2]
            rest = set(out) | set("".join(t for t, _ in taken[2:]))
            part = "".join(c for c in dict.fromkeys(t0 + t1) if c in rest)
            taken[:2] = [(part, raw.Einsum(inputs=[x0, x1], equation=f"{t0},{t1}->{part}"))]
        made = raw.Einsum(inputs=[x for _, x in taken], equation=f"{','.join(t for t, _ in taken)}->{out}")
        terms.append(out)
        inputs.append(made)
    return inputs[0]
