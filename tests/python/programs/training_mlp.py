"""A small network by hand: modules, softmax loss, momentum and Adam written out, accuracy, weight decay, checkpoint."""
import os
import tempfile
import tensorflow as tf

x = tf.random.stateless_normal([120, 2], seed=[3, 4])
radius = tf.norm(x, axis=1)
y = tf.cast(radius > 1.1, tf.int32)


class Dense(tf.Module):
    def __init__(self, m, n, seed, activation=None, name=None):
        super().__init__(name=name)
        limit = tf.sqrt(6.0 / (m + n))
        self.w = tf.Variable(tf.random.stateless_uniform([m, n], [seed, 1], -limit, limit), name="w")
        self.b = tf.Variable(tf.zeros([n]), name="b")
        self.activation = activation

    def __call__(self, x):
        z = x @ self.w + self.b
        return self.activation(z) if self.activation else z


class MLP(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(2, 16, 1, tf.nn.relu), Dense(16, 16, 2, tf.tanh), Dense(16, 2, 3)]

    @tf.function
    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class Adam(tf.Module):
    def __init__(self, variables, rate=0.02, beta1=0.9, beta2=0.999, eps=1e-7):
        super().__init__()
        self.rate, self.beta1, self.beta2, self.eps = rate, beta1, beta2, eps
        self.m = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.t = tf.Variable(0.0, trainable=False)

    def apply(self, grads, variables):
        self.t.assign_add(1.0)
        for g, x, m, v in zip(grads, variables, self.m, self.v):
            m.assign(self.beta1 * m + (1.0 - self.beta1) * g)
            v.assign(self.beta2 * v + (1.0 - self.beta2) * g * g)
            mh = m / (1.0 - self.beta1**self.t)
            vh = v / (1.0 - self.beta2**self.t)
            x.assign_sub(self.rate * mh / (tf.sqrt(vh) + self.eps))


def loss_of(model, x, y):
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=model(x))
    decay = tf.add_n([tf.nn.l2_loss(v) for v in model.trainable_variables if v.shape.rank == 2])
    return tf.reduce_mean(ce) + 1e-4 * decay


model = MLP()
optimizer = Adam(model.trainable_variables)
print(len(model.trainable_variables), [v.shape.as_list() for v in model.trainable_variables], len(model.submodules))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(model, x, y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply(grads, model.trainable_variables)
    return loss


@tf.function
def accuracy(x, y):
    return tf.reduce_mean(tf.cast(tf.equal(tf.argmax(model(x), 1, output_type=tf.int32), y), tf.float32))


dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(30)
print(f"{loss_of(model, x, y):.4f} {accuracy(x, y):.3f}")
for epoch in range(12):
    for bx, by in dataset:
        loss = train_step(bx, by)
    if epoch % 4 == 3:
        print(epoch, f"{loss:.3f} {accuracy(x, y):.3f}")
print(int(optimizer.t), train_step.experimental_get_tracing_count(), float(accuracy(x, y)) > 0.9)
path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(os.path.join(tempfile.mkdtemp(), "ck"))
before = loss_of(model, x, y).numpy()
for v in model.trainable_variables:
    v.assign(tf.zeros_like(v))
print(f"{loss_of(model, x, y):.4f}")
tf.train.Checkpoint(model=model, optimizer=optimizer).restore(path).assert_existing_objects_matched()
print(abs(loss_of(model, x, y).numpy() - before) < 1e-6)
g = tf.GradientTape()
with g:
    loss = loss_of(model, x, y)
norm = tf.linalg.global_norm(g.gradient(loss, model.trainable_variables))
print(norm.numpy() > 0.0, norm.shape)
