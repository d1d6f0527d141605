"""Small parts of the API: specs of None, horizons of compatibility, filters of devices, helpers of tests."""
import unittest

import tensorflow as tf

spec = tf.NoneTensorSpec()
print(spec, spec == tf.NoneTensorSpec(), spec.is_compatible_with(None), spec.is_compatible_with(1), tf.NoneTensorSpec.from_value(None))
print(tf.data.Dataset.from_tensors((1, None)).element_spec, list(tf.data.Dataset.from_tensors((1, None)).repeat(2).batch(2))[0][1])
print(tf.compat.forward_compatible(2020, 1, 1), tf.compat.forward_compatible(2100, 1, 1))
with tf.compat.forward_compatibility_horizon(2200, 1, 1):
    print(tf.compat.forward_compatible(2100, 1, 1))
print(tf.compat.forward_compatible(2100, 1, 1))
filters = tf.config.experimental.ClusterDeviceFilters()
filters.set_device_filters("ps", 0, ["/job:worker/replica:0"])
filters.set_device_filters("worker", 1, ["/job:ps", "/job:other"])
print(filters._as_cluster_device_filters())
for name in ("load_library", "load_op_library"):
    try:
        getattr(tf, name)("/no/such/library.so")
    except (FileNotFoundError, tf.errors.NotFoundError) as e:
        print(name, type(e).__name__, e)
try:
    tf.experimental.register_filesystem_plugin("/no/such/library.so")
except FileNotFoundError as e:
    print(e)
try:
    tf.check_pinned(tf.ones([2]))
except tf.errors.FailedPreconditionError as e:
    print(e.message)


def graph(code):
    with tf.Graph().as_default() as g:
        code()
    return g.as_graph_def()


one = graph(lambda: tf.constant(1.0, name="a"))
two = graph(lambda: tf.identity(tf.constant(1.0, name="x"), name="a"))
sums = [graph(lambda: tf.add(tf.constant(1.0, name=a), tf.constant(1.0, name=b), name="z")) for a, b in ("xy", "yx")]
print(tf.test.assert_equal_graph_def(one, one))
for pair in ((one, two), sums, (one, 3)):
    try:
        tf.test.assert_equal_graph_def(*pair)
    except (AssertionError, TypeError) as e:
        print(type(e).__name__, e)
print(tf.test.experimental.sync_devices(), tf.test.with_eager_op_as_function(dict))


class Some(tf.test.TestCase):
    @tf.test.disable_with_predicate(pred=lambda: True, skip_message="not now")
    def test_skipped(self):
        raise AssertionError

    @tf.test.disable_with_predicate(pred=lambda: False, skip_message="not now")
    def test_run(self):
        self.assertAllEqual([1], tf.constant([1]))


result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(Some).run(result)
print([reason for _, reason in result.skipped if reason == "not now"], result.wasSuccessful())
