"""Extension types without a class: what a SavedModel holds of a type that the program does not have."""

import collections.abc

from weft._src.framework import dtypes, type_spec_registry
from weft._src.framework.extension_fields import REQUIRED, Field, is_reserved
from weft._src.framework.extension_type import ExtensionType, ExtensionTypeSpec, _restore, _spec_of
from weft._src.framework.immutable_dict import ImmutableDict
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TypeSpec

_PLAIN = (int, float, bool, str, bytes, type(None), dtypes.DType, TensorShape)


def _converted(value, of_spec=False):
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, tuple):
        return tuple(_converted(v, of_spec) for v in value)
    if isinstance(value, collections.abc.Mapping):
        return ImmutableDict((_converted(k, of_spec), _converted(v, of_spec)) for k, v in value.items())
    if of_spec and isinstance(value, TypeSpec):
        return value
    if not of_spec and (isinstance(value, Tensor) or getattr(type(value), "_is_composite", False)):
        return value
    raise ValueError(f"Cannot convert anonymous fields from an unsupported `value` argument: {value!r}.")


def _checked(fields, what):
    for name in fields:
        if is_reserved(name) or (name.startswith("__") and name.endswith("__")):
            raise ValueError(f"Reserved field name {name} was encountered when trying to instantiate an {what}.")
    return fields


def _own(value):
    """The fields that an instance has."""
    return {k: v for k, v in value.__dict__.items() if not is_reserved(k) and not k.startswith("_cached")}


class AnonymousExtensionType(ExtensionType):
    """Fields of any names, given by name."""

    _tf_extension_type_is_base = True

    def __init__(self, **fields):
        self.__dict__.update({k: _converted(v) for k, v in _checked(fields, type(self).__name__).items()})

    def __setattr__(self, name, value):
        raise AttributeError(f"Cannot set attribute `{name}`. AnonymousExtensionType instances are immutable.")

    def __delattr__(self, name):
        raise AttributeError(f"Cannot delete attribute `{name}`. AnonymousExtensionType instances are immutable.")

    def __repr__(self):
        return f"AnonymousExtensionType({', '.join(f'{k}={v!r}' for k, v in _own(self).items())})"

    @property
    def _type_spec(self):
        return AnonymousExtensionTypeSpec.from_value(self)

    def __reduce__(self):
        return _restore, (type(self), _own(self))


@type_spec_registry.register("tf.AnonymousExtensionType.Spec")
class AnonymousExtensionTypeSpec(ExtensionTypeSpec):
    """The spec of an AnonymousExtensionType: its fields with specs for tensors."""

    _tf_value_type = AnonymousExtensionType

    def __init__(self, **fields):
        self.__dict__.update({k: _converted(v, of_spec=True) for k, v in _checked(fields, type(self).__name__).items()})

    def _spec_fields(self):
        return [Field(name, None, REQUIRED) for name in _own(self)]

    @classmethod
    def from_value(cls, value):
        return _restore(cls, {k: _spec_of(v) for k, v in _own(value).items()})

    def __setattr__(self, name, value):
        if not name.startswith("_cached"):
            raise AttributeError(f"Cannot set attribute `{name}`. AnonymousExtensionTypeSpec instances are immutable.")
        self.__dict__[name] = value

    def __delattr__(self, name):
        raise AttributeError(f"Cannot delete attribute `{name}`. AnonymousExtensionTypeSpec instances are immutable.")


AnonymousExtensionType.Spec = AnonymousExtensionTypeSpec


def reinterpret(value, new_type):
    """The value as another extension type whose fields fit."""
    if not isinstance(value, ExtensionType):
        raise ValueError(f"reinterpret expects `value` to be a tf.ExtensionType instance; got {value!r}")
    if not (isinstance(new_type, type) and issubclass(new_type, ExtensionType)):
        raise ValueError(f"reinterpret expects `new_type` to be a subclass of tf.ExtensionType; got {new_type!r}")
    return new_type(**_own(value))
