"""Marks on callables: which came from a conversion and which must stay as they are."""

import functools
import inspect

from .context import ControlStatusCtx, Status


def mark_converted(f):
    """Says of `f` that calls of it need no conversion."""
    (f.__func__ if inspect.ismethod(f) else f).autograph_info__ = None
    return f


def is_converted(f):
    """Whether calls of `f` need no conversion."""
    return hasattr(f, "autograph_info__")


def _calls_with_status(func, status):
    def wrapper(*args, **kwargs):
        with ControlStatusCtx(status):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        functools.update_wrapper(wrapper, func)
    return mark_converted(wrapper)


def do_not_convert(func=None):
    """Decorator: `func` and what it calls run as they are written, without conversion."""
    return do_not_convert if func is None else _calls_with_status(func, Status.DISABLED)


def call_with_unspecified_status(func):
    """`func` called as if no tf.function were being traced."""
    return _calls_with_status(func, Status.UNSPECIFIED)
