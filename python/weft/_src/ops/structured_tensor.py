"""tf.experimental.StructuredTensor: tensors whose elements are records; each field is a tensor whose outer axes are those of the whole."""

import re
import typing

from weft import _weft
from weft._src.framework import dtypes
from weft._src.framework.convert import constant, convert_to_tensor
from weft._src.framework.extension_type import BatchableExtensionType
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import as_shape
from weft._src.ops.ragged.convert import from_tensor, merge_dims
from weft._src.ops.ragged.dynamic_shape import DynamicRaggedShape, ragged_fill
from weft._src.ops.ragged.factory import constant as ragged_constant
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, positive_axis
from weft._src.ops.ragged.row_partition import RowPartition

_NAME = re.compile("^[a-zA-Z][a-zA-Z0-9_]*$")
_UPDATES = "`StructuredTensor.with_updates` "


class StructuredTensor(BatchableExtensionType):
    """Records in any number of dimensions; made by from_fields and from_pyval."""

    __name__ = "tf.StructuredTensor"
    _fields: typing.Mapping[str, typing.Union[Tensor, RaggedTensor, "StructuredTensor"]]
    _ragged_shape: DynamicRaggedShape

    def __init__(self, fields, ragged_shape):
        self._fields = fields
        self._ragged_shape = ragged_shape

    # ---- made of fields

    @classmethod
    def from_fields(cls, fields, shape=(), nrows=None, row_partitions=None, validate=False):
        """Of fields by name, all of which begin with the axes of the shape."""
        shape = as_shape(shape)
        rank = shape.rank
        if rank is None:
            raise ValueError("StructuredTensor's shape must have known rank.")
        if not isinstance(fields, dict):
            raise TypeError(f"fields must be a dictionary, got {type(fields).__name__}")
        if rank < 2 and row_partitions:
            raise ValueError("row_partitions must be None or [] if shape.rank<2")
        if rank == 0 and nrows is not None:
            raise ValueError("nrows must be None if shape.rank==0")
        if row_partitions is not None and len(row_partitions) != max(0, rank - 1):
            raise ValueError("len(row_partitions) must be shape.rank-1")
        for name in fields:
            if not isinstance(name, str):
                raise TypeError(f"Unexpected type for key in `fields`: {name}")
            if not _NAME.match(name):
                raise ValueError(f"Field name {name!r} is not currently allowed.")
        fields = {name: _field(value) for name, value in fields.items()}
        return cls(fields, _outer_shape(fields, shape, nrows, row_partitions))

    @classmethod
    def from_fields_and_rank(cls, fields, rank, validate=False, dtype=None):
        """Of fields whose first axes, as many as the rank says, are those of the whole."""
        if not fields:
            raise ValueError("Must provide at least one field")
        if not isinstance(rank, int):
            raise ValueError("rank must be an integer")
        if rank < 0:
            raise ValueError("rank must be nonnegative")
        return cls.from_fields(dict(fields), as_shape([None] * rank))

    @classmethod
    def from_shape(cls, ragged_shape):
        """Without fields."""
        return cls({}, ragged_shape)

    @classmethod
    def from_pyval(cls, pyval, typespec=None):
        """Of dictionaries in lists; other values become tensors, ragged where they must."""
        if typespec is not None:
            raise NotImplementedError("StructuredTensor.from_pyval with a typespec")
        return _of_value(pyval, ())

    # ---- what it is

    rank = property(lambda self: self._ragged_shape.rank)

    @property
    def shape(self):
        return self._ragged_shape._to_tensor_shape()

    @property
    def row_partitions(self):
        return () if self.rank < 2 else tuple(self._ragged_shape.row_partitions)

    def nrows(self):
        return None if self.rank == 0 else self._ragged_shape[0]

    def field_names(self):
        return tuple(self._fields)

    def field_value(self, field_name):
        if not isinstance(field_name, (list, tuple)):
            return self._fields[field_name]
        value = self
        for name in field_name:
            if not isinstance(value, StructuredTensor):
                raise KeyError(f"Field path {field_name} not found in {self}")
            value = value.field_value(name)
        return value

    def __getitem__(self, key):
        key = tuple(key) if isinstance(key, (list, tuple)) else (key,)
        if not key:
            return self
        rank = self.rank
        if rank == 0:
            if isinstance(key[0], slice) and key[0] == slice(None):
                return StructuredTensor.from_fields({n: _item(v, key[1:]) for n, v in self._fields.items()}, self.shape)
            if not isinstance(key[0], (str, bytes)):
                raise ValueError("Key for indexing a StructuredTensor must be a string or a full slice (':')")
            return _item(self._fields[key[0]], key[1:])
        if len(key) > rank:
            if not isinstance(key[rank], (str, bytes)):
                raise ValueError("Key for indexing a StructuredTensor must be a string")
            return _item(self._fields[key[rank]], key[:rank] + key[rank + 1 :])
        fields = {n: _item(v, key) for n, v in self._fields.items()}
        sizes = []
        for i, size in enumerate(self.shape):
            k = key[i] if i < len(key) else slice(None)
            if isinstance(k, slice):
                sizes.append(size if k == slice(None) else None)
            elif k is None:
                raise ValueError("Slicing not supported for tf.newaxis")
            elif not isinstance(k, (int, Tensor)):
                raise ValueError(f"Slicing not supported for {k!r}")
        return StructuredTensor.from_fields(fields, sizes)

    def __repr__(self):
        shown = (f'"{n}": ' + str(v).replace("\n", "\n            ") for n, v in sorted(self._fields.items()))
        return "<StructuredTensor(\n    fields={\n        %s},\n    shape=%s)>" % (
            ",\n        ".join(shown),
            self.shape,
        )

    def to_pyval(self):
        """Dictionaries in lists."""
        if _weft.in_graph() or not all(_is_eager(v) for v in self._fields.values()):
            raise ValueError("StructuredTensor.to_pyval() is only supported in eager mode.")
        values = {n: _plain(v) for n, v in self._fields.items()}
        if self.rank == 0:
            return values
        if not values:
            return _empty(self.row_partitions, int(self.nrows()))
        return _records(list(values), list(values.values()), self.rank)

    # ---- changed

    def with_updates(self, updates, validate=False):
        """With fields set, changed by functions, or (None) taken out."""
        items = sorted(
            (n if isinstance(n, tuple) else tuple(n) if isinstance(n, list) else (n,), v) for n, v in updates.items()
        )
        for (before, _), (name, _) in zip(items, items[1:]):
            if name[: len(before)] == before:
                raise ValueError(
                    _UPDATES
                    + f"does not allow both parent and child nodes to be updated: parent={before}, child={name}. "
                    "If needed you can update child nodes in the parent update value."
                )
        return self._updated((), items)

    def _updated(self, above, items):
        fields = dict(self._fields)
        for path, value in items:
            if not path or not path[0]:
                raise ValueError(_UPDATES + f"does not allow empty names {above + (path,)}.")
            name, rest = path[0], path[1:]
            if rest:
                fields[name] = self._inner(fields, above, path)._updated(above + (name,), [(rest, value)])
            elif value is None:
                if name not in fields:
                    raise ValueError(_UPDATES + f"cannot delete field {above + (name,)} because it is not present.")
                del fields[name]
            elif callable(value):
                if name not in fields:
                    raise ValueError(
                        _UPDATES
                        + f"cannot update the field {above + (name,)} because a transforming function was given, but that field "
                        "does not already exist."
                    )
                fields[name] = value(fields[name])
            else:
                fields[name] = value
        try:
            return StructuredTensor.from_fields(fields, self.shape, self.nrows(), self.row_partitions)
        except ValueError as error:
            raise ValueError(_UPDATES + "failed" + (f" for field {above}" if above else "")) from error

    def _inner(self, fields, above, path):
        if path[0] not in fields:
            raise ValueError(
                _UPDATES + f"cannot create new sub-field {above + path} if parent field {above + path[:1]} is not set."
            )
        found = fields[path[0]]
        if not isinstance(found, StructuredTensor):
            raise ValueError(
                _UPDATES
                + f"cannot create new sub-field {above + path} if parent structure {above + path[:1]} is not a `StructuredTensor` "
                f"that can contain sub-structures -- it is a `{type(found)}`."
            )
        return found

    def promote(self, source_path, new_name):
        """A field two levels up, its axes joined."""
        if not isinstance(new_name, str):
            raise ValueError("new_name is not a string")
        if not isinstance(source_path, (list, tuple)):
            raise ValueError("source_path must be a list or tuple")
        if len(source_path) < 2:
            raise ValueError("source_path must have length at least two")
        source_path = tuple(source_path)
        field, above = self.field_value(source_path), source_path[:-2]
        new_rank, rank = self.field_value(above).rank, self.field_value(source_path[:-1]).rank
        inner = min(rank, field.shape.rank - 1)
        if new_rank != rank and inner > new_rank:
            field = _merged(field, new_rank, inner)
        return self.with_updates({above + (new_name,): field})

    def merge_dims(self, outer_axis, inner_axis):
        """With axes joined into one."""
        outer = positive_axis(outer_axis, self.rank, "outer_axis", "rank(self)")
        inner = positive_axis(inner_axis, self.rank, "inner_axis", "rank(self)")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner})")
        return self if outer == inner else _merged(self, outer, inner)

    def partition_outer_dimension(self, row_partition):
        """With the first axis cut into rows."""
        if not isinstance(row_partition, RowPartition):
            raise TypeError("row_partition must be a RowPartition.")
        if self.rank == 0:
            raise ValueError(f"Shape {self.shape} must have rank at least 1")
        return _partitioned(self, row_partition)


# ---- fields and shapes


def _field(value):
    if isinstance(value, (StructuredTensor, RaggedTensor, Tensor)):
        return value
    return convert_to_tensor(value)


def _item(value, key):
    return value[key] if key else value


def _is_eager(value):
    if isinstance(value, StructuredTensor):
        return all(_is_eager(v) for v in value._fields.values())
    return isinstance(value.flat_values if isinstance(value, RaggedTensor) else value, EagerTensor)


def _shape_of(value, rank):
    if isinstance(value, StructuredTensor):
        return value._ragged_shape[:rank]
    return DynamicRaggedShape.from_tensor(value, dtypes.int64 if not isinstance(value, RaggedTensor) else None)[:rank]


def _outer_shape(fields, shape, nrows, row_partitions):
    """The shape that all fields begin with."""
    rank = shape.rank
    if rank == 0:
        return DynamicRaggedShape([], convert_to_tensor([], dtypes.int64))
    known = as_shape([None] * rank)
    for name, value in fields.items():
        own = value.shape[:rank]
        if own.rank != rank or not known.is_compatible_with(own):
            raise ValueError(f"Error in shape of {name}")
        known = known.merge_with(own)
    if not shape.is_compatible_with(known):
        raise ValueError(f"Shapes {shape} and {known} are not compatible")
    if row_partitions:
        return DynamicRaggedShape.from_row_partitions(list(row_partitions))
    if fields:
        return _cut(_shape_of(next(iter(fields.values())), rank))
    sizes = shape.as_list()
    if rank == 1 and nrows is not None:
        sizes = [nrows]
    if None in sizes:
        what = (
            "`nrows`, a fully specified `shape`, or have `fields` if `rank=1`"
            if rank == 1
            else "row_partitions, a fully specified shape, or have fields if rank > 1"
        )
        raise ValueError(f"Must specify {what}")
    return _cut(DynamicRaggedShape([], convert_to_tensor(sizes, dtypes.int64)))


def _cut(shape):
    """With row partitions for all axes behind the first."""
    depth = shape.rank - 1
    if depth < 1 or shape.num_row_partitions == depth:
        return shape
    zeros = ragged_fill(shape, convert_to_tensor(0))
    if not isinstance(zeros, RaggedTensor):
        return DynamicRaggedShape.from_tensor(from_tensor(zeros, ragged_rank=depth))
    inner = from_tensor(zeros.flat_values, ragged_rank=depth - zeros.ragged_rank)
    return DynamicRaggedShape.from_tensor(zeros.with_flat_values(inner))


def _merged(value, outer, inner):
    if not isinstance(value, StructuredTensor):
        return merge_dims(value, outer, inner)
    fields = {n: _merged(v, outer, inner) for n, v in value._fields.items()}
    zeros = merge_dims(ragged_fill(value._ragged_shape, convert_to_tensor(0)), outer, inner)
    return StructuredTensor(fields, _cut(DynamicRaggedShape.from_tensor(zeros, dtypes.int64)))


def _partitioned(value, rows):
    if isinstance(value, StructuredTensor):
        fields = {n: _partitioned(v, rows) for n, v in value._fields.items()}
        return StructuredTensor(fields, DynamicRaggedShape.from_row_partitions([rows, *value.row_partitions]))
    if isinstance(value, Tensor) and rows.uniform_row_length() is not None:
        from weft._src.ops import array_ops

        sizes = array_ops.stack([rows.nrows(), rows.uniform_row_length()])
        return array_ops.reshape(value, array_ops.concat([sizes, array_ops.shape(value, out_type=rows.dtype)[1:]], 0))
    return RaggedTensor._from_row_partition(value, rows)


# ---- Python values


def _of_value(value, path):
    if isinstance(value, dict):
        return StructuredTensor.from_fields({n: _of_value(v, (*path, n)) for n, v in value.items()})
    if not isinstance(value, (list, tuple)):
        return _parsed(constant, value, path)
    names = {}
    depth = _depth_of_records(value, names)
    if depth is None:
        return _parsed(ragged_constant, value, path)
    columns = {name: [] for name in names}
    for child in value:
        _spread(child, columns, 1)
    if not columns:
        return _without_fields(value, depth)
    fields = {n: _of_value(v, (*path, n)) for n, v in columns.items()}
    try:
        return StructuredTensor.from_fields(fields, [None] * depth)
    except Exception as error:
        raise ValueError(f"Error parsing path {path!r}") from error


def _parsed(make, value, path):
    try:
        return make(value)
    except Exception as error:
        raise ValueError(f"Error parsing path {path!r}") from error


def _depth_of_records(value, names):
    """In how many lists the dictionaries are, and their keys."""
    if isinstance(value, dict):
        names.update(dict.fromkeys(value))
        return 0
    if not isinstance(value, (list, tuple)):
        return None
    depth = None
    for child in value:
        own = _depth_of_records(child, names)
        if own is not None:
            if depth not in (None, own + 1):
                raise ValueError("Inconsistent depth of dictionaries")
            depth = own + 1
    return depth


def _spread(value, columns, depth):
    """Puts what a record has at its place in the column of each field."""
    if not isinstance(value, (dict, list, tuple)):
        raise ValueError("Expected dict or nested list/tuple of dict")
    for name, column in columns.items():
        for _ in range(1, depth):
            column = column[-1]
        column.append(value[name] if isinstance(value, dict) else [])
    if not isinstance(value, dict):
        for child in value:
            _spread(child, columns, depth + 1)


def _without_fields(value, depth):
    if depth == 1:
        return StructuredTensor.from_fields({}, [len(value)])

    def zeros(v):
        return 0 if isinstance(v, dict) else [zeros(c) for c in v]

    rows = ragged_constant(zeros(value), ragged_rank=depth - 1)
    return StructuredTensor({}, DynamicRaggedShape.from_tensor(rows))


def _plain(value):
    if isinstance(value, StructuredTensor):
        return value.to_pyval()
    if isinstance(value, RaggedTensor):
        return value.to_list()
    array = value.numpy()
    return array.tolist() if getattr(array, "ndim", 0) else array


def _records(names, values, depth):
    if depth == 0:
        return dict(zip(names, values))
    return [_records(names, row, depth - 1) for row in zip(*values)]


def _empty(partitions, rows):
    if not partitions:
        return [{} for _ in range(rows)]
    splits = partitions[0].row_splits().numpy().tolist()
    values = _empty(partitions[1:], splits[-1])
    return [values[a:b] for a, b in zip(splits, splits[1:])]
