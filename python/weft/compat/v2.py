"""tf.compat.v2: the same as tf."""


def __getattr__(name):
    import weft

    if name in ("enable_v2_behavior", "_major_api_version"):
        return (lambda: None) if name == "enable_v2_behavior" else 2
    return getattr(weft, name)
