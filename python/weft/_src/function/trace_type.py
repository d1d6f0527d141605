"""What decides which trace of a function a call uses: the types of its arguments.

A type is made of a value by `type_of`. Types compare and hash; `is_subtype_of` says whether a trace for another type takes such values, `common`
gives the narrowest type above two. `specs` lists the tensors in a value of the type, `flatten` takes them out of a value, `placeholder` puts others in
their place, `cast` makes a value fit."""

import collections.abc
import weakref

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.tensor import Tensor


class Type:
    """Base of all; a type without tensors in it."""

    __slots__ = ()

    def specs(self):
        return []

    def flatten(self, value, out):
        pass

    def placeholder(self, take):
        raise NotImplementedError

    def is_subtype_of(self, other):
        return self == other

    def common(self, other):
        return self if self == other else None

    def cast(self, value):
        if type_of(value) != self:
            raise ValueError(f"Can not cast {value!r} to {self!r}")
        return value

    def named(self, prefix):
        """The value as structured_input_signature shows it."""
        return self.placeholder(None)

    def __ne__(self, other):
        return not self == other


class Literal(Type):
    """A Python value that is equal to itself."""

    __slots__ = ("value", "_hash")

    def __init__(self, value):
        self.value, self._hash = value, hash(value)

    def placeholder(self, take):
        return self.value

    def cast(self, value):
        if self.value is value or self.value == value:
            return self.value
        raise ValueError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other):
        return isinstance(other, Literal) and self._hash == other._hash and bool(self.value == other.value)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"Literal[{self.value!r}]"


class Weakref(Type):
    """An object by its equality, not kept alive."""

    __slots__ = ("ref", "_hash")

    def __init__(self, value):
        self.ref = weakref.ref(value)
        self._hash = hash(self.ref)

    def placeholder(self, take):
        value = self.ref()
        if value is None:
            raise ReferenceError("an argument that a function was traced for is gone")
        return value

    def cast(self, value):
        own = self.ref()
        if own is value or (own is not None and own == value):
            return value
        raise ValueError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other):
        if not isinstance(other, Weakref):
            return False
        a, b = self.ref(), other.ref()
        return a is not None and b is not None and (a is b or bool(a == b))

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"Weakref[{self.ref!r}])"


class Variable(Type):
    """A variable, passed by its handle; `alias` tells which of a call's variables are the same one."""

    __slots__ = ("shape", "dtype", "trainable", "alias", "sample")

    def __init__(self, shape, dtype, trainable, alias, sample=None):
        self.shape, self.dtype, self.trainable, self.alias = shape, dtype, trainable, alias
        self.sample = None if sample is None else weakref.ref(sample)

    name = None

    def specs(self):
        return [self]

    def flatten(self, value, out):
        out.append(value)

    def placeholder(self, take):
        return self if take is None else take(self)

    def is_subtype_of(self, other):
        return (
            isinstance(other, Variable)
            and (self.dtype, self.trainable, self.alias) == (other.dtype, other.trainable, other.alias)
            and _is_narrower(self.shape, other.shape)
        )

    def common(self, other):
        if not isinstance(other, Variable) or (self.dtype, self.trainable, self.alias) != (
            other.dtype,
            other.trainable,
            other.alias,
        ):
            return None
        return Variable(
            self.shape.most_specific_compatible_shape(other.shape),
            self.dtype,
            self.trainable,
            self.alias,
            self.sample and self.sample(),
        )

    def cast(self, value):
        if not isinstance(value, _weft.VariableBase):
            raise TypeError("")  # TensorFlow asserts it, and says no more
        return value

    def _key(self):
        return (
            self.dtype,
            None if self.shape.rank is None else tuple(self.shape.as_list()),
            self.trainable,
            self.alias,
        )

    def __eq__(self, other):
        return isinstance(other, Variable) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"VariableSpec(shape={self.shape}, dtype={self.dtype!r}, trainable={self.trainable!r}, alias_id={self.alias!r})"


def _is_narrower(a, b):
    if b.rank is None:
        return True
    return a.rank == b.rank and all(y is None or x == y for x, y in zip(a.as_list(), b.as_list()))


class Spec(Type):
    """A tensor or composite tensor, by its TypeSpec."""

    __slots__ = ("spec", "_parts", "_hash")

    def __init__(self, spec):
        self.spec = spec
        self._parts = None
        # The name of a spec is that of the argument, and no difference of type.
        self._hash = hash(type(spec)) if not is_tensor_spec(spec) else hash((spec.dtype, spec.shape.rank))

    @property
    def parts(self):
        """Of a composite: the specs of its tensors, in a row."""
        if self._parts is None:
            from weft._src.framework import nest

            self._parts = [self.spec] if is_tensor_spec(self.spec) else nest.flatten(self.spec, expand_composites=True)
        return self._parts

    def specs(self):
        return self.parts

    def flatten(self, value, out):
        if is_tensor_spec(self.spec):
            out.append(value)
            return
        from weft._src.framework import nest

        out.extend(nest.flatten(self.spec._to_components(value), expand_composites=True))

    def placeholder(self, take):
        if take is None:
            return self.spec
        if is_tensor_spec(self.spec):
            return take(self.spec)
        from weft._src.framework import nest

        return nest.pack_sequence_as(self.spec, [take(s) for s in self.parts], expand_composites=True)

    def named(self, prefix):
        if not is_tensor_spec(self.spec) or self.spec.name is not None:
            return self.spec
        from weft._src.framework.type_spec import TensorSpec

        return TensorSpec(self.spec.shape, self.spec.dtype, name=prefix)

    def is_subtype_of(self, other):
        if not isinstance(other, Spec):
            return False
        a, b = self.spec, other.spec
        if is_tensor_spec(a) and is_tensor_spec(b):
            # A name that was asked for is kept: such a trace takes no other's place.
            return a.dtype == b.dtype and _is_narrower(a.shape, b.shape) and (not a.name or a.name == b.name)
        return a.is_subtype_of(b)

    def common(self, other):
        if not isinstance(other, Spec):
            return None
        a, b = self.spec, other.spec
        if is_tensor_spec(a) and is_tensor_spec(b):
            if a.dtype != b.dtype:
                return None
            from weft._src.framework.type_spec import TensorSpec

            return Spec(
                TensorSpec(
                    a.shape.most_specific_compatible_shape(b.shape), a.dtype, a.name if a.name == b.name else None
                )
            )
        made = a.most_specific_common_supertype([b])
        return None if made is None else Spec(made)

    def cast(self, value):
        spec = self.spec
        if isinstance(value, _type_spec_class()):
            made = Spec(value)
            if not made.is_subtype_of(self):
                raise TypeError(f"Can not cast {value!r} to {spec!r}")
            return value
        if not is_tensor_spec(spec):
            if not spec.is_compatible_with(value):
                raise TypeError(f"Can not cast {value!r} to {spec!r}")
            return value
        if not isinstance(value, Tensor):
            from weft._src.framework.convert import convert_to_tensor

            wanted = None if isinstance(value, _weft.VariableBase) else spec.dtype
            value = convert_to_tensor(value, wanted)
        if value.dtype is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
            from weft._src.framework.type_spec import TensorSpec

            raise TypeError(f"Can not cast {TensorSpec(value.shape, value.dtype)!r} to {unnamed(spec)!r}")
        return value

    def __eq__(self, other):
        if not isinstance(other, Spec):
            return False
        a, b = self.spec, other.spec
        if is_tensor_spec(a) and is_tensor_spec(b):
            return a.dtype == b.dtype and _dims(a.shape) == _dims(b.shape)
        return a == b

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return repr(self.spec)


def _dims(shape):
    return None if shape.rank is None else shape.as_list()


def _type_spec_class():
    from weft._src.framework.type_spec import TypeSpec

    return TypeSpec


def is_tensor_spec(spec):
    from weft._src.framework.type_spec import TensorSpec

    return isinstance(spec, TensorSpec)


def unnamed(spec):
    from weft._src.framework.type_spec import TensorSpec

    return TensorSpec(spec.shape, spec.dtype) if type(spec) is TensorSpec and spec.name is not None else spec


class Custom(Type):
    """A type of the user's: what a value's __tf_tracing_type__ gave."""

    __slots__ = ("own",)

    def __init__(self, own):
        self.own = own

    def placeholder(self, take):
        return self.own.placeholder_value(None)

    def named(self, prefix):
        return self.own

    def is_subtype_of(self, other):
        return isinstance(other, Custom) and bool(self.own.is_subtype_of(other.own))

    def common(self, other):
        made = self.own.most_specific_common_supertype([other.own]) if isinstance(other, Custom) else None
        return None if made is None else Custom(made)

    def cast(self, value):
        made = type_of(value)
        if made == self or made.is_subtype_of(self):
            return value
        return self.own.cast(value, None)

    def __eq__(self, other):
        return isinstance(other, Custom) and bool(self.own == other.own)

    def __hash__(self):
        return hash(self.own)

    def __repr__(self):
        return repr(self.own)


class Collection(Type):
    """Values by position or key. `kind` is the class of the value, `keys` those of a mapping or attrs class (else None)."""

    __slots__ = ("kind", "keys", "items", "order", "_hash")

    def __init__(self, kind, items, keys=None):
        self.kind, self.items, self.keys = kind, tuple(items), None if keys is None else tuple(keys)
        self.order = range(len(self.items))
        if keys is not None and is_mapping_class(kind):
            try:
                self.order = sorted(self.order, key=lambda i: self.keys[i])
            except TypeError:
                pass
        self._hash = hash((self._family(), tuple((self.keys and self.keys[i], self.items[i]) for i in self.order)))

    def _family(self):
        return (
            dict
            if is_mapping_class(self.kind)
            else list
            if issubclass(self.kind, list) and not hasattr(self.kind, "_fields")
            else self.kind
        )

    def values(self, value):
        """The parts of a value of this kind, in the order of `items`; raises ValueError for another structure."""
        if self.keys is not None:
            if is_mapping_class(self.kind):
                if not isinstance(value, collections.abc.Mapping):
                    raise TypeError(f"Can not cast {value!r} to a Dict type.")
                if set(value) != set(self.keys):
                    raise ValueError(f"{value!r} has different keys with the TraceType {self!r}.")
                return [value[k] for k in self.keys]
            if type(value) is not self.kind:
                raise ValueError(f"Can not cast {value!r} to {self!r}")
            return [getattr(value, k) for k in self.keys]
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Can not cast {value!r} to {'Tuple' if issubclass(self.kind, tuple) else 'List'} type.")
        if len(value) != len(self.items):
            raise ValueError(f"{value!r} has a different length with the TraceType {self!r}.")
        return list(value)

    def build(self, parts):
        if self.keys is not None:
            if is_mapping_class(self.kind):
                pairs = list(zip(self.keys, parts))
                if issubclass(self.kind, collections.defaultdict):
                    return dict(pairs)
                try:
                    return self.kind(pairs)
                except TypeError:
                    return dict(pairs)
            return self.kind(*parts)
        if hasattr(self.kind, "_fields"):
            return self.kind(*parts)
        return tuple(parts) if self.kind is tuple else list(parts) if issubclass(self.kind, list) else self.kind(parts)

    def specs(self):
        return [s for i in self.order for s in self.items[i].specs()]

    def flatten(self, value, out):
        parts = self.values(value)
        for i in self.order:
            self.items[i].flatten(parts[i], out)

    def placeholder(self, take):
        parts = [None] * len(self.items)
        for i in self.order:
            parts[i] = self.items[i].placeholder(take)
        return self.build(parts)

    def named(self, prefix):
        names = self.keys if self.keys is not None else getattr(self.kind, "_fields", self.order)
        return self.build([t.named(f"{prefix}_{n}") for n, t in zip(names, self.items)])

    def _same_structure(self, other):
        if (
            not isinstance(other, Collection)
            or self._family() is not other._family()
            or len(self.items) != len(other.items)
        ):
            return None
        if self.keys is None:
            return list(zip(self.items, other.items))
        theirs = dict(zip(other.keys, other.items))
        if set(theirs) != set(self.keys):
            return None
        return [(t, theirs[k]) for k, t in zip(self.keys, self.items)]

    def is_subtype_of(self, other):
        pairs = self._same_structure(other)
        return pairs is not None and all(a.is_subtype_of(b) for a, b in pairs)

    def common(self, other):
        pairs = self._same_structure(other)
        made = None if pairs is None else [a.common(b) for a, b in pairs]
        return None if made is None or any(m is None for m in made) else Collection(self.kind, made, self.keys)

    def _check_sequence(self, value):
        """TensorFlow's words for what is not this kind of sequence, or not as long."""
        if hasattr(self.kind, "_fields"):
            # A class that came out of a SavedModel stands for the program's own.
            if getattr(value, "_fields", None) != self.kind._fields or type(value).__name__ != self.kind.__name__:
                raise TypeError(f"Cannot cast {value!r} to type {self.kind!r}.")
        elif issubclass(self.kind, list):
            if not isinstance(value, list):
                raise TypeError(f"Can not cast {value!r} to list type.")
            if len(value) != len(self.items):
                raise TypeError("object of type 'Tuple' has no len()")
        elif not isinstance(value, tuple):
            raise TypeError(f"Can not cast {value!r} to tuple type.")
        elif len(value) != len(self.items):
            raise ValueError(f"Expected {value!r} to have length of {len(self.items)}")

    def cast(self, value):
        if self.keys is None:
            self._check_sequence(value)
        parts = self.values(value)
        made = [t.cast(v) for t, v in zip(self.items, parts)]
        if all(a is b for a, b in zip(made, parts)) and isinstance(value, self.kind):
            return value
        return self.build(made)

    def __eq__(self, other):
        if not isinstance(other, Collection) or self._hash != other._hash:
            return False
        pairs = self._same_structure(other)
        return pairs is not None and all(a == b for a, b in pairs)

    def __hash__(self):
        return self._hash

    def __repr__(self):
        if self.keys is not None:
            pairs = ", ".join(f"[{k!r}, {t!r}]" for k, t in zip(self.keys, self.items))
            return f"Dict[{pairs}]" if is_mapping_class(self.kind) else f"{self.kind.__name__}[{pairs}]"
        if hasattr(self.kind, "_fields"):
            return (
                f"{self.kind.__name__}["
                + ", ".join(f"[{k!r}, {t!r}]" for k, t in zip(self.kind._fields, self.items))
                + "]"
            )
        return f"{'Tuple' if issubclass(self.kind, tuple) else 'List'}[{', '.join(map(repr, self.items))}]"


def is_mapping_class(kind):
    return issubclass(kind, collections.abc.Mapping)


class Context:
    """Tells the variables of one call apart."""

    __slots__ = ("variables", "is_for_legacy_signature")

    def __init__(self):
        self.variables = {}
        self.is_for_legacy_signature = False

    def alias(self, variable):
        """By the handle: what an assignment gives is the variable, too."""
        return self.alias_global_id(variable._outer_handle()._identity())

    def alias_global_id(self, key):
        return self.variables.setdefault(key, len(self.variables))


def _plain_class(kind):
    """What a module wraps to track it, as it was given."""
    if kind.__name__ == "_TupleWrapper":
        return getattr(kind, "_wrapped_type", tuple)
    return dict if kind.__name__ == "_DictWrapper" else kind


_PLAIN = (int, float, complex, bool, str, bytes, type(None))


def type_of(value, context=None):
    """The type of an argument; TypeSpecs stand for values of theirs."""
    context = context or Context()
    kind = type(value)
    if isinstance(value, Tensor):
        from weft._src.framework.type_spec import TensorSpec

        return Spec(TensorSpec(value.shape, value.dtype))
    if kind in _PLAIN:
        return Literal(value)
    if isinstance(value, _weft.VariableBase) and not value.is_distributed_variable:
        return Variable(value.shape, value.dtype, bool(value.trainable), context.alias(value), value)
    if isinstance(value, tuple):
        return Collection(_plain_class(kind), [type_of(v, context) for v in value])
    if isinstance(value, list):
        return Collection(kind, [type_of(v, context) for v in value])
    if isinstance(value, collections.abc.Mapping):
        return Collection(_plain_class(kind), [type_of(v, context) for v in value.values()], list(value))
    if hasattr(kind, "__attrs_attrs__"):
        names = [a.name for a in kind.__attrs_attrs__]
        return Collection(kind, [type_of(getattr(value, n), context) for n in names], names)
    if kind.__module__ == "numpy" and is_array(value):
        from weft._src.framework.type_spec import TensorSpec

        return Spec(TensorSpec(value.shape, dtypes.as_dtype(value.dtype)))
    from weft._src.framework.type_spec import TypeSpec

    if isinstance(value, TypeSpec):
        return Spec(value)
    tracing = getattr(kind, "__tf_tracing_type__", None)
    if tracing is not None:
        made = tracing(value, context)
        return made if isinstance(made, Type) else Spec(made) if isinstance(made, TypeSpec) else Custom(made)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return Spec(spec)
    if isinstance(
        getattr(value, "__wrapped__", None), collections.abc.Mapping | list | tuple
    ) and kind.__module__.startswith("wrapt"):
        return type_of(value.__wrapped__, context)
    if hasattr(
        kind, "__array__"
    ):  # what numpy takes for an array (a series of pandas, a variable of Keras) is a tensor
        array = value.__array__()
        if array.dtype != object:
            from weft._src.framework.type_spec import TensorSpec

            return Spec(TensorSpec(array.shape, dtypes.as_dtype(array.dtype)))
    try:
        return Weakref(value)
    except TypeError:
        try:
            return Literal(value)
        except Exception:
            raise TypeError(
                f"Could not generate a generic TraceType for {value!r}."
                "Please verify that it is immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
            ) from None


def is_array(value):
    import numpy as np

    return isinstance(value, (np.ndarray, np.generic)) and value.dtype != object
