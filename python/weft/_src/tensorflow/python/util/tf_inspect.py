"""inspect, as functions behind TensorFlow's decorators look. tensorflow-hub, tensorflow-probability, tf-keras."""

import functools as _functools
import inspect as _inspect
from inspect import (  # noqa: F401
    FullArgSpec,
    Parameter,
    getframeinfo,
    getmembers,
    getmodule,
    getmro,
    isbuiltin,
    isclass,
    isframe,
    isfunction,
    isgenerator,
    isgeneratorfunction,
    ismethod,
    ismodule,
    isroutine,
    stack,
)
import collections as _collections

from weft._src.tensorflow.python.util import tf_decorator

ArgSpec = _collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
_getargspec = _inspect.getfullargspec
_getfullargspec = _inspect.getfullargspec


def currentframe():
    return _inspect.stack()[1][0]


def getfullargspec(obj):
    """As inspect's, of the innermost function that says what its arguments are; those that functools.partial binds by name become keyword-only."""
    decorators, target = tf_decorator.unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            return decorator.decorator_argspec
    if isinstance(target, _functools.partial) or not (isinstance(target, type) or callable(target)):
        return _inspect.getfullargspec(target)
    if not isinstance(target, type) and not isroutine(target):
        target = target.__call__
    return _inspect.getfullargspec(target)


def getargspec(obj):
    """In the form of Python 2, which has no keyword-only arguments: they come after the others."""
    spec = getfullargspec(obj)
    defaults = (*(spec.defaults or ()), *(spec.kwonlydefaults or {}).values())
    return ArgSpec(spec.args + spec.kwonlyargs, spec.varargs, spec.varkw, defaults or None)


def getcallargs(*func_and_positional, **named):
    func, positional = func_and_positional[0], func_and_positional[1:]
    spec = getfullargspec(func)
    given = named.copy()
    this = getattr(func, "im_self", None) or getattr(func, "__self__", None)
    if ismethod(func) and this:
        positional = (this,) + positional
    for name, value in zip(spec.args, positional):
        given[name] = value
    if spec.defaults:
        for name, value in zip(spec.args[-len(spec.defaults) :], spec.defaults):
            given.setdefault(name, value)
    if spec.kwonlydefaults:
        for name, value in spec.kwonlydefaults.items():
            given.setdefault(name, value)
    return given


def signature(obj, *, follow_wrapped=True):
    return _inspect.signature(tf_decorator.unwrap(obj)[1], follow_wrapped=follow_wrapped)


def getdoc(object):  # noqa: A002 (TensorFlow's name)
    return _inspect.getdoc(object)


def getfile(object):  # noqa: A002
    unwrapped = tf_decorator.unwrap(object)[1]
    return _inspect.getsourcefile(unwrapped) or _inspect.getfile(unwrapped)


def getsource(object):  # noqa: A002
    return _inspect.getsource(tf_decorator.unwrap(object)[1])


def getsourcefile(object):  # noqa: A002
    return _inspect.getsourcefile(tf_decorator.unwrap(object)[1])


def getsourcelines(object):  # noqa: A002
    return _inspect.getsourcelines(tf_decorator.unwrap(object)[1])


def isanytargetmethod(fn):
    """Whether one of the functions behind the decorators is a method."""
    decorators, target = tf_decorator.unwrap(fn)
    if any(isinstance(d.decorated_target, type(getdoc.__get__(fn))) for d in decorators if d is not None):
        return True
    while isinstance(target, _functools.partial):
        target = target.func
    return callable(target) and _inspect.ismethod(target)


def iscoroutinefunction(obj):
    return _inspect.iscoroutinefunction(tf_decorator.unwrap(obj)[1])
