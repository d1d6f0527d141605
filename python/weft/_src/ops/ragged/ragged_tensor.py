"""tf.RaggedTensor: rows of different lengths, as flat values and the places where rows end."""

import numpy as np

from weft import _weft
from weft._src.raw import raw
from weft._src.framework.dispatch import dispatchable
from weft._src.framework import dtypes
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import EagerTensor, Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import register_type_spec_from_value_converter
from weft._src.ops.ragged import checks
from weft._src.ops.ragged.row_partition import RowPartition, as_partition_tensor, at, length_of
from weft._src.ops.ragged.spec import RaggedTensorSpec

_SECRET = object()


def is_ragged(value):
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def as_values(value, dtype=None, preferred_dtype=None, name=None):
    """A ragged tensor as it is, anything else as a tensor."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor with "
                f"dtype {value.dtype.name}: {value}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        return value._as_ragged(dtype)
    return convert_to_tensor(value, dtype=dtype, dtype_hint=preferred_dtype, name=name)


def count_rows(values, dtype):
    """The number of items along the first axis."""
    if isinstance(values, RaggedTensor):
        return values.nrows(out_type=dtype)
    return length_of(values, dtype)


class RaggedTensor(CompositeTensor):
    """A tensor with dimensions whose slices may differ in length."""

    _is_tensor_like = True

    def __init__(self, values, row_partition, internal=False):
        if internal is not _SECRET:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead "
                "(e.g., RaggedTensor.from_row_lengths())"
            )
        self._values, self._row_partition = values, row_partition

    @classmethod
    def _of(cls, values, partition):
        return cls(values, partition, _SECRET)

    # ---- made of

    @classmethod
    def _from_row_partition(cls, values, row_partition, validate=True):
        values = as_values(values)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not row_partition.dtype:
            row_partition, values = row_partition.with_dtype(dtypes.int64), values.with_row_splits_dtype(dtypes.int64)
        if isinstance(values, Tensor) and values.shape.rank == 0:
            # There is no first axis: the error is that of looking for its size.
            raw.StridedSlice(
                input=raw.Shape(input=values, out_type=row_partition.dtype),
                begin=[0],
                end=[1],
                strides=[1],
                shrink_axis_mask=1,
                name="strided_slice/",
            )
        values.shape.with_rank_at_least(1)
        if validate:
            checks.equal(
                row_partition.nvals(),
                count_rows(values, row_partition.dtype),
                "Arguments to _from_row_partition do not form a valid RaggedTensor",
            )
        return cls._of(values, row_partition)

    @classmethod
    def _from_nested_row_partitions(cls, flat_values, nested_row_partitions, name=None, validate=True):
        result = flat_values
        for partition in reversed(list(nested_row_partitions)):
            result = cls._from_row_partition(result, partition, validate)
        return result

    @classmethod
    @dispatchable
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        values = as_values(values)
        rowids = as_partition_tensor(value_rowids, "value_rowids", dtype_hint=_splits_dtype(values))
        if values.shape.rank is not None:
            values.shape[:1].assert_is_compatible_with(rowids.shape)
        return cls._from_row_partition(
            values, RowPartition.from_value_rowids(rowids, nrows, validate, dtype_hint=_splits_dtype(values)), validate
        )

    @classmethod
    @dispatchable
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        values = as_values(values)
        return cls._from_row_partition(
            values, RowPartition.from_row_splits(row_splits, validate, dtype_hint=_splits_dtype(values)), validate
        )

    @classmethod
    @dispatchable
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        values = as_values(values)
        return cls._from_row_partition(
            values, RowPartition.from_row_lengths(row_lengths, validate, dtype_hint=_splits_dtype(values)), validate
        )

    @classmethod
    @dispatchable
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        values = as_values(values)
        starts = as_partition_tensor(row_starts, "row_starts", dtype_hint=_splits_dtype(values))
        return cls._from_row_partition(
            values, RowPartition.from_row_starts(starts, count_rows(values, starts.dtype), validate), validate
        )

    @classmethod
    @dispatchable
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        values = as_values(values)
        return cls._from_row_partition(
            values, RowPartition.from_row_limits(row_limits, validate, dtype_hint=_splits_dtype(values)), validate
        )

    @classmethod
    @dispatchable
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        values = as_values(values)
        dtype = _splits_dtype(values)
        if isinstance(uniform_row_length, Tensor):
            dtype = uniform_row_length.dtype
        partition = RowPartition.from_uniform_row_length(
            uniform_row_length, count_rows(values, dtype), nrows, validate, dtype=dtype
        )
        return cls._from_row_partition(values, partition, validate)

    @classmethod
    @dispatchable
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        nested = _tensor_list(nested_value_rowids, "nested_value_rowids")
        counts = [None] * len(nested) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested):
            raise ValueError(
                f"Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                f"len(nested_nrows) = {len(counts)} vs. "
                f"len(nested_values_rowids) = {len(nested)}."
            )
        result = flat_values
        for rowids, nrows in zip(reversed(nested), reversed(counts)):
            result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
        return result

    @classmethod
    @dispatchable
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        result = flat_values
        for splits in reversed(_tensor_list(nested_row_splits, "nested_row_splits")):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    @dispatchable
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        result = flat_values
        for lengths in reversed(_tensor_list(nested_row_lengths, "nested_row_lengths")):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result

    @classmethod
    @dispatchable
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """A dense tensor as a ragged one; `lengths` or `padding` say where rows end."""
        from weft._src.ops.ragged.convert import from_tensor

        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    @dispatchable
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        from weft._src.ops.ragged.convert import from_sparse

        return from_sparse(st_input, row_splits_dtype)

    # ---- what it says

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        partition = self._row_partition
        return TensorShape([partition.static_nrows, partition.static_uniform_row_length]).concatenate(
            self._values.shape[1:]
        )

    def get_shape(self):
        return self.shape

    def _set_shape(self, shape):
        """What is known of the shape beside the partitions: lengths that are all the same."""
        shape = TensorShape(shape)
        if shape.rank is None:
            return
        self.shape.assert_is_compatible_with(shape)
        values, axis = self, 1
        while isinstance(values, RaggedTensor):
            partition = values._row_partition
            if shape[axis] is not None and not partition.is_uniform():
                values._row_partition = RowPartition._of_splits(
                    partition.row_splits(), convert_to_tensor(shape[axis], partition.dtype)
                )
            values, axis = values._values, axis + 1
        values.set_shape(values.shape.merge_with(TensorShape([None]).concatenate(shape[axis:])))
        if shape[0] is not None and self._row_partition.row_splits().shape[0] is None:
            self._row_partition.row_splits().set_shape([shape[0] + 1])

    @property
    def ragged_rank(self):
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self):
        return self._values

    @property
    def flat_values(self):
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def row_splits(self):
        return self._row_partition.row_splits()

    @property
    def _nested_row_partitions(self):
        found, values = [], self
        while isinstance(values, RaggedTensor):
            found.append(values._row_partition)
            values = values._values
        return tuple(found)

    @property
    def uniform_row_length(self):
        return self._row_partition.uniform_row_length()

    @property
    def nested_row_splits(self):
        return tuple(p.row_splits() for p in self._nested_row_partitions)

    def value_rowids(self, name=None):
        return self._row_partition.value_rowids()

    def nested_value_rowids(self, name=None):
        return tuple(p.value_rowids() for p in self._nested_row_partitions)

    def nrows(self, out_type=None, name=None):
        rows = self._row_partition.nrows()
        if out_type is None or dtypes.as_dtype(out_type) is rows.dtype:
            return rows
        return raw.Cast(x=rows, DstT=dtypes.as_dtype(out_type))

    def row_starts(self, name=None):
        return self._row_partition.row_starts()

    def row_limits(self, name=None):
        return self._row_partition.row_limits()

    def row_lengths(self, axis=1, name=None):
        axis = positive_axis(axis, self.shape.rank, ndims_name="rank(self)")
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = raw.Shape(input=self._values, out_type=self.row_splits.dtype)
        return self.with_values(raw.Fill(dims=_first(shape, axis - 1), value=at(shape, axis - 1)))

    def nested_row_lengths(self, name=None):
        return tuple(p.row_lengths() for p in self._nested_row_partitions)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest dense shape that holds this tensor, or its sizes along axes."""
        dtype = self.row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if isinstance(axis, int) and axis == 0:
            return self.nrows(dtype)
        sizes = [self.nrows(dtype)]
        for lengths in self.nested_row_lengths():
            longest = raw.Max(
                input=raw.ConcatV2(values=[lengths, convert_to_tensor([0], lengths.dtype)], axis=0), reduction_indices=0
            )
            sizes.append(longest if longest.dtype is dtype else raw.Cast(x=longest, DstT=dtype))
        inner = raw.Shape(input=self.flat_values, out_type=dtype)
        box = raw.ConcatV2(
            values=[
                raw.Pack(values=sizes, axis=0),
                raw.StridedSlice(input=inner, begin=[1], end=[0], strides=[1], end_mask=1),
            ],
            axis=0,
        )
        if axis is None:
            return box
        return raw.GatherV2(params=box, indices=axis, axis=0)

    # ---- others like it

    def with_values(self, new_values):
        new_values = as_values(new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and new_values.row_splits.dtype is not self.row_splits.dtype:
            return RaggedTensor._of(
                new_values.with_row_splits_dtype(dtypes.int64), self._row_partition.with_dtype(dtypes.int64)
            )
        return RaggedTensor._of(new_values, self._row_partition)

    def with_flat_values(self, new_values):
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}.")
        if self.row_splits.dtype is dtype:
            return self
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor._of(values, self._row_partition.with_dtype(dtype))

    def merge_dims(self, outer_axis, inner_axis):
        from weft._src.ops.ragged.convert import merge_dims

        outer = positive_axis(outer_axis, self.shape.rank, "outer_axis", "rank(self)")
        inner = positive_axis(inner_axis, self.shape.rank, "inner_axis", "rank(self)")
        if not outer <= inner:
            raise ValueError(
                f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
            )
        return merge_dims(self, outer, inner)

    # ---- as other things

    def to_tensor(self, default_value=None, name=None, shape=None):
        from weft._src.ops.ragged.convert import to_tensor

        return to_tensor(self, default_value, shape, name)

    def to_sparse(self, name=None):
        from weft._src.ops.ragged.convert import to_sparse

        return to_sparse(self, name)

    def _is_eager(self):
        return isinstance(self.flat_values, EagerTensor) and isinstance(self.row_splits, EagerTensor)

    def numpy(self):
        """An array; of arrays, where rows differ in length."""
        import numpy as np

        if not self._is_eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values, splits = self._values.numpy(), self.row_splits.numpy()
        rows = [values[a:b] for a, b in zip(splits, splits[1:])]
        if not rows:
            return np.zeros((0, 0) + values.shape[1:], values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.array(rows)
        out = np.empty(len(rows), object)
        out[:] = rows
        return out

    def to_list(self):
        if not self._is_eager():
            raise ValueError("to_list can only be used in eager mode.")
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self.row_splits.numpy().tolist()
        return [values[a:b] for a, b in zip(splits, splits[1:])]

    def _to_variant(self, batched_input=False, name=None):
        return raw.RaggedTensorToVariant(
            rt_nested_splits=list(self.nested_row_splits),
            rt_dense_values=self.flat_values,
            batched_input=batched_input,
            name=name,
        )

    @classmethod
    def _from_variant(
        cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, row_splits_dtype=dtypes.int64, name=None
    ):
        variant = convert_to_tensor(variant, dtypes.variant)
        if input_ragged_rank is None:
            input_ragged_rank = -1
        found = raw.RaggedTensorFromVariant(
            encoded_ragged=variant,
            input_ragged_rank=input_ragged_rank,
            output_ragged_rank=output_ragged_rank,
            Tvalues=dtype,
            Tsplits=row_splits_dtype,
            name=name,
        )
        return cls.from_nested_row_splits(found[1], found[0], validate=False)

    @property
    def _type_spec(self):
        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    # A tape watches the values alone, and gives their gradients in the rows of this tensor.
    @property
    def _gradient_components(self):
        return [self.flat_values]

    def _with_gradient_components(self, components):
        if isinstance(
            components[0], RaggedTensor
        ):  # zeros for all of it, which TensorFlow puts in the place of the values
            return self.with_values(components[0])
        return self.with_flat_values(convert_to_tensor(components[0]))

    def consumers(self):
        return self._consumers()

    def __repr__(self):
        if self._is_eager():
            import numpy as np

            def text(x):
                """numpy's layout, with arrays in arrays shown the same way."""
                if not isinstance(x, np.ndarray):
                    return str(x)
                return np.array2string(x, separator=", ") if x.size else str(x.tolist())

            with np.printoptions(formatter={"all": text}):
                return f"<tf.RaggedTensor {text(self.numpy())}>"
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self.row_splits!s})"

    def __str__(self):
        return repr(self)

    def __getitem__(self, key):
        from weft._src.ops.ragged.getitem import getitem

        return getitem(self, key)

    def __iter__(self):
        if _weft.in_graph() or not self._is_eager():
            raise TypeError("Cannot iterate over a RaggedTensor of a graph.")
        return (self[i] for i in range(int(self.nrows())))

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __hash__(self):
        # In version 1's graphs a ragged tensor can be the key of a feed.
        if not isinstance(self.row_splits, EagerTensor) and not self.row_splits.graph.building_function:
            return id(self)
        raise TypeError("RaggedTensor is unhashable.")

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _unpickled, (self.flat_values, self.nested_row_splits)


def _unpickled(flat_values, nested_row_splits):
    return RaggedTensor.from_nested_row_splits(flat_values, nested_row_splits, validate=False)


def _operator(name, reflected=False):
    def operator(self, other):
        from weft._src.ops.ragged import operators

        if not isinstance(self, RaggedTensor):  # another class has taken the operator, and dispatches ops
            return getattr(Tensor, f"__{'r' * reflected}{name.removesuffix('_')}__")(self, other)
        return getattr(operators, name)(other, self) if reflected else getattr(operators, name)(self, other)

    return operator


def _unary(name):
    def operator(self):
        from weft._src.ops.ragged import operators

        return getattr(operators, name)(self)

    return operator


for _name in "add sub mul truediv floordiv mod pow and or xor".split():
    setattr(RaggedTensor, f"__{_name}__", _operator(_name + "_"))
    setattr(RaggedTensor, f"__r{_name}__", _operator(_name + "_", reflected=True))
for _name in "lt le gt ge eq ne".split():
    setattr(RaggedTensor, f"__{_name}__", _operator(_name + "_"))
for _name in "neg abs invert".split():
    setattr(RaggedTensor, f"__{_name}__", _unary(_name + "_"))
RaggedTensor.__div__, RaggedTensor.__rdiv__ = RaggedTensor.__truediv__, RaggedTensor.__rtruediv__


class RaggedTensorValue:
    """tf.compat.v1.ragged.RaggedTensorValue: what a session gives for a ragged tensor."""

    def __init__(self, values, row_splits):
        if not (
            isinstance(row_splits, (np.ndarray, np.generic))
            and row_splits.dtype in (np.int32, np.int64)
            and row_splits.ndim == 1
        ):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self.values, self.row_splits = values, row_splits

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    @property
    def flat_values(self):
        return self.values.flat_values if isinstance(self.values, RaggedTensorValue) else self.values

    @property
    def nested_row_splits(self):
        return (self.row_splits, *(self.values.nested_row_splits if isinstance(self.values, RaggedTensorValue) else ()))

    @property
    def ragged_rank(self):
        return len(self.nested_row_splits)

    @property
    def dtype(self):
        return self.flat_values.dtype

    @property
    def shape(self):
        return (self.row_splits.shape[0] - 1, None) + tuple(self.values.shape[1:])

    def _as_ragged(self, dtype=None):
        values = (
            self.values._as_ragged(dtype)
            if isinstance(self.values, RaggedTensorValue)
            else convert_to_tensor(self.values, dtype)
        )
        return RaggedTensor.from_row_splits(values, self.row_splits, validate=False)

    def to_list(self):
        values = self.values.to_list() if isinstance(self.values, RaggedTensorValue) else self.values.tolist()
        return [values[a:b] for a, b in zip(self.row_splits, self.row_splits[1:])]

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self.values!r}, row_splits={self.row_splits!r})"

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"


register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)


def _splits_dtype(values):
    return values.row_splits.dtype if isinstance(values, RaggedTensor) else dtypes.int64


def _tensor_list(value, name):
    if isinstance(value, Tensor):
        raise TypeError(
            f"Argument `{name}` must be a list of Tensors. Received "
            f"{value.numpy() if isinstance(value, EagerTensor) else value}."
        )
    return list(value)


def _first(vector, count):
    return raw.StridedSlice(input=vector, begin=[0], end=[count], strides=[1])


def positive_axis(axis, ndims, axis_name="axis", ndims_name="ndims"):
    """The axis counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"{axis_name} must be an int; got {type(axis).__name__}")
    if ndims is not None:
        if not -ndims <= axis < ndims:
            raise ValueError(f"{axis_name}={axis} out of bounds: expected {-ndims}<={axis_name}<{ndims}")
        return axis + ndims if axis < 0 else axis
    if axis < 0:
        raise ValueError(f"{axis_name}={axis} may only be negative if {ndims_name} is statically known.")
    return axis
