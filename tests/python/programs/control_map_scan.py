"""map_fn, scan, foldl, foldr, vectorized_map: dtypes, structures, ragged, initialisers, reverse, gradients."""
import tensorflow as tf

print(tf.map_fn(fn=lambda t: tf.range(t, t + 3), elems=tf.constant([3, 5, 2])))
print(tf.map_fn(lambda x: x * x, tf.constant([1, 2, 3, 4, 5, 6])))
elems = (tf.constant([1, 2, 3]), tf.constant([-1, 1, -1]))
print(tf.map_fn(lambda x: x[0] * x[1], elems, fn_output_signature=tf.int32))
print(tf.map_fn(lambda x: (x, -x), tf.constant([1, 2, 3]), fn_output_signature=(tf.int32, tf.int32)))
print(tf.map_fn(lambda x: {"half": tf.cast(x, tf.float32) / 2.0, "str": tf.strings.as_string(x)}, tf.constant([1, 2]),
                fn_output_signature={"half": tf.float32, "str": tf.string}))
print(tf.map_fn(tf.range, tf.constant([3, 1, 2]),
                fn_output_signature=tf.RaggedTensorSpec(shape=[None], dtype=tf.int32)))
print(tf.map_fn(tf.strings.length, tf.constant(["a", "bcd"]), fn_output_signature=tf.int32))
print(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3, 4, 5, 6])))
print(tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), reverse=True),
      tf.scan(lambda a, x: a * x, tf.constant([1.0, 2.0, 3.0]), initializer=tf.constant(10.0)))
print(tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.range(6), initializer=(tf.constant(0), tf.constant(1))))
print(tf.foldl(lambda a, x: a - x, tf.constant([1, 2, 3, 4])), tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3, 4])),
      tf.foldl(lambda a, x: a + x, tf.constant([1, 2]), initializer=100))
print(tf.vectorized_map(lambda x: x * x + 1.0, tf.range(4.0)),
      tf.vectorized_map(lambda m: tf.linalg.matvec(m, [1.0, 2.0]), tf.ones([3, 2, 2])))


def outer_product(a):
    return tf.tensordot(a, a, 0)


print(tf.vectorized_map(outer_product, tf.constant([[1.0, 2.0], [3.0, 4.0]])))
print(tf.vectorized_map(lambda t: {"s": tf.reduce_sum(t[0]), "d": t[0] - t[1]}, (tf.ones([2, 3]), tf.zeros([2, 3]))))


def per_example_gradient(args):
    x, y = args
    with tf.GradientTape() as tape:
        loss = (tf.tensordot(x, w, 1) - y) ** 2
    return tape.gradient(loss, w)


w = tf.Variable([1.0, -1.0])
print(tf.vectorized_map(per_example_gradient,
                        (tf.constant([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]]), tf.constant([0.0, 1.0, 2.0]))))


@tf.function
def in_function(x):
    m = tf.map_fn(lambda r: tf.reduce_sum(r) * r, x)
    s = tf.scan(lambda a, r: a * 0.5 + r, m)
    return m, s, tf.foldl(lambda a, r: a + r, s)


x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
print(in_function(x))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(in_function(x)[2])
print(tape.gradient(y, x))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.map_fn(lambda r: r**2, x)) + tf.reduce_sum(tf.scan(lambda a, r: a * r, x))
print(tape.gradient(y, x))
for bad in (lambda: tf.map_fn(lambda x: x, tf.constant(3)), lambda: tf.map_fn(5, tf.range(3)),
            lambda: tf.map_fn(lambda x: (x, x), tf.range(3)), lambda: tf.scan(lambda a, x: "s", tf.range(2)),
            lambda: tf.map_fn(lambda x: x[0], (tf.range(2), tf.range(3)), fn_output_signature=tf.int32)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
