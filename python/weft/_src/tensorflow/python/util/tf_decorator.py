"""Decorators that remember what they decorate, so that signatures and documentation are found behind them. tf-keras, tensorflow-probability."""

import inspect

from weft import _weft


class TFDecorator:
    """What a decorator knows of its target; the decorated function has it as `_tf_decorator`."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._decorated_target = target
        self._decorator_name, self._decorator_doc, self._decorator_argspec = (
            decorator_name,
            decorator_doc,
            decorator_argspec,
        )
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        if hasattr(target, "__qualname__"):
            self.__qualname__ = target.__qualname__
        if self._decorator_doc:
            self.__doc__ = self._decorator_doc
        elif getattr(target, "__doc__", None):
            self.__doc__ = target.__doc__
        else:
            self.__doc__ = ""
        if decorator_argspec:
            self.__signature__ = fullargspec_to_signature(decorator_argspec)
        elif callable(target):
            try:
                self.__signature__ = inspect.signature(target)
            except (TypeError, ValueError):  # built in, or not a function
                pass

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self):
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = target

    @property
    def decorator_name(self):
        return self._decorator_name

    @property
    def decorator_doc(self):
        return self._decorator_doc

    @property
    def decorator_argspec(self):
        return self._decorator_argspec


def fullargspec_to_signature(fullargspec):
    """The inspect.Signature of a FullArgSpec."""
    kinds, empty = inspect.Parameter, inspect.Parameter.empty
    defaults = dict(zip(reversed(fullargspec.args), reversed(fullargspec.defaults or ())))
    found = [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults.get(name, empty)) for name in fullargspec.args]
    if fullargspec.varargs:
        found.append(kinds(fullargspec.varargs, kinds.VAR_POSITIONAL))
    for name in fullargspec.kwonlyargs or ():
        found.append(kinds(name, kinds.KEYWORD_ONLY, default=(fullargspec.kwonlydefaults or {}).get(name, empty)))
    if fullargspec.varkw:
        found.append(kinds(fullargspec.varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(found)


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """decorator_func, marked as what stands for target."""
    if decorator_name is None:
        decorator_name = inspect.currentframe().f_back.f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    if hasattr(target, "__name__"):
        decorator_func.__name__ = target.__name__
    if hasattr(target, "__qualname__"):
        decorator_func.__qualname__ = target.__qualname__
    if hasattr(target, "__module__"):
        decorator_func.__module__ = target.__module__
    if hasattr(target, "__dict__"):
        for name, value in target.__dict__.items():
            if name not in decorator_func.__dict__:
                decorator_func.__dict__[name] = value
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = decorator_func.__original_wrapped__ = target
    if decorator_argspec:
        decorator_func.__signature__ = fullargspec_to_signature(decorator_argspec)
    elif callable(target):
        try:
            signature = inspect.signature(target)
        except (TypeError, ValueError):  # built in
            return decorator_func
        instance = _instance_behind(target)
        if instance is not None and "self" in signature.parameters:
            signature = inspect.Signature(list(signature.parameters.values())[1:])
            decorator_func.__self__ = instance
        decorator_func.__signature__ = signature
    return decorator_func


def _instance_behind(target):
    """The instance of a method that a decorated function ends in."""
    return getattr(unwrap(target)[1], "__self__", None)


def _has_tf_decorator_attr(obj):
    return hasattr(obj, "_tf_decorator") and isinstance(getattr(obj, "_tf_decorator"), TFDecorator)


def unwrap(maybe_tf_decorator):
    """([decorators, the outermost first], what they decorate)."""
    decorators, current = [], maybe_tf_decorator
    while True:
        if isinstance(current, TFDecorator):
            decorators.append(current)
        elif _has_tf_decorator_attr(current):
            decorators.append(current._tf_decorator)
        elif isinstance(current, _weft.FunctionBase) and hasattr(current, "__wrapped__"):
            decorators.append(TFDecorator("tf.function", current.__wrapped__))
        else:
            return decorators, current
        current = decorators[-1].decorated_target


def rewrap(decorator_func, previous_target, new_target):
    """Puts new_target where previous_target was, behind the decorators of decorator_func."""
    innermost, current = None, decorator_func
    target = None
    while _has_tf_decorator_attr(current):
        innermost = current
        target = current._tf_decorator.decorated_target
        if current is previous_target or target is previous_target:
            break
        current = target
    if innermost is None:
        return new_target
    if target is previous_target:
        innermost.__wrapped__ = new_target
        innermost._tf_decorator.decorated_target = new_target
    return decorator_func
