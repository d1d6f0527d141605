"""Datasets in global random order, those that keep elements findable by index, windows and statistics; batches of Examples."""
import numpy as np
import tensorflow as tf

from state_format import strings

from families.datasets import Data, i64, rng, slices, tensors

L, F, D = np.int64, np.float32, np.float64
ALL = [tf.int64]


def s(text):
    return strings(text)[0]


def shuffled(r, d, seed=1, seed2=2, reshuffle=True, generator=None, **kw):
    g = generator or r.op("DummySeedGenerator")
    return d.op("GlobalShuffleDataset", L(seed), L(seed2), g, reshuffle_each_iteration=reshuffle, **kw)


def orders(r):
    for n in (1, 2, 3, 7, 16, 40):
        for seeds in ((1, 2), (0, 7), (123456789012, 42)):
            r.seq(f"global_shuffle/{n}/{seeds[0]}_{seeds[1]}")
            d = shuffled(r, rng(r, 0, n), *seeds).size()
            d.walk(n).walk(n)
            shuffled(r, rng(r, 0, n), *seeds, reshuffle=False).walk(n).walk(n)
    r.seq("global_shuffle/generator")
    g, _ = r.ops("AnonymousSeedGenerator", L(5), L(6), np.array(True))[:2]
    d = shuffled(r, rng(r, 0, 9), generator=g)
    d.walk(9).walk(9)
    shuffled(r, rng(r, 0, 9), generator=g).walk(9)
    g, _ = r.ops("AnonymousSeedGenerator", L(5), L(6), np.array(False))[:2]
    shuffled(r, rng(r, 0, 9), generator=g).walk(9).walk(9)
    pipelines = {
        "slices": (lambda: slices(r, np.arange(6, dtype=L), np.arange(12, dtype=F).reshape(6, 2)), 6),
        "strings": (lambda: slices(r, strings("a", "b", "c", "d")), 4),
        "tensor": (lambda: tensors(r, i64([1, 2])), 1),
        "take": (lambda: rng(r, 0, 10).take(6), 6),
        "take_more": (lambda: rng(r, 0, 5).take(9), 5),
        "take_all": (lambda: rng(r, 0, 5).take(-1), 5),
        "skip": (lambda: rng(r, 0, 10).skip(3), 7),
        "skip_nothing": (lambda: rng(r, 0, 4).skip(0), 4),
        "repeat": (lambda: rng(r, 0, 4).repeat(3), 12),
        "repeat_once": (lambda: rng(r, 0, 4).repeat(1), 4),
        "shard": (lambda: rng(r, 0, 10).op("ShardDataset", L(3), L(1)), 3),
        "batch": (lambda: rng(r, 0, 20).batch(3, True), 6),
        "concatenate": (lambda: rng(r, 0, 4).op("ConcatenateDataset", rng(r, 10, 15).ref), 9),
        "zip": (lambda: Data(r, r.op("ZipDataset", rng(r, 0, 6).ref, rng(r, 10, 19).ref, output_types=ALL * 2, output_shapes=[[], []]), ALL * 2, [[], []]), 6),
        "prefetch": (lambda: rng(r, 0, 8).op("PrefetchDataset", L(2)), 8),
        "options": (lambda: rng(r, 0, 8).op("OptionsDataset", serialized_options=""), 8),
        "assert_cardinality": (lambda: rng(r, 0, 7).op("AssertCardinalityDataset", L(7)), 7),
        "chain": (lambda: rng(r, 0, 30).skip(2).batch(2, True).repeat(2).take(20).op("ShardDataset", L(2), L(1)).op("PrefetchDataset", L(1)), 10),
        "batch_of_repeat": (lambda: rng(r, 0, 5).repeat(2).batch(3, True), 3),
        "again": (lambda: shuffled(r, rng(r, 0, 8), 3, 4), 8),
        "again_below": (lambda: shuffled(r, rng(r, 0, 9), 3, 4).skip(1).batch(2, True), 4),
    }
    for name, (make, n) in pipelines.items():
        r.seq("global_shuffle/of/" + name)
        shuffled(r, make(), 11, 12).size().walk(n).walk(n)
    r.seq("global_shuffle/then")
    shuffled(r, rng(r, 0, 5), 1, 1).repeat(2).walk(10)
    shuffled(r, rng(r, 0, 5), 1, 1).batch(2).walk(3)
    shuffled(r, rng(r, 0, 5), 1, 1).take(2).walk(2)
    shuffled(r, rng(r, 0, 5), 1, 1, reshuffle=False).repeat(2).walk(10)
    refused = {
        "empty": lambda: rng(r, 0, 0),
        "take_none": lambda: rng(r, 0, 3).take(0),
        "skip_all": lambda: rng(r, 0, 3).skip(5),
        "skip_negative": lambda: rng(r, 0, 3).skip(-1),
        "repeat_none": lambda: rng(r, 0, 3).repeat(0),
        "repeat_forever": lambda: rng(r, 0, 3).repeat(-1),
        "batch": lambda: rng(r, 0, 3).batch(2),
        "batch_of_shuffle": lambda: rng(r, 0, 6).op("ShuffleDataset", L(2), L(1), L(1)).batch(2, True),
        "padded_batch": lambda: rng(r, 0, 3).op("PaddedBatchDatasetV2", L(2), i64([]), L(0), np.array(True), spec=False, N=1, Toutput_types=ALL, output_shapes=[[None]]),
        "parallel_batch": lambda: rng(r, 0, 6).op("ParallelBatchDataset", L(2), L(1), np.array(True), shapes=[[2]]),
        "shuffle": lambda: rng(r, 0, 3).op("ShuffleDataset", L(2), L(1), L(1)),
        "window": lambda: rng(r, 0, 3).op("WindowDataset", L(2), L(1), L(1), np.array(True), types=[tf.variant], shapes=[[]]),
        "unbatch": lambda: rng(r, 0, 6).batch(2).op("UnbatchDataset", shapes=[[]]),
        "ignore_errors": lambda: rng(r, 0, 3).op("IgnoreErrorsDataset"),
        "concatenate": lambda: rng(r, 0, 4).op("ConcatenateDataset", rng(r, 10, 15).op("ShuffleDataset", L(2), L(1), L(1)).ref),
        "sampling": lambda: rng(r, 0, 4).op("SamplingDataset", F(0.5), L(1), L(2)),
        "sparse": lambda: Data(r, r.op("SparseTensorSliceDataset", i64([[0, 1], [2, 0], [2, 2]]), i64([1, 2, 3]), i64([4, 3])), ALL * 3, [[None, 1], [None], [1]]),
        "weighted_flat_map": lambda: Data(r, r.op("WeightedFlatMapDataset", rng(r, 0, 6).ref, rng(r, 0, 6).ref, D(1), D(1), N=2, M=2, output_types=ALL, output_shapes=[[]]), ALL, [[]]),
        "infinite_sources": lambda: Data(r, r.op("ZipDataset", rng(r, 0, 6).ref, rng(r, 0, np.iinfo(L).max).ref, output_types=ALL * 2, output_shapes=[[], []]), ALL * 2, [[], []]),
    }
    for name, make in refused.items():
        r.seq("global_shuffle/refused/" + name)
        d = shuffled(r, make(), fails=None)
        if not r.missing(d.ref):
            d.next(d.iterator(), fails=None)
    r.seq("global_shuffle/bad_inputs")
    g = r.op("DummySeedGenerator")
    d = rng(r, 0, 3)
    d.op("GlobalShuffleDataset", i64([1]), L(1), g, fails=True)
    d.op("GlobalShuffleDataset", L(1), i64([1]), g, fails=True)
    r.seq("element_at")
    for make in (pipelines["assert_cardinality"][0], pipelines["options"][0]):
        d = make()
        for i in (0, 3, 9):
            r.op("GetElementAtIndex", d.ref, L(i), output_types=ALL, output_shapes=[[]], fails=None)
    r.op("GetElementAtIndex", shuffled(r, rng(r, 0, 3)).ref, L(0), output_types=ALL, output_shapes=[[]], fails=True)
    r.seq("saved_iterators")
    d = shuffled(r, rng(r, 0, 9), 1, 2).repeat(2)
    it = d.iterator()
    for _ in range(4):
        d.next(it)
    state = r.op("SerializeIterator", it)
    rest = [d.next(it) for _ in range(3)]
    again = d.iterator()
    r.op("DeserializeIterator", again, state)
    for _ in range(14):
        d.next(again)
    d.next(again, fails=True)


def weighted(r):
    def make(inputs, weights, types=ALL, shapes=([],), **kw):
        return Data(r, r.op("WeightedFlatMapDataset", *[d.ref for d in inputs], *[D(w) for w in weights], N=len(inputs), M=len(weights), output_types=types,
                            output_shapes=list(shapes), **kw), types, list(shapes))

    r.seq("weighted_flat_map")
    for sizes, weights in (((10, 20), (1, 1)), ((10, 20, 10), (.2, .3, .1)), ((3, 5), (1e-9, .5)), ((100, 100, 10), (.2, .3, .05)), ((4, 0), (1, 1))):
        d = make([rng(r, 100 * i, 100 * i + n) for i, n in enumerate(sizes)], weights).size()
        it = d.iterator()
        for _ in range(45):
            d.next(it, fails=None)
    d = make([rng(r, 0, 6), rng(r, 10, 20)], (.4, .6)).size()
    d.walk(10)
    r.seq("weighted_flat_map/bad_inputs")
    make([rng(r, 0, 10), rng(r, 0, 5)], (1, 0), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 5)], (-1, .5), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 5)], (np.nan, .5), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 5)], (1, 1, 1), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 5).repeat(-1)], (1, 1), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 6).batch(2).op("UnbatchDataset", shapes=[[]])], (1, 1), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 20), rng(r, 0, 5)], (.2, .3, .5), fails=True)
    make([rng(r, 0, 10), slices(r, strings("a", "b"))], (1, 1), fails=True)
    make([rng(r, 0, 10), rng(r, 0, 6).batch(2)], (1, 1), fails=True)
    shuffled(r, make([rng(r, 0, 4).op("ShuffleDataset", L(2), L(1), L(1)), rng(r, 0, 4)], (1, 1)), fails=True)


def windows(r):
    r.seq("first_sliding_window")
    for size, shift, stride in ((2, 1, 1), (3, 2, 1), (2, 2, 2), (2, 5, 1), (9, 1, 1)):
        d = rng(r, 0, 7).op("ExperimentalSlidingWindowDataset", L(size), L(shift), L(stride), shapes=[[None]])
        it = d.iterator()
        for _ in range(7):
            d.next(it, fails=None)
    for bad in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        rng(r, 0, 7).op("ExperimentalSlidingWindowDataset", *[L(v) for v in bad], shapes=[[None]], fails=True)
    r.seq("window_op")
    Data(r, r.op("WindowOp", L(1), F(2), L(3), F(4), output_types=[tf.int64, tf.float32], output_shapes=[[], []], Tinputs=[tf.int64, tf.float32] * 2),
         [tf.int64, tf.float32], [[], []]).size().walk(2)
    Data(r, r.op("WindowOp", i64([1, 2]), i64([3]), output_types=ALL, output_shapes=[[None]], Tinputs=ALL * 2), ALL, [[None]]).size().walk(2)


def elements(r):
    r.seq("compress_element")
    for values in ((i64([1, 2, 3]), strings("a", "bcd", "")), (F(2.5),), (strings("x" * 1000)[0],), (np.zeros([0, 3], F), np.array([True, False])),
                   (np.array([[b"ab"], [b""]], object), np.arange(5000, dtype=np.int32))):
        c = r.op("CompressElement", *values)
        types = [tf.string if v.dtype == object else tf.as_dtype(v.dtype) for v in map(np.asarray, values)]
        r.ops("UncompressElement", c, output_types=types, output_shapes=[None] * len(types))
    c = r.op("CompressElement", i64([1, 2]), strings("a"))
    r.ops("UncompressElement", c, output_types=ALL, output_shapes=[[2]], fails=True)
    r.ops("UncompressElement", c, output_types=ALL * 2, output_shapes=[[2], [1]], fails=True)
    r.ops("UncompressElement", rng(r, 0, 3).ref, output_types=ALL, output_shapes=[[2]], fails=True)
    r.seq("compute_batch_size")
    b = lambda n=2: rng(r, 0, 9).batch(n)
    for d in (b(), b().take(3).skip(1).repeat(2), rng(r, 0, 3), b().op("PrefetchDataset", L(2)), b().op("ShuffleDataset", L(2), L(1), L(1)), b().op("UnbatchDataset", shapes=[[]]),
              b().op("ConcatenateDataset", b(2).ref), b().op("ConcatenateDataset", b(3).ref), b().batch(4), b().op("ShardDataset", L(2), L(0)),
              b().op("AssertCardinalityDataset", L(5)), b().op("OptionsDataset", serialized_options=""), b().op("IgnoreErrorsDataset"),
              rng(r, 0, 6).op("ParallelBatchDataset", L(2), L(1), np.array(True), shapes=[[2]])):
        r.op("ComputeBatchSize", d.ref)
    zipped = [b(3).ref, b(3).ref]
    r.op("ComputeBatchSize", r.op("ZipDataset", *zipped, output_types=ALL * 2, output_shapes=[[None], [None]]))
    r.seq("statistics")
    for first in (False, True):
        e = "Experimental" if first else ""
        h = r.op(e + "StatsAggregatorHandle")
        r.op(e + "StatsAggregatorSummary", h)
        d = rng(r, 0, 5).batch(2).op(e + "BytesProducedStatsDataset", s("bytes")).op(e + "SetStatsAggregatorDataset", h, s("tag"), s("prefix")).size()
        d.walk(3)
        r.op(e + "StatsAggregatorSummary", h)
        slices(r, strings("a", "bcd")).op(e + "BytesProducedStatsDataset", s("bytes")).op(e + "SetStatsAggregatorDataset", r.op(e + "StatsAggregatorHandle", shared_name="x"), s(""), s("")).walk(2)
        r.op(e + "StatsAggregatorSummary", r.op(e + "StatsAggregatorHandle", shared_name="x"))
        rng(r, 0, 5).op(e + "SetStatsAggregatorDataset", h, strings("a"), s(""), fails=True)
        rng(r, 0, 5).op(e + "SetStatsAggregatorDataset", h, s(""), strings("a"), fails=True)
        rng(r, 0, 5).op(e + "BytesProducedStatsDataset", s("bytes")).walk(5)
        rng(r, 0, 5).op(e + "LatencyStatsDataset", s("latency")).walk(5)
    h = r.op("StatsAggregatorHandleV2")
    rng(r, 0, 5).op("BytesProducedStatsDataset", s("bytes")).op("SetStatsAggregatorDataset", h, s("tag"), s("prefix")).walk(5)
    r.op("StatsAggregatorSummary", h)
    r.seq("thread_pools")
    for e in ("", "Experimental"):
        h = r.op(e + "ThreadPoolHandle", num_threads=2, display_name="pool")
        rng(r, 0, 5).op(e + "ThreadPoolDataset", h).size().walk(5)
        rng(r, 0, 5).op(e + "ThreadPoolDataset", r.op("DummySeedGenerator"), fails=True, text=False)
    r.seq("lmdb")
    for e in ("", "Experimental"):
        r.op(e + "LMDBDataset", s("nowhere"), output_types=[tf.string] * 2, output_shapes=[[], []], fails=True)
    r.seq("services")
    for op in ("RegisterDataset", "RegisterDatasetV2"):
        r.op(op, rng(r, 0, 5).ref, s(""), s("grpc"), external_state_policy=0, fails=True)
        r.op(op, rng(r, 0, 5).ref, s("localhost:1"), s(""), external_state_policy=0, fails=True)
    r.step("DistributedSave", rng(r, 0, 5).ref, s(""), s("localhost:1"), fails=True)
    r.step("DistributedSave", rng(r, 0, 5).ref, s("x"), s(""), fails=True)
    r.step("DistributedSave", rng(r, 0, 5).repeat(-1).ref, s("x"), s("localhost:1"), fails=True)


def examples(r):
    def feature(v):
        if isinstance(v[0], bytes) if v else False:
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=v))
        if v and isinstance(v[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=v))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=v))

    def example(**features):
        return tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()})).SerializeToString(deterministic=True)

    rows = strings(example(a=[1.5, 2.5], b=[3], c=[b"x", b"y"]), example(a=[0.5, 1.0], c=[b"z"]), example(a=[7.0, 8.0], b=[4, 5, 6]), example(a=[9.0, 1.0], b=[]))

    def parse(op, batches, calls=1, defaults=(), fails=False, **attrs):
        return Data(r, r.op(op, batches.ref, L(calls), *defaults, fails=fails, **attrs), attrs["output_types"], attrs["output_shapes"])

    def read(d, n, sparse=(), ragged=()):
        it = d.iterator()
        for _ in range(n):
            outs = d.next(it)
            for i, kind in sparse:
                r.ops("DeserializeSparse", outs[i], dtype=kind)
            for i, kind, splits in ragged:
                r.ops("RaggedTensorFromVariant", outs[i], input_ragged_rank=-1 if False else 1, output_ragged_rank=1, Tvalues=kind, Tsplits=splits)
        d.next(it, fails=True)

    none = dict(sparse_keys=[], dense_keys=[], sparse_types=[], Tdense=[], dense_shapes=[])
    dense = dict(none, dense_keys=["a", "b"], Tdense=[tf.float32, tf.int64], dense_shapes=[[2], [None]], output_types=[tf.float32, tf.int64], output_shapes=[[None, 2], [None, None]])
    sparse = dict(none, sparse_keys=["c", "b"], sparse_types=[tf.string, tf.int64], output_types=[tf.variant] * 2, output_shapes=[[3], [3]])
    ragged = dict(none, ragged_keys=["b", "c"], ragged_value_types=[tf.int64, tf.string], ragged_split_types=[tf.int32, tf.int64], output_types=[tf.variant] * 2, output_shapes=[[], []])
    mixed = dict(sparse_keys=["c"], sparse_types=[tf.string], dense_keys=["b", "a"], Tdense=[tf.int64, tf.float32], dense_shapes=[[None], [2]],
                 output_types=[tf.float32, tf.int64, tf.variant], output_shapes=[[None, 2], [None, None], [3]])
    batches = lambda n=2: slices(r, rows).batch(n)
    for op in ("ParseExampleDatasetV2", "ParseExampleDataset", "ExperimentalParseExampleDataset"):
        r.seq("parse_example/" + op)
        for calls in (1, 2, -1):
            read(parse(op, batches(), calls, (np.zeros([0], F), i64([-1])), **dense).size(), 2)
        read(parse(op, batches(3), 1, (np.zeros([0], F), i64(-1)), **dense).size(), 2)
        read(parse(op, slices(r, rows), 1, (np.zeros([0], F), i64([-1])), **dense).size(), 4)
        read(parse(op, batches(), **sparse), 2, sparse=((0, tf.int64), (1, tf.string)))
        read(parse(op, batches(), 1, (i64(0), np.zeros([0], F)), **mixed), 2, sparse=((2, tf.string),))
        if op[0] == "P":
            read(parse(op, batches(), **ragged), 2, ragged=((0, tf.int64, tf.int32), (1, tf.string, tf.int64)))
            read(parse(op, batches(3), **ragged), 2, ragged=((0, tf.int64, tf.int32), (1, tf.string, tf.int64)))
        for calls in (0, -2):
            parse(op, batches(), calls, (np.zeros([0], F), i64([-1])), fails=True, **dense)
        parse(op, batches(), 1, (np.zeros([3], F), i64([-1])), fails=True, **dense)
        parse(op, batches(), 1, (np.zeros([0], F), i64([-1, 2])), fails=True, **dense)
        parse(op, batches(), 1, (np.zeros([0], F),), fails=True, **dict(dense, Tdense=[tf.float32]))
        parse(op, batches(), 1, (np.zeros([0], F), i64([-1])), fails=True, **dict(dense, dense_keys=["a", "a"]))
        parse(op, batches(), fails=True, **dict(sparse, sparse_keys=["b", "b"]))
        parse(op, batches(), 1, (np.zeros([0], F), i64([-1])), fails=True, **dict(dense, dense_shapes=[[None, None], [None]]))
        r.op(op, batches().ref, i64([1]), fails=True, **sparse)
        for missing in (dict(dense_keys=["b"], Tdense=[tf.int64], dense_shapes=[[1]], output_types=[tf.int64], output_shapes=[[None, 1]]),):
            d = parse(op, batches(), 1, (np.zeros([0], L),), **dict(none, **missing))
            it = d.iterator()
            for _ in range(4):
                d.next(it, fails=None)
        d = parse(op, batches(), 1, (np.zeros([0], L),), **dict(none, dense_keys=["a"], Tdense=[tf.int64], dense_shapes=[[2]], output_types=[tf.int64], output_shapes=[[None, 2]]))
        d.next(d.iterator(), fails=True)
        d = parse(op, slices(r, strings("not an example")).batch(1), **sparse)
        d.next(d.iterator(), fails=True)
    r.seq("parse_example/deterministic")
    for how in ("true", "false", "default"):
        parse("ParseExampleDatasetV2", batches(), deterministic=how, **sparse).size()
    parse("ParseExampleDatasetV2", batches(), deterministic="maybe", fails=True, **sparse)


def record(r):
    for part in (orders, weighted, windows, elements, examples):
        part(r)
