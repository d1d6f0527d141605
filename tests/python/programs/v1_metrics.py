"""Metrics of version 1 in a session: values and updates, batch by batch."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
rng = np.random.RandomState(0)
labels = tf.placeholder(tf.int64, [None], name="labels")
scores = tf.placeholder(tf.float32, [None], name="scores")
weights = tf.placeholder(tf.float32, [None], name="weights")
m = tf.metrics
found = {
    "auc": m.auc(labels, scores),
    "auc_pr": m.auc(labels, scores, curve="PR", summation_method="careful_interpolation"),
    "auc_minoring": m.auc(labels, scores, weights, num_thresholds=20, summation_method="minoring"),
    "precision_at": m.precision_at_thresholds(labels, scores, [0.3, 0.6]),
    "recall_at": m.recall_at_thresholds(labels, scores, [0.3, 0.6], weights),
    "tp": m.true_positives_at_thresholds(labels, scores, [0.3, 0.6]),
    "fn": m.false_negatives_at_thresholds(labels, scores, [0.3, 0.6]),
    "tn": m.true_negatives_at_thresholds(labels, scores, [0.3, 0.6]),
    "fp": m.false_positives_at_thresholds(labels, scores, [0.3, 0.6]),
    "sensitivity": m.sensitivity_at_specificity(labels, scores, 0.5, num_thresholds=50),
    "specificity": m.specificity_at_sensitivity(labels, scores, 0.5, num_thresholds=50),
    "true_negatives": m.true_negatives(labels, tf.cast(scores > 0.5, tf.int64)),
    "below": m.percentage_below(scores, 0.4),
    "relative": m.mean_relative_error(tf.cast(labels, tf.float32), scores, scores + 1),
    "iou": m.mean_iou(labels, tf.cast(scores > 0.5, tf.int64), 2),
    "per_class": m.mean_per_class_accuracy(labels, tf.cast(scores > 0.5, tf.int64), 2),
}
wide = tf.placeholder(tf.float32, [None, 5], name="wide")
classes = tf.placeholder(tf.int64, [None, 2], name="classes")
found["precision_at_k"] = m.precision_at_k(classes, wide, 2)
found["precision_at_k_class"] = m.precision_at_k(classes, wide, 2, class_id=1)
found["recall_at_k"] = m.recall_at_k(classes, wide, 2)
found["recall_at_k_class"] = m.recall_at_k(classes, wide, 3, class_id=1)
found["average_precision"] = m.average_precision_at_k(classes, wide, 3)
found["cosine"] = m.mean_cosine_distance(tf.nn.l2_normalize(wide, 1), tf.nn.l2_normalize(wide + 0.1, 1), 1)
fixed = tf.placeholder(tf.float32, [2, 3], name="fixed")
found["mean_tensor"] = m.mean_tensor(fixed)
with tf.Session() as session:
    session.run(tf.local_variables_initializer())
    for step in range(3):
        n = 6 + step
        feeds = {
            labels: rng.randint(0, 2, n),
            scores: rng.rand(n).astype(np.float32),
            weights: rng.rand(n).astype(np.float32),
            wide: rng.rand(n, 5).astype(np.float32),
            classes: np.stack([rng.permutation(5)[:2] for _ in range(n)]),
            fixed: rng.rand(2, 3).astype(np.float32),
        }
        updates = session.run({k: v[1] for k, v in found.items()}, feeds)
        values = session.run({k: v[0] for k, v in found.items()})
        for name in sorted(found):
            print(step, name, np.round(values[name], 4).tolist(), np.round(updates[name], 4).tolist())
print(len(tf.local_variables()), sorted(v.op.name for v in tf.local_variables())[:12])
