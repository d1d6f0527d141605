"""Delayed restoration: values wait for variables that do not exist yet; partial matches; asserts that fail."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()


class Part(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = None

    def build(self, n):
        self.kernel = tf.Variable(tf.zeros([n]), name="kernel")
        return self.kernel


saved = tf.train.Checkpoint(a=tf.Variable(3.0), b=tf.Variable([1.0, 2.0]))
path = saved.save(os.path.join(folder, "two"))

to_restore = tf.train.Checkpoint()
status = to_restore.restore(path)
delayed = tf.Variable(tf.zeros([2]))
print(delayed.numpy())
to_restore.b = delayed
print(delayed.numpy())
try:
    status.assert_consumed()
except AssertionError as e:
    print("AssertionError", "unresolved object" in str(e).lower() or "Unresolved" in str(e))
status.assert_existing_objects_matched()
to_restore.a = tf.Variable(0.0)
print(to_restore.a.numpy())

part = Part()
part.build(3).assign([7.0, 8.0, 9.0])
root = tf.Module()
root.part = part
root.extra = tf.Variable(5)
path = tf.train.Checkpoint(root).save(os.path.join(folder, "root"))
print([name for name, _ in tf.train.list_variables(path)])

again = tf.Module()
status = tf.train.Checkpoint(again).restore(path)
again.part = Part()
print(again.part.kernel)
print(again.part.build(3).numpy())
again.extra = tf.Variable(0)
print(again.extra.numpy())
try:
    status.assert_consumed()
    print("consumed")
except AssertionError:
    print("not consumed")
status.expect_partial()

wrong = tf.train.Checkpoint(a=tf.Variable([1.0, 2.0, 3.0]))
try:
    wrong.restore(saved.save(os.path.join(folder, "again")))
except ValueError as e:
    print(type(e).__name__, str(e))
lists = tf.train.Checkpoint(l=[tf.Variable(1.0)])
lists.l.append(tf.Variable(2.0))
path = lists.save(os.path.join(folder, "list"))
restore = tf.train.Checkpoint()
restore.l = []
restore.restore(path)
v = tf.Variable(0.0)
restore.l.append(v)
w = tf.Variable(0.0)
restore.l.append(w)
print(v.numpy(), w.numpy())
d = tf.train.Checkpoint(d={"one": tf.Variable(1.0)})
path = d.save(os.path.join(folder, "dict"))
d2 = tf.train.Checkpoint(d={})
d2.restore(path)
d2.d["one"] = tf.Variable(0.0)
print(d2.d["one"].numpy())
