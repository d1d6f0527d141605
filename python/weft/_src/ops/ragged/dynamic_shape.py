"""tf.experimental.DynamicRaggedShape: the shape of a ragged tensor with the lengths of its rows."""

from weft._src.raw import raw
from weft._src.framework import dtypes, type_spec_registry
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TensorSpec, TypeSpec
from weft._src.ops.ragged.ragged_tensor import RaggedTensor, as_values
from weft._src.ops.ragged.row_partition import RowPartition, at


class DynamicRaggedShape(CompositeTensor):
    """Row partitions for the outer axes and a dense shape for what they leave."""

    def __init__(self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None):
        if not isinstance(row_partitions, (list, tuple)) or not all(
            isinstance(p, RowPartition) for p in row_partitions
        ):
            raise TypeError(f"row_partitions should be a list of row partitions. Instead, got {row_partitions}")
        if dtype is None:
            dtype = (
                row_partitions[0].dtype
                if row_partitions
                else inner_shape.dtype
                if isinstance(inner_shape, Tensor)
                else dtypes.int64
            )
        dtype = dtypes.as_dtype(dtype)
        self._row_partitions = tuple(p.with_dtype(dtype) for p in row_partitions)
        self._inner_shape = (
            raw.Cast(x=inner_shape, DstT=dtype)
            if isinstance(inner_shape, Tensor) and inner_shape.dtype is not dtype
            else convert_to_tensor(inner_shape, dtype)
        )
        if self._inner_shape.shape.rank != 1:
            raise ValueError(f"Shape {self._inner_shape.shape} must have rank 1")
        if self._row_partitions and self._inner_shape.shape[0] == 0:
            raise IndexError("tuple index out of range")

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64):
        if not isinstance(lengths, list):
            raise ValueError("lengths should be a list")
        for v in lengths:
            if not isinstance(v, int) and not (isinstance(v, tuple) and all(isinstance(n, int) for n in v)):
                raise ValueError(f"element of lengths should be int or tuple of ints: instead {v!r}")
        needed = max((i for i, v in enumerate(lengths) if not isinstance(v, int)), default=0)
        count = needed if num_row_partitions is None else num_row_partitions
        if not isinstance(count, int):
            raise ValueError("num_row_partitions should be an int or None")
        if not lengths:
            if count > 0:
                raise ValueError("num_row_partitions==0 for a scalar shape")
            return cls([], convert_to_tensor([], dtype), dtype)
        if count >= len(lengths):
            raise ValueError("num_row_partitions should be less than `len(lengths)` if shape is not scalar.")
        rows = lengths[0] if lengths else 0
        partitions = []
        for v in lengths[1 : count + 1]:
            if isinstance(v, int):
                partitions.append(RowPartition.from_uniform_row_length(v, nrows=rows, dtype=dtype))
                rows *= v
            else:
                if len(v) != rows:
                    raise ValueError("Shape not consistent.")
                partitions.append(RowPartition.from_row_lengths(list(v), dtype=dtype))
                rows = sum(v)
        inner = [rows, *lengths[count + 1 :]] if count else lengths
        return cls(partitions, convert_to_tensor(inner, dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, raw.ExpandDims(input=row_partitions[-1].nvals(), dim=0), dtype)

    @classmethod
    def from_tensor(cls, t, dtype=None):
        t = as_values(t)
        if isinstance(t, RaggedTensor):
            dtype = dtypes.as_dtype(dtype or t.row_splits.dtype)
            sizes = [p.static_nrows for p in t._nested_row_partitions[1:]] + [t.flat_values.shape[0]]
            return cls(
                [p.with_dtype(dtype)._with_nvals(n) for p, n in zip(t._nested_row_partitions, sizes)],
                raw.Shape(input=t.flat_values, out_type=dtype),
                dtype,
            )
        dtype = dtypes.as_dtype(dtype or dtypes.int64)
        return cls([], raw.Shape(input=t, out_type=dtype), dtype)

    @property
    def dtype(self):
        return self._inner_shape.dtype

    @property
    def row_partitions(self):
        return self._row_partitions

    @property
    def num_row_partitions(self):
        return len(self._row_partitions)

    @property
    def inner_shape(self):
        return self._inner_shape

    @property
    def inner_rank(self):
        return self._inner_shape.shape[0]

    @property
    def rank(self):
        inner = self.inner_rank
        return None if inner is None else inner + len(self._row_partitions)

    def _static_inner(self):
        found = constant_value(self._inner_shape)
        if found is not None:
            return [int(v) if v >= 0 else None for v in found]
        return [None] * (self.inner_rank or 0)

    def static_lengths(self, ragged_lengths=True):
        """Sizes of the axes: ints, tuples of lengths, None for what is not known."""
        inner = self._static_inner()
        if not self._row_partitions:
            return inner if self.inner_rank is not None else [...]
        lengths = [self._row_partitions[0].static_nrows]
        for p in self._row_partitions:
            if p.is_uniform():
                lengths.append(p.static_uniform_row_length)
            else:
                known = constant_value(p.row_lengths()) if ragged_lengths else None
                lengths.append(None if known is None else tuple(int(v) for v in known))
        return lengths + (inner[1:] if self.inner_rank is not None else [...])

    def _to_tensor_shape(self):
        return TensorShape([v if isinstance(v, int) else None for v in self.static_lengths(ragged_lengths=False)])

    def is_uniform(self, axis):
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise IndexError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise IndexError(f"Expected axis={axis} < rank={self.rank}")
        return axis == 0 or axis > len(self._row_partitions) or self._row_partitions[axis - 1].is_uniform()

    def with_dtype(self, dtype):
        if dtypes.as_dtype(dtype) not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Illegal dtype: {dtype}")
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype)

    def _add_row_partitions(self, flat_values):
        return (
            RaggedTensor._from_nested_row_partitions(flat_values, self._row_partitions, validate=False)
            if self._row_partitions
            else flat_values
        )

    def __getitem__(self, index):
        rank = self.rank
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise IndexError("Cannot stride through a shape")
            if rank is None and (index.stop is None or index.stop < 0 or (index.start or 0) < 0):
                raise ValueError("Rank must be known to use __getitem__ without a stop.")
            start, stop, _ = index.indices(len(self._row_partitions) + index.stop if rank is None else rank)
            return self._part(start, stop)
        if not isinstance(index, int):
            raise TypeError("Argument is not an int or a slice")
        if index < 0:
            if rank is None:
                raise ValueError("Rank must be known to use __getitem__ with a negative index.")
            index += rank
        return self._dimension(index)

    def _part(self, start, stop):
        """The axes from start to stop; behind the first they must all be uniform."""
        if stop <= start:
            return DynamicRaggedShape([], convert_to_tensor([], self.dtype), self.dtype)
        count = len(self._row_partitions)
        if start == 0:
            if self.rank is not None and stop >= self.rank:
                return self
            if stop > count:
                return DynamicRaggedShape(self._row_partitions, self._inner_shape[: stop - count], self.dtype)
            rows = self._row_partitions[stop - 1].nrows()
            return DynamicRaggedShape(self._row_partitions[: stop - 1], raw.ExpandDims(input=rows, dim=0), self.dtype)
        part = self._part(0, stop)
        if not all(p.is_uniform() for p in part._row_partitions):
            raise ValueError("All relevant dimensions must be uniform")
        sizes = [part._dimension(i) for i in range(start, part.rank)]
        inner = raw.Pack(values=sizes, axis=0) if sizes else convert_to_tensor([], self.dtype)
        return DynamicRaggedShape([], inner, self.dtype)

    def _dimension(self, index):
        count = len(self._row_partitions)
        if not count or index > count + 1:
            if self.rank is None:
                raise ValueError("Rank must be known to use __getitem__ on a large index.")
            if index >= self.rank:
                raise IndexError(f"Index is too big: {index}>={self.rank}")
        if index < 0:
            raise IndexError(f"Index must be non-negative: {index}")
        if not self.is_uniform(index):
            raise ValueError(f"Index {index} is not uniform")
        if index == 0 and count:
            return self._row_partitions[0].nrows()
        if index and index <= count:
            return self._row_partitions[index - 1].uniform_row_length()
        return at(self._inner_shape, index - count)

    def __eq__(self, other):
        """A tensor, where both are of one type: whether all sizes are equal."""
        from weft._src.framework import nest

        if not isinstance(other, DynamicRaggedShape) or self._type_spec != other._type_spec:
            return False
        pairs = zip(nest.flatten(self, expand_composites=True), nest.flatten(other, expand_composites=True))
        tests = [raw.Equal(x=a, y=b, incompatible_shape_error=False) for a, b in pairs]
        tests = [raw.All(input=t, reduction_indices=list(range(t.shape.rank or 0))) for t in tests]
        return raw.All(input=raw.Pack(values=tests, axis=0), reduction_indices=[0])

    def __ne__(self, other):
        same = self == other
        return raw.LogicalNot(x=same) if isinstance(same, Tensor) else not same

    __hash__ = None

    def __repr__(self):
        shown = ", ".join("..." if v is ... else "None" if v is None else str(v) for v in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{shown}] num_row_partitions={self.num_row_partitions}>"

    @property
    def _type_spec(self):
        return DynamicRaggedShape.Spec(
            tuple(p._type_spec for p in self._row_partitions), TensorShape(self._static_inner()), self.dtype
        )

    @type_spec_registry.register("tf.DynamicRaggedShape.Spec")
    class Spec(TypeSpec):
        """The type of a DynamicRaggedShape."""

        value_type = property(lambda self: DynamicRaggedShape)

        def __init__(self, row_partitions, static_inner_shape, dtype):
            self._parts, self._inner, self._dtype = (
                tuple(row_partitions),
                TensorShape(static_inner_shape),
                dtypes.as_dtype(dtype),
            )

        def _serialize(self):
            return self._parts, self._inner, self._dtype

        def __repr__(self):
            return f"DynamicRaggedShape.Spec(row_partitions={self._parts!r}, static_inner_shape={self._inner!r}, dtype={self._dtype!r})"

        @property
        def _component_specs(self):
            return (*self._parts, TensorSpec([self._inner.rank], self._dtype))

        def _to_components(self, value):
            return (*value._row_partitions, value._inner_shape)

        def _from_components(self, components):
            return DynamicRaggedShape(list(components[:-1]), components[-1], self._dtype)


def shape(input, out_type=None, name=None):
    return DynamicRaggedShape.from_tensor(input, dtypes.int32 if out_type is None else out_type)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that values of two shapes are broadcast to."""
    from weft._src.ops.ragged.broadcast import broadcast

    def filled(s):
        if not isinstance(s, DynamicRaggedShape):
            return raw.Fill(dims=s, value=convert_to_tensor(0))
        return ragged_fill(s, convert_to_tensor(0))

    x, y = filled(shape_x), filled(shape_y)
    if not isinstance(x, RaggedTensor) and not isinstance(y, RaggedTensor):
        inner = raw.BroadcastArgs(s0=raw.Shape(input=x), s1=raw.Shape(input=y))
        return DynamicRaggedShape([], inner)
    return DynamicRaggedShape.from_tensor(broadcast(x, y)[0 if isinstance(x, RaggedTensor) else 1])


def ragged_fill(dims, value):
    return dims._add_row_partitions(raw.Fill(dims=dims.inner_shape, value=value))


def broadcast_to(value, to_shape):
    """The value with the rows of a ragged shape."""
    from weft._src.ops.ragged.broadcast import broadcast

    if not isinstance(to_shape, DynamicRaggedShape):
        raise TypeError("shape must be a DynamicRaggedShape")
    value = as_values(value)
    like = ragged_fill(to_shape, convert_to_tensor(0))
    if like.shape.rank is not None and value.shape.rank is not None and value.shape.rank > like.shape.rank:
        raise ValueError("Cannot broadcast to a shape with smaller rank")
    if not isinstance(like, RaggedTensor) and not isinstance(value, RaggedTensor):
        return raw.BroadcastTo(input=value, shape=to_shape.inner_shape)
    made = broadcast(value, like, "Cannot broadcast")[0]
    if not isinstance(made, RaggedTensor):
        return like.with_flat_values(raw.BroadcastTo(input=made, shape=to_shape.inner_shape))
    flat = raw.BroadcastTo(input=made.flat_values, shape=raw.Shape(input=broadcast(like, value)[0].flat_values))
    return made.with_flat_values(flat)
