"""Version 1's losses: weights that fit or do not, reductions, labels with an axis too many, names and collections."""

import re

import numpy as np
import tensorflow as tf
from calls import show

v1 = tf.compat.v1
losses = v1.losses
LABELS = np.eye(3, dtype=np.float32)
LOGITS = np.array([[2.0, 0.5, 0.0], [0.0, 1.0, 0.25], [-1.0, 0.0, 1.5]], np.float32)
BATCH = np.arange(12.0, dtype=np.float32).reshape(2, 2, 3)
OTHER = BATCH[::-1] / 4


def in_graph(call, **feed):
    """The name, shape and value of a loss, and what the graph collected."""
    with tf.Graph().as_default():
        fed = {name: v1.placeholder_with_default(np.float32(value), None) for name, value in feed.items()}
        loss = call(**fed)
        collected = [value.name for value in v1.get_collection("losses")]
        with v1.Session() as session:
            print(loss.op.name, loss.shape, np.round(session.run(loss), 4), collected)


def both(call):
    """The loss in a graph and eagerly, or how it fails: the first line, without the tensors."""
    for run in (lambda: in_graph(call), lambda: print(np.round(call().numpy(), 4))):
        try:
            run()
        except (TypeError, ValueError, tf.errors.InvalidArgumentError) as e:
            text = re.split("\n| Received weights| for .{{node| \\[Op:", str(e))[0]
            print(type(e).__name__, text)


for weights in (1.0, 2.5, 0.0, [1.0, 0.0], [[1.0], [0.0]], [[[1.0]], [[2.0]]], [[[1.0]], [[0.0]]], np.ones([2, 2, 1], "f")):
    print("pairs", np.shape(weights))
    both(lambda: losses.mean_pairwise_squared_error(BATCH, OTHER, weights=weights))

for labels in (np.array([0, 1, 2]), np.array([[0], [1], [2]]), np.array([[0], [1]])):
    for weights in (1.0, [1.0, 2.0, 0.0], [[1.0], [2.0], [0.0]], [[1.0, 2.0, 0.0]], [1.0, 2.0]):
        print("sparse", labels.shape, np.shape(weights))
        both(lambda: losses.sparse_softmax_cross_entropy(labels, LOGITS, weights=weights))

for name in "absolute_difference mean_squared_error hinge_loss huber_loss log_loss sigmoid_cross_entropy".split():
    function = getattr(losses, name)
    predictions = LOGITS if "cross" in name else LOGITS / 8 + 0.25
    for weights in (1.0, [[1.0], [2.0], [0.0]], [1.0, 2.0, 0.0], np.ones([3, 3, 1], "f"), [[1.0, 2.0]]):
        for reduction in losses.Reduction.all()[:-1]:
            print(name, np.shape(weights), reduction)
            if reduction != "none":  # whose name is that of the last product
                both(lambda: function(LABELS, predictions, weights=weights, reduction=reduction))

for weights in (2.0, [1.0, 2.0, 0.0], [[1.0], [2.0], [0.0]]):
    print("softmax", np.shape(weights))
    both(lambda: losses.softmax_cross_entropy(LABELS, LOGITS, weights=weights))
both(lambda: losses.compute_weighted_loss(LOGITS.astype("d"), [[1.0], [2.0], [3.0]]))

# Ranks that are known when it runs.
show(lambda: in_graph(lambda w: losses.softmax_cross_entropy(LABELS, LOGITS, weights=w), w=[1, 2, 0]))
show(lambda: in_graph(lambda w: losses.absolute_difference(LABELS, LOGITS, weights=w), w=[[1], [2], [0]]))
show(lambda: in_graph(lambda w: losses.sparse_softmax_cross_entropy([0, 1, 2], LOGITS, weights=w), w=[[1], [2], [0]]))
try:
    in_graph(lambda w: losses.absolute_difference(LABELS, LOGITS, weights=w), w=[1, 2])
except tf.errors.InvalidArgumentError as e:
    print("weights can not be broadcast to values." in str(e))
show(lambda: tf.math.confusion_matrix([[0], [1], [2]], [0, 2, 2]))
show(lambda: tf.__internal__.ops.broadcast_weights([[1.0], [2.0]], np.ones([2, 3])))
