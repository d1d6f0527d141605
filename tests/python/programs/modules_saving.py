"""Saving modules: weights by checkpoint, functions by SavedModel, and what the loaded object is."""
import os
import tempfile
import tensorflow as tf


class Dense(tf.Module):
    def __init__(self, in_features, out_features, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.reshape(tf.range(float(in_features * out_features)), [in_features, out_features]),
                             name="w")
        self.b = tf.Variable(tf.zeros([out_features]), name="b")

    def __call__(self, x):
        return tf.nn.relu(tf.matmul(x, self.w) + self.b)


class MySequentialModule(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.dense_1 = Dense(in_features=3, out_features=3)
        self.dense_2 = Dense(in_features=3, out_features=2)

    @tf.function
    def __call__(self, x):
        x = self.dense_1(x)
        return self.dense_2(x)


folder = tempfile.mkdtemp()
my_model = MySequentialModule(name="the_model")
chkp_path = os.path.join(folder, "my_checkpoint")
checkpoint = tf.train.Checkpoint(model=my_model)
print(os.path.basename(checkpoint.write(chkp_path)), sorted(os.listdir(folder)))
print(tf.train.list_variables(chkp_path))
new_model = MySequentialModule()
for v in new_model.variables:
    v.assign(v * 0.0)
new_checkpoint = tf.train.Checkpoint(model=new_model)
status = new_checkpoint.restore(chkp_path)
print(type(status).__name__, new_model(tf.constant([[2.0, 2.0, 2.0]])))
print(my_model(tf.constant([[2.0, 2.0, 2.0]])))
print(my_model(tf.constant([[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]])))
export = os.path.join(folder, "the_saved_model")
tf.saved_model.save(my_model, export)
print(sorted(os.listdir(export)))
saved = tf.saved_model.load(export)
print(isinstance(saved, MySequentialModule))
print(saved(tf.constant([[2.0, 2.0, 2.0]])))
print(saved(tf.constant([[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]])))
try:
    saved(tf.constant([[2.0, 2.0, 2.0], [1.0, 1.0, 1.0]]))
except ValueError as e:
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    print(lines[0], "|", lines[1])
print(saved.dense_1.w.shape, saved.dense_2.b.numpy(), hasattr(saved.dense_1, "__call__"))
print(tf.train.list_variables(os.path.join(export, "variables", "variables"))[:3])
restored = MySequentialModule()
tf.train.Checkpoint(restored).restore(os.path.join(export, "variables", "variables")).expect_partial()
print(restored.dense_2.w.numpy().tolist())
