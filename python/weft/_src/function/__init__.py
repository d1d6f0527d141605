"""tf.function, control flow, functions of Python in graphs, and printing."""
