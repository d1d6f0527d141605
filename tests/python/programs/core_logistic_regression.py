"""Logistic regression with the core API: normalisation, log loss, batches, accuracy, confusion matrix."""
import tensorflow as tf

n = 200
labels = tf.cast(tf.random.stateless_uniform([n], [1, 2]) > 0.5, tf.float32)
features = tf.random.stateless_normal([n, 4], [3, 4]) + labels[:, None] * tf.constant([1.0, -0.5, 2.0, 0.0])
x_train, x_test = features[:150], features[150:]
y_train, y_test = labels[:150], labels[150:]


class Normalize(tf.Module):
    def __init__(self, x):
        self.mean = tf.Variable(tf.math.reduce_mean(x, axis=0))
        self.std = tf.Variable(tf.math.reduce_std(x, axis=0))

    def norm(self, x):
        return (x - self.mean) / self.std

    def unnorm(self, x):
        return x * self.std + self.mean


norm_x = Normalize(x_train)
x_train_norm, x_test_norm = norm_x.norm(x_train), norm_x.norm(x_test)
print(tf.reduce_max(tf.abs(norm_x.unnorm(x_train_norm) - x_train)).numpy() < 1e-5, norm_x.mean.numpy().round(3))


def log_loss(y_pred, y):
    ce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y_pred)
    return tf.reduce_mean(ce)


def predict_class(y_pred, thresh=0.5):
    return tf.cast(y_pred > thresh, tf.float32)


def accuracy(y_pred, y):
    y_pred = tf.math.sigmoid(y_pred)
    return tf.reduce_mean(tf.cast(predict_class(y_pred) == y, tf.float32))


class LogisticRegression(tf.Module):
    def __init__(self):
        self.built = False

    def __call__(self, x, train=True):
        if not self.built:
            self.w = tf.Variable(tf.random.stateless_uniform([x.shape[-1], 1], [9, 9], -0.1, 0.1))
            self.b = tf.Variable(tf.zeros([]))
            self.built = True
        z = tf.squeeze(tf.add(tf.matmul(x, self.w), self.b), axis=1)
        return z if train else tf.sigmoid(z)


log_reg = LogisticRegression()
y_pred = log_reg(x_train_norm[:5], train=False)
print(y_pred.numpy().round(3))
train_dataset = tf.data.Dataset.from_tensor_slices((x_train_norm, y_train)).shuffle(150, seed=1).batch(32)
test_dataset = tf.data.Dataset.from_tensor_slices((x_test_norm, y_test)).batch(32)
for epoch in range(20):
    batch_losses, batch_accs = [], []
    for x_batch, y_batch in train_dataset:
        with tf.GradientTape() as tape:
            batch_loss = log_loss(log_reg(x_batch), y_batch)
        grads = tape.gradient(batch_loss, log_reg.variables)
        for g, v in zip(grads, log_reg.variables):
            v.assign_sub(0.3 * g)
        batch_losses.append(batch_loss)
        batch_accs.append(accuracy(log_reg(x_batch), y_batch))
    if epoch % 5 == 0:
        print(f"Epoch: {epoch}, loss {tf.reduce_mean(batch_losses):.3f}, accuracy {tf.reduce_mean(batch_accs):.3f}")
test_acc = tf.reduce_mean([accuracy(log_reg(x), y) for x, y in test_dataset])
print(test_acc.numpy() > 0.8)
print(tf.math.confusion_matrix(y_train, predict_class(log_reg(x_train_norm, train=False))))
print(log_reg.w.numpy().round(1).tolist(), len(log_reg.variables))
