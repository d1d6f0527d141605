"""tf.__internal__ as libraries use it: tracking of own classes, no_automatic_dependency_tracking, smart_cond."""
import os
import tempfile
import tensorflow as tf

tracking = tf.__internal__.tracking


class Layer(tracking.AutoTrackable):
    def __init__(self, size):
        self.kernel = tf.Variable(tf.ones([size]), name="kernel")
        self.config = {"size": size}
        self.parts = []

    @tracking.no_automatic_dependency_tracking
    def set_cache(self, value):
        self.cache = value


class Model(tracking.AutoTrackable):
    def __init__(self):
        self.layers = [Layer(2), Layer(3)]
        self.named = {"a": Layer(1)}
        self.step = tf.Variable(0, dtype=tf.int64)

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def apply(self, x):
        return x * self.layers[0].kernel


model = Model()
model.layers[0].set_cache(tf.Variable(5.0))
model.layers[1].parts.append(tf.Variable(7.0))
folder = tempfile.mkdtemp()
path = tf.train.Checkpoint(model=model).write(os.path.join(folder, "ck"))
print([name for name, _ in tf.train.list_variables(path)])
print(isinstance(model, tracking.Trackable), isinstance(tf.Variable(1), tracking.Trackable),
      isinstance(tf.Module(), tracking.AutoTrackable))
other = Model()
other.layers[0].kernel.assign([9.0, 9.0])
tf.train.Checkpoint(model=other).read(path).expect_partial()
print(other.layers[0].kernel.numpy())
view = tf.train.TrackableView(model)
print(sorted(view.children(model)), len(view.descendants()) > 8)
tf.saved_model.save(model, os.path.join(folder, "sm"))
loaded = tf.saved_model.load(os.path.join(folder, "sm"))
print(loaded.apply(tf.constant([2.0, 3.0])), loaded.step.dtype, len(loaded.layers))
print(isinstance(tf.constant(1), tf.__internal__.EagerTensor),
      isinstance(tf.ragged.constant([[1]]), tf.__internal__.CompositeTensor),
      isinstance(tf.constant(1), tf.__internal__.types.Tensor))
print(tf.__internal__.smart_cond.smart_cond(True, lambda: 1, lambda: 2),
      tf.__internal__.smart_cond.smart_cond(tf.constant(False), lambda: 1, lambda: 2), tf.__internal__.tf2.enabled())
with tf.__internal__.eager_context.eager_mode():
    print(tf.executing_eagerly())
print(isinstance(tf.function(lambda: 1).get_concrete_function().graph, tf.__internal__.FuncGraph),
      isinstance(tf.float32, tf.DType), isinstance(tf.TensorSpec([]), tf.TypeSpec))
