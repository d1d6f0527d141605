"""Checkpoints of models and optimizers, restored before and after they are built: plain calls, functions, strategies."""

import os
import tempfile

import keras
import tensorflow as tf

folder = tempfile.mkdtemp()
x = tf.constant([[0.1, 0.2, 0.3, 0.4], [0.5, -0.6, 0.7, -0.8], [1.0, 0.0, -1.0, 0.5]])
constant = keras.initializers.Constant(0.25)


def attempt(what, function):
    try:
        print(what, function())
    except Exception as error:  # noqa: BLE001
        print(what, type(error).__name__, str(error).split("\n")[0][:60])


class Own(keras.layers.Layer):
    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1], 3), name="w", initializer=constant)
        self.b = self.add_weight(shape=(3,), initializer="zeros", name="b")

    def call(self, x):
        return x @ self.w + self.b


class Early(keras.layers.Layer):
    """Makes its weights in the constructor."""

    def __init__(self):
        super().__init__()
        self.scale = self.add_weight(shape=(4,), name="scale", initializer=constant)
        self.parts = [self.add_weight(shape=(), name=f"part_{i}", initializer="zeros") for i in range(2)]

    def call(self, x):
        return x * self.scale + self.parts[0]


class Net(keras.Model):
    def __init__(self, make):
        super().__init__()
        self.first = make()

    def call(self, x):
        return self.first(x)


KINDS = {
    "dense": lambda: keras.layers.Dense(3, kernel_initializer=constant),
    "own": Own,
    "early": Early,
    "norm": keras.layers.BatchNormalization,
    "sequential": lambda: keras.Sequential([keras.layers.Dense(2, kernel_initializer=constant)]),
    "functional": lambda: keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, kernel_initializer=constant)]),
}


def means(model):
    return [round(float(tf.reduce_mean(v.value)), 3) for v in model.variables]


for name, kind in KINDS.items():
    net = Net(kind)
    net(x)
    for i, v in enumerate(net.variables):
        v.assign(tf.ones_like(v.value) * (i + 1.5))
    path = tf.train.Checkpoint(net=net).write(os.path.join(folder, name))
    print("----", name, [n.split("/.ATTR")[0] for n, _ in tf.train.list_variables(path)][1:])
    built = Net(kind)
    built(x)
    status = tf.train.Checkpoint(net=built).read(path)
    print("built", means(built))
    attempt("consumed", lambda: status.assert_consumed() is status)
    plain = Net(kind)
    status = tf.train.Checkpoint(net=plain).read(path).expect_partial()
    plain(x)
    print("plain", means(plain))
    traced = Net(kind)
    status = tf.train.Checkpoint(net=traced).read(path).expect_partial()
    tf.function(lambda x: traced(x))(x)
    print("function", means(traced))
    explicit = Net(kind)
    status = tf.train.Checkpoint(net=explicit).read(path).expect_partial()
    explicit.first.build((None, 4))
    explicit(x)
    print("explicit", means(explicit))
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        scoped = Net(kind)
        status = tf.train.Checkpoint(net=scoped).read(path).expect_partial()
        scoped.first.build((None, 4))
        print("scope", means(scoped))

print("---- optimizers")


def make_step(layer, optimizer):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layer(x) ** 2)
        grads = tape.gradient(loss, layer.trainable_variables)
        optimizer.apply_gradients(zip(grads, layer.trainable_variables))
        return loss

    return step


for make in (
    lambda: keras.optimizers.SGD(0.1, momentum=0.9),
    lambda: keras.optimizers.Adam(0.05),
    lambda: keras.optimizers.RMSprop(0.02),
    lambda: keras.optimizers.Ftrl(0.05),
):
    layer, optimizer = Own(), make()
    layer.build((None, 4))
    step = make_step(layer, optimizer)
    losses = [round(float(step(x)), 5) for _ in range(3)]
    path = tf.train.Checkpoint(layer=layer, optimizer=optimizer).save(os.path.join(folder, "optimizer"))
    then = [round(float(step(x)), 5) for _ in range(3)]
    print(type(optimizer).__name__, losses, then, len(optimizer.variables))
    # After everything is made; before the optimizer is built; before anything is.
    for stage in range(3):
        layer, optimizer = Own(), make()
        checkpoint = tf.train.Checkpoint(layer=layer, optimizer=optimizer)
        if stage == 2:
            checkpoint.restore(path).expect_partial()
        layer.build((None, 4))
        if stage == 1:
            checkpoint.restore(path).expect_partial()
        if stage == 0:
            optimizer.build(layer.trainable_variables)
            checkpoint.restore(path).assert_consumed()
        step = make_step(layer, optimizer)
        print(stage, [round(float(step(x)), 5) for _ in range(3)] == then, int(optimizer.iterations))

print("---- made anew, again and again")
keep = []
for i in range(4):
    layer, optimizer = Own(), keras.optimizers.SGD(0.1, momentum=0.5)
    layer.build((None, 4))
    old = Own()
    old.build((None, 4))
    optimizer.build(layer.trainable_variables)
    del old
    step = make_step(layer, optimizer)
    print([round(float(step(x)), 4) for _ in range(2)], len({v._unique_id for v in [w.value for w in layer.variables]}))
    other = Own()
    other.build((None, 4))
    attempt("other", lambda: optimizer.apply_gradients(zip([tf.ones([4, 3]), tf.ones([3])], other.trainable_variables)))
    keep = [layer]

print("---- variables as arguments of the step")
optimizer = keras.optimizers.Adam(0.1)


@tf.function
def step(v, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((v - target) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    return loss


v = tf.Variable([1.0, 2.0])
print([round(float(step(v, tf.constant([0.0, 0.0]))), 4) for _ in range(3)], v.numpy().round(4))
print([round(float(step(v, tf.constant(1.0))), 4) for _ in range(2)], v.numpy().round(4), len(optimizer.variables))

print("---- weights of a file into models that are not built")
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, name="d")])
model.layers[0].set_weights([tf.reshape(tf.range(8.0), [4, 2]), tf.constant([0.5, -0.5])])
file = os.path.join(folder, "model.weights.h5")
model.save_weights(file)
unbuilt = keras.Sequential([keras.layers.Dense(2, name="d")])
attempt("load", lambda: unbuilt.load_weights(file))
unbuilt.build((None, 4))
unbuilt.load_weights(file)
print(unbuilt(x).numpy().round(3).tolist() == model(x).numpy().round(3).tolist())
