"""Random numbers: generators whose state is a variable, and stateful ops with explicit seeds."""
import numpy as np
import tensorflow as tf

I, L, F, D, H = np.int32, np.int64, np.float32, np.float64, np.float16
B16 = tf.bfloat16.as_numpy_dtype
FLOATS = [tf.float32, tf.float64, tf.float16, tf.bfloat16]
PHILOX, THREEFRY, AUTO = 1, 2, 3


def i64(v):
    return np.array(v, L)


def i32(v):
    return np.array(v, I)


def state(r, values, name="rng"):
    h = r.op("VarHandleOp", dtype=tf.int64, shape=[len(values)], shared_name=name)
    r.op("AssignVariableOp", h, i64(values), dtype=tf.int64)
    return h


def show(r, h):
    r.op("ReadVariableOp", h, dtype=tf.int64)


def generator(r):
    for alg, start in ((PHILOX, [1, 2, 3]), (PHILOX, [-5, 0, 99999999999]), (PHILOX, [-1, -1, 7]), (AUTO, [1, 2, 3])):
        tag = f"alg{alg}_{'_'.join(map(str, start))}"
        r.seq("read_and_skip/" + tag)
        h = state(r, start)
        for delta in (0, 1, 256, 2**40):
            r.op("RngReadAndSkip", h, np.int32(alg), np.uint64(delta))
            show(r, h)
        r.seq("skip/" + tag)
        h = state(r, start)
        for delta in (1, 256, 2**40, -1):
            r.op("RngSkip", h, L(alg), L(delta))
            show(r, h)
        for op in ("StatefulStandardNormalV2", "StatefulUniform", "StatefulTruncatedNormal"):
            for dtype in FLOATS if (alg, start) == (PHILOX, [1, 2, 3]) else FLOATS[:1]:
                r.seq(f"{op}/{dtype.name}/{tag}")
                h = state(r, start)
                for shape in ([5], [2, 3], [], [0]):
                    r.op(op, h, L(alg), i64(shape), dtype=dtype)
                    show(r, h)
                r.op(op, h, L(alg), i32([3]), dtype=dtype)
        for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
            if alg != PHILOX and dtype is not tf.int32:
                continue
            v = lambda x: np.array(x).astype(dtype.as_numpy_dtype)
            if dtype.name.startswith("int"):
                r.seq(f"StatefulUniformInt/{dtype.name}/{tag}")
                h = state(r, start)
                for lo, hi, shape in ((0, 10, [6]), (3, 2000000000, [2, 2]), (7, 8, [3])):
                    r.op("StatefulUniformInt", h, L(alg), i64(shape), v(lo), v(hi))
                    show(r, h)
                r.op("StatefulUniformInt", h, L(alg), i64([4]), v(-100), v(100))
            r.seq(f"StatefulUniformFullInt/{dtype.name}/{tag}")
            h = state(r, start)
            for shape in ([5], [2, 3], []):
                r.op("StatefulUniformFullInt", h, L(alg), i64(shape), dtype=dtype)
                show(r, h)
    r.seq("large_normal")  # more than one block for each thread
    h = state(r, [1, 2, 3])
    r.op("StatefulStandardNormalV2", h, L(PHILOX), i64([1100]), dtype=tf.float32)
    show(r, h)
    r.op("StatefulUniform", h, L(PHILOX), i64([1030]), dtype=tf.float32)
    show(r, h)
    r.op("StatefulTruncatedNormal", h, L(PHILOX), i64([600]), dtype=tf.float32)
    show(r, h)
    for kind in (tf.float32, tf.float64, tf.int32, tf.int64, tf.float16):
        r.seq("StatefulRandomBinomial/" + kind.name)
        h = state(r, [1, 2, 3])
        for counts, probs in ((10.0, 0.3), ([[5.0], [50.0]], [0.5, 0.9, 0.1]), (100.0, [0.0, 1.0])):
            shape = list(np.broadcast_shapes(np.shape(counts), np.shape(probs)))
            # Whether TensorFlow's kernel writes the new state back depends on where the old one is: start each call afresh.
            r.op("AssignVariableOp", h, i64([1, 2, 3]), dtype=tf.int64)
            r.op("StatefulRandomBinomial", h, L(PHILOX), i32([4] + shape), np.array(counts, F), np.array(probs, F), dtype=kind)
    for kind in (F, D, H):
        r.seq("StatefulRandomBinomial/parameters_" + np.dtype(kind).name)
        h = state(r, [7, 8, 9])
        r.op("StatefulRandomBinomial", h, L(PHILOX), i32([3, 2]), np.array([4, 9], kind), np.array([0, 1], kind), dtype=tf.int64)
    r.seq("errors")
    h = state(r, [1, 2, 3])
    bad = lambda *a, **k: r.op(*a, fails=True, **k)
    for alg in (0, 7, THREEFRY):
        bad("StatefulUniform", h, L(alg), i64([2]), dtype=tf.float32)
        bad("RngSkip", h, L(alg), L(1))
        bad("RngReadAndSkip", h, I(alg), np.uint64(1))
        bad("StatefulUniformInt", h, L(alg), i64([2]), I(0), I(2))
    bad("StatefulUniform", h, i64([1]), i64([2]), dtype=tf.float32)
    bad("StatefulUniform", h, L(1), i64([-2]), dtype=tf.float32)
    bad("StatefulUniform", h, L(1), i64(2), dtype=tf.float32)
    bad("StatefulUniformInt", h, L(1), i64([2]), I(5), I(5))
    bad("StatefulUniformInt", h, L(1), i64([2]), I(5), I(2))
    bad("StatefulUniformInt", h, L(1), i64([2]), i32([5]), I(9))
    bad("RngSkip", h, L(1), i64([1]))
    bad("RngReadAndSkip", h, I(1), np.array([1], np.uint64))
    bad("StatefulRandomBinomial", h, L(THREEFRY), i32([2]), F(3), F(0.5), dtype=tf.int32)
    bad("StatefulRandomBinomial", h, L(1), i32([3]), np.array([3, 3], F), F(0.5), dtype=tf.int32)
    show(r, h)
    s = state(r, [1, 2], "short")
    bad("StatefulUniform", s, L(1), i64([2]), dtype=tf.float32)
    bad("RngSkip", s, L(1), L(1))
    o = state(r, [1], "one")
    bad("StatefulUniform", o, L(2), i64([2]), dtype=tf.float32)
    u = r.op("VarHandleOp", dtype=tf.int64, shape=[3], shared_name="none")
    bad("StatefulUniform", u, L(1), i64([2]), dtype=tf.float32)
    bad("RngReadAndSkip", u, I(1), np.uint64(1))
    m = r.op("VarHandleOp", dtype=tf.int64, shape=[1, 3], shared_name="matrix")
    r.op("AssignVariableOp", m, i64([[1, 2, 3]]), dtype=tf.int64)
    bad("StatefulUniform", m, L(1), i64([2]), dtype=tf.float32)
    f = r.op("VarHandleOp", dtype=tf.float32, shape=[3], shared_name="float")
    r.op("AssignVariableOp", f, np.array([1, 2, 3], F), dtype=tf.float32)
    bad("StatefulUniform", f, L(1), i64([2]), dtype=tf.float32)


def seeded(r):
    """Calls of one op with the same attributes share a cached kernel, so the stream continues from call to call."""
    seeds = [(87654321, 0), (1, 2), (123, -7), (0, 5)]
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        for dtype in FLOATS:
            for seed, seed2 in seeds if dtype is tf.float32 else seeds[1:2]:
                r.seq(f"{op}/{dtype.name}/{seed}_{seed2}")
                for shape in ([5], [2, 3], [], [7]):
                    r.op(op, i32(shape), dtype=dtype, seed=seed, seed2=seed2)
                r.op(op, i64([3]), dtype=dtype, seed=seed, seed2=seed2)  # other T: a kernel of its own
        r.seq(f"{op}/large")
        for n in (1100, 3):
            r.op(op, i32([n]), dtype=tf.float32, seed=3, seed2=4)
        r.seq(f"{op}/errors")
        r.op(op, i32([-1]), dtype=tf.float32, seed=3, seed2=4, fails=True)
        r.op(op, i32(2), dtype=tf.float32, seed=3, seed2=4, fails=True)
    for kind in (I, L):
        r.seq(f"RandomUniformInt/{np.dtype(kind).name}")
        for lo, hi, shape in ((0, 10, [6]), (-5, 5, [2, 3]), (0, 2000000000, [4])):
            r.op("RandomUniformInt", i32(shape), kind(lo), kind(hi), seed=1, seed2=2)
        r.op("RandomUniformInt", i32([2]), kind(3), kind(3), seed=1, seed2=2, fails=True)
        r.op("RandomUniformInt", i32([2]), kind(3), kind(1), seed=1, seed2=2, fails=True)
        r.op("RandomUniformInt", i32([2]), np.array([3], kind), kind(7), seed=1, seed2=2, fails=True)
        r.op("RandomUniformInt", i32([2]), kind(3), kind(7), seed=1, seed2=2)
    for kind in (F, D, H):
        r.seq(f"RandomGamma/{np.dtype(kind).name}")
        for alpha in ([0.5, 3.0], [[1.0], [20.0]], 2.0):
            r.op("RandomGamma", i32([4]), np.array(alpha, kind), seed=1, seed2=2)
        r.op("RandomGamma", i32([]), np.array([1, 2], kind), seed=1, seed2=2)
        r.op("RandomGamma", i32([0]), np.array([1, 2], kind), seed=1, seed2=2)
    for rate in (F, D, H, I, L):
        for out in (tf.int64, tf.float32) if rate is F else (tf.int32,):
            r.seq(f"RandomPoissonV2/{np.dtype(rate).name}_{out.name}")
            for lam in ([1, 30], [[4], [100]], 12):
                r.op("RandomPoissonV2", i32([5]), np.array(lam, rate), dtype=out, seed=1, seed2=2)
    for value in (np.arange(10, dtype=I), np.arange(6, dtype=F).reshape(3, 2), np.arange(7, dtype=L), np.zeros([0, 2], F), np.array(3, F),
                  np.array([b"a", b"b", b"c"], object), np.array([True, False, False])):
        r.seq(f"RandomShuffle/{value.dtype}_{'x'.join(map(str, value.shape))}")
        for _ in range(3):
            r.op("RandomShuffle", value, seed=1, seed2=2)
    for kind in (F, D, H, B16):
        for out in (tf.int64, tf.int32) if kind is F else (tf.int64,):
            r.seq(f"Multinomial/{np.dtype(kind).name}_{out.name}")
            for n in (5, 3, 0):
                r.op("Multinomial", np.log(np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2]])).astype(kind), I(n), seed=1, seed2=2, output_dtype=out)
    r.seq("Multinomial/errors")
    r.op("Multinomial", np.array([0.5, 0.5], F), I(3), seed=1, seed2=2, fails=True)
    r.op("Multinomial", np.array([[0.5, 0.5]], F), I(-1), seed=1, seed2=2, fails=True)
    r.op("Multinomial", np.zeros([2, 0], F), I(3), seed=1, seed2=2, fails=True)
    for kind in (F, D, H):
        r.seq(f"ParameterizedTruncatedNormal/{np.dtype(kind).name}")
        v = lambda x: np.array(x, kind)
        for args in ((0, 1, -2, 2), (5, 2, 4, 30), ([0, 10], [1, 2], [-1, 9], [1, 100]), (0, 1, 3, 5)):
            r.op("ParameterizedTruncatedNormal", i32([2, 4]), *map(v, args), seed=1, seed2=2)
        r.op("ParameterizedTruncatedNormal", i32([2]), v(0), v(1), v(2), v(-2), seed=1, seed2=2, fails=True)
        r.op("ParameterizedTruncatedNormal", i32([2]), v(0), v(-1), v(-2), v(2), seed=1, seed2=2, fails=True)
        r.op("ParameterizedTruncatedNormal", i32([2, 2]), v([0, 0, 0]), v(1), v(-2), v(2), seed=1, seed2=2, fails=True)


def samplers(r):
    true = i64([[1, 3], [4, 9]])
    for op, attrs in (("LogUniformCandidateSampler", {"range_max": 20}), ("UniformCandidateSampler", {"range_max": 20}),
                      ("LearnedUnigramCandidateSampler", {"range_max": 20}), ("ThreadUnsafeUnigramCandidateSampler", {"range_max": 20}),
                      ("FixedUnigramCandidateSampler", {"range_max": 4, "unigrams": [1.0, 2.0, 3.0, 4.0]}),
                      ("FixedUnigramCandidateSampler", {"range_max": 4, "unigrams": [1.0, 2.0, 3.0, 4.0], "distortion": 0.75}),
                      ("FixedUnigramCandidateSampler", {"range_max": 5, "unigrams": [1.0, 2.0, 3.0, 4.0], "num_reserved_ids": 1}),
                      ("AllCandidateSampler", {})):
        for unique in (True, False):
            r.seq(f"{op}/{'unique' if unique else 'repeat'}{'_' + list(attrs)[-1] if len(attrs) > 2 else ''}")
            t = true if op[0] != "F" else i64([[1, 3], [2, 0]])
            for _ in range(3):
                r.ops(op, t, num_true=2, num_sampled=10 if op[0] == "A" else 3, unique=unique, seed=1, seed2=2, **attrs)
        r.seq(f"{op}/errors{'_' + list(attrs)[-1] if len(attrs) > 2 else ''}")
        r.ops(op, i64([[1], [2]]), num_true=2, num_sampled=3, unique=True, seed=1, seed2=2, fails=True, **attrs)
        r.ops(op, i64([1, 2]), num_true=2, num_sampled=3, unique=True, seed=1, seed2=2, fails=True, **attrs)
        if "range_max" in attrs:
            r.ops(op, i64([[1, 2]]), num_true=2, num_sampled=30, unique=True, seed=1, seed2=2, fails=True, **attrs)
    r.seq("SampleDistortedBoundingBoxV2")
    for _ in range(2):
        r.ops("SampleDistortedBoundingBoxV2", i32([40, 60, 3]), np.array([[[0.1, 0.2, 0.6, 0.9]]], F), F(0.3), seed=1, seed2=2)
    r.ops("SampleDistortedBoundingBox", i32([40, 60, 3]), np.array([[[0.1, 0.2, 0.6, 0.9]]], F), seed=1, seed2=2)
    r.ops("SampleDistortedBoundingBoxV2", i32([40, 60, 3]), np.zeros([1, 0, 4], F), F(0.3), seed=1, seed2=2,
          use_image_if_no_bounding_boxes=True)
    r.ops("SampleDistortedBoundingBoxV2", i32([40, 60, 3]), np.zeros([1, 0, 4], F), F(0.3), seed=1, seed2=2, fails=True)


def record(r):
    for part in (generator, seeded, samplers):
        part(r)
