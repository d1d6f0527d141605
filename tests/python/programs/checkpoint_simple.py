"""The smallest checkpoints: one variable, a list, a dict, a module; save twice, go back."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
v = tf.Variable(1.0)
ckpt = tf.train.Checkpoint(v=v)
first = ckpt.save(os.path.join(folder, "ck"))
v.assign(2.0)
second = ckpt.save(os.path.join(folder, "ck"))
v.assign(3.0)
ckpt.restore(first)
print(v.numpy())
ckpt.restore(second)
print(v.numpy())
print([os.path.basename(p) for p in (first, second)], int(ckpt.save_counter))
save = tf.train.Checkpoint()
save.listed = [tf.Variable(1.0)]
save.listed.append(tf.Variable(2.0))
save.mapped = {"one": save.listed[0]}
save.mapped["two"] = save.listed[1]
path = save.save(os.path.join(folder, "lists"))
restore = tf.train.Checkpoint()
v2 = tf.Variable(0.0)
print(v2.numpy())
restore.mapped = {"two": v2}
restore.restore(path)
print(v2.numpy())
restore.listed = []
print(restore.listed)
v1 = tf.Variable(0.0)
restore.listed.append(v1)
print(v1.numpy())


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0]])
        self.b = tf.Variable([0.5])


net = Net()
path = tf.train.Checkpoint(net=net).write(os.path.join(folder, "net"))
other = Net()
other.w.assign([[9.0, 9.0]])
other.b.assign([9.0])
part = tf.train.Checkpoint(bias=other.b)
fake = tf.train.Checkpoint(net=tf.train.Checkpoint(b=other.b))
fake.restore(path).expect_partial()
print(other.w.numpy(), other.b.numpy())
reader = tf.train.load_checkpoint(path)
shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
for key in sorted(shapes):
    print(key, shapes[key], dtypes[key].name)
print(reader.get_tensor("net/w/.ATTRIBUTES/VARIABLE_VALUE"))
