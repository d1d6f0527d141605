"""Checkpoints that match in part: missing, extra and renamed variables; what the status objects say."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()


class Old(tf.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.items = tf.Variable(1.0), tf.Variable([2.0, 3.0]), [tf.Variable(4.0), tf.Variable(5.0)]


class New(tf.Module):
    def __init__(self):
        super().__init__()
        self.a, self.c, self.items = tf.Variable(0.0), tf.Variable(0.0), [tf.Variable(0.0)] * 1


path = tf.train.Checkpoint(model=Old()).write(os.path.join(folder, "old"))
new = New()
status = tf.train.Checkpoint(model=new).read(path)
print(new.a.numpy(), new.c.numpy(), new.items[0].numpy())
for check in ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match"):
    try:
        getattr(status, check)()
        print(check, "holds")
    except AssertionError as e:
        print(check, "AssertionError")
status.expect_partial()
new.items.append(tf.Variable(0.0))
print(new.items[1].numpy())
new.b = tf.Variable([0.0, 0.0])
print(new.b.numpy())
empty = tf.train.Checkpoint(other=tf.Variable(1.0)).read(path)
try:
    empty.assert_nontrivial_match()
except AssertionError as e:
    print("AssertionError", str(e).splitlines()[0][:40])
empty.expect_partial()
reader = tf.train.load_checkpoint(path)
renamed = tf.Variable(reader.get_tensor("model/b/.ATTRIBUTES/VARIABLE_VALUE"))
print(renamed.numpy(), reader.has_tensor("model/items/1/.ATTRIBUTES/VARIABLE_VALUE"))
print(sorted(k.split("/.ATTR")[0] for k in reader.get_variable_to_shape_map()))
pointed = tf.train.Checkpoint(model=tf.train.Checkpoint(a=tf.Variable(9.0)))
pointed.read(path).expect_partial()
print(pointed.model.a.numpy())
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=new), folder, max_to_keep=2)
for i in range(3):
    new.a.assign(float(i))
    manager.save()
print([os.path.basename(p) for p in manager.checkpoints], os.path.basename(manager.latest_checkpoint))
new.a.assign(100.0)
manager.restore_or_initialize()
print(new.a.numpy())
state = tf.train.get_checkpoint_state(folder)
print(os.path.basename(state.model_checkpoint_path), len(state.all_model_checkpoint_paths))
v = tf.Variable(1.0)
a, b = tf.train.Checkpoint(x=v), tf.train.Checkpoint(y=v)
p = a.write(os.path.join(folder, "xy"))
v.assign(5.0)
b.read(p).expect_partial()
print(v.numpy())
a.read(p)
print(v.numpy())
