"""Conway's Game of Life with convolution, and printing of boards."""
import tensorflow as tf

kernel = tf.constant([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])[..., None, None]


@tf.function
def step(board):
    neighbours = tf.nn.conv2d(tf.cast(board, tf.float32)[None, ..., None], kernel, 1, "SAME")[0, ..., 0]
    neighbours = tf.cast(neighbours, tf.int32)
    return tf.where((neighbours == 3) | ((board == 1) & (neighbours == 2)), 1, 0)


board = tf.scatter_nd([[0, 1], [1, 2], [2, 0], [2, 1], [2, 2]], tf.ones([5], tf.int32), [6, 6])
for generation in range(4):
    print("generation", generation, "alive", tf.reduce_sum(board).numpy())
    for row in board.numpy():
        print("".join(".#"[v] for v in row))
    board = step(board)
print(board)
print(step.experimental_get_tracing_count())
