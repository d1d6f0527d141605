"""Resource optimizer ops: several steps of each, dense and sparse, and their errors."""
import numpy as np
import tensorflow as tf

B16 = tf.bfloat16.as_numpy_dtype
REAL = [np.float32, np.float64, np.float16, B16]
COMPLEX = [np.complex64, np.complex128]
NO_COMPLEX = REAL
DOUBLE_ONLY = [np.float32, np.float64]

# op: (types, slots with start values, scalars before the gradient, scalars after it, attr sets)
# A slot of None is the variable itself. Sparse ops get indices after the gradient, then the later scalars.
DENSE = {
    "GradientDescent": (REAL + COMPLEX, [], [0.5], "grad", [], [{}, {"use_locking": True}]),
    "ProximalGradientDescent": (DOUBLE_ONLY, [], [0.5, 0.1, 0.2], "grad", [], [{}, {"use_locking": True}]),
    "Momentum": (REAL + COMPLEX, [0.0], [0.1], "grad", [0.9], [{}, {"use_nesterov": True}, {"use_locking": True}]),
    "KerasMomentum": (REAL + COMPLEX, [0.0], [0.1], "grad", [0.9], [{}, {"use_nesterov": True}, {"use_locking": True}]),
    "Adagrad": (REAL + COMPLEX, [0.1], [0.1], "grad", [], [{}, {"update_slots": False}, {"use_locking": True}]),
    "AdagradV2": (REAL + COMPLEX, [0.1], [0.1, 1e-3], "grad", [], [{}, {"update_slots": False}, {"use_locking": True}]),
    "ProximalAdagrad": (DOUBLE_ONLY, [0.1], [0.1, 0.01, 0.02], "grad", [], [{}, {"use_locking": True}]),
    "AdagradDA": (DOUBLE_ONLY, [0.0, 0.1], None, "grad", None, [{}, {"use_locking": True}]),
    "Adadelta": (REAL + COMPLEX, [0.0, 0.0], [0.5, 0.9, 1e-3], "grad", [], [{}, {"use_locking": True}]),
    "RMSProp": (REAL + COMPLEX, [1.0, 0.0], [0.1, 0.9, 0.5, 1e-3], "grad", [], [{}, {"use_locking": True}]),
    "CenteredRMSProp": (REAL + COMPLEX, [0.1, 2.0, 0.0], [0.1, 0.9, 0.5, 1e-3], "grad", [], [{}, {"use_locking": True}]),
    "Ftrl": (REAL, [0.1, 0.0], None, "grad", [0.1, 0.05, 0.02, -0.5], [{}, {"multiply_linear_by_lr": True}, {"use_locking": True}]),
    "FtrlV2": (REAL, [0.1, 0.0], None, "grad", [0.1, 0.05, 0.02, 0.1, -0.5], [{}, {"multiply_linear_by_lr": True}, {"use_locking": True}]),
    "Adam": (REAL + COMPLEX, [0.0, 0.0], [0.9, 0.999, 0.1, 0.9, 0.999, 1e-3], "grad", [],
             [{}, {"use_nesterov": True}, {"use_locking": True}]),
    "AdaMax": ([np.float32, np.float64, np.float16], [0.0, 0.0], [0.9, 0.1, 0.9, 0.999, 1e-3], "grad", [], [{}, {"use_locking": True}]),
    "AdamWithAmsgrad": (REAL, [0.0, 0.0, 0.0], [0.9, 0.999, 0.1, 0.9, 0.999, 1e-3], "grad", [], [{}, {"use_locking": True}]),
    "AddSign": (REAL, [0.0], [0.1, 1.0, 0.5, 0.9], "grad", [], [{}, {"use_locking": True}]),
    "PowerSign": (REAL, [0.0], [0.1, 0.7, 0.5, 0.9], "grad", [], [{}, {"use_locking": True}]),
}
SPARSE = ["Adadelta", "Adagrad", "AdagradDA", "AdagradV2", "CenteredRMSProp", "Ftrl", "FtrlV2", "KerasMomentum", "Momentum",
          "ProximalAdagrad", "ProximalGradientDescent", "RMSProp"]
GRADS = [[[0.5, -1.0], [2.0, 0.25], [-0.125, 3.0]], [[-0.5, 1.5], [0.0, 0.75], [1.0, -2.0]], [[1.0, 1.0], [-3.0, 0.5], [0.25, 0.0]]]
START = [[1.0, -2.0], [0.5, 3.0], [-1.5, 0.0]]


def cast(values, dtype):
    out = np.array(values, dtype=np.float64)
    if np.dtype(dtype).kind == "c" and out.ndim:
        return (out + 0.5j * out[..., ::-1]).astype(dtype)
    return out.astype(dtype)


def sparse_types(name):
    types = DENSE[name][0]
    return [t for t in types if t is not B16] if name in ("RMSProp", "CenteredRMSProp") else types


def call(r, name, handles, grad, dtype, indices=None, step=0, attrs={}, fails=False, prefix="Resource", **change):
    """One Apply. `change`: other values for scalars by position (s0, s1, ...)."""
    types, slots, before, _, after, _ = DENSE[name]
    scalar = lambda k, v: cast(change.get(f"s{k}", v), dtype)
    where = [] if indices is None else [indices]
    if name == "AdagradDA":
        args = [grad, *where, scalar(0, 0.1), scalar(1, 0.01), scalar(2, 0.02), np.int64(step + 1)]
    elif name in ("Ftrl", "FtrlV2"):
        args = [grad, *where, *(scalar(k, v) for k, v in enumerate(after))]
    else:
        args = [*(scalar(k, v) for k, v in enumerate(before)), grad, *where,
                *(scalar(k + len(before), v) for k, v in enumerate(after))]
    op = prefix + ("Sparse" if indices is not None else "") + "Apply" + name
    return r.op(op, *handles, *args, fails=fails, **attrs)


def make_vars(r, name, dtype, value=START):
    handles = []
    kind = tf.as_dtype(dtype)
    for k, start in enumerate([None] + DENSE[name][1]):
        v = cast(value, dtype) if start is None else np.full(np.shape(value), start).astype(dtype)
        h = r.op("VarHandleOp", dtype=kind, shape=v.shape, shared_name=f"s{k}")
        r.op("AssignVariableOp", h, v, dtype=kind)
        handles.append(h)
    return handles


def show(r, handles, dtype):
    for h in handles:
        r.op("ReadVariableOp", h, dtype=tf.as_dtype(dtype))


def dense(r):
    for name, (types, _, _, _, _, attr_sets) in DENSE.items():
        for dtype in types:
            for attrs in attr_sets if dtype in (np.float32, np.float64) else attr_sets[:2]:
                if dtype not in DOUBLE_ONLY and "use_locking" in attrs:
                    continue
                label = "_".join(attrs) or "plain"
                r.seq(f"apply/{name}/{tf.as_dtype(dtype).name}/{label}")
                hs = make_vars(r, name, dtype)
                for k, g in enumerate(GRADS if not attrs or dtype is np.float32 else GRADS[:2]):
                    call(r, name, hs, cast(g, dtype), dtype, step=k, attrs=attrs)
                    show(r, hs, dtype)
        r.seq(f"apply/{name}/long_vector")  # longer than a vector register, with a rest
        hs = make_vars(r, name, np.float32, np.linspace(-2, 2, 37))
        for k in range(2):
            call(r, name, hs, np.sin(np.arange(37) + k).astype(np.float32), np.float32, step=k)
            show(r, hs, np.float32)
        r.seq(f"apply/{name}/scalar")
        hs = make_vars(r, name, np.float32, 1.5)
        call(r, name, hs, np.float32(0.5), np.float32)
        show(r, hs, np.float32)
        r.seq(f"apply/{name}/empty")
        hs = make_vars(r, name, np.float32, np.zeros([0, 2]))
        call(r, name, hs, np.zeros([0, 2], np.float32), np.float32)
        show(r, hs, np.float32)


def dense_errors(r):
    f = np.float32
    for name, (types, slots, before, _, after, _) in DENSE.items():
        r.seq(f"apply/{name}/errors")
        hs = make_vars(r, name, f)
        call(r, name, hs, np.zeros([2, 3], f), f, fails=True)
        call(r, name, hs, np.zeros([6], f), f, fails=True)
        for k in range(3 if before is None else len(before) + len(after)):
            call(r, name, hs, cast(GRADS[0], f), f, fails=True, **{f"s{k}": [0.1, 0.2]})
        show(r, hs[:1], f)
        h = r.op("VarHandleOp", dtype=tf.float32, shape=[3, 2], shared_name="none")
        for k in range(len(hs)):
            call(r, name, hs[:k] + [h] + hs[k + 1:], cast(GRADS[0], f), f, fails=True)
        other = r.op("VarHandleOp", dtype=tf.float32, shape=[2], shared_name="small")
        r.op("AssignVariableOp", other, np.zeros([2], f), dtype=tf.float32)
        unchecked = name in ("Adadelta", "AdamWithAmsgrad")  # TensorFlow reads past the end of a short last slot
        for k in range(1, len(hs) - unchecked):
            call(r, name, hs[:k] + [other] + hs[k + 1:], cast(GRADS[0], f), f, fails=True)
        show(r, hs, f)


def sparse(r):
    for name in SPARSE:
        attr_sets = DENSE[name][5]
        for dtype in sparse_types(name):
            for idx in (np.int32, np.int64):
                if idx is np.int64 and dtype is not np.float32:
                    continue
                for attrs in attr_sets:
                    if "use_locking" in attrs and dtype is not np.float32:
                        continue
                    r.seq(f"sparse/{name}/{tf.as_dtype(dtype).name}_{np.dtype(idx).name}/{'_'.join(attrs) or 'plain'}")
                    hs = make_vars(r, name, dtype)
                    for k, indices in enumerate(([0, 2], [1, 1], [2])):
                        call(r, name, hs, cast(GRADS[k][:len(indices)], dtype), dtype, np.array(indices, idx), k, attrs)
                        show(r, hs, dtype)
        r.seq(f"sparse/{name}/vector_variable")  # rows of one element have a path of their own in TensorFlow
        hs = make_vars(r, name, np.float32, [1.0, 2.0, -3.0])
        call(r, name, hs, np.array([0.5, -1.5], np.float32), np.float32, np.array([2, 0], np.int32))
        show(r, hs, np.float32)
        r.seq(f"sparse/{name}/row_of_one")
        hs = make_vars(r, name, np.float32, [[1.0], [2.0], [-3.0]])
        call(r, name, hs, np.array([[0.5], [-1.5]], np.float32), np.float32, np.array([2, 0], np.int32))
        show(r, hs, np.float32)
        r.seq(f"sparse/{name}/rank_3")
        hs = make_vars(r, name, np.float32, [[[1.0, 2.0], [3.0, 4.0]], [[-1.0, -2.0], [-3.0, -4.0]]])
        call(r, name, hs, np.array([[[0.5, 1.5], [-0.5, 2.0]]], np.float32), np.float32, np.array([1], np.int32))
        show(r, hs, np.float32)
        r.seq(f"sparse/{name}/no_indices")
        hs = make_vars(r, name, np.float32)
        call(r, name, hs, np.zeros([0, 2], np.float32), np.float32, np.zeros([0], np.int32))
        show(r, hs, np.float32)


def sparse_errors(r):
    f, i = np.float32, np.int32
    g2 = cast(GRADS[0][:2], f)
    for name in SPARSE:
        r.seq(f"sparse/{name}/errors")
        hs = make_vars(r, name, f)
        bad = lambda grad, indices, **kw: call(r, name, hs, grad, f, indices, fails=True, **kw)
        bad(g2, np.array([0, 3], i))
        bad(g2, np.array([-1, 0], i))
        bad(g2, np.array([0], i))
        bad(g2, np.array([[0, 1]], i))
        bad(np.zeros([2, 3], f), np.array([0, 1], i))
        bad(np.zeros([2], f), np.array([0, 1], i))
        bad(g2, np.array([0, 1], i), s0=[0.1, 0.2])
        show(r, hs[:1], f)
        h = r.op("VarHandleOp", dtype=tf.float32, shape=[3, 2], shared_name="none")
        for k in range(len(hs)):
            call(r, name, hs[:k] + [h] + hs[k + 1:], g2, f, np.array([0, 1], i), fails=True)
        other = r.op("VarHandleOp", dtype=tf.float32, shape=[2, 2], shared_name="small")
        r.op("AssignVariableOp", other, np.zeros([2, 2], f), dtype=tf.float32)
        for k in range(1, len(hs)):
            call(r, name, hs[:k] + [other] + hs[k + 1:], g2, f, np.array([0, 1], i), fails=True)
        show(r, hs, f)
        r.seq(f"sparse/{name}/scalar_variable")
        hs = make_vars(r, name, f, 1.5)
        call(r, name, hs, np.zeros([1], f), f, np.array([0], i), fails=True)


def record(r):
    for part in (dense, dense_errors, sparse, sparse_errors):
        part(r)
