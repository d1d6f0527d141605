"""tf.compat.v2: the same as tf."""


def __getattr__(name):
    import weft

    return getattr(weft, name)
