"""tf.experimental.async_scope and its like: weft's eager ops have their values when the call returns, so these change
nothing."""

import contextlib


@contextlib.contextmanager
def async_scope():
    """Ops of the block may return before they ran; weft's have run."""
    yield


def async_clear_error():
    """Forgets errors of ops that are under way; there are none."""


def enable_strict_mode():
    """Deprecated behaviour raises an error; weft has none of it."""


@contextlib.contextmanager
def function_executor_type(executor_type):
    """Which executor functions of the block run on; weft has one."""
    yield
