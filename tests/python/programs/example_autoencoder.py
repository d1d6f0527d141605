"""A linear autoencoder and a deeper one, trained in a function; code sizes and losses."""
import tensorflow as tf

data = tf.matmul(tf.random.stateless_normal([64, 2], [1, 1]), tf.random.stateless_normal([2, 6], [2, 2]))


class Dense(tf.Module):
    def __init__(self, m, n, seed, activation=tf.identity):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_truncated_normal([m, n], [seed, 0], stddev=0.4), name="w")
        self.b = tf.Variable(tf.zeros([n]), name="b")
        self.activation = activation

    def __call__(self, x):
        return self.activation(tf.nn.bias_add(tf.matmul(x, self.w), self.b))


class Autoencoder(tf.Module):
    def __init__(self, sizes, activation=tf.identity):
        super().__init__()
        self.encoder = [Dense(m, n, i, activation) for i, (m, n) in enumerate(zip(sizes, sizes[1:]))]
        back = sizes[::-1]
        self.decoder = [Dense(m, n, 10 + i, activation if i + 2 < len(sizes) else tf.identity) for i,
                        (m, n) in enumerate(zip(back, back[1:]))]

    def encode(self, x):
        for layer in self.encoder:
            x = layer(x)
        return x

    def __call__(self, x):
        x = self.encode(x)
        for layer in self.decoder:
            x = layer(x)
        return x


def train(model, steps, rate):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.math.squared_difference(model(x), x))
        for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
            v.assign_sub(rate * g)
        return loss

    for i in range(steps):
        loss = step(data)
        if i % (steps // 3) == 0:
            print(i, f"{loss.numpy():.4f}")
    return loss


linear = Autoencoder([6, 2])
print(train(linear, 60, 0.1).numpy() < 0.5, linear.encode(data).shape, len(linear.trainable_variables))
deep = Autoencoder([6, 8, 2], tf.tanh)
print(train(deep, 30, 0.05).numpy() < 3.0, [v.shape.as_list() for v in deep.trainable_variables])
