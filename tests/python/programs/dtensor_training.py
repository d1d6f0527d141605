# A small network trained on eight virtual CPUs: data parallel, model parallel, and both with the features cut.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
DEVICES = [f"CPU:{i}" for i in range(8)]
U = dtensor.UNSHARDED


class Dense(tf.Module):
    def __init__(self, input_size, output_size, init_seed, weight_layout, activation=None):
        super().__init__()
        random_normal_initializer = tf.function(tf.random.stateless_normal)
        self.weight = dtensor.DVariable(
            dtensor.call_with_layout(
                random_normal_initializer, weight_layout, shape=[input_size, output_size], seed=init_seed
            )
        )
        self.activation = activation if activation is not None else lambda x: x
        self.bias = dtensor.DVariable(dtensor.call_with_layout(tf.zeros, weight_layout.delete([0]), [output_size]))

    def __call__(self, x):
        return self.activation(tf.matmul(x, self.weight) + self.bias)


class BatchNorm(tf.Module):
    def __call__(self, x, training=True):
        if not training:
            return x
        mean, variance = tf.nn.moments(x, axes=[0])
        return tf.nn.batch_normalization(x, mean, variance, 0.0, 1.0, 1e-5)


class MLP(tf.Module):
    def __init__(self, dense_layouts):
        super().__init__()
        self.dense1 = Dense(12, 8, (1, 2), dense_layouts[0], activation=tf.nn.relu)
        self.bn = BatchNorm()
        self.dense2 = Dense(8, 2, (3, 4), dense_layouts[1])

    def __call__(self, x):
        return self.dense2(self.bn(self.dense1(x)))


@tf.function
def train_step(model, x, y, learning_rate):
    with tf.GradientTape() as tape:
        logits = model(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=y))
    parameters = model.trainable_variables
    gradients = tape.gradient(loss, parameters)
    for parameter, gradient in zip(parameters, gradients):
        parameter.assign_sub(learning_rate * gradient)
    accuracy = 1.0 - tf.reduce_sum(tf.cast(tf.argmax(logits, axis=-1, output_type=tf.int64) != y, tf.float32)) / 16.0
    return {"loss": loss, "accuracy": accuracy}


def repack_batch(x, y, mesh, x_specs, y_specs):
    x = dtensor.copy_to_mesh(x, dtensor.Layout(x_specs, mesh))
    y = dtensor.copy_to_mesh(y, dtensor.Layout(y_specs, mesh))
    return x, y


x = tf.random.stateless_normal((16, 12), seed=(5, 6))
y = tf.cast(tf.reduce_sum(x, axis=1) > 0, tf.int64)


def run(name, mesh, layouts, x_specs, y_specs):
    model = MLP([dtensor.Layout(specs, mesh) for specs in layouts])
    print(name, [v.layout.sharding_specs for v in model.trainable_variables])
    d_x, d_y = repack_batch(x, y, mesh, x_specs, y_specs)
    print(dtensor.fetch_layout(d_x).sharding_specs, dtensor.unpack(d_x)[0].shape)
    print(dtensor.fetch_layout(model(d_x)).sharding_specs)
    for _ in range(4):
        results = train_step(model, d_x, d_y, 0.1)
        print({k: round(float(v), 4) for k, v in sorted(results.items())})
    print(dtensor.fetch_layout(results["loss"]).sharding_specs, round(float(tf.reduce_max(model.dense2.bias)), 3))


mesh = dtensor.create_mesh([("batch", 8)], devices=DEVICES)
run("data parallel", mesh, [[U, U], [U, U]], ["batch", U], ["batch"])
mesh = dtensor.create_mesh([("batch", 4), ("model", 2)], devices=DEVICES)
run("model parallel", mesh, [[U, "model"], ["model", U]], ["batch", U], ["batch"])
mesh = dtensor.create_mesh([("batch", 4), ("feature", 2), ("model", 1)], devices=DEVICES)
run("spatial parallel", mesh, [["feature", "model"], ["model", U]], ["batch", "feature"], ["batch"])
