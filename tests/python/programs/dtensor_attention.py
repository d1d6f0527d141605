# One layer of a transformer whose heads are cut along one dimension of the mesh and whose batch along the other.
import tensorflow as tf
from tensorflow.experimental import dtensor

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 8
)
U = dtensor.UNSHARDED
mesh = dtensor.create_mesh([("batch", 2), ("model", 4)], devices=[f"CPU:{i}" for i in range(8)])
BATCH, LENGTH, WIDTH, HEADS = 4, 6, 8, 4


def variable(shape, specs, scale, name):
    count = 1
    for n in shape:
        count *= n
    value = tf.reshape(tf.sin(tf.range(count, dtype=tf.float32) * scale), shape) * 0.5
    return dtensor.DVariable(dtensor.copy_to_mesh(value, dtensor.Layout(specs, mesh)), name=name)


class Attention(tf.Module):
    def __init__(self):
        super().__init__()
        size = WIDTH // HEADS
        self.query = variable((WIDTH, HEADS, size), [U, "model", U], 0.3, "query")
        self.key = variable((WIDTH, HEADS, size), [U, "model", U], 0.7, "key")
        self.value = variable((WIDTH, HEADS, size), [U, "model", U], 1.1, "value")
        self.out = variable((HEADS, size, WIDTH), ["model", U, U], 1.3, "out")

    def __call__(self, x):
        q = tf.einsum("btd,dhk->bhtk", x, self.query)
        k = tf.einsum("btd,dhk->bhtk", x, self.key)
        v = tf.einsum("btd,dhk->bhtk", x, self.value)
        weights = tf.nn.softmax(tf.einsum("bhtk,bhsk->bhts", q, k) / 2.0)
        heads = tf.einsum("bhts,bhsk->bhtk", weights, v)
        return tf.einsum("bhtk,hkd->btd", heads, self.out), weights


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()
        self.gain = variable((WIDTH,), [U], 0.9, "gain")
        self.up = variable((WIDTH, 16), [U, "model"], 0.4, "up")
        self.down = variable((16, WIDTH), ["model", U], 0.6, "down")
        self.table = variable((10, WIDTH), [U, U], 0.2, "table")

    def normalized(self, x):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
        return (x - mean) * tf.math.rsqrt(variance + 1e-6) * self.gain

    def __call__(self, tokens):
        x = tf.gather(self.table.read_value(), tokens)
        attended, weights = self.attention(self.normalized(x))
        x = x + attended
        x = x + tf.matmul(tf.nn.gelu(tf.matmul(self.normalized(x), self.up)), self.down)
        return tf.einsum("btd,vd->btv", x, self.table.read_value()), weights


layer = Layer()
tokens = dtensor.copy_to_mesh(
    tf.reshape(tf.range(BATCH * LENGTH) * 7 % 10, (BATCH, LENGTH)), dtensor.Layout(["batch", U], mesh)
)
logits, weights = layer(tokens)
print(dtensor.fetch_layout(logits).sharding_specs, logits.shape)
print(dtensor.fetch_layout(weights).sharding_specs, weights.shape, dtensor.unpack(weights)[5].shape)
print(dtensor.unpack(weights)[3][0, 0, 0].numpy())


@tf.function
def train_step(tokens):
    with tf.GradientTape() as tape:
        logits, _ = layer(tokens)
        losses = tf.nn.softmax_cross_entropy_with_logits(
            labels=tf.one_hot(tf.reshape(tokens, (-1,)), 10), logits=tf.reshape(logits, (-1, 10))
        )
        loss = tf.reduce_mean(losses)
    variables = layer.trainable_variables
    gradients = tape.gradient(loss, variables)
    norm = tf.sqrt(tf.add_n([tf.reduce_sum(g * g) for g in gradients]))
    for v, g in zip(variables, gradients):
        v.assign_sub(0.1 * g)
    return loss, norm


for _ in range(3):
    loss, norm = train_step(tokens)
    print(f"{float(loss):.4f} {float(norm):.4f}")
for v in layer.trainable_variables:
    print(v.name, v.layout.sharding_specs, f"{float(tf.reduce_sum(v)):.4f}")
