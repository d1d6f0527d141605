"""tf.vectorized_map over a matrix of functions: eagerly, in a function with open sizes, with gradients."""

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(0)


def data(*shape):
    return tf.constant(rng.uniform(0.2, 1.5, shape).astype(np.float32))


x, m, img = data(4, 3), data(4, 3, 3), data(4, 2, 6, 6, 2)
i, w, k = tf.constant([2, 0, 1, 2]), data(3, 3), data(3, 3, 2, 4)
kb, table = data(4, 3, 3, 2, 4), data(5, 3)
spd = tf.matmul(m, m, transpose_b=True) + 2 * tf.eye(3)
variable = tf.Variable(data(3))


@tf.function
def called(a, b):
    return tf.sin(a) * b + variable


def loop_fixed(a):
    return tf.while_loop(lambda n, v: n < 3, lambda n, v: (n + 1, v * a + 1.0), (0, tf.zeros([3])))[1]


def loop_by_row(a):
    return tf.while_loop(lambda v: tf.reduce_sum(v) < 20.0, lambda v: (v * 1.7 + 0.1,), (a,))[0]


def collatz(n):
    def body(v, steps):
        return tf.cond(v % 2 == 0, lambda: v // 2, lambda: 3 * v + 1), steps + 1

    return tf.while_loop(lambda v, steps: v > 1, body, (n, 0))[1]


def with_array(a):
    ta = tf.TensorArray(tf.float32, size=3)
    for j in range(3):
        ta = ta.write(j, a * float(j + 1))
    return ta.stack()


def array_in_loop(a):
    ta = tf.TensorArray(tf.float32, size=4, element_shape=[3])
    return tf.while_loop(lambda n, t: n < 4, lambda n, t: (n + 1, t.write(n, a + tf.cast(n, tf.float32))), (0, ta))[
        1
    ].stack()


def row_gradient(a):
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, a)) ** 2)
    return tape.gradient(y, a)


def filter_gradient(a):
    with tf.GradientTape() as tape:
        tape.watch(k)
        y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(a, k, 1, "SAME")) ** 2)
    return tape.gradient(y, k)


CASES = {
    "unary": (lambda a: tf.exp(-tf.square(a)) + tf.math.log1p(a), x),
    "broadcast": (lambda a: a[:, None] * w - tf.reduce_max(a), x),
    "scalar": (lambda a: a * 2.0 + w[0, 0], x[:, 0]),
    "where": (lambda a: tf.where(a > 0.8, a, -a), x),
    "where scalar": (lambda a: tf.where(a[0] > 0.8, a, tf.zeros_like(a)), x),
    "cast": (lambda a: tf.cast(a * 10, tf.int32) % 3, x),
    "clip": (lambda a: tf.clip_by_value(a, 0.5, 1.0), x),
    "matmul": (lambda a: tf.matmul(a, w) + tf.matmul(w, a, transpose_b=True), m),
    "matmul both": (lambda a: tf.matmul(a, a, transpose_a=True), m),
    "matvec": (lambda a: tf.linalg.matvec(w, a), x),
    "row vector": (lambda a: tf.matmul(a[None], w)[0], x),
    "batch matmul": (lambda a: tf.matmul(tf.stack([a, a + 1]), w), m),
    "einsum": (lambda a: tf.einsum("ij,jk,k->i", a, w, a[0]), m),
    "einsum dots": (lambda a: tf.einsum("...ij,jk->...ik", a, w), m),
    "tensordot": (lambda a: tf.tensordot(a, w, [[1], [0]]), m),
    "sum": (lambda a: tf.reduce_sum(a, -1) + tf.reduce_mean(a, 0) * tf.reduce_prod(a), m),
    "norms": (lambda a: tf.norm(a) + tf.reduce_logsumexp(a) + tf.math.reduce_std(a), m),
    "any": (lambda a: tf.reduce_any(a > 1.0, axis=1), m),
    "argmax": (lambda a: tf.argmax(a, 0) + tf.argmin(a, -1), m),
    "cumsum": (lambda a: tf.cumsum(a, axis=1, reverse=True) + tf.cumsum(a, axis=-2, exclusive=True), m),
    "topk": (lambda a: tf.math.top_k(a, 2), x),
    "sort": (lambda a: tf.sort(a, direction="DESCENDING"), x),
    "softmax": (lambda a: tf.nn.softmax(a) * tf.nn.log_softmax(a, axis=0), m),
    "gather": (lambda a: tf.gather(a, [2, 0]), x),
    "gather axis": (lambda a: tf.gather(a, [2, 0], axis=1), m),
    "gather by row": (lambda t: tf.gather(t[0], t[1]), (x, i)),
    "gather table": (lambda j: tf.gather(table, j), i),
    "gather table axis": (lambda j: tf.gather(w, [j, 0], axis=1), i),
    "gather batch": (lambda a: tf.gather(a, [[0], [1], [2]], batch_dims=1), m),
    "embedding": (lambda j: tf.nn.embedding_lookup(table, [j, 1]), i),
    "gather_nd": (lambda a: tf.gather_nd(a, [[0, 1], [2, 2]]), m),
    "gather_nd row": (lambda t: tf.gather_nd(t[0], [[t[1], 1]]), (m, i)),
    "index": (lambda t: t[0][t[1]], (m, i)),
    "index fixed": (lambda j: w[j], i),
    "slice": (lambda a: a[1:, ::2] + a[:-1, -1:], m),
    "slice mixed": (lambda a: a[..., 0, tf.newaxis], m),
    "slice by row": (lambda t: tf.slice(t[0], [t[1] // 2], [2]), (x, i)),
    "tf.slice": (lambda a: tf.slice(a, [0, 1], [2, -1]), m),
    "reshape": (lambda a: tf.reshape(a, [-1]) + tf.reshape(tf.reshape(a, [3, -1]), [9]), m),
    "transpose": (lambda a: tf.transpose(a) + tf.transpose(a, [1, 0]), m),
    "concat": (lambda a: tf.concat([a, w, a[:1]], 0), m),
    "concat last": (lambda a: tf.concat([a, w], -1), m),
    "stack": (lambda a: tf.stack([a[0], 2.0, a[1]]), x),
    "unstack": (lambda a: tf.unstack(a)[1], m),
    "split": (lambda a: tf.split(a, 3, 1)[2] + tf.split(a, [1, 2], 0)[0][0], m),
    "pad": (lambda a: tf.pad(a, [[1, 0], [0, 2]]), m),
    "tile": (lambda a: tf.tile(a, [2, 1]), m),
    "repeat": (lambda a: tf.repeat(a, 2, axis=0), x),
    "broadcast_to": (lambda a: tf.broadcast_to(a, [2, 3]), x),
    "fill": (lambda a: tf.fill([2, 2], a), x[:, 0]),
    "ones": (lambda a: tf.ones_like(a) + tf.zeros([3]), x),
    "squeeze": (lambda a: tf.squeeze(a[None, :, None]), x),
    "reverse": (lambda a: tf.reverse(a, [1]) + tf.roll(a, 1, 0), m),
    "one_hot": (lambda j: tf.one_hot(j, 3), i),
    "diag": (lambda a: tf.linalg.diag(a) + tf.linalg.tensor_diag(a), x),
    "diag_part": (lambda a: tf.linalg.diag_part(a) + tf.linalg.tensor_diag_part(a), m),
    "set_diag": (lambda a: tf.linalg.set_diag(a, tf.zeros([3])), m),
    "band": (lambda a: tf.linalg.band_part(a, 0, -1), m),
    "trace": (lambda a: tf.linalg.trace(a), m),
    "cholesky": (lambda a: tf.linalg.cholesky(a), spd),
    "inverse": (lambda a: tf.linalg.inv(a), spd),
    "solve": (lambda a: tf.linalg.solve(a, w), spd),
    "triangular": (lambda a: tf.linalg.triangular_solve(tf.linalg.band_part(a, -1, 0), w), spd),
    "logdet": (lambda a: tf.linalg.logdet(a), spd),
    "det": (lambda a: tf.linalg.det(a), spd),
    "eigh": (lambda a: tf.linalg.eigvalsh(a), spd),
    "fft": (lambda a: tf.abs(tf.signal.fft(tf.cast(a, tf.complex64))), x),
    "rfft": (lambda a: tf.math.real(tf.signal.rfft(a)), x),
    "scatter_nd": (lambda a: tf.scatter_nd([[0], [3], [0]], a, [5]), x),
    "scatter update": (lambda a: tf.tensor_scatter_nd_update(tf.zeros([5]), [[1], [2], [4]], a), x),
    "scatter add": (lambda t: tf.tensor_scatter_nd_add(t[0], [[t[1]]], [1.0]), (x, i)),
    "segment": (lambda a: tf.math.unsorted_segment_sum(a, [0, 1, 0], 2), m),
    "segment by row": (lambda t: tf.math.unsorted_segment_max(t[0], [t[1], 0, 1], 3), (x, i)),
    "conv": (lambda a: tf.nn.conv2d(a, k, 1, "SAME"), img),
    "conv filters": (lambda f: tf.nn.conv2d(img[0], f, 2, "VALID"), kb),
    "conv both": (lambda t: tf.nn.conv2d(t[0], t[1], 1, "VALID"), (img, kb)),
    "pools": (lambda a: tf.nn.max_pool2d(a, 2, 2, "SAME") + tf.nn.avg_pool2d(a, 2, 2, "SAME"), img),
    "bias": (lambda a: tf.nn.bias_add(a, [1.0, 2.0]), img),
    "depthwise": (lambda a: tf.nn.depthwise_conv2d(a, k[..., :1], [1, 1, 1, 1], "SAME"), img),
    "resize": (lambda a: tf.image.resize(a, [3, 3]), img),
    "xent": (lambda a: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(w), a), m),
    "sparse xent": (lambda a: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1, 2], a), m),
    "call": (lambda a: called(a, 2.0), x),
    "variable": (lambda a: a * variable, x),
    "cond": (lambda a: tf.cond(tf.reduce_sum(a) > 2.5, lambda: a * 2, lambda: tf.sqrt(a)), x),
    "cond fixed": (lambda a: tf.cond(variable[0] > 0.0, lambda: a * 2, lambda: w[0]), x),
    "case": (lambda j: tf.switch_case(j, [lambda: 1.0, lambda: tf.reduce_sum(w), lambda: tf.cast(j, tf.float32)]), i),
    "while": (loop_fixed, x),
    "while by row": (loop_by_row, x),
    "collatz": (collatz, tf.constant([1, 6, 7, 27])),
    "tensor array": (with_array, x),
    "array in loop": (array_in_loop, x),
    "map_fn": (lambda a: tf.map_fn(lambda r: r * 2 + 1, a), m),
    "scan": (lambda a: tf.scan(lambda s, r: s + r, a), m),
    "nested": (lambda a: tf.vectorized_map(lambda r: tf.reduce_sum(r * a[0]), a), m),
    "gradient": (row_gradient, x),
    "per-example filters": (filter_gradient, img),
    "structure": (lambda t: {"s": t["a"] + 1, "n": (t["b"], None)}, {"a": x, "b": i}),
    "constant": (lambda a: 3, x),
    "shape": (lambda a: tf.shape(a) + tf.rank(a) * tf.size(a), m),
    "stateless": (lambda j: tf.random.stateless_uniform([2], [j, 3]), i),
    "text": (lambda j: tf.strings.join(["n", tf.strings.as_string(j)]), i),
    "one row": (lambda t: t[0] + t[1], (x, data(1, 3))),
}


def show(name, value):
    for v in tf.nest.flatten(value):
        if v is None:
            continue
        v = tf.convert_to_tensor(v).numpy()
        flat = v.reshape([-1])[:24]
        print(name, v.dtype, v.shape, " ".join(f"{f:.6g}" if v.dtype.kind == "f" else str(f) for f in flat))


tf.get_logger().setLevel("ERROR")
for name, (fn, elems) in CASES.items():
    show(name, tf.vectorized_map(fn, elems))
    spec = tf.nest.map_structure(lambda t: tf.TensorSpec([None, *t.shape[1:]], t.dtype), elems)
    show("  open rows", tf.function(lambda e: tf.vectorized_map(fn, e), input_signature=[spec])(elems))
    floats = [t for t in tf.nest.flatten(elems) if t.dtype == tf.float32]
    if floats and name not in ("any", "sort", "structure"):
        with tf.GradientTape() as tape:
            tape.watch(floats)
            y = tf.nest.flatten(tf.vectorized_map(fn, elems))[0]
        if y.dtype == tf.float32:
            show("  gradient", [g for g in tape.gradient(y, floats) if g is not None])
