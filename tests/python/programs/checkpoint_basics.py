"""Checkpoint: save and restore of variables and modules, status objects, counters, files."""
import os
import tempfile
import tensorflow as tf


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.ones([2, 2]), name="w")
        self.layers = [tf.Variable(1.0), tf.Variable([2.0, 3.0])]
        self.table = {"k": tf.Variable("text")}


folder = tempfile.mkdtemp()
net, step = Net(), tf.Variable(1, dtype=tf.int64)
ckpt = tf.train.Checkpoint(step=step, net=net)
path = ckpt.save(os.path.join(folder, "ck"))
print(os.path.relpath(path, folder), ckpt.save_counter.numpy())
print(sorted(os.listdir(folder)))
net.w.assign(net.w * 5.0)
step.assign(7)
net.table["k"].assign("other")
second = ckpt.save(os.path.join(folder, "ck"))
print(os.path.basename(second), ckpt.save_counter.numpy())
status = ckpt.restore(path)
status.assert_consumed().assert_existing_objects_matched().expect_partial()
print(net.w.numpy(), step.numpy(), net.table["k"].numpy(), ckpt.save_counter.numpy())
print(os.path.basename(tf.train.latest_checkpoint(folder)))
ckpt.restore(tf.train.latest_checkpoint(folder))
print(net.w.numpy(), step.numpy())
written = ckpt.write(os.path.join(folder, "plain"))
print(os.path.basename(written), ckpt.save_counter.numpy())
net.w.assign(tf.zeros([2, 2]))
print(type(ckpt.read(written)).__name__, net.w.numpy())

for name, shape in tf.train.list_variables(path):
    print(name, shape)
reader = tf.train.load_checkpoint(folder)
print(sorted(reader.get_variable_to_shape_map()))
print(reader.get_variable_to_dtype_map()["step/.ATTRIBUTES/VARIABLE_VALUE"], reader.has_tensor("nothing"))
print(reader.get_tensor("net/w/.ATTRIBUTES/VARIABLE_VALUE"))
print(tf.train.load_variable(path, "net/layers/1/.ATTRIBUTES/VARIABLE_VALUE"))

fresh = Net()
tf.train.Checkpoint(net=fresh).restore(path).expect_partial()
print(fresh.w.numpy(), [v.numpy() for v in fresh.layers])
for bad in (lambda: ckpt.restore(os.path.join(folder, "missing")),
            lambda: tf.train.load_checkpoint(os.path.join(folder, "nope")),
            lambda: tf.train.Checkpoint(x=3), lambda: reader.get_tensor("nothing")):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).replace(folder, "FOLDER"))
print(tf.train.latest_checkpoint(os.path.join(folder, "empty")))
tf.train.Checkpoint(net=fresh).restore(None)
