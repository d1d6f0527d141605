"""tf.__internal__.eager_context"""

from weft import _weft
from weft._src.framework.contexts import contextmanager


@contextmanager
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


@contextmanager
def graph_mode():
    """Ops of the block are added to the default graph."""
    from weft._src.framework.graph import get_default_graph

    with get_default_graph().as_default():
        yield


def get_config():
    """How the process is set up, as a ConfigProto."""
    from weft._src.framework import config
    from weft._src.proto import ConfigProto

    return ConfigProto(allow_soft_placement=config.get_soft_device_placement())


def get_executor():
    """What runs the ops of this thread: at once."""
    return _Executor()


class _Executor:
    def is_async(self):
        return False

    def wait(self):
        pass

    def clear_error(self):
        pass

    def handle(self):
        return self
