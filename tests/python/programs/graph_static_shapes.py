"""Static shapes of ops in graphs whose arguments are known in part: sizes that come from shapes, constants and arguments."""

import tensorflow as tf

SPECS = {
    "n3": tf.TensorSpec([None, 3], tf.float32),
    "any": tf.TensorSpec(None, tf.float32),
}


def sizes(x, k):
    """Vectors of two integers, of which more or less is known."""
    n = tf.shape(x)[0]
    yield "consts", tf.constant([2, 4])
    yield "dim, const", tf.stack([n, 4])
    yield "const, dim", tf.stack([4, n])
    yield "arg, const", tf.stack([k, 4])
    yield "args", tf.stack([k, k])
    yield "shape[:1] + [5]", tf.concat([tf.shape(x)[:1], [5]], 0)
    yield "[5] + shape[:1]", tf.concat([[5], tf.shape(x)[:1]], 0)
    yield "-1, const", tf.constant([-1, 4])
    yield "cast dims", tf.cast(tf.stack([tf.cast(n, tf.int64), 4]), tf.int32)
    yield "twice", tf.stack([n, 4]) * 2
    yield "shape", tf.shape(x)
    yield "[7, 7]", tf.fill([2], 7)
    yield "gathered", tf.gather(tf.shape(x), [0, 0])
    yield "sliced", tf.slice(tf.stack([n, 4, 5]), [1], [2])
    yield "identity", tf.identity(tf.stack([n, 4]))
    yield "where", tf.where([True, False], tf.stack([n, 4]), [1, 1])
    yield "maximum", tf.maximum(tf.stack([n, 4]), 1)
    yield "unknown vector", tf.reshape(tf.range(k), [-1])
    yield "unknown pair", tf.reshape(tf.range(k), [2])
    yield "reshaped", tf.reshape(tf.stack([n, 4]), [-1])
    yield "padded", tf.pad(tf.stack([n]), [[0, 1]], constant_values=6)
    yield "int64", tf.stack([tf.cast(n, tf.int64), 4])


def ops(x, k, s):
    """Calls that take a vector of two integers."""
    yield "slice size", lambda: tf.slice(x, tf.cast([0, 0], s.dtype), s)
    yield "slice begin", lambda: tf.slice(x, s, tf.cast([1, -1], s.dtype))
    yield "tile", lambda: tf.tile(x, s)
    yield "pad", lambda: tf.pad(x, tf.stack([s, s]))
    yield "pad rows", lambda: tf.pad(x, tf.stack([s, tf.zeros_like(s)]))
    yield "mirror_pad", lambda: tf.pad(x, tf.stack([tf.zeros_like(s), s]), "REFLECT")
    yield "reshape", lambda: tf.reshape(x, s)
    yield "reshape 3", lambda: tf.reshape(x, tf.concat([s, tf.cast([2], s.dtype)], 0))
    yield "fill", lambda: tf.fill(s, 1.0)
    yield "zeros", lambda: tf.zeros(s)
    yield "broadcast_to", lambda: tf.broadcast_to(tf.zeros([1, 1]), s)
    yield "random", lambda: tf.random.uniform(s)
    yield "strided", lambda: x[: s[0], : s[1]]
    yield "strided new", lambda: x[s[0] :, tf.newaxis, ::2]
    yield "range", lambda: tf.range(s[0], s[1])
    yield "one_hot", lambda: tf.one_hot([0, 1], tf.cast(s[1], tf.int32))
    yield "split", lambda: tf.split(x, tf.stack([s[1], s[1]]), axis=-1)[0]
    yield "expand", lambda: tf.expand_dims(tf.zeros(s), 1)
    yield "concat", lambda: tf.concat([tf.zeros(s), tf.zeros(s)], 0)
    yield "scatter_nd", lambda: tf.scatter_nd(tf.cast([[0, 0]], s.dtype), [1.0], s)
    yield "eye", lambda: tf.eye(tf.cast(s[0], tf.int32), tf.cast(s[1], tf.int32))
    yield "resize", lambda: tf.image.resize(tf.zeros([1, 4, 4, 1]), tf.cast(s, tf.int32))
    yield "strided sizes", lambda: tf.strided_slice(x, [0, 0], tf.cast(s, tf.int32), [1, 1])
    yield "linspace", lambda: tf.linspace(0.0, 1.0, tf.cast(s[1], tf.int32))
    yield "as value", lambda: s


def trace(spec):
    lines = []

    def body(x, k):
        for sized, s in list(sizes(x, k)):
            for name, call in ops(x, k, s):
                try:
                    shape = str(call().shape)
                except Exception as e:
                    shape = type(e).__name__
                lines.append((name, sized, shape))
        return x

    tf.function(body, input_signature=[spec, tf.TensorSpec([], tf.int32)]).get_concrete_function()
    return lines


for key, spec in SPECS.items():
    print("----", key, spec.shape)
    rows = {}
    for name, sized, shape in trace(spec):
        rows.setdefault(name, []).append(shape)
    for name, shapes in rows.items():
        print(name + ":", " ".join(shapes))
