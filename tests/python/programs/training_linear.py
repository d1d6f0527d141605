"""Linear regression by hand: data, model as a module, loss, tape, SGD, report; eager, function, and dataset batches."""
import tensorflow as tf

tf.random.set_seed(0)
x = tf.linspace(-2.0, 2.0, 41)
noise = tf.random.stateless_normal([41], seed=[1, 2]) * 0.1
y = 3.0 * x + 2.0 + noise


class Linear(tf.Module):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.w = tf.Variable(5.0)
        self.b = tf.Variable(0.0)

    def __call__(self, x):
        return self.w * x + self.b


def loss_of(target, predicted):
    return tf.reduce_mean(tf.square(target - predicted))


def train(model, x, y, learning_rate):
    with tf.GradientTape() as t:
        current = loss_of(y, model(x))
    dw, db = t.gradient(current, [model.w, model.b])
    model.w.assign_sub(learning_rate * dw)
    model.b.assign_sub(learning_rate * db)
    return current


def report(model, loss):
    return f"W = {model.w.numpy():1.2f}, b = {model.b.numpy():1.2f}, loss={loss:2.5f}"


model = Linear()
print([v.name for v in model.variables], f"{loss_of(y, model(x)):.4f}")
for epoch in range(10):
    train(model, x, y, learning_rate=0.1)
    print(f"Epoch {epoch:2d}:", report(model, loss_of(model(x), y)))
other = Linear()
step = tf.function(train)
for epoch in range(10):
    loss = step(other, x, y, 0.1)
print(report(other, loss.numpy()), step.experimental_get_tracing_count())
print(abs(float(model.w - other.w)) < 1e-4)


class Polynomial(tf.Module):
    def __init__(self, degree):
        super().__init__()
        self.c = tf.Variable(tf.zeros([degree + 1]))

    @tf.function
    def __call__(self, x):
        powers = tf.stack([x**i for i in range(self.c.shape[0])], axis=1)
        return tf.linalg.matvec(powers, self.c)


target = 0.5 * x**2 - x + 1.0
poly = Polynomial(2)
dataset = tf.data.Dataset.from_tensor_slices((x, target)).shuffle(41, seed=3).batch(8)


@tf.function
def epoch_step(ds):
    total, n = 0.0, 0
    for bx, by in ds:
        with tf.GradientTape() as tape:
            loss = loss_of(by, poly(bx))
        poly.c.assign_sub(0.05 * tape.gradient(loss, poly.c))
        total += loss
        n += 1
    return total / tf.cast(n, tf.float32)


for epoch in range(30):
    mean = epoch_step(dataset)
    if epoch % 10 == 9:
        print(epoch, f"{mean.numpy():.4f}", poly.c.numpy().round(3))
exact = tf.linalg.lstsq(tf.stack([tf.ones_like(x), x], 1), y[:, None])
print(exact.numpy().round(3).tolist())
