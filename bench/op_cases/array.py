"""Ops that move elements, and segments."""

import numpy as np

from op_cases.base import case, floats, i32, image, integers, random, raw, rows, square, text_count, words


@case("ConcatV2")
def _concat(tf, n, op, kind):
    return raw(tf, op, values=[floats(n // 4) for _ in range(4)], axis=np.int32(0).reshape(()))


@case("ConcatV2/columns")
def _concat_columns(tf, n, op, kind):
    return raw(tf, op, values=[floats(max(1, n // 256), 64) for _ in range(4)], axis=np.int32(1).reshape(()))


@case("ConcatV2/narrow columns")
def _concat_narrow(tf, n, op, kind):
    return raw(tf, op, values=[floats(max(1, n // 8), 2) for _ in range(4)], axis=np.int32(1).reshape(()))


@case("Pack")
def _pack(tf, n, op, kind):
    return raw(tf, op, values=[floats(n // 4) for _ in range(4)], axis=0)


@case("Pack/last")
def _pack_last(tf, n, op, kind):
    return raw(tf, op, values=[floats(n // 4) for _ in range(4)], axis=1)


@case("Unpack")
def _unpack(tf, n, op, kind):
    return raw(tf, op, value=floats(4, n // 4), num=4, axis=0)


@case("Split")
def _split(tf, n, op, kind):
    return raw(tf, op, axis=np.int32(1).reshape(()), value=floats(*rows(n)), num_split=4)


@case("SplitV")
def _split_v(tf, n, op, kind):
    return raw(tf, op, value=floats(*rows(n)), size_splits=i32(16, 40, 8), axis=np.int32(1).reshape(()), num_split=3)


@case("Reshape")
def _reshape(tf, n, op, kind):
    return raw(tf, op, tensor=floats(n), shape=i32(-1, 8))


@case("Squeeze")
def _squeeze(tf, n, op, kind):
    return raw(tf, op, input=floats(1, n))


@case("ExpandDims")
def _expand(tf, n, op, kind):
    return raw(tf, op, input=floats(n), axis=np.int32(0).reshape(()))


@case("Shape", "Size", "Rank", "StopGradient", "Snapshot", "DeepCopy")
def _shape(tf, n, op, kind):
    return raw(tf, op, **{"x" if op == "DeepCopy" else "input": floats(n)})


@case("ShapeN")
def _shape_n(tf, n, op, kind):
    return raw(tf, op, input=[floats(n), floats(n)])


@case("IdentityN")
def _identity_n(tf, n, op, kind):
    return raw(tf, op, input=[floats(n), floats(n)])


@case("StridedSlice")
def _strided(tf, n, op, kind):
    return raw(
        tf, op, input=floats(*rows(n)), begin=i32(0, 8), end=i32(0, 40), strides=i32(1, 1), begin_mask=1, end_mask=1
    )


@case("StridedSlice/steps")
def _strided_steps(tf, n, op, kind):
    return raw(tf, op, input=floats(n), begin=i32(0), end=i32(n), strides=i32(2))


@case("StridedSlice/reversed")
def _strided_reversed(tf, n, op, kind):
    return raw(tf, op, input=floats(n), begin=i32(0), end=i32(0), strides=i32(-1), begin_mask=1, end_mask=1)


@case("StridedSliceGrad")
def _strided_gradient(tf, n, op, kind):
    r, c = rows(n)
    return raw(
        tf,
        op,
        shape=i32(r, c),
        begin=i32(0, 8),
        end=i32(0, 40),
        strides=i32(1, 1),
        dy=floats(r, 32),
        begin_mask=1,
        end_mask=1,
    )


@case("Slice")
def _slice(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, input=floats(r, c), begin=i32(0, 8), size=i32(r, 32))


@case("Tile")
def _tile(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n // 4 or 1)), multiples=i32(2, 2))


@case("Tile/narrow")
def _tile_narrow(tf, n, op, kind):
    return raw(tf, op, input=floats(max(1, n // 16), 4), multiples=i32(1, 4))


@case("Tile/one column")
def _tile_column(tf, n, op, kind):
    return raw(tf, op, input=floats(max(1, n // 64), 1), multiples=i32(1, 64))


@case("BroadcastTo/row", "BroadcastTo/column")
def _broadcast(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, input=floats(1, c) if kind == "row" else floats(r, 1), shape=i32(r, c))


@case("Fill")
def _fill(tf, n, op, kind):
    return raw(tf, op, dims=i32(n), value=np.float32(3).reshape(()))


@case("Range")
def _range(tf, n, op, kind):
    return raw(tf, op, start=np.int32(0).reshape(()), limit=np.int32(n).reshape(()), delta=np.int32(1).reshape(()))


@case("LinSpace")
def _linspace(tf, n, op, kind):
    return raw(tf, op, start=np.float32(0).reshape(()), stop=np.float32(1).reshape(()), num=np.int32(n).reshape(()))


@case("OneHot")
def _one_hot(tf, n, op, kind):
    one, zero = np.float32(1).reshape(()), np.float32(0).reshape(())
    return raw(
        tf, op, indices=integers(max(1, n // 64), high=64), depth=np.int32(64).reshape(()), on_value=one, off_value=zero
    )


@case("Transpose")
def _transpose(tf, n, op, kind):
    return raw(tf, op, x=floats(*square(n)), perm=i32(1, 0))


@case("Transpose/nhwc nchw", "Transpose/nchw nhwc", "Transpose/heads")
def _transpose_image(tf, n, op, kind):
    order = {"nhwc nchw": (0, 3, 1, 2), "nchw nhwc": (0, 2, 3, 1), "heads": (0, 2, 1, 3)}[kind]
    return raw(tf, op, x=floats(*image(n)), perm=i32(*order))


@case("ReverseV2")
def _reverse(tf, n, op, kind):
    return raw(tf, op, tensor=floats(*rows(n)), axis=i32(1))


@case("ReverseV2/first")
def _reverse_first(tf, n, op, kind):
    return raw(tf, op, tensor=floats(*rows(n)), axis=i32(0))


@case("Roll")
def _roll(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), shift=i32(3), axis=i32(1))


@case("Pad", "PadV2", "MirrorPad")
def _pad(tf, n, op, kind):
    more = {"PadV2": dict(constant_values=np.float32(1).reshape(())), "MirrorPad": dict(mode="REFLECT")}.get(op, {})
    paddings = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], "int32")
    return raw(tf, op, input=floats(*image(n)), paddings=paddings, **more)


@case("GatherV2")
def _gather(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, params=floats(r, c), indices=integers(r, high=r), axis=np.int32(0).reshape(()))


@case("GatherV2/elements")
def _gather_elements(tf, n, op, kind):
    return raw(tf, op, params=floats(n), indices=integers(n, high=n), axis=np.int32(0).reshape(()))


@case("GatherV2/columns")
def _gather_columns(tf, n, op, kind):
    return raw(tf, op, params=floats(*rows(n)), indices=integers(64, high=64), axis=np.int32(1).reshape(()))


@case("GatherNd")
def _gather_nd(tf, n, op, kind):
    r, c = rows(n)
    at = np.stack([integers(n, high=r), integers(n, high=c)], 1)
    return raw(tf, op, params=floats(r, c), indices=at)


@case("ScatterNd")
def _scatter(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, indices=integers(r, 1, high=r), updates=floats(r, c), shape=i32(r, c))


@case("TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin", "TensorScatterUpdate")
def _tensor_scatter(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, tensor=floats(r, c), indices=integers(r, 1, high=r), updates=floats(r, c))


@case("UnsortedSegmentSum", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd")
def _unsorted(tf, n, op, kind):
    r, c = rows(n)
    return raw(
        tf,
        op,
        data=floats(r, c),
        segment_ids=integers(r, high=max(1, r // 8)),
        num_segments=np.int32(max(1, r // 8)).reshape(()),
    )


@case("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd")
def _segment(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, data=floats(r, c), segment_ids=np.sort(integers(r, high=max(1, r // 8))))


@case("SparseSegmentSum", "SparseSegmentMean")
def _sparse_segment(tf, n, op, kind):
    r, c = rows(n)
    return raw(
        tf, op, data=floats(r, c), indices=integers(r, high=r), segment_ids=np.sort(integers(r, high=max(1, r // 8)))
    )


@case("Where")
def _where(tf, n, op, kind):
    return raw(tf, op, condition=floats(n) > 0)


@case("Where/matrix")
def _where_matrix(tf, n, op, kind):
    return raw(tf, op, condition=floats(*rows(n)) > 1.5)


@case("Unique", "UniqueWithCounts", "Unique/many")
def _unique(tf, n, op, kind):
    return raw(tf, op, x=integers(n, high=10 * n if kind else 1000))


@case("Unique/strings")
def _unique_strings(tf, n, op, kind):
    return raw(tf, op, x=words(text_count(n), 3))


@case("ListDiff")
def _list_diff(tf, n, op, kind):
    return raw(tf, op, x=integers(n, high=n), y=integers(max(1, n // 4), high=n))


@case("TopKV2")
def _top(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), k=np.int32(8).reshape(()))


@case("TopKV2/sort")
def _sort(tf, n, op, kind):
    return raw(tf, op, input=floats(n), k=np.int32(n).reshape(()))


@case("TopKV2/sort rows")
def _sort_rows(tf, n, op, kind):
    r, c = rows(n, 1024) if n > 1024 else (1, n)
    return raw(tf, op, input=floats(r, c), k=np.int32(c).reshape(()))


@case("TopKV2/ten of all")
def _top_all(tf, n, op, kind):
    return raw(tf, op, input=floats(n), k=np.int32(10).reshape(()))


@case("InTopKV2")
def _in_top(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, predictions=floats(r, c), targets=integers(r, high=c), k=np.int32(5).reshape(()))


@case("NthElement")
def _nth(tf, n, op, kind):
    return raw(tf, op, input=floats(*rows(n)), n=np.int32(5).reshape(()))


@case("InvertPermutation")
def _invert_permutation(tf, n, op, kind):
    return raw(tf, op, x=random().permutation(n).astype("int32"))


@case("LowerBound", "UpperBound")
def _bound(tf, n, op, kind):
    return raw(tf, op, sorted_inputs=np.sort(floats(1, 1024)), values=floats(1, n))


@case("DynamicStitch")
def _stitch(tf, n, op, kind):
    r, c = rows(n)
    at = random().permutation(r).astype("int32")
    return raw(tf, op, indices=[at[: r // 2], at[r // 2 :]], data=[floats(r // 2, c), floats(r - r // 2, c)])


@case("DynamicPartition")
def _partition(tf, n, op, kind):
    r, c = rows(n)
    return raw(tf, op, data=floats(r, c), partitions=integers(r, high=4), num_partitions=4)


@case("DenseBincount", "Bincount")
def _bincount(tf, n, op, kind):
    if op == "Bincount":
        return raw(tf, op, arr=integers(n), size=np.int32(100).reshape(()), weights=np.zeros(0, "int32"))
    return raw(tf, op, input=integers(n), size=np.int32(100).reshape(()), weights=np.zeros(0, "int32"))


@case("MatrixDiagV3", "MatrixDiagPartV3", "MatrixSetDiagV3", "MatrixBandPart", "Diag")
def _diagonal(tf, n, op, kind):
    side = square(n)[0]
    zero, value = np.int32(0).reshape(()), np.float32(0).reshape(())
    if op == "MatrixDiagV3":
        return raw(
            tf,
            op,
            diagonal=floats(side),
            k=zero,
            num_rows=np.int32(-1).reshape(()),
            num_cols=np.int32(-1).reshape(()),
            padding_value=value,
        )
    if op == "MatrixDiagPartV3":
        return raw(tf, op, input=floats(side, side), k=zero, padding_value=value)
    if op == "MatrixSetDiagV3":
        return raw(tf, op, input=floats(side, side), diagonal=floats(side), k=zero)
    if op == "Diag":
        return raw(tf, op, diagonal=floats(side))
    return raw(tf, op, input=floats(side, side), num_lower=np.int64(1).reshape(()), num_upper=np.int64(2).reshape(()))


@case("BroadcastGradientArgs", "BroadcastArgs")
def _broadcast_gradient(tf, n, op, kind):
    return raw(tf, op, s0=i32(8, n // 8), s1=i32(n // 8))


@case("SpaceToBatchND", "SpaceToDepth", "DepthToSpace", "BatchToSpaceND", "ExtractImagePatches")
def _space(tf, n, op, kind):
    if op == "SpaceToBatchND":
        return raw(tf, op, input=floats(*image(n)), block_shape=i32(2, 2), paddings=np.zeros((2, 2), "int32"))
    if op == "BatchToSpaceND":
        b, h, w, d = image(n)
        return raw(
            tf,
            op,
            input=floats(b * 4, max(1, h // 2), max(1, w // 2), d),
            block_shape=i32(2, 2),
            crops=np.zeros((2, 2), "int32"),
        )
    if op == "ExtractImagePatches":
        return raw(
            tf,
            op,
            images=floats(*image(n)),
            ksizes=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            rates=[1, 1, 1, 1],
            padding="VALID",
        )
    return raw(tf, op, input=floats(*image(n)), block_size=2)
