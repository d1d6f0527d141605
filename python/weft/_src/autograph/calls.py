"""converted_call: every call in converted code goes through it."""

import functools
import inspect
import os
import types

from . import errors, log, py_builtins, rules, straight
from .context import Status, control_status_ctx
from .marks import is_converted

_decisions = rules.Decisions()
_BUILTINS = frozenset(id(value) for value in vars(__import__("builtins")).values())
_FRAME_FUNCTIONS = (eval, super, globals, locals)


def _strict():
    return int(os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0")) > 0


def converted_call(f, args, kwargs, caller_fn_scope=None, options=None):
    """Calls `f`, converted if it is the user's. kwargs may be None."""
    if log.is_on(1):
        log.log(1, "Converted call: %s\n    args: %s\n    kwargs: %s\n", f, args, kwargs)
    if options is None:
        if caller_fn_scope is None:
            raise ValueError("either caller_fn_scope or options must have a value")
        options = caller_fn_scope.callopts
    kwargs = kwargs or {}

    module = getattr(f, "__module__", None)
    # A library's function is converted where tf.function itself was given it.
    if rules.is_library(module) and not (options.user_requested and inspect.isfunction(f) and rules.is_foreign(module)):
        return f(*args, **kwargs)
    if (f, options) in _decisions or control_status_ctx().status is Status.DISABLED:
        return f(*args, **kwargs)
    if is_converted(f):
        return _call_as_is(f, args, kwargs, options)
    if isinstance(f, functools.partial):
        return converted_call(f.func, f.args + tuple(args), {**f.keywords, **kwargs}, caller_fn_scope, options)
    if id(f) in _BUILTINS or isinstance(f, types.BuiltinFunctionType):
        if f in _FRAME_FUNCTIONS:
            return py_builtins.call_in_frame(f, args, caller_fn_scope)
        return py_builtins.OVERLOADS.get(f, f)(*args, **kwargs)
    if rules.is_unsupported(f) or not options.internal_convert_user_code:
        return _call_as_is(f, args, kwargs, options)
    if not options.user_requested and rules.runs_as_is(f):
        return _call_as_is(f, args, kwargs, options)

    if inspect.ismethod(f):
        target, target_args = f.__func__, (f.__self__, *args)
    elif inspect.isfunction(f):
        target, target_args = f, args
    else:
        target, target_args = type(f).__call__, (f, *args)
    code = getattr(target, "__code__", None)
    if code is None or code.co_filename == "<string>":  # native, or made by exec
        return _call_as_is(f, args, kwargs, options)

    try:
        converted = None if options.optional_features else straight.convert_function(target, options)
        if converted is None:
            from .transpiler import convert_function

            converted = convert_function(target, options)
    except Exception as e:
        log.log(1, "Error transforming entity %s", target, exc_info=True)
        if _strict():
            raise
        _warn_not_converted(f, options, e)
        return _call_as_is(f, args, kwargs, options)

    try:
        return converted(*target_args, **kwargs)
    except Exception as e:
        errors.attach(e, converted.ag_source_map)
        raise


def _call_as_is(f, args, kwargs, options):
    _decisions.add(f, options)
    return f(*args, **kwargs)


def _warn_not_converted(f, options, cause):
    from malt.pyct.errors import InaccessibleSourceCodeError, UnsupportedLanguageElementError

    known = isinstance(cause, (InaccessibleSourceCodeError, UnsupportedLanguageElementError))
    report = (
        ""
        if known
        else (
            "Please report this as a bug, with all that is printed at verbosity 10 (on Linux, `export"
            " AUTOGRAPH_VERBOSITY=10`).\n"
        )
    )
    log.warning(
        "AutoGraph could not transform %s and will run it as-is.\n%sCause: %s\nTo silence this warning, decorate the"
        " function with @tf.autograph.experimental.do_not_convert",
        f,
        report,
        cause,
    )
