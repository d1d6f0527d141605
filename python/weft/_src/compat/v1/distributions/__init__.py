"""tf.compat.v1.distributions: the few that TensorFlow kept when tensorflow-probability became a package of its own."""
