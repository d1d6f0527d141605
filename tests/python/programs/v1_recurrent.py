"""Recurrent networks of version 1 with a cell of one's own."""

import collections

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
State = collections.namedtuple("State", "c h")


class Cell:
    """A plain cell, and one with two states."""

    def __init__(self, size, two=False):
        self._size, self._two = size, two

    @property
    def state_size(self):
        return State(self._size, self._size) if self._two else self._size

    @property
    def output_size(self):
        return self._size

    def zero_state(self, batch, dtype):
        zeros = tf.zeros([batch, self._size], dtype)
        return State(zeros, zeros) if self._two else zeros

    def __call__(self, x, state, scope=None):
        with tf.variable_scope("cell"):
            w = tf.get_variable("w", [int(x.shape[1]) + self._size, self._size], initializer=tf.constant_initializer(0.1))
        h = state.h if self._two else state
        new = tf.tanh(tf.matmul(tf.concat([x, h], 1), w))
        return (new * 2, State(state.c + new, new)) if self._two else (new, new)


x = tf.placeholder(tf.float32, [None, 4, 2], name="x")
lengths = tf.placeholder(tf.int32, [None], name="lengths")
found = {}
found["plain"] = tf.nn.dynamic_rnn(Cell(3), x, dtype=tf.float32, scope="a")
found["lengths"] = tf.nn.dynamic_rnn(Cell(3, True), x, lengths, dtype=tf.float32, scope="b")
found["time_major"] = tf.nn.dynamic_rnn(Cell(3), tf.transpose(x, [1, 0, 2]), lengths, dtype=tf.float32, time_major=True, scope="c")
found["both"] = tf.nn.bidirectional_dynamic_rnn(Cell(3), Cell(2), x, lengths, dtype=tf.float32, scope="d")
found["both_plain"] = tf.nn.bidirectional_dynamic_rnn(Cell(3), Cell(2), x, dtype=tf.float32, scope="e")
steps = tf.unstack(x, axis=1)
found["static"] = tf.nn.static_rnn(Cell(3), steps, dtype=tf.float32, scope="f")
found["static_lengths"] = tf.nn.static_rnn(Cell(3, True), steps, dtype=tf.float32, sequence_length=lengths, scope="g")
found["static_both"] = tf.nn.static_bidirectional_rnn(Cell(3), Cell(2), steps, dtype=tf.float32, sequence_length=lengths, scope="h")
cell, sequence = Cell(3), tf.transpose(x, [1, 0, 2])
array = tf.TensorArray(tf.float32, 4).unstack(sequence)


def loop_fn(time, output, state, loop_state):
    if output is None:
        state = cell.zero_state(tf.shape(x)[0], tf.float32)
    finished = time >= lengths
    done = tf.reduce_all(finished)
    following = tf.cond(done, lambda: tf.zeros([tf.shape(x)[0], 2]), lambda: array.read(time))
    following.set_shape([None, 2])
    return finished, following, state, output, None


emitted, last, _ = tf.nn.raw_rnn(cell, loop_fn, scope="i")
found["raw"] = emitted.stack(), last
found["gradient"] = tf.gradients(tf.reduce_sum(found["lengths"][0]), [x])
print([v.name for v in tf.global_variables()])
print(found["plain"][0].shape, found["time_major"][0].shape, found["lengths"][1].c.shape)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    values = session.run(found, {x: np.arange(16, dtype=np.float32).reshape(2, 4, 2) / 10, lengths: [2, 4]})
    for name in found:
        for part in tf.nest.flatten(values[name]):
            print(name, part.shape, np.round(part, 4).reshape(-1).tolist())
for call in (
    lambda: tf.nn.dynamic_rnn(Cell(3), x),
    lambda: tf.nn.dynamic_rnn(object(), x, dtype=tf.float32),
    lambda: tf.nn.static_rnn(Cell(3), x, dtype=tf.float32),
    lambda: tf.nn.static_rnn(Cell(3), [], dtype=tf.float32),
):
    try:
        call()
    except (TypeError, ValueError) as e:
        print(type(e).__name__)
