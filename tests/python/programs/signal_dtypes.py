"""The dtypes of transforms of arrays, and what sessions of test cases are eagerly."""

import unittest

import numpy as np
import tensorflow as tf

for kind in (np.float32, np.float64):
    x = np.linspace(0, 1, 6).astype(kind)
    for number in (1, 2, 3, 4):
        for norm in (None, "ortho"):
            if number == 1 and norm:
                continue
            made = tf.signal.dct(x, type=number, norm=norm), tf.signal.idct(x, type=number, norm=norm)
            cut = tf.signal.dct(x, type=number, norm=norm, n=4)
            print(number, norm, [t.dtype.name for t in (*made, cut)], made[0].numpy().round(4) + 0.0)


class Eagerly(tf.test.TestCase):
    def test_sessions_of_eager_tests(self):
        with self.cached_session() as session:
            print(session.run([tf.constant(1), {"a": tf.constant([2.0])}]))
            for call in (
                lambda: session.run(tf.constant(1), feed_dict={"a": 1}),
                lambda: session.run(tf.constant(1), options=None),
            ):
                try:
                    call()
                except RuntimeError as e:
                    print(e)
        with self.session() as session:
            try:
                session.run(tf.constant(1))
            except AttributeError as e:
                print(e)


result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(Eagerly).run(result)
print(len(result.errors), len(result.failures))
