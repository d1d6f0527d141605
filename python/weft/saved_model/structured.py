"""Python values as StructuredValue messages, in which SavedModels keep the signatures of functions, and back."""

import collections
import warnings

import numpy as np

from weft.framework import dtypes
from weft.framework.tensor import EagerTensor, Tensor
from weft.framework.tensor_shape import TensorShape
from weft.proto import StructuredValue, TensorShapeProto
from weft.proto.tensors import make_ndarray, make_tensor_proto


class NotEncodableError(Exception):
    """A value that has no form in a SavedModel."""


# TypeSpecProto.TypeSpecClass -> where the class is.
_SPEC_CLASSES = {
    1: ("weft.ops.sparse_tensor", "SparseTensorSpec"),
    2: ("weft.framework.indexed_slices", "IndexedSlicesSpec"),
    3: ("weft.ops.ragged.spec", "RaggedTensorSpec"),
    4: ("weft.ops.tensor_array", "TensorArraySpec"),
    5: ("weft.data", "DatasetSpec"),
    6: ("weft.data", "IteratorSpec"),
    7: ("weft.data.experimental", "OptionalSpec"),
    8: ("weft.distribute.values", "PerReplicaSpec"),
    9: ("weft.framework.type_spec", "VariableSpec"),
    10: ("weft.ops.ragged.row_partition", "RowPartitionSpec"),
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
    made = StructuredValue()
    _encode(value, made)
    return made


def _encode(value, made):
    from weft.framework.type_spec import BoundedTensorSpec, TensorSpec, TypeSpec, VariableSpec
    from weft.function import trace_type

    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, (bool, np.bool_)):
        made.bool_value = bool(value)
    elif isinstance(value, int):
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, TensorShape):
        made.tensor_shape_value.CopyFrom(shape_to_proto(value))
    elif isinstance(value, dtypes.DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, BoundedTensorSpec):
        made.bounded_tensor_spec_value.name = value.name or ""
        made.bounded_tensor_spec_value.shape.CopyFrom(shape_to_proto(value.shape))
        made.bounded_tensor_spec_value.dtype = value.dtype.as_datatype_enum
        made.bounded_tensor_spec_value.minimum.CopyFrom(make_tensor_proto(value.minimum))
        made.bounded_tensor_spec_value.maximum.CopyFrom(make_tensor_proto(value.maximum))
    elif isinstance(value, TensorSpec):
        made.tensor_spec_value.name = value.name or ""
        made.tensor_spec_value.shape.CopyFrom(shape_to_proto(value.shape))
        made.tensor_spec_value.dtype = value.dtype.as_datatype_enum
    elif isinstance(value, TypeSpec):
        _encode_spec(value, made.type_spec_value)
    elif isinstance(value, trace_type.Variable):
        _encode_spec(VariableSpec(value.shape, value.dtype, value.trainable, value.alias), made.type_spec_value)
    elif isinstance(value, EagerTensor):
        made.tensor_value.CopyFrom(make_tensor_proto(value.numpy(), dtype=value.dtype))
    elif isinstance(value, Tensor):
        _encode(TensorSpec(value.shape, value.dtype), made)
    elif isinstance(value, (np.ndarray, np.generic)):
        made.numpy_value.CopyFrom(make_tensor_proto(value))
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        made.named_tuple_value.name = type(value).__name__
        for key, item in zip(value._fields, value):
            _encode(item, made.named_tuple_value.values.add(key=key).value)
    elif isinstance(value, tuple):
        made.tuple_value.SetInParent()
        for item in value:
            _encode(item, made.tuple_value.values.add())
    elif isinstance(value, list):
        made.list_value.SetInParent()
        for item in value:
            _encode(item, made.list_value.values.add())
    elif isinstance(value, collections.abc.Mapping):
        made.dict_value.SetInParent()
        for key, item in value.items():
            if not isinstance(key, str):
                raise NotEncodableError(f"No encoder for a dict with the key {key!r}.")
            _encode(item, made.dict_value.fields[key])
    else:
        raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


def can_encode(value):
    """Whether a value has a message."""
    try:
        encode(value)
    except NotEncodableError:
        return False
    return True


def _encode_spec(spec, made):
    name = type(spec).__name__
    number = next((n for n, (_, known) in _SPEC_CLASSES.items() if known == name), None)
    if number is None:
        from weft.framework import type_spec_registry
        from weft.framework.extension_type import ExtensionTypeSpec

        try:
            name = type_spec_registry.get_name(type(spec))
        except ValueError:
            raise NotEncodableError(f"No encoder for object {spec} of type {type(spec)}.") from None
        number = _EXTENSION if isinstance(spec, ExtensionTypeSpec) else _REGISTERED
        if number == _REGISTERED:
            warnings.warn(
                f"Encoding a StructuredValue with type {name}; loading this StructuredValue will require that this type be imported and registered."
            )
    made.type_spec_class = number
    made.type_spec_class_name = name
    _encode(spec._serialize(), made.type_state)
    made.num_flat_components = len(spec.flatten())


def decode(message):
    """The value of a message."""
    from weft.framework.type_spec import BoundedTensorSpec, TensorSpec

    kind = message.WhichOneof("kind")
    if kind is None or kind == "none_value":
        return None
    value = getattr(message, kind)
    if kind in ("float64_value", "int64_value", "string_value", "bool_value"):
        return value
    if kind == "tensor_shape_value":
        return shape_from_proto(value)
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(value)
    if kind == "tensor_spec_value":
        return TensorSpec(shape_from_proto(value.shape), dtypes.as_dtype(value.dtype), value.name or None)
    if kind == "bounded_tensor_spec_value":
        return BoundedTensorSpec(
            shape_from_proto(value.shape),
            dtypes.as_dtype(value.dtype),
            make_ndarray(value.minimum),
            make_ndarray(value.maximum),
            value.name or None,
        )
    if kind == "type_spec_value":
        return _decode_spec(value)
    if kind == "list_value":
        return [decode(v) for v in value.values]
    if kind == "tuple_value":
        return tuple(decode(v) for v in value.values)
    if kind == "dict_value":
        return {k: decode(value.fields[k]) for k in sorted(value.fields)}
    if kind == "named_tuple_value":
        made = collections.namedtuple(value.name or "NamedTuple", [p.key for p in value.values])
        return made(*[decode(p.value) for p in value.values])
    if kind == "numpy_value":
        return make_ndarray(value)
    from weft.framework.convert import convert_to_tensor

    return convert_to_tensor(make_ndarray(value), dtype=dtypes.as_dtype(value.dtype))


def _decode_spec(proto):
    import importlib

    number = proto.type_spec_class
    if number in _SPEC_CLASSES:
        module, name = _SPEC_CLASSES[number]
        cls = getattr(importlib.import_module(module), name)
    elif number in (_EXTENSION, _REGISTERED):
        cls = _registered(proto.type_spec_class_name, number)
    else:
        raise ValueError(
            f"The type '{proto.type_spec_class_name}' is not supported by this version of TensorFlow. (The object you are loading must have been created "
            "with a newer version of TensorFlow.)"
        )
    return cls._deserialize(decode(proto.type_state))


def _registered(name, number):
    """The class of a registered name; an extension type that is not registered is one without a name."""
    from weft.framework import type_spec_registry

    try:
        return type_spec_registry.lookup(name)
    except ValueError as error:
        if number == _REGISTERED:
            raise ValueError(
                f"The type '{name}' has not been registered.  It must be registered before you load this object (typically by importing its module)."
            ) from error
    from weft.framework.anonymous_extension import AnonymousExtensionTypeSpec

    warnings.warn(f"The type '{name}' has not been registered. Falling back to using AnonymousExtensionTypeSpec instead.")
    return AnonymousExtensionTypeSpec
