"""tf.TypeSpec: what is known of a value without the value, and TensorSpec, the one of tensors."""

import abc
import importlib

from weft import _weft
from weft._src.framework import dtypes, nest, spec_comparison as comparison, type_spec_registry
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.trace_type import TraceType


class TypeSpec(TraceType):
    """What is known of a composite value: how it is taken apart into tensors and put together again."""

    _is_type_spec = True

    @property
    @abc.abstractmethod
    def value_type(self):
        """The class of the values."""

    @property
    @abc.abstractmethod
    def _component_specs(self):
        """A structure of specs, one for each part."""

    @abc.abstractmethod
    def _to_components(self, value):
        """The parts of a value."""

    @abc.abstractmethod
    def _from_components(self, components):
        """A value of its parts."""

    @abc.abstractmethod
    def _serialize(self):
        """A tuple of what makes this spec: the arguments of its class."""

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    # ---- relations

    def is_compatible_with(self, spec_or_value):
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = type_spec_from_value(spec_or_value)
        return type(self) is type(spec_or_value) and self.__is_compatible(self._serialize(), spec_or_value._serialize())

    __is_compatible = staticmethod(comparison.compatible)  # by this name tensorflow-probability's specs ask, too

    def is_subtype_of(self, other):
        return type(self) is type(other) and comparison.subtype(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others):
        others = list(others)
        if any(type(self) is not type(other) for other in others):
            return None
        try:
            return self._deserialize(comparison.common(self._serialize(), [other._serialize() for other in others]))
        except comparison.Different:
            return None

    def most_specific_compatible_type(self, other):
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return found

    # ---- values

    def placeholder_value(self, placeholder_context=None):
        parts = nest.map_structure(lambda spec: spec.placeholder_value(placeholder_context), self._component_specs)
        return self._from_components(parts)

    def to_tensors(self, value):
        tensors = []
        nest.map_structure(
            lambda spec, v: tensors.extend(spec.to_tensors(v)), self._component_specs, self._to_components(value)
        )
        return tensors

    def from_tensors(self, tensors):
        return self._from_components(nest.map_structure(lambda spec: spec.from_tensors(tensors), self._component_specs))

    def flatten(self):
        return [flat for spec in nest.flatten(self._component_specs) for flat in spec.flatten()]

    def cast(self, value, cast_context=None):
        if isinstance(value, TypeSpec) or not self.is_compatible_with(value):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    @property
    def _flat_tensor_specs(self):
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value):
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list):
        specs = self._flat_tensor_specs
        if len(tensor_list) != len(specs):
            raise ValueError(
                f"Cannot create a {self.value_type.__name__} from the tensor list because the TypeSpec "
                f"expects {len(specs)} items, but the provided "
                f"tensor list has {len(tensor_list)} items."
            )
        for i, (spec, tensor) in enumerate(zip(specs, tensor_list)):
            if not spec.is_compatible_with(tensor):
                raise ValueError(
                    f"Cannot create a {self.value_type.__name__} from the tensor list because item {i} "
                    f"({tensor!r}) is incompatible with the expected "
                    f"TypeSpec {spec}."
                )
        return self._from_compatible_tensor_list(tensor_list)

    def _from_compatible_tensor_list(self, tensor_list):
        return self._from_components(nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True))

    def _to_legacy_output_types(self):
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_types")

    def _to_legacy_output_shapes(self):
        raise NotImplementedError(f"{type(self).__name__}._to_legacy_output_shapes")

    def _to_legacy_output_classes(self):
        return self.value_type

    # ---- variants of this spec

    def _with_tensor_ranks_only(self):
        return self._deserialize(
            comparison.changed(
                self._serialize(),
                lambda v: (
                    TensorShape(None if v.rank is None else [None] * v.rank)
                    if isinstance(v, TensorShape)
                    else v._with_tensor_ranks_only()
                    if isinstance(v, TypeSpec)
                    else v
                ),
            )
        )

    def _without_tensor_names(self):
        def bare(v):
            return (
                TensorSpec(v.shape, v.dtype)
                if isinstance(v, TensorSpec)
                else v._without_tensor_names()
                if isinstance(v, TypeSpec)
                else v
            )

        return (
            bare(self)
            if isinstance(self, TensorSpec)
            else self._deserialize(comparison.changed(self._serialize(), bare))
        )

    def __tf_tracing_type__(self, context):
        return self

    # ---- as a message

    _proto_field = "type_spec_value"

    def experimental_as_proto(self):
        """As SavedModels keep it."""
        from weft._src.saved_model.structured import encode

        message = encode(self)
        return getattr(message, message.WhichOneof("kind"))

    @classmethod
    def experimental_from_proto(cls, proto):
        from weft._src.proto import StructuredValue
        from weft._src.saved_model.structured import decode

        message = StructuredValue()
        getattr(message, cls._proto_field).CopyFrom(proto)
        return decode(message)

    @classmethod
    def experimental_type_proto(cls):
        from weft._src.proto import StructuredValue

        return type(getattr(StructuredValue(), cls._proto_field))

    # ---- as a Python value

    def _key(self):
        key = self.__dict__.get("_cached_key")
        if key is None:
            key = (type(self), comparison.hashable(self._serialize()))
            object.__setattr__(self, "_cached_key", key)
        return key

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        # By the module that the class is in: as tensorflow's, classes give another name.
        module = type(self).__init__.__globals__["__name__"]
        return _unpickled, (module, type(self).__qualname__, self._serialize())

    def __repr__(self):
        return f"{type(self).__name__}{self._serialize()!r}"


class BatchableTypeSpec(TypeSpec):
    """A spec whose values can be elements of a batch."""

    _own_batch_encoder = None

    @abc.abstractmethod
    def _batch(self, batch_size):
        """The spec of batches of such values."""

    @abc.abstractmethod
    def _unbatch(self):
        """The spec of an element."""

    @property
    def _flat_tensor_specs(self):
        parts = _batchable_parts(self)
        return nest.flatten(nest.map_structure(lambda s: s._flat_tensor_specs, parts))

    def _to_tensor_list(self, value):
        return self._each(value, "_to_tensor_list")

    def _to_batched_tensor_list(self, value):
        return self._each(value, "_to_batched_tensor_list")

    def _each(self, value, method):
        parts = _batchable_parts(self)
        values = nest.flatten_up_to(parts, self._to_components(value))
        return [t for spec, v in zip(nest.flatten(parts), values) for t in getattr(spec, method)(v)]

    def _from_compatible_tensor_list(self, tensor_list):
        at, parts = 0, []
        specs = _batchable_parts(self)
        for spec in nest.flatten(specs):
            count = len(spec._flat_tensor_specs)
            parts.append(spec._from_compatible_tensor_list(tensor_list[at : at + count]))
            at += count
        return self._from_components(nest.pack_sequence_as(specs, parts))


def _batchable_parts(spec):
    for part in nest.flatten(spec._component_specs):
        if not isinstance(part, BatchableTypeSpec):
            raise NotImplementedError(f"{spec!r} has a component that cannot be batched: {part!r}")
    return spec._component_specs


class DenseSpec(TypeSpec):
    """A shape, a type of elements and perhaps a name."""

    _is_leaf_spec = True

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._name = name

    @property
    def shape(self):
        return self._shape

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def _component_specs(self):
        return self

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components

    def _serialize(self):
        return self._shape, self._dtype, self._name

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return self._shape

    def __eq__(self, other):
        return (
            type(self) is type(other)
            and self._shape == other._shape
            and self._dtype is other._dtype
            and self._name == other._name
        )

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"{type(self).__name__}(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


@type_spec_registry.register("tf.TensorSpec")
class TensorSpec(DenseSpec, BatchableTypeSpec):
    """The shape and type of a tensor."""

    _proto_field = "tensor_spec_value"

    @classmethod
    def from_spec(cls, spec, name=None):
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        if isinstance(tensor, EagerTensor):
            return TensorSpec(tensor.shape, tensor.dtype, name)
        if isinstance(tensor, Tensor):
            return TensorSpec(tensor.shape, tensor.dtype, name or tensor.op.name)
        raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")

    @property
    def value_type(self):
        return Tensor

    def is_compatible_with(self, spec_or_tensor):
        """Whether shape and type of a spec or tensor may be these."""
        if not isinstance(spec_or_tensor, (Tensor, TensorSpec)):
            return False
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self._shape.is_compatible_with(
            spec_or_tensor.shape
        )

    def is_subtype_of(self, other):
        return (
            isinstance(other, TensorSpec)
            and self._shape.is_subtype_of(other._shape)
            and self._dtype == other._dtype
            and (not self._name or self._name == other._name)
        )

    def most_specific_common_supertype(self, others):
        others = list(others)
        if not all(isinstance(o, TensorSpec) and o._dtype == self._dtype and o._name == self._name for o in others):
            return None
        return TensorSpec(
            self._shape.most_specific_common_supertype([o._shape for o in others]), self._dtype, self._name
        )

    def placeholder_value(self, placeholder_context=None):
        from weft._src.raw import raw

        return raw.Placeholder(dtype=self._dtype, shape=self._shape, name=self._name)

    def to_tensors(self, value):
        value = self.cast(value)
        if not value.shape.is_subtype_of(self._shape):
            raise TypeError(f"Received tensor of shape {value.shape} instead of {self._shape}")
        return [value]

    def from_tensors(self, tensors):
        return next(tensors)

    def flatten(self):
        return [self]

    def cast(self, value, cast_context=None):
        from weft._src.framework.convert import convert_to_tensor

        if (
            not isinstance(value, (Tensor, _weft.VariableBase))
            and getattr(type(value), "_is_composite", False)
            and not hasattr(type(value), "__tf_tensor__")
        ):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        value = convert_to_tensor(value, self._dtype)
        found = TensorSpec(value.shape, value.dtype, self._name)
        if not found.is_subtype_of(self):
            raise TypeError(f"Can not cast {found!r} to {self!r}")
        return value

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        return [value]

    _to_batched_tensor_list = _to_tensor_list

    def _from_components(self, components):
        return components

    def _from_compatible_tensor_list(self, tensor_list):
        tensor = tensor_list[0]
        tensor.set_shape(self._shape)
        return tensor

    def _batch(self, batch_size):
        return TensorSpec(TensorShape([batch_size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(self._shape[1:], self._dtype)


@type_spec_registry.register("tf.BoundedTensorSpec")
class BoundedTensorSpec(TensorSpec):
    """A TensorSpec whose elements have a least and a greatest value."""

    _proto_field = "bounded_tensor_spec_value"

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        import numpy as np

        super().__init__(shape, dtype, name)
        for label, value in (("minimum", minimum), ("maximum", maximum)):
            if value is None:
                raise ValueError(f"`{label}` can not be None.")
            try:
                fits = (
                    np.broadcast_shapes(np.shape(value), tuple(1 if d is None else d for d in self._shape))
                    if self._shape.rank is not None
                    else True
                )
            except ValueError:
                fits = False
            if not fits and self._shape.rank:
                raise ValueError(f"`{label}` {value} is not compatible with shape {self._shape}.")
            array = np.array(value, dtypes.numpy_dtype(self._dtype._type_enum))
            array.setflags(write=False)
            setattr(self, "_" + label, array)

    @classmethod
    def from_spec(cls, spec, name=None):
        dtype = dtypes.as_dtype(spec.dtype)  # specs of other packages have numpy's
        low, high = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, low, high, name or spec.name)

    @property
    def minimum(self):
        return self._minimum

    @property
    def maximum(self):
        return self._maximum

    def _serialize(self):
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __eq__(self, other):
        import numpy as np

        return (
            super().__eq__(other)
            and np.allclose(self._minimum, other._minimum)
            and np.allclose(self._maximum, other._maximum)
        )

    def __hash__(self):
        return hash((self._shape, self._dtype))

    def __repr__(self):
        return f"{super().__repr__()[:-1]}, minimum={self._minimum!r}, maximum={self._maximum!r})"


class VariableSpec(DenseSpec):
    """The shape and type of a tf.Variable."""

    _is_leaf_spec = False

    def __init__(self, shape, dtype=dtypes.float32, trainable=True, alias_id=None):
        super().__init__(shape, dtype)
        self.trainable, self.alias_id = trainable, alias_id

    @property
    def value_type(self):
        from weft._src.trackable.variable import Variable

        return Variable

    @classmethod
    def from_value(cls, value):
        return cls(value.shape, value.dtype, value.trainable)

    def is_compatible_with(self, spec_or_value):
        if isinstance(spec_or_value, _weft.VariableBase):
            spec_or_value = VariableSpec.from_value(spec_or_value)
        return (
            isinstance(spec_or_value, VariableSpec)
            and self._dtype.is_compatible_with(spec_or_value.dtype)
            and self._shape.is_compatible_with(spec_or_value.shape)
            and self.trainable == spec_or_value.trainable
        )

    def is_subtype_of(self, other):
        return (
            isinstance(other, VariableSpec)
            and self._shape.is_subtype_of(other._shape)
            and self._dtype == other._dtype
            and self.trainable == other.trainable
            and self.alias_id == other.alias_id
        )

    def most_specific_common_supertype(self, others):
        others = list(others)
        if not all(
            isinstance(o, VariableSpec)
            and (o._dtype, o.trainable, o.alias_id) == (self._dtype, self.trainable, self.alias_id)
            for o in others
        ):
            return None
        return VariableSpec(
            self._shape.most_specific_common_supertype([o._shape for o in others]),
            self._dtype,
            self.trainable,
            self.alias_id,
        )

    def cast(self, value, cast_context=None):
        return value

    def to_tensors(self, value):
        return [value.handle]

    def flatten(self):
        return [TensorSpec([], dtypes.resource)]

    def _batch(self, batch_size):
        raise NotImplementedError("a batch of variables")

    def _unbatch(self):
        raise NotImplementedError("an element of a variable")

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.resource)]

    def _to_components(self, value):
        return [value.handle]

    def _from_components(self, components):
        if isinstance(components[0], _weft.VariableBase):
            return components[0]
        from weft._src.function.variable_argument import ArgumentVariable

        return ArgumentVariable(components[0], "Variable", self)

    def _serialize(self):
        return self._shape, self._dtype, self.trainable, self.alias_id

    def __eq__(self, other):
        return type(self) is type(other) and self._serialize() == other._serialize()

    def __hash__(self):
        return hash(self._serialize())

    def __repr__(self):
        return (
            f"VariableSpec(shape={self._shape}, dtype={self._dtype!r}, trainable={self.trainable!r}, "
            f"alias_id={self.alias_id!r})"
        )


def _unpickled(module, name, serialization):
    found = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found._deserialize(serialization)


# ---- the spec of a value ---------------------------------------------------------------------------------

_converters = []  # (types, function, allow_subclass), the newest last


def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """converter_fn(value) gives the spec of values of type_object."""
    _converters.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value):
    """tf.type_spec_from_value: the spec that a value has or would have as a tensor."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    spec = _spec_from_value(value)
    if spec is not None:
        return spec
    from weft._src.framework.convert import convert_to_tensor

    try:
        made = convert_to_tensor(value)
        return _spec_from_value(made)
    except (ValueError, TypeError):
        raise TypeError(f"Could not build a TypeSpec for {value} of unsupported type {type(value)}.") from None


def _spec_from_value(value):
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, _weft.VariableBase):
        return VariableSpec.from_value(value)
    if getattr(type(value), "_is_composite", False):
        return value._type_spec
    for kinds, function, subclasses in reversed(_converters):
        if type(value) is kinds or (subclasses and isinstance(value, kinds)):
            return function(value)
    found = getattr(value, "_type_spec", None)
    if isinstance(found, TypeSpec):
        return found
    if value is None:
        return NoneTensorSpec()
    return None


@type_spec_registry.register("tf.NoneTensorSpec")
class NoneTensorSpec(BatchableTypeSpec):
    """The spec of None."""

    value_type = property(lambda self: type(None))
    _component_specs = property(lambda self: [])
    _flat_tensor_specs = property(lambda self: [])

    @classmethod
    def from_value(cls, value):
        return cls()

    def _to_components(self, value):
        return []

    _to_tensor_list = _to_batched_tensor_list = _to_components

    def _from_components(self, components):
        return None

    _from_tensor_list = _from_compatible_tensor_list = _from_components

    def _serialize(self):
        return ()

    def _batch(self, batch_size):
        return self

    def _unbatch(self):
        return self

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types

    def is_compatible_with(self, spec_or_value):
        return spec_or_value is None or isinstance(spec_or_value, NoneTensorSpec)

    def most_specific_compatible_shape(self, other):
        if type(self) is not type(other):
            raise ValueError("No `TypeSpec` is compatible with both %s and %s" % (self, other))
        return self

    def __repr__(self):
        return "NoneTensorSpec()"
