"""Two networks against each other on numbers: alternating steps, two tapes, separate variables."""
import tensorflow as tf


class MLP(tf.Module):
    def __init__(self, sizes, seed, name=None):
        super().__init__(name=name)
        self.layers = []
        for i, (m, n) in enumerate(zip(sizes, sizes[1:])):
            w = tf.Variable(tf.random.stateless_normal([m, n], [seed, i], stddev=m**-0.5), name=f"w{i}")
            self.layers.append((w, tf.Variable(tf.zeros([n]), name=f"b{i}")))

    def __call__(self, x):
        for i, (w, b) in enumerate(self.layers):
            x = tf.matmul(x, w) + b
            if i + 1 < len(self.layers):
                x = tf.nn.leaky_relu(x)
        return x


generator, discriminator = MLP([2, 8, 1], 1, "generator"), MLP([1, 8, 1], 2, "discriminator")


def bce(labels, logits):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


@tf.function
def train_step(real, noise):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        fake = generator(noise)
        real_logits, fake_logits = discriminator(real), discriminator(fake)
        gen_loss = bce(tf.ones_like(fake_logits), fake_logits)
        disc_loss = bce(tf.ones_like(real_logits), real_logits) + bce(tf.zeros_like(fake_logits), fake_logits)
    for v, g in zip(generator.trainable_variables, gen_tape.gradient(gen_loss, generator.trainable_variables)):
        v.assign_sub(0.05 * g)
    for v, g in zip(discriminator.trainable_variables,
                    disc_tape.gradient(disc_loss, discriminator.trainable_variables)):
        v.assign_sub(0.05 * g)
    return gen_loss, disc_loss


for step in range(20):
    real = tf.random.stateless_normal([16, 1], [step, 0], mean=3.0, stddev=0.5)
    noise = tf.random.stateless_normal([16, 2], [step, 1])
    g, d = train_step(real, noise)
    if step % 5 == 0:
        print(step, f"generator {g.numpy():.3f} discriminator {d.numpy():.3f}")
print([v.name for v in generator.trainable_variables], len(discriminator.variables))
print(f"{tf.reduce_mean(generator(tf.random.stateless_normal([64, 2], [5, 5]))).numpy():.2f}")
print(train_step.experimental_get_tracing_count())
