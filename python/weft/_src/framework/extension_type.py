"""tf.experimental.ExtensionType: classes of the user's whose fields are tensors, usable wherever tensors are."""

import abc
import collections.abc
import functools
import inspect
import sys
import typing

from weft._src.framework import nest, type_spec_registry
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.dtypes import DType
from weft._src.framework.extension_fields import REQUIRED, Field, check_annotation, convert, is_reserved
from weft._src.framework.immutable_dict import ImmutableDict
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import BatchableTypeSpec, TensorSpec, TypeSpec


_PLAIN = (bool, int, float, str, bytes, type(None), None, Ellipsis, TensorShape, DType)


def _own_annotations(cls):
    return cls.__dict__.get("__annotations__", {})


def _check_class(cls):
    """Fields have annotations, and names that are free."""
    annotations = _own_annotations(cls)
    for name in annotations:
        if is_reserved(name):
            raise ValueError(f"The field annotations for {cls.__name__} are invalid. Field '{name}' is reserved.")
    for name, value in cls.__dict__.items():
        special = (
            name.startswith(("_abc_", "_tf_extension_type_"))
            or (name.startswith("__") and name.endswith("__"))
            or name == "Spec"
        )
        if not (
            special
            or name in annotations
            or callable(value)
            or isinstance(value, (property, classmethod, staticmethod))
            or hasattr(value, "__get__")
        ):
            raise ValueError(
                f"The field annotations for {cls.__name__} are invalid. Field {name} is missing a type annotation."
            )
    for name, annotation in annotations.items():
        try:
            check_annotation(annotation)
        except TypeError as error:
            raise TypeError(f"In field {name!r}: {error}") from error
        if name in cls.__dict__ and not _is_open(annotation) and not _has_tensors(annotation):
            convert(cls.__dict__[name], annotation, f"default value for {name}")


class ExtensionTypeMeta(abc.ABCMeta):
    def __init__(cls, name, bases, namespace):
        super().__init__(name, bases, namespace)
        if namespace.get("_tf_extension_type_is_base"):
            return
        _check_class(cls)
        own = namespace.get("__init__")
        cls.__init__ = _own_constructor(own) if own is not None else _plain_constructor(cls)
        _add_spec(cls)


def _fields(cls):
    """The fields, those of bases first; references to classes by name are looked up when they are first needed."""
    found = cls.__dict__.get("_tf_extension_type_cached_fields")
    if found is None:
        names = {}
        for base in reversed(cls.__mro__):
            if isinstance(base, ExtensionTypeMeta):
                for name, annotation in _own_annotations(base).items():
                    names[name] = (annotation, base)
        found = [
            Field(name, _resolved(annotation, owner, cls), getattr(cls, name, REQUIRED))
            for name, (annotation, owner) in names.items()
        ]
        if not any(_is_open(f.value_type) for f in found):
            type.__setattr__(cls, "_tf_extension_type_cached_fields", found)
    return found


def _is_open(annotation):
    return isinstance(annotation, (str, typing.ForwardRef)) or any(_is_open(a) for a in typing.get_args(annotation))


def _has_tensors(annotation):
    """Whether values of a field are or hold tensors, which a class does not make of its defaults."""
    inside = typing.get_args(annotation)
    return any(_has_tensors(a) for a in inside) if inside else annotation not in _PLAIN


def _resolved(annotation, owner, cls):
    if not _is_open(annotation):
        return annotation
    names = {**vars(sys.modules.get(owner.__module__, sys)), owner.__name__: owner, cls.__name__: cls}
    try:
        return typing.get_type_hints(type("_", (), {"__annotations__": {"x": annotation}}), names, names)["x"]
    except NameError:
        return annotation


def _signature(cls, fields=None):
    """Of the constructor: a field without a default behind one with a default is given by name."""
    parameters, seen = [], False
    for field in _fields(cls) if fields is None else fields:
        seen = seen or field.default is not REQUIRED
        kind = (
            inspect.Parameter.KEYWORD_ONLY
            if seen and field.default is REQUIRED
            else inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
        default = inspect.Parameter.empty if field.default is REQUIRED else field.default
        parameters.append(inspect.Parameter(field.name, kind, default=default, annotation=field.value_type))
    parameters.sort(key=lambda p: p.kind)
    return inspect.Signature(parameters, return_annotation=cls)


def _plain_constructor(cls):
    def __init__(self, *args, **kwargs):
        bound = _signature(cls).bind(*args, **kwargs)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            self.__dict__[name] = value
        if type(self).__init__ is __init__:
            _finish(self)

    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = _signature(cls)
    __init__.__signature__ = signature.replace(parameters=[first, *signature.parameters.values()])
    return __init__


def _own_constructor(own):
    @functools.wraps(own)
    def __init__(self, *args, **kwargs):
        outermost = type(self).__init__ is __init__
        if outermost:
            self.__dict__["_tf_extension_type_open"] = True
        own(self, *args, **kwargs)
        if outermost:
            del self.__dict__["_tf_extension_type_open"]
            _finish(self)

    return __init__


def _finish(self):
    """Fields are there, of their types, and __validate__ lets them pass."""
    fields = _fields(type(self))
    missing = {f.name for f in fields if f.name not in self.__dict__ and f.default is REQUIRED}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    for field in fields:
        value = self.__dict__.get(field.name, field.default)
        self.__dict__[field.name] = convert(value, field.value_type, field.name)
    self.__validate__()


class ExtensionType(CompositeTensor, metaclass=ExtensionTypeMeta):
    """The base of the user's types: fields are class annotations, instances do not change."""

    _tf_extension_type_is_base = True

    def __init__(self, *args, **kwargs):
        if type(self) is ExtensionType or type(self).__dict__.get("_tf_extension_type_is_base"):
            raise AssertionError(
                f"Cannot create an instance of {type(self).__name__} because {type(self).__name__} is "
                f"an abstract base class."
            )

    @classmethod
    def _tf_extension_type_fields(cls):
        return _fields(cls)

    @classmethod
    def _tf_extension_type_has_field(cls, name):
        return any(f.name == name for f in _fields(cls))

    def __validate__(self):
        """What a class checks of its fields."""

    def __setattr__(self, name, value):
        if "_tf_extension_type_open" in self.__dict__ and any(f.name == name for f in _fields(type(self))):
            self.__dict__[name] = value
            return
        if name == "_keras_mask":  # what Keras puts on all values that pass its layers
            self.__dict__[name] = value
            return
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")

    def __delattr__(self, name):
        if "_tf_extension_type_open" in self.__dict__:
            self.__dict__.pop(name)
            return
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType.")

    def __repr__(self):
        shown = ", ".join(f"{f.name}={self.__dict__.get(f.name)!r}" for f in _fields(type(self)))
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other):
        """A tensor: whether all fields are equal."""
        from weft._src.raw import raw
        from weft._src.framework.convert import convert_to_tensor

        if type(self) is not type(other) or self._type_spec != other._type_spec:
            return False
        tests = []
        for a, b in zip(nest.flatten(self, expand_composites=True), nest.flatten(other, expand_composites=True)):
            same = raw.Equal(x=a, y=b, incompatible_shape_error=False)
            tests.append(raw.All(input=same, reduction_indices=list(range(same.shape.rank or 0))))
        return (
            convert_to_tensor(True)
            if not tests
            else raw.All(input=raw.Pack(values=tests, axis=0), reduction_indices=[0])
        )

    def __ne__(self, other):
        from weft._src.raw import raw

        same = self == other
        return raw.LogicalNot(x=same) if isinstance(same, Tensor) else not same

    __hash__ = None

    @property
    def _type_spec(self):
        found = self.__dict__.get("_tf_extension_type_cached_spec")
        if found is None:
            found = self.Spec.from_value(self)
            self.__dict__["_tf_extension_type_cached_spec"] = found
        return found

    def __reduce__(self):
        return _restore, (type(self), {f.name: self.__dict__[f.name] for f in _fields(type(self))})

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self


def _restore(cls, fields):
    value = object.__new__(cls)
    value.__dict__.update(fields)
    return value


def as_dict(value):
    """tf.experimental.extension_type.as_dict: the fields by name."""
    return {f.name: getattr(value, f.name) for f in _fields(type(value))}


# ---- specs ------------------------------------------------------------------------------------------------


def _spec_of(value):
    """Tensors and composite values by their specs, structures part by part, all else as it is."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if getattr(type(value), "_is_composite", False):
        return value._type_spec
    if isinstance(value, (tuple, collections.abc.Mapping)):
        return nest.sequence_like(value, [_spec_of(v) for v in nest._children(value, nest._kind(value))])
    from weft import _weft

    if isinstance(value, _weft.VariableBase):
        from weft._src.framework.type_spec import VariableSpec

        return VariableSpec.from_value(value)
    return value


class ExtensionTypeSpec(TypeSpec):
    """The type of an extension type: its fields with specs for tensors."""

    def __init__(self, *args, **kwargs):
        signature = inspect.Signature(
            [inspect.Parameter(f.name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for f in self._spec_fields()]
        )
        bound = signature.bind(*args, **kwargs)
        self.__dict__["_tf_extension_type_open"] = True
        for field in self._spec_fields():
            self.__dict__[field.name] = convert(bound.arguments[field.name], field.value_type, field.name, of_spec=True)
        del self.__dict__["_tf_extension_type_open"]

    @property
    def value_type(self):
        return type(self)._tf_value_type

    @classmethod
    def _spec_fields(cls):
        return _fields(cls._tf_value_type)

    @classmethod
    def from_value(cls, value):
        return _restore(cls, {f.name: _spec_of(getattr(value, f.name)) for f in cls._spec_fields()})

    def _values(self):
        return {f.name: self.__dict__[f.name] for f in self._spec_fields()}

    def _serialize(self):
        return tuple((name, dict(v) if isinstance(v, ImmutableDict) else v) for name, v in self._values().items())

    @classmethod
    def _deserialize(cls, serialization):
        return _restore(cls, {name: ImmutableDict(v) if isinstance(v, dict) else v for name, v in serialization})

    @property
    def _component_specs(self):
        return tuple(leaf for leaf in nest.flatten(tuple(self._values().values())) if isinstance(leaf, TypeSpec))

    def _to_components(self, value):
        structure = tuple(self._values().values())
        parts = nest.flatten_up_to(
            structure, tuple(getattr(value, f.name) for f in self._spec_fields()), check_types=False
        )
        return tuple(part for spec, part in zip(nest.flatten(structure), parts) if isinstance(spec, TypeSpec))

    def _from_components(self, components):
        given = iter(components)
        leaves = [
            next(given) if isinstance(leaf, TypeSpec) else leaf for leaf in nest.flatten(tuple(self._values().values()))
        ]
        values = nest.pack_sequence_as(tuple(self._values().values()), leaves)
        return _restore(self.value_type, {f.name: v for f, v in zip(self._spec_fields(), values)})

    def __setattr__(self, name, value):
        if (
            name.startswith("_cached")
            or "_tf_extension_type_open" in self.__dict__
            or name not in {f.name for f in self._spec_fields()}
        ):
            self.__dict__[name] = value
            return
        raise AttributeError(f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionTypeSpec.")

    def __repr__(self):
        shown = ", ".join(
            f"{name}={dict(v) if isinstance(v, ImmutableDict) else v!r}" for name, v in self._values().items()
        )
        return f"{type(self).__qualname__.rpartition('.')[0].rpartition('.')[2]}.Spec({shown})"

    def __reduce__(self):
        return _restore, (type(self), self._values())


def _add_spec(cls):
    base = BatchableExtensionTypeSpec if issubclass(cls, BatchableExtensionType) else ExtensionTypeSpec
    own = cls.__dict__.get("Spec")
    bases = (base,) if own is None else (own,) if issubclass(own, ExtensionTypeSpec) else (own, base)
    namespace = {"_tf_value_type": cls, "__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.Spec"}
    spec = type(f"{cls.__name__}.Spec", bases, namespace)
    if own is None:
        spec.__init__ = _spec_constructor(cls)
    elif "__init__" in own.__dict__:
        spec.__init__ = _own_spec_constructor(own.__dict__["__init__"])
    type.__setattr__(cls, "Spec", spec)
    # A class with a name of its own can be saved.
    if "__name__" in cls.__dict__:
        type_spec_registry.register(cls.__dict__["__name__"] + ".Spec")(spec)


def _spec_constructor(cls):
    def __init__(self, *args, **kwargs):
        ExtensionTypeSpec.__init__(self, *args, **kwargs)

    names = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ["self", *(f.name for f in _fields(cls))]
    ]
    __init__.__signature__ = inspect.Signature(names)
    return __init__


def _own_spec_constructor(own):
    """A Spec class of the user's may set the fields in its constructor."""

    @functools.wraps(own)
    def __init__(self, *args, **kwargs):
        self.__dict__["_tf_extension_type_open"] = True
        own(self, *args, **kwargs)
        del self.__dict__["_tf_extension_type_open"]
        for field in self._spec_fields():
            if field.name not in self.__dict__:
                raise ValueError(f"Missing required fields: {{{field.name!r}}}")
            self.__dict__[field.name] = convert(self.__dict__[field.name], field.value_type, field.name, of_spec=True)

    return __init__


# ---- batches ---------------------------------------------------------------------------------------------


class ExtensionTypeBatchEncoder:
    """How values of a batchable type become and leave a batch: field by field, unless a class says otherwise."""

    def batch(self, spec, batch_size):
        def grown(v):
            if isinstance(v, TensorShape):
                return TensorShape([batch_size]).concatenate(v)
            return v._batch(batch_size) if isinstance(v, TypeSpec) else v

        return _mapped(spec, grown)

    def unbatch(self, spec):
        def shrunk(v):
            return v[1:] if isinstance(v, TensorShape) else v._unbatch() if isinstance(v, TypeSpec) else v

        return _mapped(spec, shrunk)

    def encode(self, spec, value, minimum_rank=0):
        return spec._to_components(value)

    def decode(self, spec, encoded_value):
        return spec._from_components(encoded_value)

    def encoding_specs(self, spec):
        return spec._component_specs


def _mapped(spec, function):
    return _restore(type(spec), {name: nest.map_structure(function, v) for name, v in spec._values().items()})


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchableTypeSpec):
    """The type of a batchable extension type."""

    def _encoder(self):
        return getattr(self.value_type, "__batch_encoder__", None) or ExtensionTypeBatchEncoder()

    def _batch(self, batch_size):
        return self._encoder().batch(self, batch_size)

    def _unbatch(self):
        return self._encoder().unbatch(self)

    # As an element of a dataset: what the encoder makes of it.

    @property
    def _flat_tensor_specs(self):
        return [flat for spec in nest.flatten(self._encoder().encoding_specs(self)) for flat in spec._flat_tensor_specs]

    def _each(self, value, method, minimum_rank=0):
        encoder = self._encoder()
        specs = encoder.encoding_specs(self)
        parts = nest.flatten_up_to(specs, encoder.encode(self, value, minimum_rank))
        return [t for spec, part in zip(nest.flatten(specs), parts) for t in getattr(spec, method)(part)]

    def _to_tensor_list(self, value):
        return self._each(value, "_to_tensor_list")

    def _to_batched_tensor_list(self, value):
        return self._each(value, "_to_batched_tensor_list", 1)

    def _from_compatible_tensor_list(self, tensor_list):
        encoder, at, parts = self._encoder(), 0, []
        specs = encoder.encoding_specs(self)
        for spec in nest.flatten(specs):
            count = len(spec._flat_tensor_specs)
            parts.append(spec._from_compatible_tensor_list(tensor_list[at : at + count]))
            at += count
        return encoder.decode(self, nest.pack_sequence_as(specs, parts))


class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be stacked: for datasets and map_fn."""

    _tf_extension_type_is_base = True
