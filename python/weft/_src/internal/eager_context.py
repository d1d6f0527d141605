"""tf.__internal__.eager_context"""

import contextlib

from weft import _weft


@contextlib.contextmanager
def eager_mode():
    """Ops of the block run at once."""
    _weft.enter_eager()
    try:
        yield
    finally:
        _weft.exit_graph()


def get_device_name():
    return _weft.scoped_device()


def set_soft_device_placement(enabled):
    _weft.set_soft_placement(bool(enabled))
