"""RowPartition: how the values of a ragged dimension fall into rows."""

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, type_spec_registry
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TensorSpec, TypeSpec
from weft._src.ops.ragged import checks

_SECRET = object()


def as_partition_tensor(value, name, dtype=None, dtype_hint=None):
    """A vector of int32 or int64; plain values become int64."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"{name} must have dtype int32 or int64")
        if isinstance(value, Tensor) and value.dtype is not dtype:
            return raw.Cast(x=value, DstT=dtype)
        return convert_to_tensor(value, dtype)
    if isinstance(value, Tensor):
        tensor = value
    else:
        tensor = convert_to_tensor(value, dtype_hint=dtype_hint or dtypes.int64)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        if tensor.shape == [0]:
            return raw.Cast(x=tensor, DstT=dtypes.int64)
        raise ValueError(f"{name} must have dtype int32 or int64")
    return tensor


def zeros_of(dtype, count=1):
    return convert_to_tensor([0] * count, dtype)


def piece(tensor, begin, end):
    """tensor[begin:end] of a vector, with ints or None for the ends."""
    return raw.StridedSlice(
        input=tensor,
        begin=[begin or 0],
        end=[end or 0],
        strides=[1],
        begin_mask=0 if begin else 1,
        end_mask=0 if end is not None else 1,
    )


def at(tensor, index):
    """tensor[index], a scalar."""
    return raw.StridedSlice(
        input=tensor, begin=[index], end=[index + 1], strides=[1], shrink_axis_mask=1, end_mask=1 if index == -1 else 0
    )


def counting(limit, dtype):
    """0, 1 ... limit - 1."""
    return raw.Range(
        start=convert_to_tensor(0, dtype), limit=convert_to_tensor(limit, dtype), delta=convert_to_tensor(1, dtype)
    )


def length_of(tensor, dtype):
    """The size of the first axis."""
    size = tensor.shape[0] if tensor.shape.rank else None
    if size is not None:
        return convert_to_tensor(size, dtype)
    return at(raw.Shape(input=tensor, out_type=dtype), 0)


class RowPartition(CompositeTensor):
    """Splits a sequence of values into rows. Holds row_splits; what else it was made of is kept to save its
    computation."""

    def __init__(
        self,
        row_splits,
        row_lengths=None,
        value_rowids=None,
        nrows=None,
        uniform_row_length=None,
        nvals=None,
        internal=False,
    ):
        if internal is not _SECRET:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead "
                "(e.g., RowPartition.from_row_lengths())"
            )
        self._row_splits, self._row_lengths, self._value_rowids = row_splits, row_lengths, value_rowids
        self._nrows, self._uniform_row_length, self._nvals = nrows, uniform_row_length, nvals
        self._static_length = None if uniform_row_length is None else constant_value(uniform_row_length)
        if self._static_length is not None:
            self._static_length = int(self._static_length)

    @classmethod
    def _of_splits(cls, row_splits, uniform_row_length=None):
        return cls(row_splits, uniform_row_length=uniform_row_length, internal=_SECRET)

    # ---- made of

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        splits = as_partition_tensor(row_splits, "row_splits", dtype, dtype_hint)
        splits.shape.with_rank(1)
        if splits.shape == [0]:
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            message = "Arguments to from_row_splits do not form a valid RaggedTensor"
            checks.equal(at(splits, 0), 0, message + ":zero")
            checks.non_negative(raw.Sub(x=piece(splits, 1, None), y=piece(splits, None, -1)), message + ":monotonic.  ")
        return cls(splits, internal=_SECRET)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        lengths = as_partition_tensor(row_lengths, "row_lengths", dtype, dtype_hint)
        lengths.shape.with_rank(1)
        if validate:
            checks.non_negative(lengths, "Arguments to from_row_lengths do not form a valid RowPartition.  ")
        limits = raw.Cumsum(x=lengths, axis=0)
        return cls(
            raw.ConcatV2(values=[zeros_of(lengths.dtype), limits], axis=0), row_lengths=lengths, internal=_SECRET
        )

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        starts = as_partition_tensor(row_starts, "row_starts", dtype, dtype_hint)
        starts.shape.with_rank(1)
        nvals = _same_dtype(nvals, starts.dtype)
        if validate:
            message = "Arguments to from_row_starts do not form a valid RaggedTensor"
            if starts.shape != [0]:
                checks.equal(at(starts, 0), 0, message)
                checks.at_most(at(starts, -1), nvals, message)
            checks.non_negative(raw.Sub(x=piece(starts, 1, None), y=piece(starts, None, -1)), message + ".  ")
        splits = raw.ConcatV2(values=[starts, raw.ExpandDims(input=nvals, dim=0)], axis=0)
        return cls(splits, nvals=nvals, internal=_SECRET)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        limits = as_partition_tensor(row_limits, "row_limits", dtype, dtype_hint)
        limits.shape.with_rank(1)
        if validate:
            message = "Arguments to from_row_limits do not form a valid RaggedTensor.  "
            checks.non_negative(piece(limits, None, 1), message)
            checks.non_negative(raw.Sub(x=piece(limits, 1, None), y=piece(limits, None, -1)), message)
        return cls(raw.ConcatV2(values=[zeros_of(limits.dtype), limits], axis=0), internal=_SECRET)

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        rowids = as_partition_tensor(value_rowids, "value_rowids", dtype, dtype_hint)
        rowids.shape.with_rank(1)
        if nrows is None:
            last = piece(rowids, -1, None)
            nrows = raw.Sum(input=raw.ConcatV2(values=[last, raw.OnesLike(x=last)], axis=0), reduction_indices=0)
        else:
            nrows = _same_dtype(nrows, rowids.dtype)
            known, ids = constant_value(nrows), constant_value(rowids)
            if known is not None:
                if known < 0:
                    raise ValueError(f"Expected nrows >= 0; got {known}")
                if ids is not None and len(ids) and known < ids[-1] + 1:
                    raise ValueError(
                        f"Expected nrows >= value_rowids[-1] + 1; got nrows={known}, value_rowids[-1]={ids[-1]}"
                    )
        if validate:
            message = "Arguments to from_value_rowids do not form a valid RowPartition.  "
            checks.non_negative(piece(rowids, None, 1), message)
            checks.non_negative(raw.Sub(x=piece(rowids, 1, None), y=piece(rowids, None, -1)), message)
        lengths = raw.UnsortedSegmentSum(data=raw.OnesLike(x=rowids), segment_ids=rowids, num_segments=nrows)
        splits = raw.ConcatV2(values=[zeros_of(rowids.dtype), raw.Cumsum(x=lengths, axis=0)], axis=0)
        return cls(splits, row_lengths=lengths, value_rowids=rowids, nrows=nrows, internal=_SECRET)

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None
    ):
        if nvals is None and nrows is None:
            raise ValueError("At least one of `nvals` and `nrows` must be specified.")
        dtype = dtypes.as_dtype(
            dtype
            or next(
                (v.dtype for v in (uniform_row_length, nvals, nrows) if isinstance(v, Tensor)),
                dtype_hint or dtypes.int64,
            )
        )
        length = _same_dtype(uniform_row_length, dtype)
        size, count, total = constant_value(length), _static(nrows), _static(nvals)
        if nrows is None:
            if size is not None and total is not None:
                count = 1 if size == 0 and total else 0 if size == 0 else int(total) // int(size)
                nrows = convert_to_tensor(count, dtype)
            else:
                nrows = raw.FloorDiv(
                    x=_same_dtype(nvals, dtype), y=raw.Maximum(x=length, y=convert_to_tensor(1, dtype))
                )
        nrows = _same_dtype(nrows, dtype)
        if nvals is None:
            nvals = raw.Mul(x=nrows, y=length)
        nvals = _same_dtype(nvals, dtype)
        if size is not None and count is not None and total is not None:
            if int(size) * int(count) != int(total):
                raise ValueError(f"uniform_row_length={size} times nrows={count} must equal nvals={total}")
        elif validate:
            checks.equal(raw.Mul(x=nrows, y=length), nvals, f"uniform_row_length times nrows must equal nvals")
        if size is not None and size < 0:
            raise ValueError(f"uniform_row_length must be >= 0; got {size}")
        splits = raw.Mul(x=counting(raw.AddV2(x=nrows, y=convert_to_tensor(1, dtype)), dtype), y=length)
        return cls(splits, nrows=nrows, uniform_row_length=length, nvals=nvals, internal=_SECRET)

    # ---- what it says

    @property
    def dtype(self):
        return self._row_splits.dtype

    def row_splits(self):
        return self._row_splits

    def row_starts(self):
        return piece(self._row_splits, None, -1)

    def row_limits(self):
        return piece(self._row_splits, 1, None)

    def row_lengths(self):
        if self._row_lengths is None:
            made = raw.Sub(x=self.row_limits(), y=self.row_starts())
            self._keep("_row_lengths", made)
            return made
        return self._row_lengths

    def value_rowids(self):
        if self._value_rowids is None:
            made = rowids_of_splits(self._row_splits)
            self._keep("_value_rowids", made)
            return made
        return self._value_rowids

    def _keep(self, name, made):
        # A tensor of a graph is not for use outside of it.
        if isinstance(made, EagerTensor):
            setattr(self, name, made)

    def offsets_in_rows(self):
        """For each value, which one of its row it is."""
        starts = raw.GatherV2(params=self.row_starts(), indices=self.value_rowids(), axis=0)
        return raw.Sub(x=counting(self.nvals(), self.dtype), y=starts)

    def nrows(self):
        if self._nrows is not None:
            return self._nrows
        return raw.Sub(x=length_of(self._row_splits, self.dtype), y=convert_to_tensor(1, self.dtype))

    def nvals(self):
        return self._nvals if self._nvals is not None else at(self._row_splits, -1)

    def uniform_row_length(self):
        return self._uniform_row_length

    def is_uniform(self):
        return self._uniform_row_length is not None

    @property
    def static_nrows(self):
        if self._row_splits.shape[0] is not None:
            return self._row_splits.shape[0] - 1
        return _static(self._nrows)

    @property
    def static_nvals(self):
        found = _static(self._nvals)
        if found is None:
            if self._value_rowids is not None:
                return self._value_rowids.shape[0]
            if self._nvals is None and self._uniform_row_length is not None:
                length, rows = self.static_uniform_row_length, self.static_nrows
                return None if length is None or rows is None else length * rows
        return found

    @property
    def static_uniform_row_length(self):
        return self._static_length

    def _with_nvals(self, count):
        """The same with the number of values, where it is known and was not."""
        if count is None or self._nvals is not None:
            return self
        made = RowPartition.__new__(RowPartition)
        made.__dict__.update(self.__dict__, _nvals=convert_to_tensor(count, self.dtype))
        return made

    def with_dtype(self, dtype):
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if dtype is self.dtype:
            return self

        def cast(x):
            return None if x is None else raw.Cast(x=x, DstT=dtype)

        return RowPartition(
            cast(self._row_splits),
            cast(self._row_lengths),
            cast(self._value_rowids),
            cast(self._nrows),
            cast(self._uniform_row_length),
            cast(self._nvals),
            _SECRET,
        )

    @property
    def _type_spec(self):
        return RowPartitionSpec.from_value(self)

    def __repr__(self):
        if self._static_length is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._static_length})"
        if isinstance(self._row_splits, EagerTensor) and not _weft.in_graph():
            return f"tf.RowPartition(row_splits={self._row_splits.numpy()})"
        return f"tf.RowPartition(row_splits={self._row_splits})"


def _static(value):
    if value is None or isinstance(value, int):
        return value
    found = constant_value(value)
    return None if found is None else int(found)


def _same_dtype(value, dtype):
    if isinstance(value, Tensor):
        return value if value.dtype is dtype else raw.Cast(x=value, DstT=dtype)
    return convert_to_tensor(value, dtype)


def rowids_of_splits(splits):
    """For each value the row that it is in: how many rows end at or before it."""
    values = counting(at(splits, -1), splits.dtype)
    ends = raw.ExpandDims(input=piece(splits, 1, None), dim=0)
    ids = raw.UpperBound(sorted_inputs=ends, values=raw.ExpandDims(input=values, dim=0), out_type=splits.dtype)
    return raw.Squeeze(input=ids, squeeze_dims=[0])


@type_spec_registry.register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """The type of a RowPartition."""

    value_type = property(lambda self: RowPartition)

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype=dtypes.int64):
        def size(x):
            return TensorShape(x)[0] if isinstance(x, (TensorShape, list, tuple)) else x

        self._nrows, self._nvals, self._uniform_row_length, self._dtype = (
            size(nrows),
            size(nvals),
            size(uniform_row_length),
            dtypes.as_dtype(dtype),
        )
        if self._nrows is None and self._nvals is not None and self._uniform_row_length:
            self._nrows = self._nvals // self._uniform_row_length
        if self._nvals is None and self._nrows is not None and self._uniform_row_length is not None:
            self._nvals = self._nrows * self._uniform_row_length

    nrows = property(lambda self: self._nrows)
    nvals = property(lambda self: self._nvals)
    uniform_row_length = property(lambda self: self._uniform_row_length)
    dtype = property(lambda self: self._dtype)

    @classmethod
    def from_value(cls, value):
        return cls(value.static_nrows, value.static_nvals, value.static_uniform_row_length, value.dtype)

    def _serialize(self):
        return (
            TensorShape([self._nrows]),
            TensorShape([self._nvals]),
            TensorShape([self._uniform_row_length]),
            self._dtype,
        )

    @property
    def _component_specs(self):
        return TensorSpec([None if self._nrows is None else self._nrows + 1], self._dtype)

    def _to_components(self, value):
        return value.row_splits()

    def _from_components(self, components):
        length = None if self._uniform_row_length is None else convert_to_tensor(self._uniform_row_length, self._dtype)
        return RowPartition._of_splits(components, length)

    def __repr__(self):
        return (
            f"RowPartitionSpec(nrows={self._nrows}, nvals={self._nvals}, "
            f"uniform_row_length={self._uniform_row_length}, dtype={self._dtype!r})"
        )
