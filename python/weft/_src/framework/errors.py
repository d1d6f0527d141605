"""tf.errors: one class for each of the engine's codes."""

_registered = {}


class OpError(Exception):
    """What ops raise: a text, a code, and the operation where one is known."""

    error_code = 2
    _notes = {}  # of the engine (src/core/error_notes.h): what code has to know of an error

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__()  # TensorFlow's have no args: repr shows the class alone
        self._node_def, self._op, self._message = node_def, op, message
        if error_code is not None and not isinstance(error_code, dict):
            self.error_code = error_code
        self.experimental_payloads = {}

    @property
    def message(self):
        return self._message

    @property
    def op(self):
        return self._op

    @property
    def node_def(self):
        return self._node_def

    def __str__(self):
        return self._message

    def __reduce__(self):
        return type(self), (self._node_def, None, self._message) + (
            () if type(self) is not OpError else (self.error_code,)
        )


def _make(name, code, doc, extra=()):
    def __init__(self, node_def, op, message, *args):
        OpError.__init__(self, node_def, op, message, None, *args)

    __init__.__qualname__ = f"{name}.__init__"
    members = {"__doc__": doc, "error_code": code, "__module__": "weft.errors", "__init__": __init__}
    cls = type(name, (OpError, *extra), members)
    _registered[code] = cls
    return cls


CancelledError = _make("CancelledError", 1, "An operation was cancelled.")
UnknownError = _make("UnknownError", 2, "An error of no known kind.")
InvalidArgumentError = _make("InvalidArgumentError", 3, "An operation got an argument that it does not take.")
DeadlineExceededError = _make("DeadlineExceededError", 4, "Time ran out.")
NotFoundError = _make("NotFoundError", 5, "Something that was asked for is not there.")
AlreadyExistsError = _make("AlreadyExistsError", 6, "Something that was to be made is there already.")
PermissionDeniedError = _make("PermissionDeniedError", 7, "The caller may not do that.")
ResourceExhaustedError = _make("ResourceExhaustedError", 8, "Memory or another resource ran out.")
FailedPreconditionError = _make("FailedPreconditionError", 9, "The state of the system does not allow that now.")
AbortedError = _make("AbortedError", 10, "An operation was broken off.")
OutOfRangeError = _make("OutOfRangeError", 11, "An operation went past the end.")
UnimplementedError = _make("UnimplementedError", 12, "Not implemented.")
InternalError = _make("InternalError", 13, "A fault of the engine.")
UnavailableError = _make("UnavailableError", 14, "Not to be had now.")
DataLossError = _make("DataLossError", 15, "Data were lost or broken.")
UnauthenticatedError = _make("UnauthenticatedError", 16, "The caller did not say who it is.")

(
    CANCELLED,
    UNKNOWN,
    INVALID_ARGUMENT,
    DEADLINE_EXCEEDED,
    NOT_FOUND,
    ALREADY_EXISTS,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
) = range(1, 9)
FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(
    9, 17
)
OK = 0


class OperatorNotAllowedInGraphError(TypeError):
    """Python wants the value of a tensor that has none yet."""


class InaccessibleTensorError(ValueError):
    """A tensor of another graph was used."""
