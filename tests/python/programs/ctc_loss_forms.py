"""tf.nn.ctc_loss with dense and sparse labels, every place of the blank, labels that hold the blank, and gradients."""

import numpy as np
import tensorflow as tf
from calls import tell

rng = np.random.RandomState(0)
T, B, C = 5, 3, 4
logits = tf.constant(rng.randn(T, B, C).astype(np.float32))
major = tf.transpose(logits, [1, 0, 2])
labels = tf.constant([[1, 2, 0], [3, 3, 0], [2, 0, 0]])
holding = tf.constant([[1, 0, 2], [0, 3, 3], [2, 0, 0]])
lengths, times = tf.constant([2, 2, 1]), tf.constant([5, 5, 4])
full = tf.constant([3, 3, 2])
sparse = tf.sparse.from_dense([[1, 2, 0], [3, 3, 0], [2, 0, 0]])
sparse = tf.SparseTensor(sparse.indices, tf.cast(sparse.values, tf.int32), sparse.dense_shape)
plain = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], [1, 2, 2, 2, 0], [3, 2])
loss = tf.nn.ctc_loss


def both(**arguments):
    """The loss and its gradient to the logits."""
    x = arguments.pop("logits", logits)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loss(logits=x, **arguments)
    return y, tape.gradient(y, x)


def summed(**arguments):
    y, g = both(**arguments)
    return np.round(y.numpy(), 4), np.round(g.numpy().sum((0, 2)), 4), np.round(np.abs(g.numpy()).sum((0, 2)), 4)


def uniques(x):
    unique = tf.nn.ctc_unique_labels(x)
    return unique


tell(
    """
    loss(labels, logits, lengths, times)
    loss(labels, logits, lengths, times, blank_index=0)
    loss(labels, logits, lengths, times, blank_index=-1)
    loss(labels, logits, lengths, times, blank_index=3)
    loss(labels, logits, lengths, times, blank_index=2)
    loss(labels, logits, lengths, times, blank_index=-2)
    loss(holding, logits, full, times)
    loss(holding, logits, full, times, blank_index=-1)
    loss(holding, logits, full, times, blank_index=3)
    loss(holding, logits, full, times, blank_index=2)
    loss(holding, logits, full, times, blank_index=1)
    loss(labels, logits, full, times)
    loss(labels, logits, full, times, blank_index=1)
    loss(labels, major, lengths, times, logits_time_major=False)
    loss(holding, major, full, times, logits_time_major=False, blank_index=1)
    loss(labels, logits, lengths, times, unique=uniques(labels))
    loss(holding, logits, full, times, unique=uniques(holding))
    loss(holding, logits, full, times, unique=uniques(holding), blank_index=2)
    loss(sparse, logits, None, times)
    loss(sparse, logits, None, times, blank_index=0)
    loss(sparse, logits, None, times, blank_index=-1)
    loss(sparse, logits, None, times, blank_index=3)
    loss(sparse, logits, None, times, blank_index=1)
    loss(sparse, major, None, times, logits_time_major=False, blank_index=0)
    summed(labels=labels, label_length=lengths, logit_length=times)
    summed(labels=labels, label_length=lengths, logit_length=times, blank_index=-1)
    summed(labels=labels, label_length=lengths, logit_length=times, blank_index=1)
    summed(labels=holding, label_length=full, logit_length=times)
    summed(labels=holding, label_length=full, logit_length=times, blank_index=2)
    summed(labels=holding, label_length=full, logit_length=times, blank_index=2, unique=uniques(holding))
    summed(labels=labels, label_length=lengths, logit_length=times, unique=uniques(labels))
    summed(labels=sparse, label_length=None, logit_length=times, blank_index=0)
    summed(labels=sparse, label_length=None, logit_length=times, blank_index=-1)
    summed(labels=labels, label_length=lengths, logit_length=times, logits=major, logits_time_major=False)
    both(labels=holding, label_length=full, logit_length=times)[1]
    both(labels=labels, label_length=lengths, logit_length=times, blank_index=2)[1]
    tf.function(loss)(labels, logits, lengths, times)
    tf.function(lambda l: loss(l, logits, full, times, blank_index=1))(holding)
    tf.function(loss, input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, None, None]), tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32)])(labels, logits, lengths, times)
    tf.nn.ctc_unique_labels(labels)
    tf.nn.ctc_unique_labels(holding)
    tf.nn.ctc_unique_labels(tf.cast(labels, tf.int64))
    loss(labels, logits, tf.constant([2, 2]), times)
    loss(labels, logits, lengths, tf.constant([5, 5, 9]))
    loss(labels, logits, lengths, tf.constant([1, 1, 1]))
    loss(tf.cast(labels, tf.int64), logits, lengths, times)
    loss(tf.cast(labels, tf.float32), logits, lengths, times)
    loss(labels, tf.cast(logits, tf.float64), lengths, times)
    loss(labels, tf.cast(logits, tf.float16), lengths, times)
    loss(labels, logits, None, times)
    loss(labels, logits, lengths, None)
    loss(labels, logits, lengths, times, blank_index=7)
    loss(labels, logits, lengths, times, blank_index=-9)
    loss(labels[0], logits, lengths, times)
    loss(labels, logits[0], lengths, times)
    tf.compat.v1.nn.ctc_loss(plain, logits, times)
    tf.compat.v1.nn.ctc_loss(plain, major, times, time_major=False)
    tf.compat.v1.nn.ctc_loss(plain, logits, times, preprocess_collapse_repeated=True)
    tf.compat.v1.nn.ctc_loss(plain, logits, times, ctc_merge_repeated=False)
    tf.compat.v1.nn.ctc_loss(plain, logits=logits, sequence_length=times)
    tf.compat.v1.nn.ctc_loss(labels, logits, times)
    tf.compat.v1.nn.ctc_loss(plain, logits, tf.constant([1, 1, 1]))
    tf.compat.v1.nn.ctc_loss(plain, logits, tf.constant([1, 1, 1]), ignore_longer_outputs_than_inputs=True)
    tf.compat.v1.nn.ctc_loss_v2(labels, logits, lengths, times)
    tf.compat.v1.nn.ctc_loss_v2(holding, logits, full, times, blank_index=1)
    tf.compat.v1.nn.ctc_loss(tf.sparse.from_dense([[1, 5, 0], [2, 2, 0], [2, 0, 0]]), logits, times)
    tf.compat.v1.nn.ctc_loss(tf.SparseTensor([[0, 0], [1, 0]], [1, 3], [3, 1]), logits, times)
    tf.nn.ctc_greedy_decoder(logits, times)
    tf.nn.ctc_greedy_decoder(logits, times, merge_repeated=False, blank_index=1)
    tf.nn.ctc_beam_search_decoder(logits, times, beam_width=4, top_paths=2)
    tf.nn.collapse_repeated(labels, tf.constant([3, 3, 3]))
    """.replace("tf.nn.collapse_repeated", "tf.compat.v1.nn.collapse_repeated"),
    globals(),
)
