"""Verbosity and messages of autograph."""

import os
import sys
import traceback

from . import _tf

_level = None
_to_stdout = hasattr(sys, "ps1") or hasattr(sys, "ps2")


def set_verbosity(level, alsologtostdout=False):
    """Sets how much autograph tells while it converts: 0 nothing, 10 all. It wins over the variable
    AUTOGRAPH_VERBOSITY."""
    global _level, _to_stdout
    _level, _to_stdout = level, alsologtostdout


def trace(*args):
    """Prints its arguments while the function is traced."""
    print(*args)


def is_on(level):
    return (int(os.environ.get("AUTOGRAPH_VERBOSITY", 0)) if _level is None else _level) >= level


def _say(how, text, args, exc_info=False):
    getattr(_tf.get_logger(), how)(text, *args, exc_info=exc_info)
    if _to_stdout:
        print(("WARNING: " if how == "warning" else "") + text % args, flush=True)
        if exc_info:
            traceback.print_exc()


def log(level, text, *args, exc_info=False):
    if is_on(level):
        _say("info", text, args, exc_info)


def warning(text, *args):
    _say("warning", text, args)
