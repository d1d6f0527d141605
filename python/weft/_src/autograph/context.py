"""Whether the code that runs now wants conversion: a stack per thread."""

import enum
import threading


class Status(enum.Enum):
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """While entered, `control_status_ctx()` gives this object. It may be entered again inside itself."""

    __slots__ = ("status", "options")

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _stack.entered.append(self)
        return self

    def __exit__(self, *exc):
        _stack.entered.pop()

    def __repr__(self):
        return f"ControlStatusCtx[status={self.status}, options={self.options}]"


class _Stack(threading.local):
    def __init__(self):
        self.entered = [ControlStatusCtx(Status.UNSPECIFIED)]


_stack = _Stack()


def control_status_ctx():
    """The innermost ControlStatusCtx of this thread."""
    return _stack.entered[-1]
