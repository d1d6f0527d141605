"""What the tests of tf.autograph share. Their expected values and texts were checked on TensorFlow, where they run as
well (`weft` naming it)."""

import numpy as np
import pytest

import weft as tf

Feature = tf.autograph.experimental.Feature
THREE = tf.constant(3)
on_weft = pytest.mark.skipif(tf.__name__ != "weft", reason="about weft itself")


def run(f, *args, **options):
    """The result of `f` as a function, in numpy."""
    result = tf.function(f, **options)(*args)
    return tf.nest.map_structure(lambda t: np.asarray(t.numpy()).tolist() if tf.is_tensor(t) else t, result)


def error(f, *args, **options):
    """Type and text of what `f` raises when it is traced."""
    with pytest.raises(Exception) as info:
        tf.function(f, **options)(*args)
    return type(info.value), str(info.value)


def cause(f, *args, **options):
    """Type and last part of the text, after the lines of source."""
    kind, text = error(f, *args, **options)
    assert text.startswith("in user code:\n\n    File ")
    lines = text.rstrip("\n").split("\n")
    last_code = max(i for i, line in enumerate(lines) if line.startswith('    File "'))
    return kind, "\n".join(line[4:] for line in lines[last_code + 3 :])
