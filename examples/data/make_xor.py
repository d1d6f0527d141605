"""Makes the SavedModel `xor` with real TensorFlow: a small network, not yet trained, with a signature that predicts and one that trains.

python make_xor.py        (needs tensorflow; writes ./xor and prints what TensorFlow makes of it)
"""

import os
import shutil

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf

X = tf.constant([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = tf.constant([[0.0], [1.0], [1.0], [0.0]])


class Xor(tf.Module):
    def __init__(self):
        super().__init__(name="xor")
        random = tf.random.Generator.from_seed(1)
        self.w1 = tf.Variable(random.normal([2, 8]), name="hidden/kernel")
        self.b1 = tf.Variable(tf.zeros([8]), name="hidden/bias")
        self.w2 = tf.Variable(random.normal([8, 1]), name="out/kernel")
        self.b2 = tf.Variable(tf.zeros([1]), name="out/bias")

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def logits(self, x):
        return tf.matmul(tf.tanh(tf.matmul(x, self.w1) + self.b1), self.w2) + self.b2

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x")])
    def serve(self, x):
        return {"p": tf.sigmoid(self.logits(x))}

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([None, 1], tf.float32, "y")])
    def train(self, x, y):
        variables = [self.w1, self.b1, self.w2, self.b2]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=self.logits(x)))
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.5 * g)
        return {"loss": loss}


model = Xor()
shutil.rmtree("xor", ignore_errors=True)
tf.saved_model.save(model, "xor", signatures={"serving_default": model.serve, "train": model.train})
losses = [float(model.train(X, Y)["loss"]) for _ in range(500)]
print("losses", losses[0], losses[-1])
print("p", model.serve(X)["p"].numpy().ravel().tolist())
