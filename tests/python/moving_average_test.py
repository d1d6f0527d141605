"""tf.train.ExponentialMovingAverage. Expected values are TensorFlow's."""

import numpy as np
import weft as tf

v1 = tf.compat.v1


def test_eager():
    v = tf.Variable([1.0, 2.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.9)
    ema.apply([v])
    v.assign([3.0, 4.0])
    ema.apply([v])
    assert np.allclose(ema.average(v).numpy(), [1.2, 2.2]) and ema.average(v).name == "v/ExponentialMovingAverage:0"
    other = tf.train.ExponentialMovingAverage(0.9, num_updates=1)
    other.apply([v])
    v.assign([5.0, 5.0])
    other.apply([v])
    assert np.allclose(other.average(v).numpy(), [4.6363635, 4.818182])


def test_graph():
    with tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        t = w * 2.0
        ema = tf.train.ExponentialMovingAverage(0.9)
        op = ema.apply([w, t])
        assert [v.name for v in v1.global_variables()] == [
            "w:0",
            "w/ExponentialMovingAverage:0",
            "mul/ExponentialMovingAverage:0",
        ] and op.type == "NoOp"
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            sess.run(w.assign(2.0))
            for expected in ([1.1, 0.4], [1.19, 0.76]):
                sess.run(op)
                assert np.allclose(sess.run([ema.average(w), ema.average(t)]), expected)
        assert ema.variables_to_restore()["w/ExponentialMovingAverage"] is w
