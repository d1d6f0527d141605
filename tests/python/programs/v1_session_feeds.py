"""Feeds and fetches of sessions: text with zero bytes, names as bytes, parts of IndexedSlices; parts of wrapped functions that capture variables."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    text = v1.placeholder(tf.string)
    same = tf.identity(text)
    objects = np.array([b"a\x00", b"b"], dtype=object)
    for value in (b"\n\x01\x00", [b"\n\x01\x00", b"\n\x00"], objects, objects.astype("S2"), "\n\x01\x00", ["\n\x00"], [["é"]]):
        print(repr(session.run(same, {text: value})))
    number = tf.constant(5.0, name="number")
    print(session.run(b"number:0"), session.run({"x": b"number:0"}), session.run(b"number"), session.run(2 * number, {b"number:0": 3.0}))
    values, indices, shape = v1.placeholder(tf.float32), v1.placeholder(tf.int64), v1.placeholder(tf.int64)
    parts = [tf.identity(t) for t in (values, indices, shape)]
    given = np.array([1.0, 2.0], np.float32), np.array([1, 2]), np.array([3])
    print(session.run(parts, {tf.IndexedSlices(values, indices, shape): given}))
    print(session.run(parts[:2], {tf.IndexedSlices(values, indices): given[:2]}))

outside = tf.Variable(2.0)


def product():
    return tf.identity(outside * v1.Variable(3.0) * tf.constant(1.0), "product")


wrapped = v1.wrap_function(product, [])
for feeds in (wrapped.inputs, ()):
    print(wrapped.prune(feeds, wrapped.graph.get_tensor_by_name("product:0"))().numpy())
print(int(tf.constant(3.5)), complex(tf.constant(1 + 2j)), float(tf.constant(2)), int(tf.constant(1 + 2j)), float(tf.constant(3 + 2j)))
for call in (int, float):
    for value in ([1, 2], "x"):
        try:
            print(call(tf.constant(value)))
        except (TypeError, ValueError) as error:
            print(type(error).__name__)
