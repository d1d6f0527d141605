"""contextlib.contextmanager with a decorator that remembers its target. tf-keras."""

import contextlib as _contextlib

from weft._src.tensorflow.python.util import tf_decorator


def contextmanager(target):
    return tf_decorator.make_decorator(target, _contextlib.contextmanager(target), "contextmanager")
