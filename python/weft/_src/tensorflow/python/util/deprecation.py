"""Decorators that warn once of what is deprecated, and say so in the documentation. tensorflow-probability, tf-keras."""

import contextlib
import functools
import inspect
import re

from weft._src.tensorflow.python.util import tf_decorator, tf_inspect

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING = {}


class DeprecatedNamesAlreadySetError(Exception):
    """A function got deprecated names twice."""


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError(f"Date must be in format YYYY-MM-DD. Received: {date}")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions! Specify the `instructions` argument.")


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _place():
    """The line that called the deprecated function."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return "<unknown>" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _warn(key, once, message, *args):
    """Logs once for each key; `once` False: each time."""
    if not _PRINT_DEPRECATION_WARNINGS or (once and key in _PRINTED_WARNING):
        return
    _PRINTED_WARNING[key] = True
    from weft.compat.v1 import logging

    logging.warning(message, *args)


def _documented(doc, empty, suffix, notice):
    """A docstring with a notice after its first line."""
    doc = inspect.cleandoc(doc or "")
    if not doc:
        return "\n\n".join([empty, notice])
    first, _, rest = doc.partition("\n")
    parts = [f"{first} {suffix}", notice]
    if rest.strip():
        parts.append(rest.strip("\n"))
    return "\n\n".join(parts)


def _notice(what, date, instructions, verb="It"):
    return f"Deprecated: {what} {verb} will be removed {_when(date)}.\nInstructions for updating:\n{instructions}"


def _set_init(cls, doc, wrap):
    """A deprecated class: the same class, with a constructor that warns."""
    name = "__init__" if cls.__new__ is object.__new__ else "__new__"
    setattr(cls, name, wrap(getattr(cls, name)))
    cls.__doc__ = doc
    return cls


def deprecated(date, instructions, warn_once=True):
    """The decorated function or class is."""
    _check(date, instructions)

    def decorator(func_or_class):
        doc = _documented(
            func_or_class.__doc__,
            "DEPRECATED FUNCTION",
            "(deprecated)",
            _notice("THIS FUNCTION IS DEPRECATED.", date, instructions),
        )

        def wrap(func):
            def new_func(*args, **kwargs):
                _warn(
                    new_func,
                    warn_once,
                    "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                    _place(),
                    getattr(func, "__qualname__", func.__name__).rpartition("<locals>.")[2],
                    getattr(func, "__module__", None) or func_or_class.__module__,
                    _when(date),
                    instructions,
                )
                return func(*args, **kwargs)

            return tf_decorator.make_decorator(func, new_func, "deprecated", doc)

        return _set_init(func_or_class, doc, wrap) if isinstance(func_or_class, type) else wrap(func_or_class)

    return decorator


DeprecatedArgSpec = __import__("collections").namedtuple("DeprecatedArgSpec", ["position", "has_ok_value", "ok_value"])


def _same(a, b):
    try:
        return a is b or bool(a == b)
    except Exception:  # arrays and the like
        return False


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """Some arguments are: names, or (name, the value that may be given)."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument passed to deprecated_args: {list(kwargs)}")
    entries = [e if isinstance(e, tuple) else (e,) for e in deprecated_arg_names_or_tuples]
    names = [e[0] for e in entries]

    def decorator(func):
        spec = tf_inspect.getfullargspec(func)
        known = [*spec.args, *spec.kwonlyargs, spec.varargs, spec.varkw]
        missing = [name for name in names if name not in known]
        if missing:
            raise ValueError(
                "The following deprecated arguments are not present in the function signature: "
                f"{missing}. Expected arguments from the following list: {known[:-2] + [spec.varargs, spec.varkw]}."
            )

        def new_func(*args, **given):
            if _PRINT_DEPRECATION_WARNINGS:
                by_place = dict(zip(spec.args, args))
                for entry in entries:
                    name = entry[0]
                    if name == spec.varargs:
                        used = len(args) > len(spec.args)
                    elif name == spec.varkw:
                        used = bool(given.keys() - set(known))
                    elif name in by_place or name in given:
                        value = by_place.get(name, given.get(name))
                        used = len(entry) == 1 or not _same(value, entry[1])
                    else:
                        used = False
                    if used:
                        _warn(
                            (func, name),
                            warn_once,
                            "From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                            _place(),
                            getattr(func, "__qualname__", func.__name__).rpartition("<locals>.")[2],
                            func.__module__,
                            name,
                            _when(date),
                            instructions,
                        )
            return func(*args, **given)

        doc = _documented(
            func.__doc__,
            "DEPRECATED FUNCTION ARGUMENTS",
            "(deprecated arguments)",
            _notice(f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(names))})`.", date, instructions, "They"),
        )
        return tf_decorator.make_decorator(func, new_func, "deprecated_args", doc)

    return decorator


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Some values of arguments are."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorator(func):
        def new_func(*args, **given):
            if _PRINT_DEPRECATION_WARNINGS:
                by_name = tf_inspect.getcallargs(func, *args, **given)
                for name, value in deprecated_kwargs.items():
                    if name in by_name and _same(by_name[name], value):
                        _warn(
                            (func, name),
                            warn_once,
                            "From %s: calling %s (from %s) with %s=%s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                            _place(),
                            getattr(func, "__qualname__", func.__name__).rpartition("<locals>.")[2],
                            func.__module__,
                            name,
                            value,
                            _when(date),
                            instructions,
                        )
            return func(*args, **given)

        values = ", ".join(f"{k}={v!r}" for k, v in sorted(deprecated_kwargs.items()))
        doc = _documented(
            func.__doc__,
            "DEPRECATED FUNCTION ARGUMENT VALUES",
            "(deprecated argument values)",
            _notice(f"SOME ARGUMENT VALUES ARE DEPRECATED: `({values})`.", date, instructions, "They"),
        )
        return tf_decorator.make_decorator(func, new_func, "deprecated_arg_values", doc)

    return decorator


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """The same function under an old name, which warns; of a class a subclass."""
    message = "From %s: The name %s is deprecated. Please use %s instead.\n"
    if isinstance(func_or_class, type):

        class _NewClass(func_or_class):
            __doc__ = _documented(
                func_or_class.__doc__,
                "DEPRECATED CLASS",
                "(deprecated)",
                _notice("THIS CLASS IS DEPRECATED.", None, f"Please use {name} instead."),
            )
            __name__, __module__ = func_or_class.__name__, _place()

            @functools.wraps(func_or_class.__init__)
            def __init__(self, *args, **kwargs):
                _warn(_NewClass.__init__, warn_once, message, _place(), deprecated_name, name)
                super().__init__(*args, **kwargs)

        return _NewClass

    @functools.wraps(func_or_class)
    def new_func(*args, **kwargs):
        _warn(new_func, warn_once, message, _place(), deprecated_name, name)
        return func_or_class(*args, **kwargs)

    doc = _documented(
        func_or_class.__doc__,
        "DEPRECATED FUNCTION",
        "(deprecated)",
        _notice("THIS FUNCTION IS DEPRECATED.", None, f"Please use {name} instead."),
    )
    return tf_decorator.make_decorator(func_or_class, new_func, "deprecated", doc)


def deprecated_endpoints(*args):
    """Some public names of a function are."""

    def decorator(func):
        if "_tf_deprecated_api_names" in vars(func):
            raise DeprecatedNamesAlreadySetError(
                f"Cannot set deprecated names for {func.__name__} to {args}. Deprecated names are already set to "
                f"{func._tf_deprecated_api_names}."
            )
        func._tf_deprecated_api_names = args
        return func

    return decorator


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The one of two values that is given."""
    if new_value is not None and old_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return new_value if old_value is None else old_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


@contextlib.contextmanager
def silence():
    """No warnings in the block."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before
