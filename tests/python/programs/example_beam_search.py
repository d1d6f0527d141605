"""Beam search over a table of transition scores: top_k, gather, concat, in a loop over steps."""
import tensorflow as tf

table = tf.nn.log_softmax(tf.reshape(tf.sin(tf.range(25.0) * 1.7) * 2.0, [5, 5]))
print(table)


def beam_search(start, steps, width):
    sequences = tf.constant([[start]])
    scores = tf.zeros([1])
    for _ in range(steps):
        last = sequences[:, -1]
        options = scores[:, None] + tf.gather(table, last)
        flat = tf.reshape(options, [-1])
        scores, index = tf.math.top_k(flat, min(width, flat.shape[0]))
        parents, tokens = index // 5, index % 5
        sequences = tf.concat([tf.gather(sequences, parents), tokens[:, None]], axis=1)
    return sequences, scores


for width in (1, 2, 4):
    s, v = beam_search(0, 4, width)
    print(width, s.numpy().tolist(), v.numpy())


@tf.function
def greedy(start, steps):
    out = tf.TensorArray(tf.int32, size=steps)
    current = start
    total = 0.0
    for i in tf.range(steps):
        row = table[current]
        current = tf.argmax(row, output_type=tf.int32)
        total += tf.reduce_max(row)
        out = out.write(i, current)
    return out.stack(), total


print(greedy(tf.constant(0), tf.constant(4)))
exhaustive = []
for a in range(5):
    for b in range(5):
        exhaustive.append((float(table[0, a] + table[a, b]), [a, b]))
best = max(exhaustive)
s, v = beam_search(0, 2, 5)
print(best[1], s[0, 1:].numpy().tolist(), abs(best[0] - float(v[0])) < 1e-5)
