"""tf.experimental.async_scope and its like. Eager ops of this process have their values when the call returns; ops in other tasks of a cluster are
sent and not waited for, and their errors are raised where somebody waits."""

from weft._src.framework import eager_context
from weft._src.framework.contexts import contextmanager


@contextmanager
def async_scope():
    """Ops of the block may return before they ran. Its end waits for them, and raises the first error that nobody has seen."""
    yield
    eager_context.async_wait()


def async_clear_error():
    """Waits for ops that are under way, and forgets their errors."""
    eager_context.async_clear_error()


def enable_strict_mode():
    """Deprecated behaviour raises an error; weft has none of it."""


@contextmanager
def function_executor_type(executor_type):
    """Which executor functions of the block run on; weft has one."""
    yield
