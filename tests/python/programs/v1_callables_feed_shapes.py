"""What sessions' callables take: those of options are fed values of any shape, while run() compares them with the placeholder's."""

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2

v1 = tf.compat.v1
with tf.Graph().as_default():
    x = v1.placeholder(tf.float32, [None], name="x")
    y = v1.placeholder(tf.float32, [2], name="y")
    size, doubled, given = tf.size(x), x * 2.0, tf.identity(y)
    value, other = np.ones([3, 2], np.float32), np.zeros([5, 0], np.float32)
    with v1.Session() as session:
        try:
            session.run(doubled, {x: value})
        except ValueError as e:
            print("run", str(e).partition(" for ")[0])
        options = config_pb2.CallableOptions()
        options.feed.extend(["x:0", "y:0"])
        options.fetch.extend([size.name, doubled.name, given.name])
        call = session._make_callable_from_options(options)
        for a, b in ((value, [1.0, 2.0]), (other, other), (np.float32(3.0), np.ones([1, 2], np.float32))):
            print("options", [np.shape(r) for r in call(np.asarray(a, np.float32), np.asarray(b, np.float32))])
        made = session.make_callable([doubled, given], [x, y])
        try:
            print("callable", [np.shape(r) for r in made(value, value)])
        except ValueError as e:
            print("callable", str(e).partition(" for ")[0])
