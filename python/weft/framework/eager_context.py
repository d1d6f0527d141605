"""tensorflow.python.eager.context: what libraries that build on TensorFlow use of it."""

import gc

from weft.framework.graph import executing_eagerly  # noqa: F401


class Context:
    """How ops run in this process."""

    def executing_eagerly(self):
        return executing_eagerly()

    def clear_kernel_cache(self):
        """Forgets prepared kernels; weft's hold no memory worth freeing."""

    def sync_executors(self):
        async_wait()


_context = Context()


def _reset_context():
    """For tests: the devices may be configured anew. What was made before stays: weft's context grows."""
    from weft.framework.config import _initialized, _State

    gc.collect()
    _State.logical, _State.reset = None, _initialized()


def context():
    """The context of this process."""
    return _context


def async_wait():
    """Waits for ops that are under way; weft's have run when their call returns."""


def _reset_context():
    """Forgets what was asked of tf.config before the first op; the engine's devices stay as that op found them."""
    from weft.framework import config

    if not config._initialized():
        config._State.logical = None
        config._apply()
