"""A small variational autoencoder with modules: encoder, sampling with seeds, decoder, ELBO, a few steps."""
import math
import tensorflow as tf

data = tf.cast(tf.random.stateless_uniform([32, 8], [1, 2]) < tf.linspace(0.1, 0.9, 8), tf.float32)


class Dense(tf.Module):
    def __init__(self, m, n, seed, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.random.stateless_normal([m, n], [seed, seed]) / math.sqrt(m), name="w")
        self.b = tf.Variable(tf.zeros([n]), name="b")

    def __call__(self, x):
        return x @ self.w + self.b


class VAE(tf.Module):
    def __init__(self, latent=2):
        super().__init__()
        self.hidden = Dense(8, 12, 1)
        self.stats = Dense(12, 2 * latent, 2)
        self.back = Dense(latent, 12, 3)
        self.out = Dense(12, 8, 4)

    def encode(self, x):
        return tf.split(self.stats(tf.nn.relu(self.hidden(x))), num_or_size_splits=2, axis=1)

    def reparameterize(self, mean, logvar, seed):
        eps = tf.random.stateless_normal(tf.shape(mean), seed)
        return eps * tf.exp(logvar * 0.5) + mean

    def decode(self, z):
        return self.out(tf.nn.relu(self.back(z)))


def log_normal_pdf(sample, mean, logvar):
    log2pi = tf.math.log(2.0 * math.pi)
    return tf.reduce_sum(-0.5 * ((sample - mean) ** 2.0 * tf.exp(-logvar) + logvar + log2pi), axis=1)


model = VAE()


@tf.function
def compute_loss(x, seed):
    mean, logvar = model.encode(x)
    z = model.reparameterize(mean, logvar, seed)
    logits = model.decode(z)
    cross_ent = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
    logpx_z = -tf.reduce_sum(cross_ent, axis=1)
    logpz = log_normal_pdf(z, 0.0, 0.0)
    logqz_x = log_normal_pdf(z, mean, logvar)
    return -tf.reduce_mean(logpx_z + logpz - logqz_x)


@tf.function
def train_step(x, seed):
    with tf.GradientTape() as tape:
        loss = compute_loss(x, seed)
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.05 * g)
    return loss


for step in range(15):
    loss = train_step(data, tf.constant([step, 7]))
    if step % 5 == 0:
        print(step, f"{loss.numpy():.3f}")
print(f"{compute_loss(data, tf.constant([99, 1])):.3f}", len(model.trainable_variables))
mean, logvar = model.encode(data[:2])
print(mean.shape, logvar.shape, tf.sigmoid(model.decode(tf.zeros([1, 2]))).numpy().round(2))
