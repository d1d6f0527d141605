"""tf.Module: a named container of variables and other modules."""

import functools

from weft._src.framework import nest
from weft._src.framework.graph import name_scope
from weft._src.trackable.autotrackable import _SKIPPED, AutoTrackable
from weft._src.trackable.variable import Variable

_DATA = (list, tuple, dict)


def camel_to_snake(name):
    """HTTPServer2Layer -> http_server2_layer"""
    out = []
    for i, c in enumerate(name):
        if (
            c.isupper()
            and i
            and (name[i - 1].islower() or name[i - 1].isdigit() or (i + 1 < len(name) and name[i + 1].islower()))
        ):
            out.append("_")
        out.append(c.lower())
    return "".join(out)


class Module(AutoTrackable):
    """Finds the variables and modules among its attributes, however deep."""

    _TF_MODULE_IGNORED_PROPERTIES = _SKIPPED

    def __init__(self, name=None):
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not isinstance(name, str):
            raise TypeError(f"expected string or bytes-like object, got '{type(name).__name__}'")
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self):
        return self._name

    @property
    def name_scope(self):
        return self._name_scope

    @property
    def variables(self):
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self):
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self):
        return tuple(self._flatten(predicate=_is_not_trainable, expand_composites=True))

    @property
    def submodules(self):
        return tuple(self._flatten(predicate=_is_module))

    def _flatten(
        self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False, expand_composites=False
    ):
        """Leaves of the attributes that predicate takes: of this module first, sorted by name, then of the modules it
        holds."""
        return _walk(self, (), recursive, predicate, attribute_traversal_key, with_path, expand_composites, {id(self)})

    @classmethod
    def with_name_scope(cls, method):
        """The method runs in the module's name scope."""

        @functools.wraps(method)
        def call(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return call


def _is_variable(value):
    return isinstance(value, Variable)


def _is_trainable(value):
    return isinstance(value, Variable) and getattr(value, "trainable", False)


def _is_not_trainable(value):
    return isinstance(value, Variable) and not getattr(value, "trainable", False)


def _is_module(value):
    return isinstance(value, Module)


def _leaves(module, key, value, expand_composites):
    """(path, leaf) of an attribute."""
    if isinstance(value, (Variable, Module)):
        return (((), value),)
    if not isinstance(value, _DATA) and not nest.is_nested_or_composite(value):
        return (((), value),)
    try:
        return nest.flatten_with_tuple_paths(value, expand_composites=expand_composites)
    except Exception as error:
        raise ValueError(f"Error processing property {key!r} of {value!r}") from error


def _walk(module, path, recursive, predicate, order, with_path, expand_composites, seen):
    inner = []
    attributes = vars(module)
    for key in sorted(attributes, key=order):
        if key in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        value = attributes[key]
        for sub, leaf in _leaves(module, key, value, expand_composites):
            if id(leaf) in seen:
                continue
            if predicate is None or predicate(leaf):
                seen.add(id(leaf))
                yield ((*path, key, *sub), leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                inner.append(((*path, key, *sub), leaf))
    done = seen if recursive else None
    for sub, leaf in inner:
        if done is not None and ("walked", id(leaf)) in done:
            continue
        done.add(("walked", id(leaf)))
        yield from _walk(leaf, sub, recursive, predicate, order, with_path, expand_composites, seen)
