"""ShardedVariable: a variable whose rows are divided among several variables, which may be on several parameter servers."""

import math
import weakref

import numpy as np

from weft import _weft
from weft._src.distribute.variable import DistributedVariableType
from weft._src.framework import dtypes, save_context
from weft._src.framework.composite import CompositeTensor
from weft._src.framework.graph import init_scope
from weft._src.framework.indexed_slices import IndexedSlices
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TypeSpec, VariableSpec
from weft._src.trackable.base import VARIABLE_VALUE_KEY, Trackable
from weft._src.trackable.variable_modes import VariableAggregation, VariableSynchronization


class ShardedVariableSpec(TypeSpec):
    """The specs of the parts."""

    __slots__ = ["_variable_specs"]
    value_type = property(lambda self: ShardedVariable)

    def __init__(self, *variable_specs):
        self._variable_specs = tuple(variable_specs)

    def _serialize(self):
        return self._variable_specs

    @property
    def _component_specs(self):
        return self._variable_specs

    def _to_components(self, value):
        return tuple(value.variables)

    def _from_components(self, components):
        return ShardedVariable(list(components))


class ShardedVariable(Trackable, CompositeTensor):
    """Several variables as one, along the first dimension."""

    is_sharded_variable = True

    def __init__(self, variables, name="ShardedVariable"):
        if (
            not isinstance(variables, (list, tuple))
            or not variables
            or any(not isinstance(v, _weft.VariableBase) for v in variables)
        ):
            raise TypeError(
                f"Argument `variables` should be a non-empty list of `variables.Variable`s. Received {variables}"
            )
        if len({v.dtype for v in variables}) > 1:
            raise ValueError(
                "All elements in argument `variables` must have the same dtype. Received dtypes: "
                f"{[v.dtype for v in variables]}"
            )
        if len({tuple(v.shape.as_list()[1:]) for v in variables}) > 1:
            raise ValueError(
                "All elements in argument `variables` must have the same shapes except for the first axis. Received shapes: "
                f"{[v.shape for v in variables]}"
            )
        self._parts, self._name, self._whole = list(variables), name, None
        self._shape = TensorShape([sum(v.shape.as_list()[0] for v in variables), *variables[0].shape.as_list()[1:]])
        for v in variables:
            v._sharded_container = weakref.ref(self)

    # ---- facts

    @property
    def _variables(self):
        return [self._saving_variable] if save_context.in_save_context() else self._parts

    @property
    def _sizes(self):
        return [v.shape.as_list()[0] for v in self._variables]

    @property
    def _offsets(self):
        sizes = self._sizes
        return [sum(sizes[:i]) for i in range(len(sizes))]

    @property
    def _saving_variable(self):
        """What stands for all of it in a SavedModel: functions are traced with one variable of the whole shape, which has no value here."""
        if self._whole is None:
            from weft._src.saved_model.load import variable_without_value  # only needed by those who save

            with init_scope():
                self._whole = variable_without_value(
                    self._name,
                    self.dtype,
                    self._shape,
                    self.trainable,
                    VariableSynchronization.NONE,
                    VariableAggregation.NONE,
                )
        return self._whole

    @property
    def variables(self):
        """The parts; of a SavedModel that is being written, the one that stands for them."""
        return self._variables

    _get_variable_list = lambda self: self._variables  # what tf.nn.embedding_lookup asks for

    @property
    def name(self):
        return self._name

    @property
    def dtype(self):
        return self._parts[0].dtype

    @property
    def shape(self):
        return self._shape

    @property
    def trainable(self):
        return self._parts[0].trainable

    @property
    def _type_spec(self):
        return ShardedVariableSpec(*(VariableSpec(v.shape, v.dtype) for v in self._variables))

    def __tf_tracing_type__(self, context):
        return DistributedVariableType(self)

    @property
    def _unique_id(self):
        return self._parts[0]._unique_id.replace("part_0", "sharded")

    @property
    def _distribute_strategy(self):
        return self._parts[0]._distribute_strategy

    @property
    def _shared_name(self):
        return self._name

    def _should_act_as_resource_variable(self):
        return True

    def __iter__(self):
        return iter(self._variables)

    # ---- reading

    def __tf_tensor__(self, dtype=None, name=None):
        from weft._src.ops.array_ops import concat

        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(self.dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type {dtypes.as_dtype(dtype).name!r} for variable of type "
                f"{self.dtype.name!r}"
            )
        if "embedding_lookup" in _weft.name_scope():
            raise TypeError("Converting ShardedVariable to tensor in embedding lookup ops is disallowed.")
        return concat(self._variables, axis=0)

    def numpy(self):
        return self.__tf_tensor__().numpy()

    def __getitem__(self, spec):
        from weft._src.framework.convert import constant
        from weft._src.ops import array_ops

        if isinstance(spec, bool) or (isinstance(spec, (Tensor, np.ndarray)) and spec.dtype in (dtypes.bool, bool)):
            return array_ops.boolean_mask(tensor=self.__tf_tensor__(), mask=spec)
        spec = tuple(spec) if isinstance(spec, (list, tuple)) else (spec,)
        first, rest = spec[0], spec[1:]
        if isinstance(first, slice):
            rows = zip(self._variables, self._rows_of(first))
            parts = [v[(part, *rest)] for v, part in rows if part is not None]
            if first.step is not None and first.step < 0:
                parts.reverse()
            if not parts:
                return constant([], dtype=self.dtype, shape=[0, *self._shape.as_list()[1:]])
            return array_ops.concat(parts, axis=0)
        if first is Ellipsis:
            return array_ops.concat([v[spec] for v in self._variables], axis=0)
        if first is None:
            return array_ops.concat([v[rest] for v in self._variables], axis=0)[None]
        if isinstance(first, Tensor):
            raise TypeError("ShardedVariable: using Tensor for indexing is not allowed.")
        row = first + self._shape[0] if first < 0 else first
        if not 0 <= row < self._shape[0]:
            raise IndexError(f"ShardedVariable: slice index {row} of dimension 0 out of bounds.")
        part = max(i for i, offset in enumerate(self._offsets) if offset <= row)
        return self._variables[part][(row - self._offsets[part], *rest)]

    def _rows_of(self, wanted):
        """For each part the slice of its rows, or None."""
        if any(isinstance(x, Tensor) for x in (wanted.start, wanted.stop, wanted.step)):
            raise TypeError(
                "ShardedVariable: using Tensor in slice_spec is not allowed. Please file a feature request with the TensorFlow "
                "team."
            )
        if wanted.step == 0:
            raise ValueError("slice step cannot be zero")
        rows = range(self._shape[0])[wanted]
        parts = []
        for offset, size in zip(self._offsets, self._sizes):
            inside = _within(rows, offset, offset + size)
            if not inside:
                parts.append(None)
                continue
            stop = inside[-1] - offset + (1 if rows.step > 0 else -1)
            parts.append(slice(inside[0] - offset, None if stop < 0 else stop, rows.step))
        return parts

    def sparse_read(self, indices, name=None):
        """Rows by index, those of the first part before those of the others."""
        from weft._src.ops.array_ops import concat

        per_part, _ = self._split_indices(indices)
        return concat([v.sparse_read(i) for v, i in zip(self._variables, per_part)], axis=0)

    # ---- writing

    def _write(self, method, value):
        from weft._src.ops import array_ops

        value = _weft.convert(value, self.dtype)
        begin = [0] * (self._shape.rank - 1)
        for v, offset in zip(self._variables, self._offsets):
            getattr(v, method)(array_ops.slice(value, [offset, *begin], v.shape.as_list()))
        return self

    def assign(self, value, use_locking=None, name=None, read_value=True):
        return self._write("assign", value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._write("assign_add", delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._write("assign_sub", delta)

    def _split_indices(self, indices):
        """(the rows in each part, the part of each index)."""
        from weft._src.ops import array_ops, math_ops

        indices = _weft.convert(indices, None)
        if indices.shape.rank != 1:
            raise ValueError(
                f"ShardedVariable: indices must be 1D Tensor for sparse operations. Received shape: {indices.shape}"
            )
        count = len(self._variables)
        base, extra = divmod(self._shape[0], count)
        if self._sizes != [base + (i < extra) for i in range(count)]:
            raise NotImplementedError(
                'scatter_xxx ops are not supported in ShardedVariable that does not conform to "div" sharding'
            )
        parts = math_ops.maximum(indices // (base + 1), (indices - extra) // base)
        rows = array_ops.where(parts < extra, indices % (base + 1), (indices - extra) % base)
        parts = math_ops.cast(parts, dtypes.int32)
        return array_ops.dynamic_partition(rows, parts, count), parts

    def _scatter(method):  # noqa: N805: makes methods of this class
        def scatter(self, sparse_delta, use_locking=False, name=None):
            from weft._src.ops import array_ops

            rows, parts = self._split_indices(sparse_delta.indices)
            values = array_ops.dynamic_partition(sparse_delta.values, parts, len(self._variables))
            for v, row, value in zip(self._variables, rows, values):
                getattr(v, method)(IndexedSlices(values=value, indices=row))
            return self

        scatter.__name__ = method
        return scatter

    for _name in "add sub mul div min max update".split():
        locals()[f"scatter_{_name}"] = _scatter(f"scatter_{_name}")
    batch_scatter_update = _scatter("batch_scatter_update")

    # ---- saving: the parts are slices of one tensor

    def _serialize_to_tensors(self):
        if save_context.in_save_context():
            from weft._src.ops.array_ops import concat

            return {VARIABLE_VALUE_KEY: concat(self._parts, axis=0)}
        whole = " ".join(str(n) for n in self._shape.as_list())
        columns = "".join(f":0,{n}" for n in self._shape.as_list()[1:])
        parts = zip(self._variables, self._offsets, self._sizes)
        return {VARIABLE_VALUE_KEY: {f"{whole} {offset},{size}{columns}": v.read_value() for v, offset, size in parts}}

    def _restore_from_tensors(self, restored_tensors):
        value = restored_tensors[VARIABLE_VALUE_KEY]
        for v, offset, size in zip(self._variables, self._offsets, self._sizes):
            v._restore_from_tensors({VARIABLE_VALUE_KEY: value[offset : offset + size]})

    # ---- operators: those of the whole

    def _operator(name):  # noqa: N805
        def method(self, *others):
            return getattr(self.__tf_tensor__(), name)(*others)

        method.__name__ = name
        return method

    for _name in "add sub mul truediv floordiv mod and or xor pow matmul".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")
        locals()[f"__r{_name}__"] = _operator(f"__r{_name}__")
    for _name in "lt le gt ge invert neg abs".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")
    del _name, _operator, _scatter

    def __repr__(self):
        return f"ShardedVariable({self._variables!r}, name={self._name!r})"


def _within(rows, low, high):
    """Of a range, the numbers from low up to high."""
    if not rows:
        return rows
    if rows.step < 0:
        return _within(rows[::-1], low, high)[::-1]
    first = max(0, math.ceil((low - rows.start) / rows.step))
    last = math.ceil((high - rows.start) / rows.step)
    return rows[first : max(first, min(last, len(rows)))]
