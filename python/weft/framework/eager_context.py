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
    """For tests: the devices may be configured anew. What was made before stays: the engine's context grows."""
    from weft.framework import config

    gc.collect()
    config._State.logical, config._State.reset = None, config._initialized()
    if not config._State.reset:
        config._apply()


def context():
    """The context of this process."""
    return _context


def async_wait():
    """Waits for ops that are under way; weft's have run when their call returns."""
