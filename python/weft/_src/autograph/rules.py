"""What is converted when converted code calls it, and what runs as it is."""

import functools
import inspect
import sys
import weakref

from . import log

# Packages and modules whose functions run as they are, with all that is below them.
_UNCONVERTED = frozenset(
    [
        "weft",
        "tensorflow",
        "keras",
        "tf_keras",
        "malt",
        "numpy",
        "ml_dtypes",
        "pandas",
        "matplotlib",
        "PIL",
        "absl.logging",
        "tensorflow_probability",
        "tensorflow_datasets.core",
        "collections",
        "copy",
        "cProfile",
        "inspect",
        "ipdb",
        "linecache",
        "mock",
        "pathlib",
        "pdb",
        "posixpath",
        "pstats",
        "re",
        "threading",
        "urllib",
    ]
)
_WHOLE_MODULES = ("collections", "pdb", "copy", "inspect", "re")


@functools.cache
def is_library(module_name):
    """Whether functions of that module run as they are."""
    if not isinstance(module_name, str):
        return False
    parts = module_name.split(".")
    return any(".".join(parts[: n + 1]) in _UNCONVERTED for n in range(len(parts)))


def is_foreign(module_name):
    """Whether a library is another one than this package."""
    return module_name.partition(".")[0] not in ("weft", "tensorflow", "malt")


def _is_constructor(f):
    return inspect.isclass(f) and (type(f).__call__ is type.__call__ or not issubclass(type(f), type))


def _is_wrapt(f):
    wrapt = sys.modules.get("wrapt")
    kinds = tuple(filter(None, (getattr(wrapt, n, None) for n in ("FunctionWrapper", "BoundFunctionWrapper"))))
    return isinstance(getattr(f, "__func__", None) if inspect.ismethod(f) else f, kinds)


def is_unsupported(f):
    """Callables that cannot be converted, whatever the user asks for."""
    if "wrapt" in sys.modules and _is_wrapt(f):
        log.warning(
            "%s appears to be decorated by wrapt, which is not yet supported by AutoGraph. The function will run as-is."
            " You may still apply AutoGraph before the wrapt decorator.",
            f,
        )
        return True
    if isinstance(f, functools._lru_cache_wrapper) or _is_constructor(f):
        return True
    return getattr(f, "__module__", None) in _WHOLE_MODULES


def _is_namedtuple(kind):
    fields = getattr(kind, "_fields", None)
    return (
        inspect.isclass(kind)
        and issubclass(kind, tuple)
        and isinstance(fields, tuple)
        and all(isinstance(n, str) for n in fields)
    )


def _defining_class(method):
    """The class whose body has the method."""
    owner = method.__self__ if inspect.isclass(method.__self__) else type(method.__self__)
    for kind in inspect.getmro(owner):
        if method.__name__ in vars(kind):
            return kind
    return owner


def runs_as_is(f):
    """Whether converted code calls `f` without converting it."""
    module = functools if isinstance(f, functools.partial) else inspect.getmodule(f)
    if module is not None and is_library(getattr(module, "__name__", None)):
        return True
    if inspect.isgeneratorfunction(f):
        return True
    if not inspect.isclass(f) and type(f) is not type(getattr(f, "__call__", f)) and runs_as_is(f.__call__):
        return True  # an object with a library's __call__
    if inspect.ismethod(f):
        owner = f.__self__ if inspect.isclass(f.__self__) else type(f.__self__)
        if "unittest" in sys.modules and issubclass(owner, sys.modules["unittest"].TestCase):
            return True
        kind = _defining_class(f)
        made_by_namedtuple = _is_namedtuple(kind) and not any(map(_is_namedtuple, kind.__bases__))
        if made_by_namedtuple or is_library(kind.__module__):
            return True
    return _is_namedtuple(f)


class Decisions:
    """Remembers which functions run as they are, under which options."""

    def __init__(self):
        self._known = weakref.WeakKeyDictionary()

    def __contains__(self, f_and_options):
        f, options = f_and_options
        try:
            return options in self._known.get(getattr(f, "__func__", f), ())
        except TypeError:  # cannot be hashed or referred to weakly
            return False

    def add(self, f, options):
        try:
            self._known.setdefault(getattr(f, "__func__", f), set()).add(options)
        except TypeError:
            pass
