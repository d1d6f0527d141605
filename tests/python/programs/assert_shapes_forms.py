"""tf.debugging.assert_shapes: what shapes may be, which are refused, and in which words."""

import tensorflow as tf

x, y, one = tf.ones([3, 2]), tf.ones([4, 3, 2]), tf.constant(1.0)
for shapes in (
    [(x, ("N", "D")), (y, ("B", "N", "D"))],
    [(x, ("N", "D")), (y, ("N", "B", "D"))],
    [(x, 2)],
    [(x, None)],
    [(x, (3, 2)), (y, (..., 3, 2))],
    [(y, ("*", "N", "D")), (x, (..., "D", "N"))],
    [(y, ("N", ..., 2))],
    [(y, ("N", "*"))],
    [(x, ("*", 1, 3, 2))],
    [(x, (3,))],
    [(x, "ND"), (y, "BND")],
    [(y, (".", None, 5))],
    [(one, ("N",)), (x, ("N", 2))],
    [(one, (1,))],
    [(one, ())],
    [(x, tf.TensorShape([3, 5]))],
    [(y, ("*", 7)), (x, (1, 2, 3))],
    [(y, (...,))],
    [([1.0, 2.0], ("N",)), (x, ("K", "N"))],
):
    try:
        print(tf.debugging.assert_shapes(shapes, message="told"))
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


@tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
def sized(a, b):
    tf.debugging.assert_shapes([(a, ("N", "D")), (b, (..., "N", 2))])
    return tf.size(a) + tf.size(b)


print(sized(x, y).numpy())
for pair in ((x, tf.ones([2, 2])), (one, y), (x, tf.ones([3, 3]))):
    try:
        print(sized(*pair))
    except tf.errors.InvalidArgumentError as e:
        print(type(e).__name__)
