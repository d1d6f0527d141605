# tf.test.TestCase, its sessions and comparisons, and combinations of arguments.
import unittest

import numpy as np
import tensorflow as tf
from absl.testing import absltest, parameterized
from tensorflow.python.framework import test_util

combinations = tf.__internal__.test.combinations
print(combinations.combine(b=[1, 2], a=["x"]))
print(combinations.times(combinations.combine(a=[1, 2]), combinations.combine(b=3)))
try:
    combinations.times(combinations.combine(a=1), combinations.combine(a=2))
except ValueError as e:
    print("overlap")


class Tests(tf.test.TestCase, parameterized.TestCase):
    @combinations.generate(combinations.combine(mode=["graph", "eager"], n=[1, 2]))
    def test_modes(self, n):
        print("modes", tf.executing_eagerly(), n, self.evaluate(tf.constant(n) + 1))

    @test_util.run_in_graph_and_eager_modes
    def test_both(self):
        print("both", tf.executing_eagerly(), self.evaluate({"a": tf.constant(1), "b": [tf.constant(2.0)]}))

    @test_util.run_deprecated_v1
    def test_graph(self):
        with self.session() as session:
            v = tf.compat.v1.placeholder(tf.float32, [2])
            print("graph", session.run(v * 2, {v: [1, 2]}))
        with self.cached_session() as first:
            pass
        with self.cached_session() as second:
            print(first is second)

    def test_comparisons(self):
        self.assertAllClose({"a": [1.0, 2.0]}, {"a": tf.constant([1.0, 2.0])})
        self.assertAllClose([np.ones(2), [np.ones(3)]], [np.ones(2), [np.ones(3)]])
        self.assertAllEqual(tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]])
        self.assertAllEqual(tf.constant(["a"]), [b"a"])
        self.assertAllCloseAccordingToType(np.float16([1]), np.float16([1.0005]))
        self.assertAllInRange(tf.constant([1, 2]), 1, 2)
        self.assertAllInSet([1, 2], {1, 2, 3})
        self.assertAllLess(tf.constant([1, 2]), 3)
        self.assertAllGreaterEqual([1, 2], 1)
        self.assertShapeEqual(np.ones([2, 3]), tf.ones([2, 3]))
        self.assertDTypeEqual(tf.constant(1.0), tf.float32)
        self.assertArrayNear([1.0], [1.01], 0.1)
        self.assertNotAllEqual([1], [2])
        self.assertStartsWith("abc", "ab")
        self.assertLen([1, 2], 2)
        with self.assertRaisesOpError("gone"):
            raise tf.errors.NotFoundError(None, None, "it is gone")
        with self.assertRaisesWithPredicateMatch(ValueError, lambda e: "x" in str(e)):
            raise ValueError("x")
        for wrong in (
            lambda: self.assertAllClose([1.0], [1.1]),
            lambda: self.assertAllClose({"a": 1.0}, {"b": 1.0}),
            lambda: self.assertAllEqual([1, 2], [1, 3]),
            lambda: self.assertAllEqual([1, 2], [1, 2, 3]),
            lambda: self.assertNotAllClose([1.0], [1.0]),
            lambda: self.assertAllInSet([5], {1}),
            lambda: self.assertShapeEqual(np.ones(2), tf.ones(3)),
        ):
            with self.assertRaises(AssertionError):
                wrong()
        thread = self.checkedThread(lambda: print("in a thread"))
        thread.start()
        thread.join()
        print(self.get_temp_dir() == self.get_temp_dir())


print(issubclass(tf.test.TestCase, absltest.TestCase))
suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
names = sorted(t.id().rpartition(".")[2] for t in suite)
print(names)
for name in names:
    result = unittest.TestResult()
    Tests(name).run(result)
    print(name, result.testsRun, len(result.failures), len(result.errors), len(result.skipped))

# Tests of libraries count it up, so that each has groups of its own.
print(tf.distribute.MirroredStrategy._collective_key_base)
