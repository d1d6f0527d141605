"""Conversions that are asked for: by tf.function, by functions that take functions, by the user."""

import functools
import inspect
import textwrap

from . import calls, errors
from .context import ControlStatusCtx, Status
from .marks import call_with_unspecified_status, do_not_convert, is_converted, mark_converted
from .options import ConversionOptions


def convert_for_tracing(f, recursive=True, user_requested=True, optional_features=None, ctx=None):
    """A callable that calls `f` converted. `ctx`: the ControlStatusCtx to be in meanwhile; one that wants conversion if
    none is given."""
    options = ConversionOptions(recursive=recursive, user_requested=user_requested, optional_features=optional_features)
    ctx = ctx or ControlStatusCtx(Status.ENABLED, options)
    method = getattr(f, "_weft_method", None)  # tf.function's for an object: (function, weak reference to the object)

    def converted(*args, **kwargs):
        try:
            with ctx:
                if method is not None and method[1]() is not None:
                    return calls.converted_call(method[0], (method[1](), *args), kwargs, options=options)
                return calls.converted_call(f, args, kwargs, options=options)
        except Exception as e:
            metadata = getattr(e, "ag_error_metadata", None)
            if metadata is None:
                raise
            raise metadata.to_exception(e)

    if inspect.isfunction(f) or inspect.ismethod(f):
        functools.update_wrapper(converted, f)
    return mark_converted(converted)


def tf_convert(f, ctx, convert_by_default=True, user_requested=False):
    """`f`, converted if the ControlStatusCtx `ctx` wants it, or if it does not say and `convert_by_default`."""
    if is_converted(f):
        return f
    if ctx.status is Status.DISABLED:
        return do_not_convert(f)
    if ctx.status is Status.ENABLED or convert_by_default:
        return convert_for_tracing(f, user_requested=user_requested, ctx=ctx)
    return call_with_unspecified_status(f)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The function `entity` with its control flow converted. A method becomes a function that takes `self`."""
    from .transpiler import convert_function

    options = ConversionOptions(
        recursive=recursive, user_requested=True, optional_features=experimental_optional_features
    )
    try:
        return mark_converted(convert_function(entity, options))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as e:
        raise errors.ConversionError(f"converting {entity}: {type(e).__name__}: {e}")


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source code of `to_graph(entity)`."""
    return textwrap.dedent(inspect.getsource(to_graph(entity, recursive, experimental_optional_features)))
