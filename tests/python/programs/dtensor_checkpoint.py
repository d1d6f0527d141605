# Saving and restoring laid out variables.
import os
import tempfile

import tensorflow as tf
from tensorflow.experimental import dtensor

print(dtensor.initialize_accelerator_system("CPU", num_logical_cpu_devices=8))
U = dtensor.UNSHARDED
mesh = dtensor.create_distributed_mesh([("x", 4), ("y", 2)], device_type="CPU")
print(mesh.shape(), mesh.num_local_devices(), len(tf.config.list_logical_devices("CPU")))


def make(shape, *specs):
    value = tf.reshape(tf.range(tf.reduce_prod(shape), dtype=tf.float32), shape)
    return dtensor.copy_to_mesh(value, dtensor.Layout(list(specs), mesh))


class Model(tf.Module):
    def __init__(self, scale):
        super().__init__()
        self.w = dtensor.DVariable(make((4, 2), "x", "y") * scale, name="w")
        self.b = dtensor.DVariable(make((2,), U) * scale, name="b")


folder = tempfile.mkdtemp()
model = Model(2.0)
path = tf.train.Checkpoint(model=model).write(os.path.join(folder, "ckpt"))
for name, shape in sorted(tf.train.list_variables(path)):
    print(name, shape)
other = Model(0.0)
print(tf.reduce_sum(other.w).numpy())
tf.train.Checkpoint(model=other).read(path).assert_consumed()
print(dtensor.fetch_layout(other.w).sharding_specs, other.b.numpy())
print([c.numpy().tolist() for c in dtensor.unpack(other.w.read_value())])
print(tf.train.load_checkpoint(path).get_tensor("model/w/.ATTRIBUTES/VARIABLE_VALUE"))

dtensor.enable_save_as_bf16(model.trainable_variables)
print(model.w.save_as_bf16)
