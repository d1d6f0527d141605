"""A convolutional step and a recurrent step by hand in one function each; a few updates on fixed data."""
import tensorflow as tf

images = tf.random.stateless_uniform([8, 8, 8, 1], [1, 1])
labels = tf.constant([0, 1, 0, 1, 1, 0, 1, 0])
images = images + tf.cast(tf.reshape(labels, [8, 1, 1, 1]), tf.float32) * tf.reshape(tf.linspace(0.0, 1.0, 8),
    [1, 8, 1, 1])


class ConvNet(tf.Module):
    def __init__(self):
        super().__init__()
        self.k = tf.Variable(tf.random.stateless_normal([3, 3, 1, 4], [5, 6]) * 0.3, name="k")
        self.b = tf.Variable(tf.zeros([4]), name="b")
        self.w = tf.Variable(tf.random.stateless_normal([64, 2], [7, 8]) * 0.1, name="w")

    def __call__(self, x):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, self.k, 1, "SAME"), self.b))
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        return tf.reshape(x, [x.shape[0], -1]) @ self.w


net = ConvNet()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, net(x)))
    for v, g in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
        v.assign_sub(0.5 * g)
    return loss


for i in range(6):
    print(i, f"{step(images, labels).numpy():.4f}")
print([v.name for v in net.trainable_variables])


class Lstm(tf.Module):
    def __init__(self, inputs, units):
        super().__init__()
        self.units = units
        self.w = tf.Variable(tf.random.stateless_normal([inputs + units, 4 * units], [9, 10]) * 0.3)
        self.b = tf.Variable(tf.zeros([4 * units]))
        self.out = tf.Variable(tf.random.stateless_normal([units, 1], [11, 12]) * 0.3)

    def cell(self, x, h, c):
        i, j, f, o = tf.split(tf.concat([x, h], 1) @ self.w + self.b, 4, axis=1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        return tf.tanh(c) * tf.sigmoid(o), c

    @tf.function
    def __call__(self, sequence):
        n = tf.shape(sequence)[0]
        h = c = tf.zeros([n, self.units])
        for t in tf.range(tf.shape(sequence)[1]):
            h, c = self.cell(sequence[:, t], h, c)
        return h @ self.out


sequences = tf.random.stateless_uniform([10, 6, 1], [13, 14])
targets = tf.reduce_mean(sequences, axis=1)
lstm = Lstm(1, 5)


@tf.function
def lstm_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((lstm(sequences) - targets) ** 2)
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, lstm.trainable_variables), 1.0)
    for v, g in zip(lstm.trainable_variables, grads):
        v.assign_sub(0.3 * g)
    return loss, norm


for i in range(6):
    loss, norm = lstm_step()
    print(i, f"{loss.numpy():.4f} {norm.numpy():.3f}")
