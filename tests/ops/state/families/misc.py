"""Other stateful ops, and ops on variants: checks, optionals, tensor maps, handles, sparse tensor maps."""
import numpy as np
import tensorflow as tf

from state_format import strings

F, D, I, L, H = np.float32, np.float64, np.int32, np.int64, np.float16
B16 = tf.bfloat16.as_numpy_dtype


def f32(v):
    return np.array(v, F)


def i32(v):
    return np.array(v, I)


def i64(v):
    return np.array(v, L)


def checks(r):
    nan, inf = np.nan, np.inf
    for dtype in (F, D, H, B16):
        for op in ("CheckNumerics", "CheckNumericsV2"):
            r.seq(f"{op}/{np.dtype(dtype).name}")
            v = lambda x: np.array(x, np.float64).astype(dtype)
            for good in ([1, -2, 0], [], 5):
                r.op(op, v(good), message="here")
            for bad in ([1, nan], [inf, 1], [-inf, 1], [nan, inf], [inf, -inf], [nan, -inf, inf], nan):
                r.op(op, v(bad), message="here", fails=True)
            r.op(op, v([nan]), message="", fails=True)
    r.seq("Assert")
    t, f = np.array(True), np.array(False)
    r.op("Assert", t, f32([1, 2]))
    r.op("Assert", f, f32([1, 2]), fails=True)
    r.op("Assert", f, strings("x is")[0], i32([1, 2, 3]), strings("wanted")[0], F(2.5), fails=True)
    r.op("Assert", f, i32([1, 2, 3, 4, 5]), summarize=2, fails=True)
    r.op("Assert", f, i32([[1, 2], [3, 4]]), np.array([True, False]), summarize=-1, fails=True)
    r.op("Assert", f, np.array([1e-7, 1e20, 0.1, 1 / 3, np.nan, -np.inf], D), np.array([1e-7, 1e20, 0.1, 1 / 3], F), summarize=10, fails=True)
    r.op("Assert", f, strings("a", "b", "c", "d"), summarize=3, fails=True)
    r.op("Assert", f, i32([]), fails=True)
    r.op("Assert", np.array([False]), i32([1]), fails=True)
    r.op("Assert", np.array([True, False]), i32([1]), fails=True)
    r.seq("EnsureShape")
    r.op("EnsureShape", f32([[1, 2]]), shape=[None, 2])
    r.op("EnsureShape", f32([[1, 2]]), shape=[None, 3], fails=True)
    r.op("EnsureShape", f32([[1, 2]]), shape=[2], fails=True)


def optionals(r):
    for value in (f32([1, 2]), i32(3), strings("a", "b"), np.array([True]), i64([[1]])):
        kind = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        r.seq("optional/" + kind.name)
        o = r.op("OptionalFromValue", value)
        r.op("OptionalHasValue", o)
        r.ops("OptionalGetValue", o, output_types=[kind], output_shapes=[value.shape])
        r.ops("OptionalGetValue", o, output_types=[kind], output_shapes=[None])
        z = r.op("ZerosLike", o)
        r.op("OptionalHasValue", z)
        r.ops("OptionalGetValue", z, output_types=[kind], output_shapes=[None])
        if value.dtype != object and value.dtype != np.bool_:
            s = r.op("AddN", o, o)
            r.ops("OptionalGetValue", s, output_types=[kind], output_shapes=[None])
    r.seq("optional/many")
    o = r.op("OptionalFromValue", f32([1, 2]), I(7), strings("x"))
    T = [tf.float32, tf.int32, tf.string]
    r.ops("OptionalGetValue", o, output_types=T, output_shapes=[[2], [], [1]])
    r.ops("OptionalGetValue", o, output_types=T, output_shapes=[[None], [], None])
    r.seq("optional/none")
    n = r.op("OptionalNone")
    r.op("OptionalHasValue", n)
    r.ops("OptionalGetValue", n, output_types=[tf.float32], output_shapes=[[]], fails=True)
    m = r.op("AddN", n, n)
    r.op("OptionalHasValue", m)
    r.op("AddN", n, r.op("OptionalFromValue", F(1)), fails=True)
    z = r.op("ZerosLike", n)
    r.op("OptionalHasValue", z)
    r.seq("optional/nested")
    inner = r.op("OptionalFromValue", F(4))
    outer = r.op("OptionalFromValue", inner)
    back = r.op("OptionalGetValue", outer, output_types=[tf.variant], output_shapes=[[]])
    r.ops("OptionalGetValue", back, output_types=[tf.float32], output_shapes=[[]])
    r.seq("optional/errors")
    o = r.op("OptionalFromValue", f32([1, 2]))
    r.ops("OptionalGetValue", o, output_types=[tf.int32], output_shapes=[[2]], fails=True)
    r.ops("OptionalGetValue", o, output_types=[tf.float32], output_shapes=[[3]], fails=True)
    r.ops("OptionalGetValue", o, output_types=[tf.float32, tf.float32], output_shapes=[[2], [2]], fails=True)
    l = r.op("EmptyTensorList", i32([]), i32(-1), element_dtype=tf.float32)
    r.op("OptionalHasValue", l, fails=True)
    r.ops("OptionalGetValue", l, output_types=[tf.float32], output_shapes=[[]], fails=True)


def maps(r):
    pairs = [(strings("a")[0], strings("b")[0], f32([1, 2]), f32([3, 4])), (I(1), I(2), F(5), F(6)), (L(1), L(2), L(5), L(6)),
             (I(1), I(2), strings("x")[0], strings("y")[0])]
    for a, b, x, y in pairs:
        kinds = [tf.string if np.asarray(v).dtype == object or isinstance(v, bytes) else tf.as_dtype(v.dtype) for v in (a, x)]
        r.seq(f"tensor_map/{kinds[0].name}_{kinds[1].name}")
        m = r.op("EmptyTensorMap")
        r.op("TensorMapSize", m)
        one = r.op("TensorMapInsert", m, a, x)
        two = r.op("TensorMapInsert", one, b, y)
        for each in (m, one, two):
            r.op("TensorMapSize", each)
            r.op("TensorMapHasKey", each, a)
            r.op("TensorMapHasKey", each, b)
        r.op("TensorMapLookup", two, b, value_dtype=kinds[1])
        r.op("TensorMapLookup", one, b, value_dtype=kinds[1], fails=True)
        r.op("TensorMapStackKeys", one, key_dtype=kinds[0])
        again = r.op("TensorMapInsert", two, a, y)
        r.op("TensorMapLookup", again, a, value_dtype=kinds[1])
        r.op("TensorMapSize", again)
        less = r.op("TensorMapErase", two, a, value_dtype=kinds[1])
        r.op("TensorMapSize", less)
        r.op("TensorMapErase", less, a, value_dtype=kinds[1], fails=True)
        z = r.op("ZerosLike", one)
        r.op("TensorMapSize", z)
    r.seq("tensor_map/errors")
    m = r.op("EmptyTensorMap")
    r.op("TensorMapStackKeys", m, key_dtype=tf.int32, fails=True)
    o = r.op("OptionalNone")
    r.op("TensorMapSize", o, fails=True)


def handles(r):
    r.seq("handles/ref_counting")
    v = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="v")
    r.op("IsResourceHandleRefCounting", v)
    a = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="cd2c89b7-88b7-44c8-ad83-06c2a9158347")
    r.op("IsResourceHandleRefCounting", a)
    t = r.op("AnonymousHashTable", key_dtype=tf.int64, value_dtype=tf.int64)
    r.op("IsResourceHandleRefCounting", t)
    r.op("AssignVariableOp", a, F(3), dtype=tf.float32)
    w = r.op("MakeWeakResourceHandle", a)
    r.op("IsResourceHandleRefCounting", w)
    r.op("ReadVariableOp", w, dtype=tf.float32)
    r.seq("handles/through_identity_and_pack")
    a = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="a")
    b = r.op("VarHandleOp", dtype=tf.float32, shape=[], shared_name="b")
    r.op("AssignVariableOp", a, F(1), dtype=tf.float32)
    r.op("AssignVariableOp", b, F(2), dtype=tf.float32)
    i = r.op("Identity", a)
    r.op("ReadVariableOp", i, dtype=tf.float32)
    p = r.op("Pack", a, b)
    r.op("VarIsInitializedOp", p, fails=True)
    x, y = r.ops("Unpack", p, num=2)[:2]
    r.op("ReadVariableOp", x, dtype=tf.float32)
    r.op("AssignAddVariableOp", y, F(5), dtype=tf.float32)
    r.op("ReadVariableOp", b, dtype=tf.float32)
    g = r.op("GatherV2", p, i32([1]), I(0))
    one = r.op("Reshape", g, i32([]))
    r.op("ReadVariableOp", one, dtype=tf.float32)
    r.seq("handles/variable_of_variants")
    v = r.op("VarHandleOp", dtype=tf.variant, shape=[], shared_name="v")
    l = r.op("TensorListFromTensor", f32([1, 2]), i32([]))
    r.op("AssignVariableOp", v, l, dtype=tf.variant)
    got = r.op("ReadVariableOp", v, dtype=tf.variant)
    r.op("TensorListStack", got, i32([]), element_dtype=tf.float32)
    r.op("TensorListLength", got)


def sparse_maps(r):
    r.seq("SparseTensorsMap/one_by_one")
    at = {"shared_name": "m"}
    h1 = r.op("AddSparseToTensorsMap", i64([[0, 1], [2, 0]]), f32([5, 6]), i64([3, 4]), **at)
    h2 = r.op("AddSparseToTensorsMap", i64([[1, 1]]), f32([7]), i64([2, 9]), **at)
    both = r.op("Pack", h1, h2)
    r.ops("TakeManySparseFromTensorsMap", both, dtype=tf.float32, **at)
    r.ops("TakeManySparseFromTensorsMap", both, dtype=tf.float32, fails=True, **at)
    r.seq("SparseTensorsMap/many")
    hs = r.op("AddManySparseToTensorsMap", i64([[0, 1], [0, 2], [2, 0]]), strings("a", "b", "c"), i64([3, 4]), **at)
    r.ops("TakeManySparseFromTensorsMap", hs, dtype=tf.string, **at)
    r.seq("SparseTensorsMap/errors")
    bad = lambda *a: r.op("AddSparseToTensorsMap", *a, fails=True, **at)
    bad(i64([0, 1]), f32([5]), i64([3]))
    bad(i64([[0, 1]]), f32([[5]]), i64([3, 4]))
    bad(i64([[0, 1]]), f32([5, 6]), i64([3, 4]))
    bad(i64([[0, 1]]), f32([5]), i64([3]))
    r.op("AddManySparseToTensorsMap", i64([[1], [0]]), f32([5, 6]), i64([3]), fails=True, **at)


def small(r):
    r.seq("DeepCopy")
    x = r.op("DeepCopy", f32([1, 2]))
    r.op("InplaceAdd", x, i32([0]), f32([5]))
    r.seq("Empty")
    for kind in (tf.float32, tf.int64, tf.bool, tf.string):
        r.op("Empty", i32([2, 2]), dtype=kind, init=True)
    r.op("Empty", i32([-1]), dtype=tf.float32, init=True, fails=True)
    r.seq("constants_of_the_engine")
    r.op("GuaranteeConst", f32([1, 2]))
    r.op("IsTensorFloat32Enabled")
    r.op("DeviceIndex", device_names=["CPU", "GPU"])
    r.op("DeviceIndex", device_names=["GPU"])
    r.op("StatelessRandomGetAlg")
    r.op("DummySeedGenerator")
    r.op("DummyMemoryCache")
    r.op("DummyIterationCounter")
    r.seq("anonymous_seed_generators")
    h = r.op("AnonymousSeedGenerator", L(1), L(2), np.array(True))
    r.op("IsResourceHandleRefCounting", h)
    h = r.op("AnonymousMemoryCache")
    r.op("IsResourceHandleRefCounting", h)


def record(r):
    for part in (checks, optionals, maps, handles, sparse_maps, small):
        part(r)
