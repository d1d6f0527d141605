"""Version 1's DeviceSpec, whose parts change; devices of a session without nodes; a few private functions that libraries import."""

import functools

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.util import tf_inspect

v1 = tf.compat.v1
spec = v1.DeviceSpec(job="a", device_type="gpu")
spec.task, spec.device_index = "3", 1
print(spec.to_string(), spec.task)
spec.merge_from(tf.DeviceSpec(job="b", device_type="cpu"))
print(spec.to_string(), spec.make_merged_spec(tf.DeviceSpec(task=4)).to_string())
print(spec.parse_from_string("/job:x/cpu:2").to_string(), spec.to_string())
other = tf.DeviceSpec.from_string("/job:x/cpu:2")
print(spec == other, other == spec, isinstance(spec, tf.DeviceSpec), type(spec.replace(task=1)).__name__)

session = v1.Session(graph=tf.Graph())
print([(d.name, d.device_type) for d in session.list_devices()])
with session.graph.as_default():
    number = tf.constant(3)
print(session.run(number))


class Test(tf.test.TestCase):
    def test(self):
        self.assertDeviceEqual("/cpu:0", "/device:CPU:0")
        self.assertDeviceEqual(tf.DeviceSpec(job="w"), "/job:w")
        self.assertDeviceEqual(None, "")
        with self.assertRaises(AssertionError):
            self.assertDeviceEqual("/cpu:0", "/cpu:1")
        print("devices compared")


Test("test").test()
print(tf.TensorShape([1, None]).__reduce__()[1], tf.TensorShape(None).__reduce__()[1])


def keywords(a, *, b, c=4):
    pass


print(tf_inspect.getargspec(keywords))
print(tf_inspect.getargspec(functools.partial(lambda m, n: m, n=7)))
with ops.name_scope("a") as name:
    print(name)
with ops.name_scope("a", skip_on_eager=False) as name:
    print(name)
with tf.Graph().as_default(), ops.name_scope(None, "b", []) as name:
    print(name)
print(ops.convert_to_tensor(0.5, preferred_dtype=tf.int32).dtype, ops.convert_to_tensor(0.5, preferred_dtype=tf.float64).dtype)
