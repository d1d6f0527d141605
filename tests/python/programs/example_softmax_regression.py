"""A softmax classifier on made-up points, trained by hand."""
import tensorflow as tf

points = tf.constant([[0.0, 1.0], [0.2, 0.9], [1.0, 0.0], [0.9, 0.1], [-1.0, -1.0], [-0.8, -1.2]])
classes = tf.constant([0, 0, 1, 1, 2, 2])
W = tf.Variable(tf.zeros([2, 3]))
b = tf.Variable(tf.zeros([3]))


def logits(x):
    return tf.matmul(x, W) + b


@tf.function
def step(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits(x)))
    gW, gb = tape.gradient(loss, [W, b])
    W.assign_sub(rate * gW)
    b.assign_sub(rate * gb)
    return loss


for i in range(21):
    loss = step(points, classes, tf.constant(1.0))
    if i % 5 == 0:
        print("step", i, "loss", loss.numpy())
predicted = tf.argmax(logits(points), axis=1)
print("predicted", predicted.numpy())
print("accuracy", tf.reduce_mean(tf.cast(predicted == tf.cast(classes, tf.int64), tf.float32)).numpy())
print(tf.nn.softmax(logits(tf.constant([[0.5, 0.5]]))))
print(W)
