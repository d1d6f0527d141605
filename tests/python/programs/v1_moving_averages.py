"""Moving averages that begin at zero, without their bias (zero_debias); names of averages in scopes."""

import tensorflow as tf
from tensorflow.python.training import moving_averages

v1 = tf.compat.v1

for debias in (False, True):
    for steps in (None, 1):
        with tf.Graph().as_default():
            average = tf.train.ExponentialMovingAverage(0.25, num_updates=steps, zero_debias=debias, name="foo")
            number = tf.Variable([10.0, 11.0], name="number")
            value = number.value() + 30.0
            with v1.variable_scope("scope"):
                other = v1.get_variable("other", initializer=tf.constant(3.0))
                update = average.apply([number, value, other])
            print(sorted(v.name for v in v1.global_variables()))
            with v1.Session() as session:
                session.run(v1.global_variables_initializer())
                for _ in range(3):
                    session.run(update)
                    print([average.average(v).eval().tolist() for v in (number, value, other)])
                    session.run(number.assign_add([1.0, 1.0]))

with tf.Graph().as_default():
    with v1.variable_scope("scope1"):
        mean = tf.Variable([0.0, 0.0], name="mean")
        first = moving_averages.assign_moving_average(mean, tf.constant([1.0, 2.0]), 0.25)
        second = moving_averages.assign_moving_average(mean, tf.constant([1.0, 2.0]), 0.25, zero_debias=False)
        third = moving_averages.assign_moving_average(mean, tf.constant([3.0, 2.0]), 0.5)
    print(sorted(v.name for v in v1.global_variables()))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for update in (first, second, third, first, third):
            print(session.run(update), session.run(mean))

mean = tf.Variable([0.0, 0.0])
moving_averages.assign_moving_average(mean, tf.constant([1.0, 2.0]), 0.25)
print(mean.numpy())
try:
    tf.train.ExponentialMovingAverage(0.5).apply([tf.constant(1.0)])
except TypeError as error:
    print(error)
