"""Exceptions of converted code, told in terms of the user's source.

Every converted call that an exception leaves adds one line of the user's to the metadata that the exception carries;
the outermost caller makes the exception that the user sees from it: the same type, with the lines and the original
message as its text.
"""

import contextlib
import linecache
import os
import traceback
from typing import NamedTuple

from . import _tf


class AutoGraphError(Exception):
    """Base of autograph's own exceptions."""


class ConversionError(AutoGraphError):
    """A function could not be converted."""


class StagingError(AutoGraphError):
    """Converted code raised an exception of a type that cannot be made from a message."""


class _KeyError(KeyError):
    """A KeyError shows its text quoted in one line; this one does not."""

    def __init__(self, message, key):
        super().__init__(key)
        self._message = message

    def __str__(self):
        return self._message


_KeyError.__name__ = _KeyError.__qualname__ = "KeyError"

# Types that can be made from a message, beside those of the user that inherit Exception's constructor.
_FROM_MESSAGE = (
    AssertionError,
    AttributeError,
    NameError,
    NotImplementedError,
    RuntimeError,
    StopIteration,
    TypeError,
    UnboundLocalError,
    ValueError,
    AutoGraphError,
    ConversionError,
    StagingError,
)

# Files of these folders are not the user's.
internal_paths = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
# Frames of these stand between a converted function and what it calls.
_BETWEEN = tuple(os.path.join(os.path.dirname(__file__), name) for name in ("calls.py", "convert.py", "marks.py"))


class _Frame(NamedTuple):
    filename: str
    lineno: int
    function: str
    line: str
    mark: str  # "  *": converted code, "  **": called by it without conversion

    def shown(self):
        text = "<source unavailable>" if self.line is None else self.line.strip()
        return f'    File "{self.filename}", line {self.lineno}, in {self.function}{self.mark}\n        {text}'


class ErrorMetadata:
    """Where an exception came from: frames, innermost first, and what it said."""

    __slots__ = ("frames", "cause")

    def __init__(self, frames, cause):
        self.frames = frames
        self.cause = cause

    def message(self):
        frames = [f for f in reversed(self.frames) if _is_shown(f.filename)]
        return "\n".join(
            [
                "in user code:",
                "",
                *(f.shown() for f in frames),
                "",
                *("    " + line for line in self.cause.split("\n")),
                "",
            ]
        )

    def to_exception(self, error):
        """The exception to raise in place of `error`."""
        new = self._like(error)
        new.__suppress_context__ = True
        new.ag_error_metadata = self
        return new.with_traceback(error.__traceback__)

    def _like(self, error):
        kind, message = type(error), self.message()
        if isinstance(error, _tf.OpError):
            new = kind(
                error.node_def, error.op, message, *([error.experimental_payloads] if kind is not _tf.OpError else [])
            )
            new._notes = error._notes
            return new
        if kind in _FROM_MESSAGE or kind.__init__ is Exception.__init__:
            return kind(message)
        if kind.__name__ in ("OperatorNotAllowedInGraphError", "InaccessibleTensorError"):
            return kind(message)
        return _KeyError(message, self.cause) if kind is KeyError else StagingError(message)


def _is_shown(filename):
    return not _tf.filters_tracebacks() or not any(path in filename for path in internal_paths)


# Source maps of the files that hold generated code.
generated = {}


def user_frame(filename, lineno, function):
    """A frame of converted code as the user wrote it."""
    origin = generated.get(filename, {}).get((filename, lineno))
    if origin is not None:
        return origin.loc.filename, origin.loc.lineno, origin.function_name
    return filename, lineno, function.removeprefix("tf__")


def attach(error, source_map):
    """Adds to `error` the frame of the converted function that it leaves. `source_map`: (file, line) of generated
    code -> its origin."""
    if hasattr(error, "ag_pass_through"):
        return
    inner = getattr(error, "ag_error_metadata", None)
    frames = []
    for frame, lineno in reversed(list(traceback.walk_tb(error.__traceback__))[1:]):
        filename = frame.f_code.co_filename
        origin = source_map.get((filename, lineno))
        if origin is not None:
            frames.append(_Frame(*origin.loc[:2], origin.function_name, origin.source_code_line, "  *"))
            break
        if inner is not None:
            continue  # its frames are known
        if filename not in _BETWEEN:
            line = linecache.getline(filename, lineno, frame.f_globals) or None
            frames.append(_Frame(filename, lineno, frame.f_code.co_name, line, ""))
        elif frames:
            frames[-1] = frames[-1]._replace(mark="  **")
    if inner is None:
        error.ag_error_metadata = ErrorMetadata(frames, f"{type(error).__name__}: {error}")
    else:
        error.ag_error_metadata = ErrorMetadata(inner.frames + frames[-1:], inner.cause)


@contextlib.contextmanager
def rewritten_errors():
    """Exceptions of converted code leave this block as the user shall see them."""
    try:
        yield
    except Exception as e:
        metadata = getattr(e, "ag_error_metadata", None)
        if metadata is None:
            raise
        raise metadata.to_exception(e)
