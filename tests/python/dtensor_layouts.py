"""The layouts that ops give: each case is an expression over tensors that are cut in some way.

    PYTHON_WITH_TENSORFLOW dtensor_layouts.py > data/dtensor_layouts.txt

dtensor_test.py compares weft with that file."""

U = "unsharded"
SPECS = [(U, U), ("x", U), (U, "x"), ("x", "y"), ("y", "x"), (U, "y"), ("y", U)]
PAIRS = ["a @ b", "a + b", "tf.where(a > 1.0, a, b)", "tf.maximum(a, b)"]

# a: 8x8; b: 8x8x8, cut as a and whole in the last dimension; v: 8, cut as a's first dimension; w: 8, whole.
CASES = """
a + v
a + w
a + 1.0
-a
a ** 2
a == 1.0
a < make((8, 8), 'y', 'x')
tf.logical_not(a > 0.0)
tf.reduce_sum(a)
tf.reduce_sum(a, 0)
tf.reduce_sum(a, 1, keepdims=True)
tf.reduce_sum(b, [0, 2])
tf.reduce_mean(a, 1)
tf.reduce_max(a, 0)
tf.reduce_prod(a)
tf.reduce_all(a > 0.0)
tf.reduce_any(a > 0.0, 1)
tf.reduce_logsumexp(a, 1)
tf.argmax(a, 0)
tf.argmax(a, 1)
tf.nn.softmax(a)
tf.nn.log_softmax(a)
tf.nn.relu(a)
tf.nn.gelu(a)
tf.nn.l2_loss(a)
tf.nn.l2_normalize(a, 1)
tf.norm(a)
tf.clip_by_value(a, 0.0, 1.0)
tf.math.erf(a)
tf.math.special.dawsn(a)
tf.raw_ops.IgammaGradA(a=a, x=a)
tf.raw_ops.PopulationCount(x=tf.cast(a, tf.int32))
tf.cast(a, tf.int32)
tf.identity(a)
tf.stop_gradient(a)
tf.zeros_like(a)
tf.ones_like(a)
tf.add_n([a, a])
tf.transpose(a)
tf.transpose(b, [2, 0, 1])
tf.reshape(a, (64,))
tf.reshape(a, (4, 2, 8))
tf.reshape(a, (8, 4, 2))
tf.reshape(a, (2, 4, 8))
tf.reshape(a, (4, 16))
tf.reshape(a, (16, 4))
tf.reshape(a, (8, 1, 8))
tf.reshape(a, (1, 8, 8))
tf.expand_dims(a, 1)
tf.squeeze(tf.expand_dims(a, 1), 1)
tf.concat([a, a], 0)
tf.concat([a, a], 1)
tf.stack([a, a])
tf.stack([a, a], 1)
tf.stack([v, v])
tf.stack([v, v], 1)
tf.unstack(a)
tf.unstack(a, axis=1)
tf.split(a, 2, 1)
tf.split(a, [2, 6], 1)
tf.tile(a, [1, 1])
tf.tile(a, [2, 1])
tf.gather(a, [0, 1])
tf.gather(a, [0, 1], axis=1)
tf.gather(a, make((2, 4), U, 'x', dtype=tf.int32) // 8)
tf.gather(a, make((8, 2), a_specs[0], U, dtype=tf.int32) // 8, batch_dims=1)
tf.gather_nd(a, [[0], [1]])
tf.nn.embedding_lookup(a, make((4,), U, dtype=tf.int32))
tf.tensor_scatter_nd_update(a, [[0]], make((1, 8), U, U))
tf.math.unsorted_segment_sum(a, tf.zeros((8,), tf.int32), 2)
a[:4]
a[2:6]
a[:, :4]
a[::2]
a[:, :]
a[0]
a[:, 0]
a[0, 0]
b[0]
b[:, 0]
tf.slice(a, [0, 0], [4, 8])
tf.pad(a, [[0, 0], [0, 0]])
tf.cumsum(a, 0)
tf.cumsum(a, 1)
tf.one_hot(tf.cast(a, tf.int32), 4)
tf.shape(a)
tf.fill(tf.shape(a), 1.0)
tf.broadcast_to(a, (2, 8, 8))
tf.math.top_k(a, 2)
tf.sort(a)
tf.einsum('ij->j', a)
tf.einsum('ij->ji', a)
tf.einsum('bij,bjk->bik', b, b)
tf.matmul(a, a, transpose_b=True)
tf.matmul(b, b)
tf.matmul(b, make((8, 8, 8), U, U, U))
tf.nn.bias_add(a, w)
tf.nn.moments(a, [0])
tf.nn.batch_normalization(a, tf.reduce_mean(a, 0), tf.reduce_mean(a, 0), None, None, 1e-3)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros((8,), tf.int32), logits=a)
tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=a)
tf.math.in_top_k(tf.zeros((8,), tf.int32), a, 1)
tf.nn.conv2d(make((8, 4, 4, 2), a_specs[0], U, U, U), make((3, 3, 2, 4), U, U, U, U), 1, 'SAME')
tf.nn.max_pool2d(make((8, 4, 4, 2), a_specs[0], U, U, U), 2, 2, 'SAME')
tf.debugging.check_numerics(a, 'text')
tf.reverse(a, [0])
tf.linalg.diag_part(a)
""".strip().splitlines()

GRADIENTS = [
    "x @ w",
    "tf.nn.relu(x + w)",
    "tf.nn.softmax(x @ w)",
    "x * w[0] + tf.reduce_mean(x, 0)",
    "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.zeros((8,), tf.int32), logits=x @ w)",
]


def results(tf):
    """(case, what it gives) one after another; for eight devices."""
    dtensor = tf.experimental.dtensor
    mesh = dtensor.create_mesh([("x", 4), ("y", 2)], devices=[f"CPU:{i}" for i in range(8)])

    def make(shape, *specs, dtype=tf.float32):
        size = 1
        for n in shape:
            size *= n
        value = tf.reshape(tf.cast(tf.range(size), dtype), shape)
        return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))

    def shown(value):
        if isinstance(value, (list, tuple)):
            return " ".join(map(shown, value))
        if not dtensor.is_dtensor(value):
            return "no layout"
        return "[" + ",".join(dtensor.fetch_layout(value).sharding_specs) + "]"

    def tried(f):
        try:
            return shown(f())
        except (tf.errors.OpError, ValueError) as e:
            return type(e).__name__

    for left in SPECS:
        for right in SPECS:
            names = {"tf": tf, "a": make((8, 8), *left), "b": make((8, 8), *right)}
            for case in PAIRS:
                yield f"{left} {right} {case}", tried(lambda: eval(case, names))
    for specs in SPECS:
        names = {"tf": tf, "make": make, "U": U, "a_specs": specs, "a": make((8, 8), *specs)}
        names.update(b=make((8, 8, 8), *specs, U), v=make((8,), specs[0]), w=make((8,), U))
        for case in CASES:
            yield f"{specs} {case}", tried(lambda: eval(case, names))
    for case in GRADIENTS:
        code = eval(f"lambda x, w: {case}", {"tf": tf})

        @tf.function(autograph=False)
        def differentiate(x, w):
            with tf.GradientTape() as tape:
                tape.watch([x, w])
                y = code(x, w)
                loss = tf.reduce_sum(y * y)
            return [loss, y, *tape.gradient(loss, [x, w])]

        for left in SPECS[:4]:
            for right in [(U, U), (U, "y"), ("y", U), ("x", U)]:
                yield (
                    f"{left} {right} gradient {case}",
                    tried(lambda: differentiate(make((8, 8), *left), make((8, 8), *right))),
                )


if __name__ == "__main__":
    import tensorflow

    cpu = tensorflow.config.list_physical_devices("CPU")[0]
    tensorflow.config.set_logical_device_configuration(cpu, [tensorflow.config.LogicalDeviceConfiguration()] * 8)
    for case, result in results(tensorflow):
        print(f"{case} -> {result}", flush=True)
