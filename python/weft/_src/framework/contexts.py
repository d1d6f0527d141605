"""contextlib.contextmanager for functions of the API: inspect.getfullargspec, which does not look through wrappers, sees their parameters."""

import contextlib
import inspect


def contextmanager(function):
    made = contextlib.contextmanager(function)
    made.__signature__ = inspect.signature(function)
    return made
