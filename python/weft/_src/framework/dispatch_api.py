"""tf.experimental.dispatch_for_*: what functions of the API do with classes of the user's, by the types of the
arguments."""

import collections.abc
import importlib
import inspect
import types
import typing

from weft import _weft
from weft._src.framework import dispatch
from weft._src.framework.dispatch import register_op
from weft._src.framework.tensor import Tensor

_registered = {}  # function of the user's -> list of what undoes its registrations
_unary, _binary, _asserts = {}, {}, {}


# ---- values and annotations ------------------------------------------------------------------------------


def _matches(value, annotation):
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Union or origin is types.UnionType:
        return any(_matches(value, one) for one in inside)
    if origin is list or origin is collections.abc.Sequence:
        return isinstance(value, (list, tuple)) and len(value) > 0 and all(_matches(v, inside[0]) for v in value)
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if len(inside) == 2 and inside[1] is Ellipsis:
            return all(_matches(v, inside[0]) for v in value)
        return len(value) == len(inside) and all(_matches(v, one) for v, one in zip(value, inside))
    if origin is typing.Literal:
        return value in inside
    if annotation is None:
        return value is None
    if annotation is typing.Any:
        return True
    if not isinstance(annotation, type):
        raise TypeError(f"Unsupported type annotation {annotation!r}")
    return isinstance(value, annotation)


def _special(value):
    """Whether a value is one that dispatch is for: tensors and plain values alone stay with the API's own function."""
    if isinstance(value, (list, tuple)):
        return any(_special(v) for v in value)
    return (
        not isinstance(value, (Tensor, _weft.VariableBase, int, float, complex, str, bytes, type(None), dict))
        and type(value).__module__ != "numpy"
    )


class _Target:
    """A function of the user's for calls whose arguments fit one of the signatures."""

    def __init__(self, function, signatures, parameters, wrapped=None):
        self.function, self.signatures, self.parameters = function, signatures, parameters
        self.wrapped = wrapped or function

    def takes(self, arguments):
        return any(
            all(name in arguments and _matches(arguments[name], kind) for name, kind in s.items())
            and any(_special(arguments[name]) for name in s)
            for s in self.signatures
        )


def _call(api, signature, targets, args, kwargs):
    """The result of the one target that fits, or NotImplemented."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return NotImplemented
    fitting = [t for t in targets if t.takes(bound.arguments)]
    if not fitting:
        return NotImplemented
    if len(fitting) > 1:
        raise ValueError(
            f"Multiple dispatch targets that were registered with tf.dispatch_for ({fitting[0].function} "
            f"and {fitting[1].function}) match the arguments to "
            f"{api.__name__}"
        )
    return fitting[0].wrapped(*args, **kwargs)


def _add(api, target):
    """Registers the target; gives what takes it back."""
    if hasattr(api, "_targets"):
        entries, signature = api._targets, inspect.signature(api)
        entry = (target, lambda args, kwargs: _call(api, signature, [t for t, _ in entries], args, kwargs))
        entries.append(entry)
        return lambda: entries.remove(entry)
    if hasattr(api, "_op_name"):
        return _add_to_op(api, target)
    raise ValueError(f"{api} does not support dispatch.")


_op_targets = {}  # op name -> list of (api, target)


def _add_to_op(api, target):
    """A function that is one op: asked when the op cannot convert its arguments."""
    name = api._op_name
    if name not in _op_targets:
        _op_targets[name] = []

        @register_op([name], object)
        def handler(op, arguments):
            for own in {id(a): a for a, _ in _op_targets[name]}.values():
                given = {own._op_arguments.get(k, k): v for k, v in arguments.items()}
                known = inspect.signature(own).parameters
                result = _call(
                    own,
                    inspect.signature(own),
                    [t for a, t in _op_targets[name] if a is own],
                    (),
                    {k: v for k, v in given.items() if k in known},
                )
                if result is not NotImplemented:
                    return result
            return NotImplemented

    entry = (api, target)
    _op_targets[name].append(entry)
    return lambda: _op_targets[name].remove(entry)


# ---- the decorators --------------------------------------------------------------------------------------


def dispatch_for_api(api, *signatures):
    """The decorated function takes calls of `api` with arguments of the types that a signature (or its annotations)
    names."""
    if not hasattr(api, "_targets") and not hasattr(api, "_op_name"):
        raise ValueError(f"{api} does not support dispatch.")
    own = inspect.signature(api)
    for s in signatures:
        for name in s:
            if name not in own.parameters and not isinstance(name, int):
                raise ValueError(f"signature includes annotation for unknown parameter {name!r}.")

    def decorator(dispatch_target):
        theirs = inspect.signature(dispatch_target)
        if [n for n in theirs.parameters if n != "name"] != [n for n in own.parameters if n != "name"]:
            if "name" in own.parameters and "name" not in theirs.parameters:  # a target may leave it out
                theirs = theirs.replace(parameters=[*theirs.parameters.values(), own.parameters["name"]])
            raise ValueError(f"Dispatch function's signature {theirs} does not match API's signature {own}.")
        chosen = [{list(own.parameters)[k] if isinstance(k, int) else k: v for k, v in s.items()} for s in signatures]
        if not chosen:
            hints = {k: v for k, v in typing.get_type_hints(dispatch_target).items() if k in theirs.parameters}
            if not hints:
                raise ValueError(
                    "The dispatch_for_api decorator must be called with at least one signature, or "
                    "applied to a function that has type annotations on its "
                    "parameters."
                )
            chosen = [hints]
        _registered.setdefault(dispatch_target, []).append(_add(api, _Target(dispatch_target, chosen, own)))
        return dispatch_target

    return decorator


def _elementwise(inputs):
    """Functions of the API, of more than one op, that are elementwise in one or two arguments."""
    from weft._src.ops.ragged import register

    if inputs == 1:
        table = {module: names.split() for module, names in register.FLAT.items()}
        table["weft._src.ops.creation_ops"] = ["zeros_like", "ones_like"]
    else:
        table = {
            "weft._src.ops.math_ops": "add pow truediv divide complex xlog1py logical_xor subtract multiply".split()
        }
    functions = []
    for module, names in table.items():
        loaded = importlib.import_module(module)
        functions += [f for f in (getattr(loaded, n, None) for n in names) if hasattr(f, "_targets")]
    return functions


def _with_rest(api, names, rest, public=None):
    """What handlers get as the function: the one of the API itself where the call has nothing but the tensors."""
    if all(name == "name" and value is None for name, value in rest.items()):
        return public or api
    return lambda *tensors: api(**dict(zip(names, tensors)), **rest)


def _wrapped(api, user, count):
    """A call of api as one of user(function of the tensors, tensors)."""
    names = list(inspect.signature(api).parameters)[:count]

    def elementwise_dispatch_target(*args, **kwargs):
        bound = inspect.signature(api).bind(*args, **kwargs).arguments
        values = [bound.pop(n) for n in names]
        return user(_with_rest(api, names, bound), *values)

    name = f"elementwise_dispatch_target_for_{api.__name__}"
    elementwise_dispatch_target.__name__ = elementwise_dispatch_target.__qualname__ = name
    return elementwise_dispatch_target


def _register_elementwise(user, kinds):
    undo = _registered.setdefault(user, [])
    for api in _elementwise(len(kinds)):
        target = _wrapped(api, user, len(kinds))
        names = list(inspect.signature(api).parameters)
        undo.append(_add(api, _Target(target, [dict(zip(names, kinds))], None)))

    def handler(op, arguments):
        names = list(arguments)[: len(kinds)]
        values = [arguments[n] for n in names]
        if not all(_matches(v, k) for v, k in zip(values, kinds)) or not any(_special(v) for v in values):
            return NotImplemented
        rest = {k: v for k, v in arguments.items() if k not in names}
        return user(_with_rest(op, names, rest, dispatch.op_functions.get(op.op_name)), *values)

    undo.append(dispatch.register_elementwise(len(kinds), object, handler))


def dispatch_for_unary_elementwise_apis(x_type):
    """The decorated handler(api, x) takes calls of elementwise functions of one argument with an x of x_type."""

    def decorator(handler):
        if x_type in _unary:
            raise ValueError(
                f"A unary elementwise dispatch handler ({_unary[x_type]}) has already been registered for {x_type}."
            )
        _unary[x_type] = handler
        _register_elementwise(handler, [x_type])
        _registered[handler].append(lambda: _unary.pop(x_type))
        return handler

    return decorator


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """The decorated handler(api, x, y) takes calls of elementwise functions of two arguments of these types."""

    def decorator(handler):
        if (x_type, y_type) in _binary:
            raise ValueError(
                f"A binary elementwise dispatch handler ({_binary[x_type, y_type]}) has already been "
                f"registered for ({x_type}, {y_type})."
            )
        _binary[x_type, y_type] = handler
        _register_elementwise(handler, [x_type, y_type])
        _registered[handler].append(lambda: _binary.pop((x_type, y_type)))
        return handler

    return decorator


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """The decorated handler(api, x, y) takes calls of tf.debugging.assert_equal and its like with arguments of these
    types."""

    def decorator(handler):
        if (x_type, y_type) in _asserts:
            raise ValueError(
                f"A binary elementwise assert dispatch handler ({_asserts[x_type, y_type]}) has already "
                f"been registered for ({x_type}, {y_type})."
            )
        _asserts[x_type, y_type] = handler
        undo = _registered.setdefault(handler, [])
        module = importlib.import_module("weft._src.ops.check_ops")
        for name in "equal none_equal less less_equal greater greater_equal near".split():
            api = getattr(module, "assert_" + name, None)
            if hasattr(api, "_targets"):
                undo.append(_add(api, _Target(_wrapped(api, handler, 2), [{"x": x_type, "y": y_type}], None)))
        undo.append(lambda: _asserts.pop((x_type, y_type)))
        return handler

    return decorator


def unregister_dispatch_for(dispatch_target):
    """Undoes what a dispatch_for decorator did."""
    if dispatch_target not in _registered:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")
    for undo in _registered.pop(dispatch_target):
        undo()
