"""tf.get_static_value: of which ops in a graph a value is known before it runs."""

import tensorflow as tf

found = []


@tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([2, 3], tf.int32), tf.TensorSpec(None)])
def look(x, y, z):
    s = tf.get_static_value
    c = tf.constant([1, 2])
    values = {
        "constant": c,
        "scalar": tf.constant(3),
        "text": tf.constant("a"),
        "shape": tf.shape(y),
        "open shape": tf.shape(x),
        "size": tf.size(y),
        "rank": tf.rank(x),
        "open rank": tf.rank(z),
        "range": tf.range(3),
        "cast": tf.cast(c, tf.float32),
        "concat": tf.concat([c, c], 0),
        "stack": tf.stack([1, 2]),
        "stack of shapes": tf.stack([tf.shape(x)[0], tf.constant(4)]),
        "fill": tf.fill([2], 7),
        "zeros": tf.zeros([2]),
        "equal": tf.equal(c, [1, 3]),
        "not equal": tf.not_equal(c, [1, 3]),
        "stop": tf.stop_gradient(c),
        "identity": tf.identity(c),
        "sum": c + 1,
        "where": tf.where(c > 1, c, 0),
        "slice": c[0],
        "shape's slice": tf.shape(y)[0],
        "reduce": tf.reduce_sum(c),
        "reshape": tf.reshape(c, [1, 2]),
        "split": tf.split(tf.constant([1, 2]), 2)[0],
        "unstack": tf.unstack(tf.constant([1, 2]))[1],
        "product": tf.constant(2) * 3,
        "argument": y,
        "less": tf.less(1, 2),
        "not": tf.logical_not(True),
        "transpose": tf.transpose(tf.constant([[1, 2]])),
        "maximum": tf.maximum(1, 2),
    }
    for name, value in values.items():
        found.append((name, s(value)))
    found.append(("partial", s(values["stack of shapes"], partial=True)))
    found.append(("partial of the known", s(values["stack"], partial=True)))
    return x


look.get_concrete_function()
for name, value in found:
    print(name, repr(value))
print(repr(tf.get_static_value(tf.constant(3))), repr(tf.get_static_value(tf.constant([1.5]) + 1)))
print(tf.get_static_value(5), tf.get_static_value(tf.Variable(1)), tf.get_static_value(None), tf.get_static_value("a"))
