"""The fields of extension types: which annotations there may be, and values as they ask for."""

import collections
import collections.abc
import types
import typing

from weft._src.framework import dtypes
from weft._src.framework.immutable_dict import ImmutableDict
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TensorSpec, TypeSpec

REQUIRED = object()
Field = collections.namedtuple("Field", "name value_type default")
_PLAIN = (bool, int, float, str, bytes, type(None))


def is_reserved(name):
    return name in ("self", "Spec") or name.startswith("_tf_extension_type_")


def _kind(annotation):
    """What an annotation is: its class, or the origin of one of typing's forms."""
    origin = typing.get_origin(annotation)
    if origin is types.UnionType:
        return typing.Union
    return origin if origin is not None else annotation


def _name(annotation):
    return repr(annotation.__name__) if isinstance(annotation, type) or annotation is typing.Any else repr(annotation)


def check_annotation(annotation, forward=True):
    """Raises TypeError for what a field cannot be."""
    if isinstance(annotation, (str, typing.ForwardRef)):
        if not forward:
            raise TypeError(f"Unresolved forward reference {annotation!r}")
        return
    kind, inside = _kind(annotation), typing.get_args(annotation)
    if annotation is None or annotation in _PLAIN or annotation in (Tensor, TensorShape, dtypes.DType):
        return
    if kind is typing.Union:
        for one in inside:
            check_annotation(one, forward)
        return
    if kind is tuple and inside:
        for one in inside:
            if one is not Ellipsis:
                check_annotation(one, forward)
        return
    if kind is collections.abc.Mapping and inside:
        if inside[0] not in (bool, int, float, str, bytes, type(None)):
            raise TypeError(
                f"Mapping had a key {getattr(inside[0], '__name__', inside[0])!r} with type "
                f"{type(inside[0]).__name__!r}"
            )
        check_annotation(inside[1], forward)
        return
    if isinstance(annotation, type) and (
        getattr(annotation, "_is_composite", False)
        or issubclass(annotation, (TypeSpec, Tensor))
        or _is_variable(annotation)
    ):
        return
    raise TypeError(f"Unsupported type annotation {_name(annotation)}")


def _is_variable(annotation):
    from weft import _weft

    return issubclass(annotation, _weft.VariableBase)


def convert(value, annotation, path, of_spec=False):
    """The value as the annotation asks for; in a spec, TypeSpecs stand for tensors."""
    kind = _kind(annotation)
    if annotation is None:
        annotation = type(None)
    if annotation is Tensor:
        return _tensor(value, path, of_spec)
    if annotation is TensorShape:
        try:
            return TensorShape(value)
        except (TypeError, ValueError):
            raise _wrong(path, "a value that can be converted to a TensorShape", value) from None
    if annotation is dtypes.DType:
        try:
            return dtypes.as_dtype(value)
        except TypeError:
            raise _wrong(path, "'tf.DType'", value) from None
    if kind is typing.Union:
        for one in typing.get_args(annotation):
            try:
                return convert(value, one, path, of_spec)
            except TypeError:
                continue
        raise _wrong(path, _name(annotation), value)
    if kind is tuple:
        return _tuple(value, typing.get_args(annotation), path, of_spec)
    if kind is collections.abc.Mapping:
        keys, values = typing.get_args(annotation)
        if not isinstance(value, collections.abc.Mapping):
            raise _wrong(path, "mapping", value)
        return ImmutableDict(
            (convert(k, keys, f"{path}[<key>]", of_spec), convert(v, values, f"{path}[{k!r}]", of_spec))
            for k, v in value.items()
        )
    if isinstance(annotation, type):
        if of_spec and getattr(annotation, "_is_composite", False):
            if isinstance(value, TypeSpec) and issubclass(value.value_type, annotation):
                return value
            raise (
                _wrong(path, repr(annotation.__name__), value)
                if not hasattr(annotation, "Spec")
                else _wrong(path, repr(annotation.Spec.__name__), value)
            )
        if isinstance(value, annotation):
            return value
        raise _wrong(path, repr(annotation.__name__), value)
    raise TypeError(f"{path}: Unsupported type annotation {annotation!r}")


def _wrong(path, wanted, value):
    return TypeError(f"{path}: expected {wanted}, got {type(value).__name__!r}")


def _tensor(value, path, of_spec):
    from weft._src.framework.convert import convert_to_tensor

    if of_spec:
        if isinstance(value, TensorSpec):
            return value
        raise _wrong(path, "a TensorSpec", value)
    if isinstance(value, Tensor):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        raise _wrong(path, "a Tensor", value) from None


def _tuple(value, inside, path, of_spec):
    if not isinstance(value, (list, tuple)):
        raise _wrong(path, "tuple", value)
    if len(inside) == 2 and inside[1] is Ellipsis:
        return tuple(convert(v, inside[0], f"{path}[{i}]", of_spec) for i, v in enumerate(value))
    if len(value) != len(inside):
        raise TypeError(f"{path}: expected tuple with length {len(inside)}, got {type(value).__name__!r})")
    return tuple(convert(v, one, f"{path}[{i}]", of_spec) for i, (v, one) in enumerate(zip(value, inside)))
