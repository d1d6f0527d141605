"""Messages that are not to be repeated for ever."""

import collections
import logging
import sys

_logger = logging.getLogger("tensorflow")
_counts = collections.Counter()


def _place():
    """Where the file that logs was called from: (file, line)."""
    frame = sys._getframe(2)
    own = frame.f_code.co_filename
    while frame is not None and frame.f_code.co_filename == own:
        frame = frame.f_back
    return ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def log_first_n(level, msg, n, *args):
    """Logs the first n times that the caller's file is called from the same line."""
    place = _place()
    if _counts[place] < n:
        _logger.log(level, msg, *args)
    _counts[place] += 1


def log_every_n(level, msg, n, *args):
    """Logs the first time and every n-th one after it."""
    place = _place()
    if _counts[place] % n == 0:
        _logger.log(level, msg, *args)
    _counts[place] += 1


def log_if(level, msg, condition, *args):
    if condition:
        _logger.log(level, msg, *args)
