"""Blocks in which variables are read once. tf-keras."""

import contextlib


@contextlib.contextmanager
def cache_variable_reads():
    """Reads of variables that are kept on other devices may be kept; those of one process are not."""
    yield
