"""Ref-typed variables of version 1 graphs: one session run for each step."""
import numpy as np
import tensorflow as tf

import state_format
from families import optimizers
from state_format import Ref, Step, build_node, strings

F, D, I, L, H = np.float32, np.float64, np.int32, np.int64, np.float16
B16 = tf.bfloat16.as_numpy_dtype


def f32(v):
    return np.array(v, F)


def i32(v):
    return np.array(v, I)


def var(r, value, name="", op="VariableV2"):
    """A variable and its first value: 2 steps. (Running the variable op alone, before, fails: see uninitialized.)"""
    value = np.asarray(value)
    kind = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
    v = r.declare(op, shape=value.shape, dtype=kind, shared_name=name)
    r.op("Assign", v, value)
    return v


def show(r, v):
    return r.op("Identity", v)


def basics(r):
    for dtype in (F, D, H, B16, I, L, np.uint8, np.bool_, np.complex64, object):
        kind = tf.string if dtype is object else tf.as_dtype(dtype)
        value = strings("a", "b", "c", "d") if dtype is object else np.array([1, 0, 3, 4]).astype(dtype)
        for op in ("VariableV2", "Variable"):
            r.seq(f"{op}/{kind.name}")
            v = r.declare(op, shape=[2, 2], dtype=kind)
            r.op("IsVariableInitialized", v)
            r.op("Assign", v, value.reshape(2, 2))
            r.op("IsVariableInitialized", v)
            show(r, v)
            r.op("RefIdentity", v)
            if dtype not in (np.bool_, object):
                r.op("AssignAdd", v, value.reshape(2, 2))
                r.op("AssignSub", v, np.ones([2, 2]).astype(dtype))
                show(r, v)
    r.seq("uninitialized")
    v = r.declare("VariableV2", shape=[2], dtype=tf.float32)
    r.op("Identity", v, fails=True)
    r.op("AssignAdd", v, f32([1, 2]), fails=True)
    r.op("AssignSub", v, f32([1, 2]), fails=True)
    for op in "Update Add Sub Mul Div Min Max".split():
        r.op("Scatter" + op, v, i32([0]), f32([1]), fails=True)
    r.op("ScatterNdUpdate", v, i32([[0]]), f32([1]), fails=True)
    r.op("ApplyGradientDescent", v, F(1), f32([1, 1]), fails=True)
    r.op("IsVariableInitialized", v)
    r.seq("assign_shapes")
    v = var(r, f32([1, 2]))
    r.op("Assign", v, f32([1, 2, 3]), fails=True)
    r.op("Assign", v, f32([1, 2, 3]), validate_shape=False)
    show(r, v)
    r.op("Assign", v, f32([[7]]), validate_shape=False, use_locking=False)
    r.op("AssignAdd", v, f32([1, 2]), fails=True)
    r.op("AssignSub", v, F(1), fails=True)
    r.op("AssignAdd", v, f32([[1]]), use_locking=True)
    r.seq("shared_name")
    a = var(r, f32([1, 2]), "x")
    b = r.declare("VariableV2", shape=[2], dtype=tf.float32, shared_name="x")
    c = r.declare("VariableV2", shape=[2], dtype=tf.float32, shared_name="x", container="c")
    show(r, b)
    r.op("AssignAdd", b, f32([1, 1]))
    show(r, a)
    r.op("IsVariableInitialized", c)
    r.seq("scalar_and_empty")
    s = var(r, F(1))
    r.op("AssignAdd", s, F(2))
    e = var(r, np.zeros([0, 2], F))
    r.op("AssignAdd", e, np.zeros([0, 2], F))
    r.op("IsVariableInitialized", e)
    for dtype in (I, L):
        r.seq("CountUpTo/" + np.dtype(dtype).name)
        v = var(r, dtype(0))
        for _ in range(2):
            r.op("CountUpTo", v, limit=2)
        r.op("CountUpTo", v, limit=2, fails=True)
        r.op("CountUpTo", v, limit=3)
        show(r, v)
        w = var(r, np.array([1, 2], dtype))
        r.op("CountUpTo", w, limit=9, fails=True)


def scatters(r):
    base = np.array([[1, 2], [3, 4], [5, 6], [8, 9]])
    for dtype in (F, D, H, B16, I, L, np.uint8):
        for idx in (I, L) if dtype is F else (I,):
            for op in "Update Add Sub Mul Div Min Max".split():
                if op in ("Min", "Max") and dtype is np.uint8:
                    continue
                r.seq(f"Scatter{op}/{tf.as_dtype(dtype).name}_{np.dtype(idx).name}")
                v = var(r, base.astype(dtype))
                r.op("Scatter" + op, v, np.array([0, 2], idx), np.array([[2, 1], [4, 8]]).astype(dtype))
                r.op("Scatter" + op, v, np.array([3, 3], idx), np.array([[2, 1], [3, 7]]).astype(dtype), use_locking=True)
                r.op("Scatter" + op, v, np.array(1, idx), np.array([3, 1]).astype(dtype))
                r.op("Scatter" + op, v, np.array([[0], [1]], idx), np.array(2).astype(dtype))
                show(r, v)
            for op in "Update Add Sub Min Max".split():
                r.seq(f"ScatterNd{op}/{tf.as_dtype(dtype).name}_{np.dtype(idx).name}")
                v = var(r, base.astype(dtype))
                r.op("ScatterNd" + op, v, np.array([[0, 1], [2, 0]], idx), np.array([2, 7]).astype(dtype))
                r.op("ScatterNd" + op, v, np.array([[3], [1]], idx), np.array([[1, 2], [9, 4]]).astype(dtype))
                show(r, v)
    for op in "Update Add Sub Mul Div Min Max".split():
        r.seq(f"Scatter{op}/errors")
        v = var(r, base.astype(F))
        bad = lambda i, u: r.op("Scatter" + op, v, i32(i), f32(u), fails=True)
        bad([4], [[1, 1]])
        bad([0, -1], [[1, 1], [1, 1]])
        bad([0], [[1, 1, 1]])
        bad([0, 1], [[1, 1]])
        bad([0, 1], [1, 1])
        show(r, v)
    for op in "Update Add Sub Min Max".split():
        r.seq(f"ScatterNd{op}/errors")
        v = var(r, base.astype(F))
        bad = lambda i, u: r.op("ScatterNd" + op, v, i32(i), f32(u), fails=True)
        bad([[4]], [[1, 1]])
        bad([[0, 2]], [1])
        bad([[0, 0, 0]], [1])
        bad([[0]], [[1, 1, 1]])
        bad([[0], [1]], [[1, 1]])
        show(r, v)
    for dtype in (F, I, np.bool_):
        r.seq("StridedSliceAssign/" + np.dtype(dtype).name)
        v = var(r, np.arange(12).reshape(3, 4).astype(dtype))
        r.op("StridedSliceAssign", v, i32([0, 1]), i32([2, 3]), i32([1, 1]), np.array([[7, 1], [0, 2]]).astype(dtype))
        r.op("StridedSliceAssign", v, i32([2]), i32([0]), i32([-2]), np.array([[1, 0, 3, 4]]).astype(dtype))
        r.op("StridedSliceAssign", v, i32([1, 0]), i32([2, 0]), i32([1, 1]), np.array([9, 0, 1, 2]).astype(dtype), shrink_axis_mask=1, end_mask=2)
        r.op("StridedSliceAssign", v, i32([0]), i32([2]), i32([1]), np.array([[1, 2, 3]]).astype(dtype), fails=True)
        r.op("StridedSliceAssign", v, i32([0]), i32([2]), i32([0]), np.array([[1, 2, 3, 4]]).astype(dtype), fails=True)
        show(r, v)


def optimizer_ops(r):
    """The same calls as for resources, on ref variables. AdamWithAmsgrad and KerasMomentum have no ref form."""
    names = [n for n in optimizers.DENSE if n not in ("AdamWithAmsgrad", "KerasMomentum")]

    def make_vars(name, dtype, value=optimizers.START):
        out = []
        for start in [None] + optimizers.DENSE[name][1]:
            out.append(var(r, optimizers.cast(value, dtype) if start is None else np.full(np.shape(value), start).astype(dtype)))
        return out

    for name in names:
        types, _, _, _, _, attr_sets = optimizers.DENSE[name]
        for dtype in types:
            for attrs in attr_sets if dtype is F else attr_sets[:1]:
                r.seq(f"Apply{name}/{tf.as_dtype(dtype).name}/{'_'.join(attrs) or 'plain'}")
                vs = make_vars(name, dtype)
                for k, g in enumerate(optimizers.GRADS[:2]):
                    optimizers.call(r, name, vs, optimizers.cast(g, dtype), dtype, step=k, attrs=attrs, prefix="")
                for v in vs:
                    show(r, v)
        r.seq(f"Apply{name}/errors")
        vs = make_vars(name, F)
        optimizers.call(r, name, vs, np.zeros([2, 3], F), F, prefix="", fails=True)
        optimizers.call(r, name, vs, optimizers.cast(optimizers.GRADS[0], F), F, prefix="", fails=True, s0=[0.1, 0.2])
        if len(vs) > 1:
            none = r.declare("VariableV2", shape=[3, 2], dtype=tf.float32)
            optimizers.call(r, name, vs[:-1] + [none], optimizers.cast(optimizers.GRADS[0], F), F, prefix="", fails=True)
        show(r, vs[0])
    for name in [n for n in optimizers.SPARSE if n in names]:
        for dtype in optimizers.sparse_types(name):
            for attrs in optimizers.DENSE[name][5] if dtype is F else [{}]:
                for idx in (I, L) if dtype is F and not attrs else (I,):
                    r.seq(f"SparseApply{name}/{tf.as_dtype(dtype).name}_{np.dtype(idx).name}/{'_'.join(attrs) or 'plain'}")
                    vs = make_vars(name, dtype)
                    for k, indices in enumerate(([0, 2], [1, 1])):
                        optimizers.call(r, name, vs, optimizers.cast(optimizers.GRADS[k][:2], dtype), dtype, np.array(indices, idx), k, attrs, prefix="")
                    for v in vs:
                        show(r, v)
        r.seq(f"SparseApply{name}/errors")
        vs = make_vars(name, F)
        g = optimizers.cast(optimizers.GRADS[0][:2], F)
        optimizers.call(r, name, vs, g, F, i32([0, 3]), prefix="", fails=True)
        optimizers.call(r, name, vs, g, F, i32([0]), prefix="", fails=True)
        optimizers.call(r, name, vs, np.zeros([2, 3], F), F, i32([0, 1]), prefix="", fails=True)


def temporary(r):
    """A temporary variable lives for one run: all steps of such a sequence are one run, the last output is compared."""
    for dtype in (F, I):
        name = f"one_run/TemporaryVariable_{np.dtype(dtype).name}"
        if name in r.done:
            continue
        r.seq(name)
        kind = tf.as_dtype(dtype)
        steps = [Step(build_node("TemporaryVariable", [], {"shape": [2], "dtype": kind, "var_name": "tmp"}), [], name, True),
                 Step(build_node("Assign", [kind, kind], {}), [Ref(0), np.array([1, 2], dtype)], "", True),
                 Step(build_node("AssignAdd", [kind, kind], {}), [Ref(1), np.array([10, 20], dtype)], "", True),
                 Step(build_node("DestroyTemporaryVariable", [kind], {"var_name": "tmp"}), [Ref(2)], "", True)]
        r.runner.run_all(steps)
        r.sequences[-1].extend(steps)


def record(r):
    for part in (basics, scatters, optimizer_ops, temporary):
        part(r)
