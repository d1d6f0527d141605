"""The smallest SavedModels: one function, one variable; load and call."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()


class Doubler(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return x * 2.0


tf.saved_model.save(Doubler(), os.path.join(folder, "doubler"))
loaded = tf.saved_model.load(os.path.join(folder, "doubler"))
print(loaded(tf.constant([1.0, 2.0])))
print(list(loaded.signatures))
print(loaded.signatures["serving_default"](x=tf.constant([5.0])))


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.n = tf.Variable(0)

    @tf.function(input_signature=[])
    def tick(self):
        return self.n.assign_add(1)


c = Counter()
c.tick()
c.tick()
tf.saved_model.save(c, os.path.join(folder, "counter"))
again = tf.saved_model.load(os.path.join(folder, "counter"))
print(again.n.numpy(), again.tick().numpy(), again.tick().numpy(), c.n.numpy())
m = tf.Module()
m.scale = tf.Variable(3.0)


@tf.function
def scaled(x):
    return x * m.scale


scaled(tf.constant(1.0))
scaled(tf.constant([1.0, 2.0]))
m.scaled = scaled
tf.saved_model.save(m, os.path.join(folder, "m"))
l = tf.saved_model.load(os.path.join(folder, "m"))
print(l.scaled(tf.constant(2.0)), l.scaled(tf.constant([2.0, 3.0])))
try:
    l.scaled(tf.constant([1.0, 2.0, 3.0]))
except ValueError as e:
    print("ValueError")
l.scale.assign(10.0)
print(l.scaled(tf.constant(2.0)), m.scaled(tf.constant(2.0)))
print(sorted(os.listdir(os.path.join(folder, "m"))))
