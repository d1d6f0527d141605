"""Python values as StructuredValue messages, in which SavedModels keep the signatures of functions, and back. The engine reads and writes the
message; here values become the trees that it takes (native/structured.h) and are made of those that it gives."""

import collections
import warnings

import numpy as np

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.proto import StructuredValue, TensorShapeProto


class NotEncodableError(Exception):
    """A value that has no form in a SavedModel."""


# TypeSpecProto.TypeSpecClass -> where the class is.
_SPEC_CLASSES = {
    1: ("weft._src.ops.sparse_tensor", "SparseTensorSpec"),
    2: ("weft._src.framework.indexed_slices", "IndexedSlicesSpec"),
    3: ("weft._src.ops.ragged.spec", "RaggedTensorSpec"),
    4: ("weft._src.ops.tensor_array", "TensorArraySpec"),
    5: ("weft._src.data.dataset", "DatasetSpec"),
    6: ("weft._src.data.iterator", "IteratorSpec"),
    7: ("weft._src.data.experimental", "OptionalSpec"),
    8: ("weft._src.distribute.values", "PerReplicaSpec"),
    9: ("weft._src.framework.type_spec", "VariableSpec"),
    10: ("weft._src.ops.ragged.row_partition", "RowPartitionSpec"),
}
_REGISTERED, _EXTENSION = 12, 13


def shape_to_proto(shape):
    if isinstance(shape, TensorShapeProto):
        return shape
    shape = TensorShape(shape)
    if shape.rank is None:
        return TensorShapeProto(unknown_rank=True)
    made = TensorShapeProto()
    for d in shape.as_list():
        made.dim.add(size=-1 if d is None else d)
    return made


def shape_from_proto(proto):
    return TensorShape(None) if proto.unknown_rank else TensorShape([None if d.size < 0 else d.size for d in proto.dim])


def encode(value):
    """The message for a value."""
    return StructuredValue.FromString(_weft.encode_structured(tree_of(value)))


def decode(message):
    """The value of a message."""
    return value_of(_weft.decode_structured(message.SerializeToString()))


def tree_of(value):
    """The tree of a value; NotEncodableError where it has none."""
    from weft._src.framework.type_spec import BoundedTensorSpec, TensorSpec, TypeSpec, VariableSpec
    from weft._src.function import trace_type

    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, TensorShape):
        return "shape", value
    if isinstance(value, dtypes.DType):
        return "dtype", value
    if isinstance(value, BoundedTensorSpec):
        limits = (_weft.convert(np.asarray(limit), None, None) for limit in (value.minimum, value.maximum))
        return "bounded", value.name, value.shape, value.dtype, *limits
    if isinstance(value, TensorSpec):
        return "tensor", value.name, value.shape, value.dtype
    if isinstance(value, TypeSpec):
        return _spec_tree(value)
    if isinstance(value, trace_type.Variable):
        return _spec_tree(VariableSpec(value.shape, value.dtype, value.trainable, value.alias))
    if isinstance(value, EagerTensor):
        return "constant", value
    if isinstance(value, Tensor):
        return "tensor", None, value.shape, value.dtype
    if isinstance(value, (np.ndarray, np.generic)):
        return "array", _weft.convert(value, None, None)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "named", type(value).__name__, [(k, tree_of(v)) for k, v in zip(value._fields, value)]
    if isinstance(value, (tuple, list)):
        return "tuple" if isinstance(value, tuple) else "list", [tree_of(v) for v in value]
    if isinstance(value, collections.abc.Mapping):
        for key in value:
            if not isinstance(key, str):
                raise NotEncodableError(f"No encoder for a dict with the key {key!r}.")
        return "dict", [(k, tree_of(v)) for k, v in value.items()]
    raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


def can_encode(value):
    """Whether a value has a message."""
    try:
        tree_of(value)
    except NotEncodableError:
        return False
    return True


def _spec_tree(spec):
    name = type(spec).__name__
    number = next((n for n, (_, known) in _SPEC_CLASSES.items() if known == name), None)
    if number is None:
        from weft._src.framework import type_spec_registry
        from weft._src.framework.extension_type import ExtensionTypeSpec

        try:
            name = type_spec_registry.get_name(type(spec))
        except ValueError:
            raise NotEncodableError(f"No encoder for object {spec} of type {type(spec)}.") from None
        number = _EXTENSION if isinstance(spec, ExtensionTypeSpec) else _REGISTERED
        if number == _REGISTERED:
            warnings.warn(
                f"Encoding a StructuredValue with type {name}; loading this StructuredValue will require that this type be imported and registered."
            )
    return "spec", number, name, tree_of(spec._serialize()), len(spec.flatten())


def value_of(tree):
    """The value of a tree."""
    from weft._src.framework.type_spec import BoundedTensorSpec, TensorSpec

    if not isinstance(tree, tuple):
        return tree
    kind, *parts = tree
    if kind == "shape":
        return TensorShape(parts[0])
    if kind in ("dtype", "constant"):
        return parts[0]
    if kind == "tensor":
        name, shape, dtype = parts
        return TensorSpec(shape, dtype, name or None)
    if kind == "bounded":
        name, shape, dtype, *limits = parts
        return BoundedTensorSpec(shape, dtype, *map(_array, limits), name or None)
    if kind == "spec":
        return _spec_class(*parts[:2])._deserialize(value_of(parts[2]))
    if kind == "list":
        return [value_of(v) for v in parts[0]]
    if kind == "tuple":
        return tuple(value_of(v) for v in parts[0])
    if kind == "dict":
        return {k: value_of(v) for k, v in parts[0]}
    if kind == "named":
        name, pairs = parts
        made = collections.namedtuple(name or "NamedTuple", [k for k, _ in pairs])
        return made(*[value_of(v) for _, v in pairs])
    return _array(parts[0])


def _array(tensor):
    """An array also where the tensor is a scalar."""
    value = tensor.numpy()
    return (
        value if isinstance(value, np.ndarray) else np.array(value, dtype=object if isinstance(value, bytes) else None)
    )


def _spec_class(number, name):
    import importlib

    if number in _SPEC_CLASSES:
        module, known = _SPEC_CLASSES[number]
        return getattr(importlib.import_module(module), known)
    if number in (_EXTENSION, _REGISTERED):
        return _registered(name, number)
    raise ValueError(
        f"The type '{name}' is not supported by this version of TensorFlow. (The object you are loading must have been created "
        "with a newer version of TensorFlow.)"
    )


def _registered(name, number):
    """The class of a registered name; an extension type that is not registered is one without a name."""
    from weft._src.framework import type_spec_registry

    try:
        return type_spec_registry.lookup(name)
    except ValueError as error:
        if number == _REGISTERED:
            raise ValueError(
                f"The type '{name}' has not been registered.  It must be registered before you load this object (typically by importing its module)."
            ) from error
    from weft._src.framework.anonymous_extension import AnonymousExtensionTypeSpec

    warnings.warn(
        f"The type '{name}' has not been registered. Falling back to using AnonymousExtensionTypeSpec instead."
    )
    return AnonymousExtensionTypeSpec
