"""tensorflow.python.eager.context: what libraries that build on TensorFlow use of it."""

import gc

from weft import _weft
from weft._src.framework.graph import executing_eagerly  # noqa: F401


class Context:
    """How ops run in this process."""

    def executing_eagerly(self):
        return executing_eagerly()

    @property
    def _initialized(self):
        return _weft.devices_used()

    def ensure_initialized(self):
        """Makes the context now, as the first op would."""
        from weft._src.framework import config

        config.list_logical_devices()

    def clear_kernel_cache(self):
        """Forgets prepared kernels; weft's hold no memory worth freeing."""

    def sync_executors(self):
        async_wait()


_context = Context()


def context():
    """The context of this process."""
    return _context


def async_wait():
    """Waits for ops that are under way; weft's have run when their call returns."""


def ensure_initialized():
    """Makes the context now, as the first op would."""
    _context.ensure_initialized()


def _reset_context():
    """For tests: back to how the process started, with settings, devices and the seed. What was made before stays: weft's context
    grows."""
    from weft._src.framework import config, random_seed

    gc.collect()
    reset = config._initialized() or config._State.reset
    config._reset()
    config._State.reset = reset
    if not reset:
        config._apply()
    random_seed._reset()
    _weft.reset_devices_used()
