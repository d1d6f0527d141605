"""Datasets without functions, walked by iterators."""
import numpy as np
import tensorflow as tf

from state_format import strings

F, D, I, L = np.float32, np.float64, np.int32, np.int64


def i64(v):
    return np.array(v, L)


def f32(v):
    return np.array(v, F)


def kind(a):
    return tf.string if a.dtype == object else tf.as_dtype(a.dtype)


class Data:
    """Short forms of dataset ops; each keeps the types and shapes that the next op's attributes need."""

    def __init__(self, r, ref, types, shapes):
        self.r, self.ref, self.types, self.shapes = r, ref, types, shapes

    def op(self, name, *inputs, types=None, shapes=None, fails=False, spec=True, **attrs):
        types, shapes = types or self.types, shapes or self.shapes
        given = dict(output_types=types, output_shapes=shapes) if spec else {}
        return Data(self.r, self.r.op(name, self.ref, *inputs, fails=fails, **given, **attrs), types, shapes)

    def batch(self, n, drop=False, **kw):
        return self.op("BatchDatasetV2", L(n), np.array(drop), shapes=[None if s is None else [None] + list(s) for s in self.shapes], **kw)

    def take(self, n, **kw):
        return self.op("TakeDataset", L(n), **kw)

    def skip(self, n, **kw):
        return self.op("SkipDataset", L(n), **kw)

    def repeat(self, n, **kw):
        return self.op("RepeatDataset", L(n), **kw)

    def size(self):
        self.r.op("DatasetCardinality", self.ref)
        return self

    def iterator(self, fails=False, types=None, shapes=None):
        types, shapes = types or self.types, shapes or self.shapes
        it = self.r.op("AnonymousIteratorV3", output_types=types, output_shapes=shapes)
        self.r.op("MakeIterator", self.ref, it, fails=fails)
        return it

    def next(self, it, fails=False, **kw):
        return self.r.ops("IteratorGetNext", it, fails=fails, output_types=self.types, output_shapes=self.shapes, **kw)

    def walk(self, n, end=True):
        """n elements, and then the end, twice."""
        it = self.iterator()
        for _ in range(n):
            self.next(it)
        for _ in range(2 if end else 0):
            self.next(it, fails=True)
        return self


def rng(r, start, stop, step=1, kind=tf.int64, **kw):
    return Data(r, r.op("RangeDataset", L(start), L(stop), L(step), output_types=[kind], output_shapes=[[]], **kw), [kind], [[]])


def slices(r, *arrays, **kw):
    types, shapes = [kind(a) for a in arrays], [list(a.shape[1:]) for a in arrays]
    return Data(r, r.op("TensorSliceDataset", *arrays, Toutput_types=types, output_shapes=shapes, **kw), types, shapes)


def tensors(r, *arrays, **kw):
    types, shapes = [kind(a) for a in arrays], [list(a.shape) for a in arrays]
    return Data(r, r.op("TensorDataset", *arrays, Toutput_types=types, output_shapes=shapes, **kw), types, shapes)


def sources(r):
    r.seq("range")
    for args, n in (((0, 5), 5), ((2, 9, 3), 3), ((5, 0, -2), 3), ((3, 3), 0), ((0, 5, -1), 0), ((5, 0), 0), ((-3, 3, 2), 3)):
        rng(r, *args).size().walk(n)
    big = np.iinfo(np.int64).max
    rng(r, big - 3, big).size().walk(3)
    rng(r, big - 3, big, 2).size()
    rng(r, -big - 1, -big + 3).size().walk(4)
    rng(r, 0, big).size().walk(2, end=False)
    rng(r, 0, -big - 1, -1).walk(2, end=False)
    rng(r, -big, big, 1).size()
    rng(r, 0, 5, 0, fails=True)
    r.op("RangeDataset", i64([0, 1]), L(2), L(1), output_types=[tf.int64], output_shapes=[[]], fails=True)
    r.op("RangeDataset", L(0), i64([2]), L(1), output_types=[tf.int64], output_shapes=[[]], fails=True)
    for t in (tf.int32, tf.float32, tf.float64, tf.uint8, tf.int8, tf.int16, tf.uint16, tf.float16, tf.uint32, tf.uint64):
        r.seq("range/" + t.name)
        rng(r, 0, 3, kind=t).size().walk(3)
    r.seq("range/bool")
    d = rng(r, 0, 3, kind=tf.bool)
    d.next(d.iterator(), fails=True)
    r.seq("tensor")
    tensors(r, f32([1, 2, 3])).size().walk(1)
    tensors(r, f32([[1, 2]]), strings("a", "b"), I(7)).size().walk(1)
    r.op("TensorDataset", f32([1, 2]), Toutput_types=[tf.float32], output_shapes=[[3]], fails=True)
    r.op("TensorDataset", f32([1, 2]), I(1), Toutput_types=[tf.float32, tf.int32], output_shapes=[[2]], fails=True)
    r.seq("slices")
    slices(r, f32([[1, 2], [3, 4], [5, 6]])).size().walk(3)
    slices(r, f32([1, 2]), strings("a", "b"), np.array([[True], [False]])).size().walk(2)
    slices(r, f32([])).size().walk(0)
    slices(r, np.zeros([2, 0, 3], F)).size().walk(2)
    slices(r, np.array([], object)).size().walk(0)
    r.op("TensorSliceDataset", F(1), Toutput_types=[tf.float32], output_shapes=[[]], fails=True)
    r.op("TensorSliceDataset", f32([1, 2]), f32([1]), Toutput_types=[tf.float32] * 2, output_shapes=[[], []], fails=True)
    r.op("TensorSliceDataset", f32([1, 2]), Toutput_types=[tf.float32], output_shapes=[[2]], fails=True)
    r.op("TensorSliceDataset", f32([1, 2]), Toutput_types=[tf.float32], output_shapes=[[], []], fails=True)
    r.seq("sparse_slices")

    def sparse(indices, values, shape, rank, **kw):
        return Data(r, r.op("SparseTensorSliceDataset", i64(indices), values, i64(shape), **kw), [tf.int64, kind(values), tf.int64],
                    [[None, rank - 1], [None], [rank - 1]])
    sparse([[0, 1], [2, 0], [2, 2]], f32([1, 2, 3]), [4, 3], 2).size().walk(4)
    sparse(np.zeros([0, 3], L), strings(), [2, 3, 4], 3).size().walk(2)
    sparse([[0, 1, 2], [1, 0, 0]], strings("a", "b"), [2, 3, 4], 3).size().walk(2)
    sparse([[2, 1], [0, 0]], f32([1, 2]), [3, 3], 2, fails=True)
    sparse([[0, 1]], f32([1, 2]), [3, 3], 2, fails=True)
    sparse([[0, 1]], f32([1]), [3, 3, 3], 2, fails=True)
    sparse([[5, 1]], f32([1]), [3, 3], 2).size().walk(3)
    sparse([0, 1], f32([1]), [3, 3], 2, fails=True)
    r.seq("list")
    t = [tf.int32, tf.string]
    Data(r, r.op("ListDataset", I(1), strings("a")[0], I(2), strings("b")[0], Tinput_types=[tf.int32, tf.string] * 2, output_types=t,
                 output_shapes=[[], []]), t, [[], []]).size().walk(2)
    for seeds in ((1, 2), (0, 7), (12345, 678)):
        r.seq(f"random/{seeds[0]}_{seeds[1]}")
        d = Data(r, r.op("RandomDataset", L(seeds[0]), L(seeds[1]), output_types=[tf.int64], output_shapes=[[]]), [tf.int64], [[]]).size()
        d.walk(6, end=False).walk(6, end=False)
        g = r.op("DummySeedGenerator")
        for again in (True, False):
            d = Data(r, r.op("RandomDatasetV2", L(seeds[0]), L(seeds[1]), g, rerandomize_each_iteration=again, output_types=[tf.int64],
                             output_shapes=[[]]), [tf.int64], [[]]).size()
            d.walk(5, end=False).walk(5, end=False)


def selections(r):
    r.seq("take")
    for n in (3, 0, -1, -5, 99):
        rng(r, 0, 5).take(n).size().walk(5 if n < 0 else min(n, 5))
    rng(r, 0, 5).repeat(-1).take(7).size().walk(7)
    rng(r, 0, 5).op("TakeDataset", i64([1]), fails=True)
    r.op("TakeDataset", L(1), L(1), output_types=[tf.int64], output_shapes=[[]], fails=True)
    r.seq("skip")
    for n in (3, 0, -1, 5, 99):
        rng(r, 0, 5).skip(n).size().walk(0 if n < 0 else max(0, 5 - n))
    rng(r, 0, 5).repeat(-1).skip(3).size().walk(4, end=False)
    rng(r, 0, 5).repeat(-1).skip(-1).size()
    r.seq("repeat")
    for n in (3, 0, 1):
        rng(r, 0, 2).repeat(n).size().walk(2 * n)
    for n in (-1, -2):
        rng(r, 0, 2).repeat(n).size().walk(5, end=False)
    rng(r, 0, 0).repeat(-1).size().walk(0)
    rng(r, 0, 0).repeat(3).size().walk(0)
    rng(r, 0, 2).repeat(-1).repeat(2).size().walk(3, end=False)
    r.seq("shard")
    for n, i in ((3, 0), (3, 1), (3, 2), (1, 0), (9, 3), (9, 8)):
        rng(r, 0, 7).op("ShardDataset", L(n), L(i)).size().walk(len(range(i, 7, n)))
    for n, i in ((0, 0), (-1, 0), (3, 3), (3, -1)):
        d = rng(r, 0, 7).op("ShardDataset", L(n), L(i), fails=None)
        if n == -1:
            d.iterator(fails=True)
    for i in (1, 4):
        d = rng(r, 0, 3).op("ShardDataset", L(5), L(i), require_non_empty=True).size()
        it = d.iterator()
        d.next(it, fails=None)
        d.next(it, fails=None)
    rng(r, 0, 7).op("ShardDataset", L(5), L(1), require_non_empty=True).size().walk(2)
    rng(r, 0, 7).op("ShardDataset", L(2), L(0), require_non_empty=True).size().walk(4)
    r.seq("assert_cardinality")
    rng(r, 0, 3).op("AssertCardinalityDataset", L(3)).size().walk(3)
    for n, seen in ((5, 3), (1, 1), (0, 0), (2, 2), (-1, 3)):
        d = rng(r, 0, 3).op("AssertCardinalityDataset", L(n)).size()
        it = d.iterator()
        for _ in range(seen):
            d.next(it)
        d.next(it, fails=True)
        d.next(it, fails=True)
    d = rng(r, 0, 3).op("AssertCardinalityDataset", L(-2)).size()
    it = d.iterator()
    for _ in range(4):
        d.next(it, fails=None)
    r.seq("sampling")
    for seeds in ((1, 2), (5, 0), (0, 9)):
        d = rng(r, 0, 20).op("SamplingDataset", F(0.4), L(seeds[0]), L(seeds[1])).size()
        it = d.iterator()
        for _ in range(12):
            d.next(it, fails=None)
    rng(r, 0, 4).op("SamplingDataset", F(1), L(1), L(1)).size().walk(4)
    rng(r, 0, 4).op("SamplingDataset", F(0), L(1), L(1)).size().walk(0)
    r.seq("unique")
    slices(r, np.array([1, 2, 1, 3, 2, 4], I)).op("UniqueDataset").size().walk(4)
    slices(r, strings("a", "b", "a", "", "ab", "")).op("UniqueDataset").size().walk(4)
    slices(r, i64([[1, 2], [2, 1], [1, 2]])).op("UniqueDataset").size().walk(2)
    slices(r, f32([1, 2])).op("UniqueDataset", fails=True)
    slices(r, i64([1]), i64([2])).op("UniqueDataset", fails=True)
    r.seq("ignore_errors")
    d = slices(r, f32([[1, 2], [3, 4]])).op("ConcatenateDataset", slices(r, f32([[1]])).ref, shapes=[[None]]).batch(2)
    d = d.op("IgnoreErrorsDataset").size()
    it = d.iterator()
    for _ in range(4):
        d.next(it, fails=None)
    rng(r, 0, 3).op("IgnoreErrorsDataset").size().walk(3)
    rng(r, 0, 3).repeat(-1).op("IgnoreErrorsDataset").size()


def combinations(r):
    r.seq("concatenate")
    a, b = rng(r, 0, 2), rng(r, 10, 12)
    a.op("ConcatenateDataset", b.ref).size().walk(4)
    a.op("ConcatenateDataset", b.repeat(-1).ref).size().walk(4, end=False)
    a.op("ConcatenateDataset", b.op("UniqueDataset").ref).size().walk(4)
    a.op("ConcatenateDataset", rng(r, 0, 2, kind=tf.int32).ref, fails=True)
    a.op("ConcatenateDataset", slices(r, i64([1]), i64([1])).ref, fails=True)
    d = slices(r, f32([[1, 2], [3, 4]])).op("ConcatenateDataset", slices(r, f32([[1]])).ref, shapes=[[None]]).size().walk(3)
    d.op("BatchDatasetV2", L(2), np.array(False), shapes=[[None, None]]).walk(2)
    slices(r, f32([[1, 2]])).op("ConcatenateDataset", slices(r, f32([[[1]]])).ref, shapes=[None]).walk(2)
    r.seq("zip")
    a, b = rng(r, 0, 2), rng(r, 10, 12)

    def zipped(*parts, **kw):
        types, shapes = sum((p.types for p in parts), []), sum((p.shapes for p in parts), [])
        return Data(r, r.op("ZipDataset", *[p.ref for p in parts], output_types=types, output_shapes=shapes, **kw), types, shapes)
    zipped(a, b).size().walk(2)
    zipped(rng(r, 0, 5), b, slices(r, strings("x", "y", "z"), f32([1, 2, 3]))).size().walk(2)
    zipped(rng(r, 0, 5).repeat(-1), b).size().walk(2)
    zipped(rng(r, 0, 5).repeat(-1), rng(r, 0, 1).repeat(-1)).size().walk(3, end=False)
    zipped(rng(r, 0, 5).op("UniqueDataset"), b).size().walk(2)
    zipped(rng(r, 0, 0), b).size().walk(0)
    zipped(zipped(a, b), b).size().walk(2)
    r.seq("directed_interleave")
    for stop in (False, True):
        def directed(choice, *parts, **kw):
            return Data(r, r.op("DirectedInterleaveDataset", choice.ref, *[p.ref for p in parts], stop_on_empty_dataset=stop,
                                output_types=parts[0].types, output_shapes=parts[0].shapes, **kw), parts[0].types, parts[0].shapes)
        directed(slices(r, i64([0, 1, 1, 0, 0, 1, 0, 1, 0])), rng(r, 0, 3), rng(r, 10, 13)).size().walk(5 if stop else 6)
        directed(slices(r, i64([1, 0, 1])), rng(r, 0, 3), rng(r, 10, 13)).size().walk(3)
        directed(rng(r, 0, 2).repeat(-1), rng(r, 0, 3), rng(r, 10, 11)).size().walk(3 if stop else 4)
        directed(rng(r, 0, 2).repeat(-1), rng(r, 0, 3).repeat(-1), rng(r, 10, 11)).size().walk(3, end=False)
        directed(rng(r, 0, 2).repeat(-1), rng(r, 0, 3).repeat(-1), rng(r, 10, 11).repeat(-1)).size()
        directed(rng(r, 0, 2), rng(r, 0, 3).repeat(-1), rng(r, 10, 11).repeat(-1)).size()
        for bad in (2, -1):
            d = directed(slices(r, i64([0, bad])), rng(r, 0, 3), rng(r, 10, 13))
            it = d.iterator()
            d.next(it)
            d.next(it, fails=True)
        directed(slices(r, f32([0])), rng(r, 0, 3), rng(r, 10, 13), fails=True)
        directed(slices(r, i64([[0]])), rng(r, 0, 3), rng(r, 10, 13), fails=True)
        directed(slices(r, i64([0])), rng(r, 0, 3), rng(r, 10, 13, kind=tf.int32), fails=True)


def batches(r):
    r.seq("batch")
    for n, drop, count in ((2, False, 3), (2, True, 2), (5, True, 1), (7, True, 0), (7, False, 1), (1, False, 5), (1 << 40, False, 1)):
        rng(r, 0, 5).batch(n, drop).size().walk(count)
    rng(r, 0, 5).repeat(-1).batch(3).size().walk(3, end=False)
    for n in (0, -1):
        rng(r, 0, 5).batch(n, fails=True)
    rng(r, 0, 5).op("BatchDatasetV2", i64([2]), np.array(False), fails=True)
    slices(r, f32([[1, 2], [3, 4], [5, 6]]), strings("a", "b", "c"), np.array([True, False, True])).batch(2).size().walk(2)
    rng(r, 0, 7).batch(2).batch(2).size().walk(2, end=False)
    rng(r, 0, 0).batch(2).size().walk(0)
    d = rng(r, 0, 7).batch(2).batch(4)
    d.next(d.iterator(), fails=True)
    for n, drop, count in ((2, False, 3), (2, True, 2)):
        rng(r, 0, 5).op("ParallelBatchDataset", L(n), L(2), np.array(drop), shapes=[[None]]).size().walk(count)
    rng(r, 0, 5).op("ParallelBatchDataset", L(2), L(0), np.array(False), shapes=[[None]], fails=True)
    rng(r, 0, 5).op("ParallelBatchDataset", L(0), L(1), np.array(False), shapes=[[None]], fails=True)
    r.seq("unbatch")
    u = lambda d: d.op("UnbatchDataset", shapes=[None if s is None else s[1:] for s in d.shapes])
    u(rng(r, 0, 5).batch(2)).size().walk(5)
    u(rng(r, 0, 5).batch(2, True)).size().walk(4)
    u(slices(r, f32([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]), i64([[1, 2], [3, 4]]))).size().walk(4)
    u(tensors(r, f32([]))).size().walk(0)
    u(tensors(r, strings("a", "b"))).size().walk(2)
    d = u(tensors(r, f32([1, 2]), f32([1, 2, 3])))
    d.next(d.iterator(), fails=True)
    d = tensors(r, F(1)).op("UnbatchDataset", shapes=[None], fails=None)
    if d.ref is not None:
        d.next(d.iterator(), fails=True)
    u(rng(r, 0, 2).repeat(-1).batch(2)).size().walk(3, end=False)
    r.seq("rebatch")
    for n, count in ((2, 4), (3, 6), (1, 2)):
        rng(r, 0, 7).batch(4).op("RebatchDataset", L(n), shapes=[[None]]).size().walk(count)
    rng(r, 0, 7).batch(4).op("RebatchDataset", L(0), shapes=[[None]], fails=True)
    d = rng(r, 0, 7).op("RebatchDataset", L(2), shapes=[None])
    d.next(d.iterator(), fails=True)
    for sizes, drop, count in (([3], False, 3), ([3], True, 2), ([1, 2], False, 5), ([2, 0], False, 7), ([9], False, 1), ([9], True, 0), (5, False, 2)):
        rng(r, 0, 7).batch(4).op("RebatchDatasetV2", i64(sizes), np.array(drop), shapes=[[None]]).size().walk(count, end=sizes != [2, 0])
    rng(r, 0, 7).batch(4).op("RebatchDatasetV2", i64([[2]]), np.array(False), shapes=[[None]], fails=True)
    d = rng(r, 0, 7).op("RebatchDatasetV2", i64([2]), np.array(False), shapes=[None])
    d.next(d.iterator(), fails=True)
    d = tensors(r, f32([1, 2]), f32([1, 2, 3])).op("RebatchDatasetV2", i64([2]), np.array(False), shapes=[None, None])
    d.next(d.iterator(), fails=True)


def padded(r):
    def pad(d, n, shapes, values, drop=False, out=None, **kw):
        t = d.types
        return Data(r, r.op("PaddedBatchDatasetV2", d.ref, L(n), *[i64(s) for s in shapes], *values, np.array(drop), Toutput_types=t, N=len(shapes),
                            output_shapes=out or [None] * len(t), **kw), t, out or [None] * len(t))

    def ragged():
        d = slices(r, i64([[1]]))
        for part in ([[1, 2, 3]], [[4, 5]], [[]], [[6, 7, 8, 9]]):
            d = d.op("ConcatenateDataset", slices(r, np.array(part, L)).ref, shapes=[[None]])
        return d
    r.seq("padded_batch")
    pad(ragged(), 2, [[-1]], [L(0)]).size().walk(3)
    pad(ragged(), 2, [[5]], [L(-7)], True).size().walk(2)
    pad(ragged(), 3, [[-1]], [L(9)], True).size().walk(1)
    d = pad(ragged(), 3, [[2]], [L(9)])
    d.next(d.iterator(), fails=True)
    for shapes in ([[]], [[2, 2]]):
        d = pad(ragged(), 3, shapes, [L(9)], fails=None)
        if d.ref is not None:
            d.next(d.iterator(), fails=True)
    for bad in (dict(n=0), dict(n=-2)):
        pad(ragged(), bad["n"], [[-1]], [L(0)], fails=True)
    pad(ragged(), 2, [[-2]], [L(0)], fails=True)
    pad(ragged(), 2, [[[1]]], [L(0)], fails=True)
    pad(ragged(), 2, [[-1]], [i64([0])], fails=True)
    r.seq("padded_batch/two")
    d = slices(r, f32([[[1, 2]], [[3, 4]], [[5, 6]]]), strings("a", "b", "c"))
    pad(d, 2, [[2, 3], []], [F(-1), strings("z")[0]]).size().walk(2)
    pad(d, 2, [[-1, -1], []], [F(-1), strings("z")[0]]).size().walk(2)
    pad(d, 2, [[2, 2], []], [F(-1), strings("z")[0]], out=[[None, 2, 2], [None]]).size().walk(2)
    d = slices(r, np.zeros([2, 3, 0], F)).op("ConcatenateDataset", slices(r, np.ones([1, 1, 2], F)).ref, shapes=[[None, None]])
    pad(d, 3, [[-1, -1]], [F(5)]).walk(1)
    d = slices(r, np.arange(12).reshape([2, 2, 3]).astype(F)).op("ConcatenateDataset", slices(r, np.ones([1, 3, 1], F)).ref, shapes=[[None, None]])
    pad(d, 3, [[-1, -1]], [F(-5)]).walk(1)
    pad(d, 3, [[4, 4]], [F(-5)]).walk(1)


def windows(r):
    r.seq("window")
    for size, shift, stride, drop, count in ((3, 3, 1, False, 3), (3, 3, 1, True, 2), (3, 1, 1, True, 5), (3, 1, 1, False, 7), (2, 2, 3, False, 4), (2, 2, 3, True, 2),
                                              (2, 5, 1, False, 2), (9, 1, 1, True, 0), (1, 1, 1, False, 7)):
        d = rng(r, 0, 7).op("WindowDataset", L(size), L(shift), L(stride), np.array(drop), types=[tf.variant], shapes=[[]]).size()
        it = d.iterator()
        for _ in range(count):
            w = Data(r, d.next(it)[0], [tf.int64], [[]]).size()
            inner = w.iterator()
            for _ in range(4):
                w.next(inner, fails=None)
        d.next(it, fails=True)
    for bad in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (-1, 1, 1), (1, -1, 1), (1, 1, -1)):
        rng(r, 0, 7).op("WindowDataset", *[L(b) for b in bad], np.array(False), types=[tf.variant], shapes=[[]], fails=True)
    r.seq("window/two")
    d = slices(r, f32([1, 2, 3]), strings("a", "b", "c")).op("WindowDataset", L(2), L(2), L(1), np.array(False), types=[tf.variant] * 2, shapes=[[], []]).size()
    it = d.iterator()
    for _ in range(2):
        a, b = d.next(it)[:2]
        Data(r, a, [tf.float32], [[]]).size().walk(1, end=False)
        Data(r, b, [tf.string], [[]]).size().walk(1, end=False)
    d.next(it, fails=True)


def shuffles(r):
    for n, size in ((10, 3), (10, 10), (10, 100), (10, 1), (10, -2), (10, 1 << 30), (0, 4), (100, 17)):
        for seeds in ((1, 2), (0, 42)):
            for again in (True, False):
                r.seq(f"shuffle/{n}_{size}_{seeds[0]}_{again}")
                g = r.op("DummySeedGenerator")
                d = rng(r, 0, n).op("ShuffleDatasetV3", L(size), L(seeds[0]), L(seeds[1]), g, reshuffle_each_iteration=again, fails=None)
                if d.ref is None or size == 1 << 30:
                    continue
                d.size().walk(n).walk(n)
                d.repeat(2).walk(2 * n)
    r.seq("shuffle/generator")
    for again in (True, False):
        g = r.ops("AnonymousSeedGenerator", L(3), L(4), np.array(again))[0]
        d = rng(r, 0, 8).op("ShuffleDatasetV3", L(5), L(1), L(2), g, reshuffle_each_iteration=again).size()
        d.walk(8).walk(8)
        d = rng(r, 0, 8).op("ShuffleDatasetV2", L(5), g).size()
        d.walk(8).walk(8)
    r.seq("shuffle/v1")
    for again in (True, False):
        d = rng(r, 0, 8).op("ShuffleDataset", L(5), L(7), L(8), reshuffle_each_iteration=again).size()
        d.walk(8).walk(8)
    r.seq("shuffle/errors")
    g = r.op("DummySeedGenerator")
    for size in (0, -1, -3):
        rng(r, 0, 8).op("ShuffleDatasetV3", L(size), L(1), L(2), g, fails=True)
    rng(r, 0, 8).op("ShuffleDatasetV3", i64([1]), L(1), L(2), g, fails=True)
    rng(r, 0, 8).op("ShuffleDatasetV2", L(1), g).size()
    rng(r, 0, 8).repeat(-1).op("ShuffleDatasetV3", L(4), L(1), L(2), g).size().walk(20, end=False)
    rng(r, 0, 8).op("UniqueDataset").op("ShuffleDatasetV3", L(4), L(1), L(2), g).size()
    for n, size, count in ((4, 3, 3), (4, 10, 3), (3, 5, -1), (2, 100, 10), (0, 3, -1), (0, 3, 2), (5, 4, 1)):
        r.seq(f"shuffle_and_repeat/{n}_{size}_{count}")
        total = 25 if count < 0 and n else n * max(count, 0)
        g = r.op("DummySeedGenerator")
        for again in (True, False):
            d = rng(r, 0, n).op("ShuffleAndRepeatDataset", L(size), L(5), L(6), L(count), reshuffle_each_iteration=again).size()
            d.walk(total, end=count >= 0 or n == 0).walk(total, end=count >= 0 or n == 0)
        d = rng(r, 0, n).op("ShuffleAndRepeatDatasetV2", L(size), L(5), L(6), L(count), g).size()
        d.walk(total, end=count >= 0 or n == 0)
    r.seq("shuffle_and_repeat/errors")
    for count in (0, -2):
        rng(r, 0, 8).op("ShuffleAndRepeatDataset", L(3), L(5), L(6), L(count), fails=True)
    rng(r, 0, 8).op("ShuffleAndRepeatDataset", L(0), L(5), L(6), L(1), fails=True)


def others(r):
    r.seq("cache")
    g = r.op("DummySeedGenerator")
    for cache in ("DummyMemoryCache", "AnonymousMemoryCache"):
        m = r.ops(cache)[0]
        d = rng(r, 0, 6).op("ShuffleDatasetV3", L(6), L(1), L(2), g).op("CacheDatasetV2", strings("")[0], m).size()
        it = d.iterator()
        d.next(it)
        d.walk(6).walk(6)
        d.next(it)
        d.repeat(2).size().walk(12)
    rng(r, 0, 3).op("CacheDataset", strings("")[0]).size().walk(3).walk(3)
    r.seq("pass_through")
    d = rng(r, 0, 3)
    for size in (0, 1, 5, -1):
        d.op("PrefetchDataset", L(size)).size().walk(3)
    d.op("PrefetchDataset", L(-2), fails=True)
    d.op("ModelDataset").size().walk(3)
    d.op("OptimizeDataset", strings()).size().walk(3)
    d.op("FinalizeDataset").size().walk(3)
    d.op("NonSerializableDataset").size().walk(3)
    d.op("MaxIntraOpParallelismDataset", L(1)).size().walk(3)
    d.op("MaxIntraOpParallelismDataset", L(-1), fails=True)
    d.op("PrivateThreadPoolDataset", L(2)).size().walk(3)
    d.op("PrivateThreadPoolDataset", L(-2), fails=True)
    d.op("SleepDataset", L(10)).size().walk(3)
    d.op("AutoShardDataset", L(1), L(0)).size().walk(3)
    d.op("AutoShardDataset", L(2), L(5), fails=True)
    for n, i in ((-1, 0), (0, 0), (1, 1), (1, -1)):
        d.op("AutoShardDataset", L(n), L(i), fails=None)
    r.seq("options")
    options = tf.data.Options()
    options.deterministic = True
    options.threading.private_threadpool_size = 3
    o = d2 = rng(r, 0, 3)
    r.op("GetOptions", o.ref)
    o = o.op("OptionsDataset", serialized_options=options._to_proto().SerializeToString()).size().walk(3)
    r.op("GetOptions", o.ref)
    o = o.take(2)
    r.op("GetOptions", o.ref)
    r.seq("assert_next")
    for wanted in (["FiniteTake"], ["Take"], ["FiniteTake", "FiniteSkip"], []):
        d = rng(r, 0, 5).op("AssertNextDataset", strings(*wanted)).take(3).skip(1)
        it = d.iterator(fails=None)
        d.next(it, fails=None)
    r.seq("single_element")
    one = lambda d, **kw: r.ops("DatasetToSingleElement", d.ref, output_types=d.types, output_shapes=d.shapes, **kw)
    one(tensors(r, f32([1, 2]), strings("a")))
    one(rng(r, 0, 1))
    one(rng(r, 0, 0), fails=True)
    one(rng(r, 0, 2), fails=True)
    r.ops("DatasetToSingleElement", rng(r, 0, 1).ref, output_types=[tf.int32], output_shapes=[[]], fails=True)
    r.ops("DatasetToSingleElement", rng(r, 0, 1).ref, output_types=[tf.int64], output_shapes=[[2]], fails=True)
    r.seq("variants")
    d = rng(r, 0, 3)
    w = r.op("WrapDatasetVariant", d.ref)
    Data(r, r.op("UnwrapDatasetVariant", w), d.types, d.shapes).size().walk(3)
    r.op("UnwrapDatasetVariant", d.ref, fails=True)
    r.op("WrapDatasetVariant", w, fails=True)
    o = r.op("OptionalNone")
    r.op("DatasetCardinality", o, fails=True)
    r.op("TakeDataset", o, L(1), output_types=[tf.int64], output_shapes=[[]], fails=True)


def iterators(r):
    r.seq("iterator/states")
    d = rng(r, 0, 3)
    it = r.op("AnonymousIteratorV3", output_types=d.types, output_shapes=d.shapes)
    d.next(it, fails=True)
    r.op("MakeIterator", d.ref, it)
    d.next(it)
    r.op("MakeIterator", d.ref, it)
    d.next(it)
    r.ops("IteratorGetNextSync", it, output_types=d.types, output_shapes=d.shapes)
    r.ops("IteratorGetNext", it, output_types=[tf.int32], output_shapes=[[]], fails=True)
    r.ops("IteratorGetNext", it, output_types=[tf.int64], output_shapes=[[]], fails=True)
    r.op("MakeIterator", d.ref, it)
    r.ops("IteratorGetNext", it, output_types=[tf.int64], output_shapes=[[1]], fails=True)
    r.ops("IteratorGetNext", it, output_types=[tf.int64, tf.int64], output_shapes=[[], []], fails=True)
    r.seq("iterator/mismatch")
    it = r.op("AnonymousIteratorV3", output_types=[tf.int32], output_shapes=[[]])
    r.op("MakeIterator", rng(r, 0, 3).ref, it, fails=True)
    it = r.op("AnonymousIteratorV3", output_types=[tf.int64], output_shapes=[[2]])
    r.op("MakeIterator", rng(r, 0, 3).ref, it, fails=True)
    it = r.op("AnonymousIteratorV3", output_types=[tf.int64] * 2, output_shapes=[[]] * 2)
    r.op("MakeIterator", rng(r, 0, 3).ref, it, fails=True)
    r.seq("iterator/optional")
    d = rng(r, 0, 2)
    it = d.iterator()
    for _ in range(3):
        o = r.op("IteratorGetNextAsOptional", it, output_types=d.types, output_shapes=d.shapes)
        r.op("OptionalHasValue", o)
        r.ops("OptionalGetValue", o, output_types=d.types, output_shapes=d.shapes, fails=None)
    r.seq("iterator/named")
    d = rng(r, 0, 5)
    kw = dict(output_types=[tf.int64], output_shapes=[[]])
    for op in ("IteratorV2", "Iterator"):
        it = r.op(op, shared_name="one", container="", **kw)
        r.op("MakeIterator", d.ref, it)
        d.next(it)
        d.next(r.op(op, shared_name="one", container="", **kw))
        d.next(r.op(op, shared_name="two", container="", **kw), fails=True)
    r.op("IteratorV2", shared_name="one", container="", output_types=[tf.int32], output_shapes=[[]], fails=True)
    r.seq("iterator/deleter")
    d = rng(r, 0, 5)
    it, deleter = r.ops("AnonymousIteratorV2", **kw)[:2]
    r.op("MakeIterator", d.ref, it)
    d.next(it)
    r.op("DeleteIterator", it, deleter)
    d.next(it, fails=True, text=False)
    it = r.op("AnonymousIterator", **kw)
    r.op("MakeIterator", d.ref, it)
    d.next(it)
    r.seq("iterator/string_named")
    d = rng(r, 0, 5)
    it = r.op("IteratorV2", shared_name="one", container="", **kw)
    r.op("MakeIterator", d.ref, it)
    s = r.op("IteratorToStringHandle", it, compare=False)
    for op in ("IteratorFromStringHandle", "IteratorFromStringHandleV2"):
        d.next(r.op(op, s, **kw))
        d.next(r.op(op, s))
        r.op(op, s, output_types=[tf.int32], output_shapes=[[]], fails=True)
    r.op("IteratorFromStringHandle", strings("junk")[0], fails=True)
    r.op("IteratorGetDevice", it, compare=False)
    r.seq("iterator/multi_device")
    d = rng(r, 0, 5)
    cpu = ["/job:localhost/replica:0/task:0/device:CPU:0"]
    m = r.op("AnonymousMultiDeviceIteratorV3", devices=cpu * 2, **kw)
    i = r.op("MultiDeviceIteratorInit", d.ref, m, L(1))
    for shard in (0, 1, 0, 1, 0):
        r.ops("MultiDeviceIteratorGetNextFromShard", m, I(shard), i, **kw)
    for shard in (0, 1):
        r.ops("MultiDeviceIteratorGetNextFromShard", m, I(shard), i, fails=True, **kw)
    i2 = r.op("MultiDeviceIteratorInit", d.ref, m, L(1))
    r.ops("MultiDeviceIteratorGetNextFromShard", m, I(0), i2, **kw)
    r.ops("MultiDeviceIteratorGetNextFromShard", m, I(0), i, fails=True, **kw)
    s = r.op("MultiDeviceIteratorToStringHandle", m, compare=False)
    m2 = r.op("MultiDeviceIteratorFromStringHandle", s, **kw)
    r.ops("MultiDeviceIteratorGetNextFromShard", m2, I(0), i2, **kw)


def saved(r):
    for name, again in (("shuffled", True), ("fixed", False)):
        r.seq("iterator/save_" + name)
        g = r.op("DummySeedGenerator")
        d = rng(r, 0, 10).op("ShuffleDatasetV3", L(4), L(1), L(2), g, reshuffle_each_iteration=again).repeat(2).batch(3)
        it = d.iterator()
        for _ in range(4):
            d.next(it)
        s = r.op("SerializeIterator", it, compare=False)
        d.next(it)
        d.next(it)
        r.op("DeserializeIterator", it, s)
        for _ in range(3):
            d.next(it)
        other = d.iterator()
        r.op("DeserializeIterator", other, s)
        for _ in range(3):
            d.next(other)
        d.next(other, fails=True)
    r.seq("iterator/save_errors")
    it = r.op("AnonymousIteratorV3", output_types=[tf.int64], output_shapes=[[]])
    r.op("SerializeIterator", it, fails=True)
    r.op("DummyIterationCounter")
    r.seq("matching_files")
    d = Data(r, r.op("MatchingFilesDataset", strings("tests/golden/state/*.txt", "tests/golden/state/vocab.*")), [tf.string], [[]]).size().walk(4)
    d = Data(r, r.op("MatchingFilesDataset", strings("tests/golden/no/*.txt")[0]), [tf.string], [[]])
    d.next(d.iterator(), fails=True)
    r.seq("table_from_dataset")
    t = r.op("HashTableV2", key_dtype=tf.int64, value_dtype=tf.string, container="", shared_name="t", use_node_name_sharing=False)
    r.op("InitializeTableFromDataset", t, slices(r, i64([5, 6, 7]), strings("a", "b", "c")).ref)
    r.op("LookupTableFindV2", t, i64([7, 5, 1]), strings("none")[0])
    r.op("LookupTableSizeV2", t)
    t = r.op("HashTableV2", key_dtype=tf.int64, value_dtype=tf.string, container="", shared_name="u", use_node_name_sharing=False)
    r.op("InitializeTableFromDataset", t, slices(r, i64([5]), i64([1])).ref, fails=True, text=False)
    r.op("InitializeTableFromDataset", t, slices(r, i64([5, 5]), strings("a", "b")).ref, fails=True, text=False)


def record(r):
    for part in (sources, selections, combinations, batches, padded, windows, shuffles, others, iterators, saved):
        part(r)
