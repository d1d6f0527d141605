"""Queues, staging areas, barriers, mutexes and accumulators. No call here may block."""
import numpy as np
import tensorflow as tf

from state_format import strings

F, D, I, L = np.float32, np.float64, np.int32, np.int64


def f32(v):
    return np.array(v, F)


def i32(v):
    return np.array(v, I)


def i64(v):
    return np.array(v, L)


def size(r, q, **kw):
    return r.op("QueueSizeV2", q, **kw)


def put(r, q, *values, **kw):
    return r.op("QueueEnqueueV2", q, *values, **kw)


def put_many(r, q, *values, **kw):
    return r.op("QueueEnqueueManyV2", q, *values, **kw)


def take(r, q, types, **kw):
    return r.ops("QueueDequeueV2", q, component_types=types, **kw)


def take_many(r, q, n, types, op="QueueDequeueManyV2", **kw):
    return r.ops(op, q, i32(n), component_types=types, **kw)


def close(r, q, **kw):
    r.op("QueueCloseV2", q, **kw)
    r.op("QueueIsClosedV2", q)


def fifo(r):
    T = [tf.float32, tf.int64]
    for make, attrs in (("FIFOQueueV2", {"shapes": [[2], []]}), ("PaddingFIFOQueueV2", {"shapes": [[2], []]}), ("FIFOQueueV2", {})):
        r.seq(f"{make}/{'shapes' if attrs else 'no_shapes'}")
        q = r.op(make, component_types=T, capacity=10, shared_name="q", **attrs)
        size(r, q)
        put(r, q, f32([1, 2]), L(1))
        put_many(r, q, f32([[3, 4], [5, 6], [7, 8]]), i64([2, 3, 4]))
        size(r, q)
        take(r, q, T)
        if attrs:
            take_many(r, q, 2, T)
        else:
            take_many(r, q, 2, T, fails=True)
        size(r, q)
        r.op("QueueIsClosedV2", q)
        close(r, q)
        put(r, q, f32([1, 2]), L(1), fails=True)
        put_many(r, q, f32([[3, 4]]), i64([2]), fails=True)
        take(r, q, T)
        if attrs:
            take_many(r, q, 1, T, fails=True)
            take_many(r, q, 0, T)
            take_many(r, q, 1, T, "QueueDequeueUpToV2", fails=True)
        else:
            take(r, q, T)
            take(r, q, T)
        take(r, q, T, fails=True)
        close(r, q, fails=True)
    for dtype in (F, D, np.float16, I, L, np.uint8, np.bool_, np.complex64, object):
        kind = tf.string if dtype is object else tf.as_dtype(dtype)
        r.seq("FIFOQueueV2/type_" + kind.name)
        q = r.op("FIFOQueueV2", component_types=[kind], shapes=[[]], shared_name="q")
        put_many(r, q, strings("a", "b", "c") if dtype is object else np.array([1, 0, 3]).astype(dtype))
        take(r, q, [kind])
        take_many(r, q, 2, [kind])
    r.seq("FIFOQueueV2/up_to")
    q = r.op("FIFOQueueV2", component_types=[tf.int64], shapes=[[]], shared_name="q")
    put_many(r, q, i64([1, 2, 3, 4, 5]))
    take_many(r, q, 2, [tf.int64], "QueueDequeueUpToV2")
    close(r, q)
    take_many(r, q, 10, [tf.int64], "QueueDequeueUpToV2")
    take_many(r, q, 10, [tf.int64], "QueueDequeueUpToV2", fails=True)
    r.seq("FIFOQueueV2/dequeue_many_after_close")
    q = r.op("FIFOQueueV2", component_types=[tf.int64], shapes=[[]], shared_name="q")
    put_many(r, q, i64([1, 2, 3]))
    close(r, q)
    take_many(r, q, 4, [tf.int64], fails=True)
    size(r, q)
    take_many(r, q, 3, [tf.int64])
    r.seq("FIFOQueueV2/close_twice_and_cancel")
    q = r.op("FIFOQueueV2", component_types=[tf.int64], shared_name="q")
    put(r, q, L(1))
    close(r, q, cancel_pending_enqueues=True)
    close(r, q, cancel_pending_enqueues=True, fails=True)
    take(r, q, [tf.int64])
    size(r, q)
    r.seq("FIFOQueueV2/errors")
    q = r.op("FIFOQueueV2", component_types=T, shapes=[[2], []], capacity=5, shared_name="q")
    put(r, q, f32([1, 2, 3]), L(1), fails=True)
    put(r, q, f32([1, 2]), fails=True)
    put(r, q, f32([1, 2]), F(1), fails=True)
    put_many(r, q, f32([[1, 2]]), i64([1, 2]), fails=True)
    put_many(r, q, f32([[1, 2, 3]]), i64([1]), fails=True)
    put_many(r, q, F(1), i64([1]), fails=True, text=False)  # the text holds a number from nowhere
    put_many(r, q, np.zeros([0, 2], F), np.zeros([0], L))
    take_many(r, q, 0, T)
    take_many(r, q, -1, T, fails=True)
    take(r, q, [tf.float32], fails=True)
    take(r, q, [tf.int64, tf.int64], fails=True)
    size(r, q)
    r.op("FIFOQueueV2", component_types=T, shapes=[[2]], shared_name="x", fails=True)
    r.op("FIFOQueueV2", component_types=T, shapes=[[2], [None]], shared_name="y", fails=True)
    r.op("FIFOQueueV2", component_types=T, shapes=[[2], []], capacity=6, shared_name="q", fails=True)
    r.op("FIFOQueueV2", component_types=T, shapes=[[3], []], capacity=5, shared_name="q", fails=True)
    r.op("FIFOQueueV2", component_types=[tf.float32, tf.float32], shapes=[[2], []], capacity=5, shared_name="q", fails=True)
    same = r.op("FIFOQueueV2", component_types=T, shapes=[[2], []], capacity=5, shared_name="q")
    put(r, q, f32([1, 2]), L(1))
    size(r, same)


def padding(r):
    r.seq("PaddingFIFOQueueV2/pads")
    q = r.op("PaddingFIFOQueueV2", component_types=[tf.int32, tf.string], shapes=[[None, 2], [None]], shared_name="q")
    put(r, q, i32([[1, 2]]), strings("a", "b"))
    put(r, q, i32([[1, 2], [3, 4], [5, 6]]), strings())
    put(r, q, np.zeros([0, 2], I), strings("c"))
    size(r, q)
    take_many(r, q, 3, [tf.int32, tf.string])
    put(r, q, i32([[1, 2]]), strings("a", "b"))
    take(r, q, [tf.int32, tf.string])
    put(r, q, i32([[1, 2]]), strings("a"))
    put(r, q, i32([[1, 2], [3, 4]]), strings("a", "b", "c"))
    close(r, q)
    take_many(r, q, 5, [tf.int32, tf.string], "QueueDequeueUpToV2")
    r.seq("PaddingFIFOQueueV2/enqueue_many")
    q = r.op("PaddingFIFOQueueV2", component_types=[tf.float32], shapes=[[None]], shared_name="q")
    put_many(r, q, f32([[1, 2], [3, 4]]))
    put_many(r, q, f32([[5], [6]]))
    take_many(r, q, 4, [tf.float32])
    r.seq("PaddingFIFOQueueV2/errors")
    q = r.op("PaddingFIFOQueueV2", component_types=[tf.float32], shapes=[[None, 2]], shared_name="q")
    put(r, q, f32([[1, 2, 3]]), fails=True)
    put(r, q, f32([1, 2]), fails=True)
    put_many(r, q, f32([[1, 2]]), fails=True)
    r.op("PaddingFIFOQueueV2", component_types=[tf.float32], shared_name="no_shapes", fails=True)
    r.op("PaddingFIFOQueueV2", component_types=[tf.float32], shapes=[None], shared_name="unknown", fails=True)


def priority(r):
    T = [tf.int64, tf.string]
    r.seq("PriorityQueueV2/order")
    q = r.op("PriorityQueueV2", component_types=[tf.string], shapes=[[]], shared_name="q")
    for p, v in ((5, "five"), (1, "one"), (9, "nine"), (-3, "minus")):
        put(r, q, L(p), strings(v)[0])
    put_many(r, q, i64([2, 7]), strings("two", "seven"))
    size(r, q)
    take(r, q, T)
    take_many(r, q, 2, T)
    close(r, q)
    for _ in range(3):
        take(r, q, T)
    take(r, q, T, fails=True)
    r.seq("PriorityQueueV2/errors")
    q = r.op("PriorityQueueV2", component_types=[tf.string], shapes=[[]], shared_name="q")
    put(r, q, i32(1), strings("a")[0], fails=True)
    put(r, q, i64([1]), strings("a")[0], fails=True)
    put(r, q, L(1), strings("a"), fails=True)
    put_many(r, q, i64([[1]]), strings("a"), fails=True)
    put(r, q, L(1), fails=True)
    size(r, q)


def shuffle(r):
    for seed, seed2 in ((1, 2), (87654321, 5)):
        r.seq(f"RandomShuffleQueueV2/{seed}_{seed2}")
        q = r.op("RandomShuffleQueueV2", component_types=[tf.int64], shapes=[[]], capacity=20, min_after_dequeue=0, seed=seed, seed2=seed2,
                 shared_name="q")
        put_many(r, q, np.arange(10, dtype=L))
        for _ in range(3):
            take(r, q, [tf.int64])
        take_many(r, q, 4, [tf.int64])
        put(r, q, L(100))
        size(r, q)
        close(r, q)
        take_many(r, q, 10, [tf.int64], "QueueDequeueUpToV2")
        take(r, q, [tf.int64], fails=True)
    r.seq("RandomShuffleQueueV2/min_after_dequeue")
    q = r.op("RandomShuffleQueueV2", component_types=[tf.int64, tf.float32], shapes=[[], [2]], capacity=20, min_after_dequeue=3, seed=3, seed2=4,
             shared_name="q")
    put_many(r, q, np.arange(6, dtype=L), np.arange(12, dtype=F).reshape(6, 2))
    take_many(r, q, 3, [tf.int64, tf.float32])
    close(r, q)  # after this the rest may go out
    take_many(r, q, 3, [tf.int64, tf.float32])
    take_many(r, q, 1, [tf.int64, tf.float32], fails=True)
    r.seq("RandomShuffleQueueV2/errors")
    r.op("RandomShuffleQueueV2", component_types=[tf.int64], min_after_dequeue=-1, shared_name="a", fails=True)
    r.op("RandomShuffleQueueV2", component_types=[tf.int64], capacity=2, min_after_dequeue=5, shared_name="b", fails=True)


def staging(r):
    T = [tf.float32, tf.int32]
    at = {"dtypes": T, "shared_name": "s"}
    r.seq("Stage")
    r.op("StageSize", **at)
    r.op("Stage", f32([1, 2]), I(1), shared_name="s")
    r.op("Stage", f32(3), I(2), shared_name="s")
    r.op("StageSize", **at)
    for k in (0, 1):
        r.ops("StagePeek", I(k), **at)
    r.ops("Unstage", **at)
    r.op("StageSize", **at)
    r.op("StageClear", **at)
    r.op("StageSize", **at)
    r.seq("Stage/capacity")
    r.op("Stage", f32([1, 2]), shared_name="s", capacity=2)
    r.op("Stage", f32([3, 4]), shared_name="s", capacity=2)
    r.ops("Unstage", dtypes=[tf.float32], shared_name="s", capacity=2)
    r.op("Stage", f32([5, 6]), shared_name="s", capacity=2)
    r.ops("Unstage", dtypes=[tf.float32], shared_name="s", capacity=2)
    r.seq("Stage/memory_limit_too_small")
    r.op("Stage", f32(np.zeros(100)), shared_name="s", memory_limit=16, fails=True)
    for prefix in ("Map", "OrderedMap"):
        at = {"dtypes": T, "shared_name": "m"}
        r.seq(prefix + "Stage")
        r.op(prefix + "Size", **at)
        stage = lambda key, indices, *v, **kw: r.op(prefix + "Stage", L(key), i32(indices), *v, dtypes=T, shared_name="m", **kw)
        stage(5, [0, 1], f32(1.5), I(10))
        stage(3, [0, 1], f32([2.5]), I(20))
        stage(9, [1], I(30))
        r.op(prefix + "Size", **at)
        r.op(prefix + "IncompleteSize", **at)
        stage(9, [0], f32(9))
        r.op(prefix + "IncompleteSize", **at)
        r.op(prefix + "Size", **at)
        r.ops(prefix + "Peek", L(3), i32([0, 1]), **at)
        r.ops(prefix + "Peek", L(9), i32([1]), dtypes=[tf.int32], shared_name="m")
        r.ops(prefix + "Unstage", L(5), i32([0, 1]), **at)
        r.op(prefix + "Size", **at)
        if prefix == "OrderedMap":
            r.ops(prefix + "UnstageNoKey", i32([0, 1]), **at)
            r.ops(prefix + "UnstageNoKey", i32([0, 1]), **at)
        else:
            r.ops(prefix + "Unstage", L(3), i32([0, 1]), **at)
            r.ops(prefix + "UnstageNoKey", i32([0, 1]), **at)
        r.op(prefix + "Size", **at)
        stage(1, [0], f32(9))
        r.op(prefix + "Clear", **at)
        r.op(prefix + "IncompleteSize", **at)
        r.seq(prefix + "Stage/partial_take")
        stage(1, [0, 1], f32(4), I(7))
        r.ops(prefix + "Unstage", L(1), i32([1]), dtypes=T, shared_name="m", fails=True)
        r.seq(prefix + "Stage/errors")
        stage(1, [1, 0], f32(4), I(1), fails=True)
        stage(2, [0], f32(4))
        stage(2, [0], f32(4), fails=True)
        stage(3, [0, 1], f32(4), I(1))
        r.op(prefix + "Stage", i64([1, 2]), i32([0, 1]), f32(1), I(1), dtypes=T, shared_name="m", fails=True)


def mutexes(r):
    r.seq("mutex")
    m = r.op("MutexV2", shared_name="m")
    lock = r.op("MutexLock", m)
    r.op("ConsumeMutexLock", lock)
    r.op("ConsumeMutexLock", lock)  # the lock itself is held until the variant is freed
    r.seq("mutex/two")
    a, b = r.op("MutexV2", shared_name="a"), r.op("MutexV2", shared_name="b")
    one, two = r.op("MutexLock", a), r.op("MutexLock", b)
    r.op("ConsumeMutexLock", two)
    r.op("ConsumeMutexLock", one)
    r.seq("mutex/errors")
    v = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="v")
    r.op("MutexLock", v, fails=True)
    o = r.op("OptionalNone")
    r.op("ConsumeMutexLock", o, fails=True)


def accumulators(r):
    for dtype in (F, D, np.float16):
        kind = tf.as_dtype(dtype)
        for reduction in ("MEAN", "SUM"):
            r.seq(f"accumulator/{kind.name}_{reduction}")
            a = r.op("ResourceConditionalAccumulator", dtype=kind, shape=[2], reduction_type=reduction, shared_name="a")
            give = lambda step, v: r.op("ResourceAccumulatorApplyGradient", a, L(step), np.array(v).astype(dtype))
            r.op("ResourceAccumulatorNumAccumulated", a)
            give(0, [2, 4])
            give(0, [4, 8])
            r.op("ResourceAccumulatorNumAccumulated", a)
            r.op("ResourceAccumulatorTakeGradient", a, I(1), dtype=kind)
            r.op("ResourceAccumulatorNumAccumulated", a)
            give(0, [50, 50])  # too old now: dropped
            r.op("ResourceAccumulatorNumAccumulated", a)
            give(1, [6, 2])
            r.op("ResourceAccumulatorTakeGradient", a, I(1), dtype=kind)
            r.op("ResourceAccumulatorSetGlobalStep", a, L(10))
            give(9, [1, 1])
            r.op("ResourceAccumulatorNumAccumulated", a)
            give(10, [3, 1])
            r.op("ResourceAccumulatorTakeGradient", a, I(1), dtype=kind)
    r.seq("accumulator/errors")
    a = r.op("ResourceConditionalAccumulator", dtype=tf.float32, shape=[2], shared_name="a")
    r.op("ResourceAccumulatorApplyGradient", a, L(0), f32([1, 2, 3]), fails=True)
    r.op("ResourceAccumulatorApplyGradient", a, i64([0]), f32([1, 2]), fails=True)
    r.op("ResourceAccumulatorTakeGradient", a, I(0), dtype=tf.float32, fails=True)
    r.op("ResourceAccumulatorTakeGradient", a, i32([1]), dtype=tf.float32, fails=True)
    r.op("ResourceConditionalAccumulator", dtype=tf.float32, shape=[2], reduction_type="MAX", shared_name="b", fails=True)
    r.seq("accumulator/unknown_shape")
    a = r.op("ResourceConditionalAccumulator", dtype=tf.float32, shape=None, shared_name="a")
    r.op("ResourceAccumulatorApplyGradient", a, L(0), f32([1, 2, 3]))
    r.op("ResourceAccumulatorApplyGradient", a, L(0), f32([1, 2]), fails=True)
    r.op("ResourceAccumulatorTakeGradient", a, I(1), dtype=tf.float32)


def barriers(r):
    """Their handles are ref-typed strings, so they run in a session."""
    T = [tf.float32, tf.string]
    r.seq("Barrier", ref=True)
    b = r.declare("Barrier", component_types=T, shapes=[[2], []], shared_name="b")
    insert = lambda k, keys, values, **kw: r.op("BarrierInsertMany", b, strings(*keys), values, component_index=k, **kw)
    r.op("BarrierReadySize", b)
    insert(0, ["x", "y"], f32([[1, 2], [3, 4]]))
    r.op("BarrierReadySize", b)
    r.op("BarrierIncompleteSize", b)
    insert(1, ["y"], strings("why"))
    r.op("BarrierReadySize", b)
    r.op("BarrierIncompleteSize", b)
    insert(1, ["x", "z"], strings("ex", "zed"))
    r.ops("BarrierTakeMany", b, I(1), component_types=T)
    r.ops("BarrierTakeMany", b, I(1), component_types=T)
    r.op("BarrierReadySize", b)
    r.op("BarrierIncompleteSize", b)
    r.op("BarrierClose", b)
    insert(0, ["new"], f32([[1, 2]]), fails=True)
    insert(0, ["z"], f32([[9, 9]]))
    r.ops("BarrierTakeMany", b, I(5), component_types=T, fails=True)
    r.ops("BarrierTakeMany", b, I(5), component_types=T, allow_small_batch=True)
    r.ops("BarrierTakeMany", b, I(1), component_types=T, allow_small_batch=True, fails=True)
    r.seq("Barrier/errors", ref=True)
    b = r.declare("Barrier", component_types=T, shapes=[[2], []], shared_name="b")
    insert(0, ["x"], f32([[1, 2]]))
    insert(0, ["x"], f32([[1, 2]]), fails=True)
    insert(1, ["y"], f32([1]), fails=True)
    insert(2, ["y"], f32([1]), fails=True)
    r.op("BarrierClose", b, cancel_pending_enqueues=True)
    insert(1, ["x"], strings("late"), fails=True)
    r.op("BarrierClose", b, cancel_pending_enqueues=True, fails=True)


def old_handles(r):
    """The first generation of the same ops, with ref-typed string handles."""
    r.seq("FIFOQueue", ref=True)
    q = r.declare("FIFOQueue", component_types=[tf.int64], shapes=[[]], shared_name="q")
    r.op("QueueEnqueue", q, L(4))
    r.op("QueueEnqueueMany", q, i64([5, 6, 7, 8]))
    r.op("QueueSize", q)
    r.ops("QueueDequeue", q, component_types=[tf.int64])
    r.ops("QueueDequeueMany", q, I(2), component_types=[tf.int64])
    r.op("QueueClose", q)
    r.op("QueueIsClosed", q)
    r.ops("QueueDequeueUpTo", q, I(9), component_types=[tf.int64])
    r.ops("QueueDequeue", q, component_types=[tf.int64], fails=True)
    for name, attrs in (("PaddingFIFOQueue", {}), ("RandomShuffleQueue", {"seed": 1, "seed2": 2})):
        r.seq(name, ref=True)
        q = r.declare(name, component_types=[tf.int64], shapes=[[]], shared_name="q", **attrs)
        r.op("QueueEnqueueMany", q, i64([5, 6, 7, 8]))
        r.ops("QueueDequeueMany", q, I(4), component_types=[tf.int64])
    r.seq("PriorityQueue", ref=True)
    q = r.declare("PriorityQueue", component_types=[tf.float32], shapes=[[]], shared_name="q")
    r.op("QueueEnqueueMany", q, i64([5, 2, 7]), f32([50, 20, 70]))
    r.ops("QueueDequeueMany", q, I(3), component_types=[tf.int64, tf.float32])
    for reduction in ("MEAN", "SUM"):
        r.seq("ConditionalAccumulator/" + reduction, ref=True)
        a = r.declare("ConditionalAccumulator", dtype=tf.float32, shape=[2], reduction_type=reduction, shared_name="a")
        r.op("AccumulatorApplyGradient", a, L(0), f32([2, 4]))
        r.op("AccumulatorApplyGradient", a, L(0), f32([4, 8]))
        r.op("AccumulatorNumAccumulated", a)
        r.op("AccumulatorTakeGradient", a, I(2), dtype=tf.float32)
        r.op("AccumulatorApplyGradient", a, L(0), f32([9, 9]))
        r.op("AccumulatorNumAccumulated", a)
        r.op("AccumulatorSetGlobalStep", a, L(5))
        r.op("AccumulatorApplyGradient", a, L(4), f32([9, 9]))
        r.op("AccumulatorApplyGradient", a, L(5), f32([1, 3]))
        r.op("AccumulatorTakeGradient", a, I(1), dtype=tf.float32)
        r.op("AccumulatorApplyGradient", a, L(9), f32([1, 3, 4]), fails=True)
        r.op("AccumulatorTakeGradient", a, I(0), dtype=tf.float32, fails=True)
        r.seq("SparseConditionalAccumulator/" + reduction, ref=True)
        a = r.declare("SparseConditionalAccumulator", dtype=tf.float32, shape=[4, 2], reduction_type=reduction, shared_name="a")
        give = lambda step, i, v, **kw: r.op("SparseAccumulatorApplyGradient", a, L(step), np.array(i, L), f32(v), i64([4, 2]),
                                             has_known_shape=True, **kw)
        give(0, [0, 2], [[1, 2], [3, 4]])
        give(0, [2, 3], [[10, 20], [30, 40]])
        r.op("AccumulatorNumAccumulated", a)
        r.ops("SparseAccumulatorTakeGradient", a, I(2), dtype=tf.float32)
        give(0, [1], [[9, 9]])
        r.op("AccumulatorNumAccumulated", a)
        give(1, [1], [[9, 9]])
        r.ops("SparseAccumulatorTakeGradient", a, I(1), dtype=tf.float32)
        give(2, [1, 2], [[9, 9]], fails=True)
        give(2, [7], [[9, 9]], fails=True)
        give(2, [1], [[9, 9, 9]], fails=True)


def record(r):
    for part in (fifo, padding, priority, shuffle, staging, mutexes, accumulators, barriers, old_handles):
        part(r)
