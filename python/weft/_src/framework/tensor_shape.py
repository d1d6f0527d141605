"""tf.TensorShape: sizes that may be open, or no rank at all."""

import operator


class Dimension:
    """One size of a shape in version 1's form; None is open."""

    __slots__ = ("_value",)

    def __init__(self, value):
        if isinstance(value, Dimension):
            value = value._value
        if value is not None:
            try:
                value = int(value.__index__())
            except AttributeError:
                raise TypeError(
                    f"Dimension value must be integer or None or have an __index__ method, got value '{value!r}' with type '{type(value)!r}'"
                ) from None
            if value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")
        self._value = value

    @property
    def value(self):
        return self._value

    def __int__(self):
        return self._value

    def __index__(self):
        return self._value

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __repr__(self):
        return f"Dimension({self._value})"

    def __hash__(self):
        return hash(self._value)

    def is_compatible_with(self, other):
        other = Dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        other = Dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self


def _comparison(name):
    compare = getattr(operator, name)

    def method(self, other):
        try:
            other = Dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else compare(self._value, other)

    return method


def _arithmetic(name, swapped):
    compute = getattr(operator, name)

    def method(self, other):
        try:
            a, b = self._value, Dimension(other)._value
        except (TypeError, ValueError):
            return NotImplemented
        if swapped:
            a, b = b, a
        return Dimension(None if a is None or b is None else compute(a, b))

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _comparison(_name))
for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Dimension, f"__{_name}__", _arithmetic(_name, False))
    setattr(Dimension, f"__r{_name}__", _arithmetic(_name, True))


def _size(value):
    if value is None or (value.__class__ is int and value >= 0):
        return value
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, int) and value < 0:
        raise ValueError(f"Dimension {value} must be >= 0")
    return Dimension(value).value


def _sizes(dims):
    """Sizes from one, or from something that is gone through."""
    try:
        each = iter(dims)
    except TypeError:
        yield _size(dims)
        return
    for d in each:
        try:
            yield _size(d)
        except TypeError as e:
            raise TypeError(
                f"Failed to convert '{dims!r}' to a shape: '{d!r}'could not be converted to a dimension. A shape should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None])."
            ) from e


class TensorShape:
    """The shape of a tensor: a rank and sizes, each of which may be unknown."""

    __slots__ = ("_dims", "__weakref__")

    def __init__(self, dims):
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, (tuple, list)):
            self._dims = tuple(_size(d) for d in dims)
        elif hasattr(dims, "dim") and hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            self._dims = None if dims.unknown_rank else tuple(d.size if d.size != -1 else None for d in dims.dim)
        else:
            self._dims = tuple(_sizes(dims))

    @property
    def rank(self):
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self):
        return self.rank

    @property
    def dims(self):
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def _v2_behavior(self):
        return True

    def as_list(self):
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self):
        from weft._src.proto import TensorShapeProto

        if self._dims is None:
            return TensorShapeProto(unknown_rank=True)
        return TensorShapeProto(dim=[TensorShapeProto.Dim(size=-1 if d is None else d) for d in self._dims])

    def num_elements(self):
        if not self.is_fully_defined():
            return None
        n = 1
        for d in self._dims:
            n *= d
        return n

    def is_fully_defined(self):
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims)
        )

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def has_rank(self, rank):
        return self._dims is None or len(self._dims) == rank

    def with_rank(self, rank):
        if not self.has_rank(rank):
            raise ValueError(f"Shape {self} must have rank {rank}")
        return TensorShape([None] * rank) if self._dims is None else self

    def with_rank_at_least(self, rank):
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_has_rank(self, rank):
        self.with_rank(rank)

    def assert_same_rank(self, other):
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def merge_with(self, other):
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def most_specific_compatible_shape(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def most_specific_common_supertype(self, others):
        shape = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            shape = shape.most_specific_compatible_shape(other)
        return shape

    def is_subtype_of(self, other):
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        return (
            self._dims is not None
            and len(self._dims) == len(other._dims)
            and all(b is None or a == b for a, b in zip(self._dims, other._dims))
        )

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is not None:
            return TensorShape(self._dims[key]) if isinstance(key, slice) else self._dims[key]
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims == other._dims

    def __hash__(self):
        return hash(self._dims)

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return f"({self._dims[0]},)"
        return "(" + ", ".join(str(d) for d in self._dims) + ")"

    def __repr__(self):
        return "TensorShape(None)" if self._dims is None else f"TensorShape({list(self._dims)!r})"

    def __reduce__(self):
        return TensorShape, (self.dims,)


def _of_tuple(dims):
    """From the engine: sizes that are known to be right."""
    shape = TensorShape.__new__(TensorShape)
    shape._dims = dims
    return shape


def as_shape(value):
    return value if isinstance(value, TensorShape) else TensorShape(value)


def as_tuple(value):
    """For the engine: a tuple with None for open sizes, or None without a rank."""
    return as_shape(value)._dims


def unknown_shape(rank=None, **kwargs):
    return TensorShape(None if rank is None else [None] * rank)
