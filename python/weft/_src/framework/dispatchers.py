"""tf.__internal__.dispatch: objects of libraries that take over calls of functions of the API with values of theirs.

They are asked when a function fails with its arguments (dispatch.py): those of the function first, then the global ones."""

from weft._src.framework import dispatch


class OpDispatcher:
    """Takes calls of the functions that it is registered for; `handle` gives a result or NOT_SUPPORTED."""

    NOT_SUPPORTED = NotImplemented

    def handle(self, args, kwargs):
        return self.NOT_SUPPORTED

    def register(self, op):
        op = getattr(op, "__func__", op)  # a method of a class
        if not hasattr(op, "_targets") and not hasattr(op, "_op_name"):
            raise AssertionError(f"Dispatching not enabled for {op}")
        dispatch.register_api(op, self.handle)


class GlobalOpDispatcher:
    """Takes calls of all functions; `handle` is given the function, too."""

    NOT_SUPPORTED = NotImplemented

    def handle(self, op, args, kwargs):
        raise NotImplementedError("abstract method")

    def register(self):
        dispatch.global_dispatchers.append(self)


class _TypeDispatcher(OpDispatcher):
    def __init__(self, function, types):
        self._function, self._types = function, types

    def _is_handled(self, value):
        if isinstance(value, self._types):
            return True
        return isinstance(value, (list, tuple)) and any(self._is_handled(v) for v in value)

    def handle(self, args, kwargs):
        if any(map(self._is_handled, args)) or any(map(self._is_handled, kwargs.values())):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op, *types):
    """The decorated function takes calls of op with arguments of these types."""

    def decorator(function):
        import inspect

        if list(inspect.signature(op).parameters) != list(inspect.signature(function).parameters):
            raise AssertionError(
                f"The decorated function's signature must exactly match the signature of the overridden op: {op} {function}"
            )
        _TypeDispatcher(function, types).register(op)
        return function

    return decorator


def add_dispatch_support(target=None, iterable_parameters=None):
    """The decorated function can be taken over."""
    if target is None:
        return lambda function: add_dispatch_support(function, iterable_parameters)
    return dispatch.dispatchable(target)


def add_fallback_dispatch_list(target):
    return target


def dispatch_for_api(api, *signatures):
    from weft._src.framework import dispatch_api

    return dispatch_api.dispatch_for_api(api, *signatures)
