"""What an op or function of the API means for values that are not tensors: ragged and sparse tensors, extension types,
classes of the user's.

An op that cannot convert an argument asks `dispatch_op`; a function of the API that is decorated with `dispatchable`
asks `dispatch_api` when it fails.
Classes register with `register_op`, `register_elementwise` and `dispatch_for_api`."""

import functools
import inspect

from weft import _weft

_op_handlers = {}  # op name -> list of (class, handler(op, arguments) -> result)
_sparse_handlers = []  # the same, for ops that take sparse tensors by their values
_elementwise_handlers = {1: [], 2: []}  # number of tensors -> the same, for elementwise ops
_named_handlers = {}  # (module, name) of a function of the API -> the same
_api_handlers = {}  # function of the API -> list of handler(args, kwargs) -> result or NotImplemented
global_dispatchers = []  # of libraries: objects that take calls of any function of the API (dispatchers.py)
op_functions = {}  # op name -> the function of the API that is this op alone


def register_op(op_names, cls):
    """The decorated handler(op, arguments) takes calls of these ops with an instance of cls among the arguments."""

    def register(handler):
        for name in op_names:
            _op_handlers.setdefault(name, []).append((cls, handler))
        return handler

    return register


def register_on_sparse_values(cls, handler):
    """As register_op, for every op that TensorFlow runs on the values of sparse tensors."""
    _sparse_handlers.append((cls, handler))


def register_elementwise(inputs, cls, handler):
    """As register_op, for every elementwise op of so many tensors: one, or two that are broadcast. Gives what undoes
    it."""
    entry = (cls, handler)
    _elementwise_handlers[inputs].append(entry)
    return lambda: _elementwise_handlers[inputs].remove(entry)


@functools.cache
def _elementwise_inputs(op_name):
    """1 or 2 for ops that register_elementwise means, else 0."""
    traits = _weft.op_traits(op_name)
    inputs = traits["num_inputs"]
    if inputs == 1 and (traits["elementwise"] or traits["fills_like"]) or inputs == 2 and traits["broadcasts"]:
        return inputs
    return traits["dispatches_as"]  # elementwise to TensorFlow's API all the same


@functools.cache
def _on_sparse_values(op_name):
    return _weft.op_traits(op_name)["on_sparse_values"]


def _mentions(value, cls):
    return isinstance(value, cls) or (isinstance(value, (list, tuple)) and any(_mentions(v, cls) for v in value))


def dispatch_op(op, arguments):
    """For the engine: a call that failed to convert its arguments."""
    for cls, handler in (
        *_op_handlers.get(op.op_name, ()),
        *(_sparse_handlers if _sparse_handlers and _on_sparse_values(op.op_name) else ()),
        *_elementwise_handlers.get(_elementwise_inputs(op.op_name), ()),
    ):
        if cls is object or any(_mentions(v, cls) for v in arguments.values()):
            result = handler(op, arguments)
            if result is not NotImplemented:
                return result
    function = op_functions.get(op.op_name)
    if function is not None and (global_dispatchers or function in _api_handlers):
        public = {function._op_arguments.get(k, k): v for k, v in arguments.items()}
        return dispatch_api(function, (), public)
    return NotImplemented


def dispatchable(function):
    """A function of the API that classes may take over: those of `_targets` (dispatch_api.py) first, others when the
    function itself fails, as TensorFlow does it."""

    targets = []

    @functools.wraps(function)
    def call(*args, **kwargs):
        if targets:
            result = targets[0][1](args, kwargs)
            if result is not NotImplemented:
                return result
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError) as e:
            if e.__traceback__.tb_next is None:
                raise TypeError(_misfit(function, args, kwargs) or str(e)) from None
            result = dispatch_api(call, args, kwargs)
            if result is NotImplemented:
                raise
            return result

    call._plain, call._targets = function, targets
    call.__signature__ = _SignatureOf(function)
    return call


class _SignatureOf(inspect.Signature):
    """The signature of a function, read when somebody looks: inspect does not look behind wrappers everywhere."""

    __slots__ = ("_function", "_read")

    def __init__(self, function):
        self._function, self._read = function, None

    def _known(self):
        if self._read is None:
            self._read = inspect.signature(self._function)
        return self._read

    _parameters = property(lambda self: self._known()._parameters)
    _return_annotation = property(lambda self: self._known()._return_annotation)

    def replace(self, **changes):
        return self._known().replace(**changes)

    def __reduce__(self):
        return self._known().__reduce__()


def _misfit(function, args, kwargs):
    """TensorFlow's words for arguments that a function of the API does not take."""
    parameters = inspect.signature(function).parameters
    if len(args) > len(parameters):
        return f"Too many arguments were given. Expected {len(parameters)} but got {len(args)}."
    for name in kwargs:
        if name not in parameters:
            return f"Got an unexpected keyword argument '{name}'"
        if name in list(parameters)[: len(args)]:
            return f"Got multiple values for argument '{name}'"
    return "Missing required positional argument"


def dispatch_api(function, args, kwargs):
    for handler in (
        *_api_handlers.get(function, ()),
        *_named_handlers.get((function.__module__, function.__name__), ()),
    ):
        result = handler(args, kwargs)
        if result is not NotImplemented:
            return result
    for dispatcher in global_dispatchers:
        result = dispatcher.handle(function, args, kwargs)
        if result is not NotImplemented:
            return result
    return NotImplemented


def register_api_name(module, name, handler):
    """As register_api, of a function whose module need not be loaded yet."""
    _named_handlers.setdefault((module, name), []).append(handler)


def register_api(function, handler):
    """handler(args, kwargs) gives a result or NotImplemented."""
    _api_handlers.setdefault(function, []).append(handler)
