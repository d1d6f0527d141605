"""Variables in parts along one axis: what get_variable(partitioner=...) gives, and partitioners."""

import inspect
import math

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.graph import name_scope_v1
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import as_shape
from weft._src.trackable.variable import VariableAggregationV2, VariableSynchronization


class SaveSliceInfo:
    """Which part of a whole a variable is; checkpoints hold the whole under its name."""

    def __init__(self, full_name, full_shape, var_offset, var_shape):
        self.full_name, self.full_shape = full_name, list(full_shape)
        self.var_offset, self.var_shape = list(var_offset), list(var_shape)

    @property
    def spec(self):
        """As SaveV2 reads it: "sizes of the whole, then offset,size of each axis"."""
        sizes = "".join(f"{n} " for n in self.full_shape)
        return sizes + ":".join(f"{at},{n}" for at, n in zip(self.var_offset, self.var_shape))


class PartitionInfo:
    """What an initializer hears of the part that it makes."""

    def __init__(self, full_shape, var_offset):
        for at, size in zip(var_offset, full_shape):
            if not 0 <= at < size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={at}, shape={size} for var_offset={var_offset}, full_shape={full_shape}"
                )
        self.full_shape, self.var_offset = full_shape, var_offset

    def single_offset(self, shape):
        return self.var_offset[self.single_slice_dim(shape) or 0]

    def single_slice_dim(self, shape):
        cut = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape)) if part != whole]
        return cut[0] if cut else None


class PartitionedVariable:
    """The parts in order; as a tensor they are the whole."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        self._name, self._shape, self._dtype = name, as_shape(shape), dtype
        self._variable_list, self._partitions = list(variable_list), list(partitions)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)

    def get_shape(self):
        return self._shape

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        return len(self._variable_list)

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _axis(self):
        return next((i for i, n in enumerate(self._partitions) if n > 1), 0)

    def as_tensor(self):
        """The parts put together."""
        if len(self) == 1:
            whole = self._variable_list[0].value()
        else:
            with name_scope_v1(self._name + "/ConcatPartitions/"):
                whole = raw.ConcatV2(values=[v.value() for v in self], axis=self._axis(), name="concat")
        with name_scope_v1(None):
            return raw.Identity(input=whole, name=self._name)

    def __tf_tensor__(self, dtype=None, name=None):
        return self.as_tensor().__tf_tensor__(dtype, name)

    def _apply(self, method, value):
        parts = list(value) if isinstance(value, (list, tuple, PartitionedVariable)) else None
        if parts is None:
            sizes = [v.shape.as_list()[self._axis()] for v in self]
            parts = raw.SplitV(value=value, size_splits=sizes, axis=self._axis(), num_split=len(sizes))
            parts = [parts] if isinstance(parts, Tensor) else parts
        return [getattr(v, method)(p) for v, p in zip(self, parts)]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        made = self._apply("assign", value)
        return made if read_value else [m.op for m in made]

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        made = self._apply("assign_add", value)
        return made if read_value else [m.op for m in made]

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        made = self._apply("assign_sub", value)
        return made if read_value else [m.op for m in made]


# ---- partitioners --------------------------------------------------------------------------------------------


def fixed_size_partitioner(num_shards, axis=0):
    """So many parts along an axis."""

    def partitioner(shape, **unused):
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.dims[axis].value)
        return partitions

    return partitioner


def _bytes(dtype, of_text):
    return of_text if dtype.base_dtype is dtypes.string else dtype.size


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """As many parts along an axis as keep each below a size."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is "
            f"{max_shard_bytes} andbytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive; received: {max_shards}")

    def partitioner(shape, dtype):
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined. Received: {shape}")
        sizes = shape.as_list()
        partitions = [1] * len(sizes)
        slice_bytes = shape.num_elements() // sizes[axis] * _bytes(dtypes.as_dtype(dtype), bytes_per_string_element)
        rows = max(1, max_shard_bytes // slice_bytes)
        count = math.ceil(sizes[axis] / rows)
        partitions[axis] = min(max_shards, count) if max_shards else count
        return partitions

    return partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """Parts of at least a size, at most so many."""

    def partitioner(shape, dtype):
        if axis >= len(shape):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        whole = shape.num_elements() * _bytes(dtypes.as_dtype(dtype), bytes_per_string_element)
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(shape.as_list()[axis], max_partitions, math.ceil(whole / min_slice_size)))
        return partitions

    return partitioner


# ---- making them ---------------------------------------------------------------------------------------------


def _partitions(partitioner, shape, dtype):
    """What the partitioner says, checked."""
    if not callable(partitioner):
        raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
    given = partitioner(shape=shape, dtype=dtype)
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"Partitioner must return a sequence, but saw: {given}")
    if len(given) != shape.rank:
        raise ValueError(
            f"Partitioner returned a partition list that does not match the Variable's rank: {given} vs. {shape}"
        )
    if any(n < 1 for n in given):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {given}")
    if sum(n > 1 for n in given) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {given}")
    return list(given)


def slices(shape, partitions):
    """(offset, shape) of each part; the first ones may have a row more."""
    axis = next((i for i, n in enumerate(partitions) if n > 1), 0)
    each, extra = divmod(shape[axis], partitions[axis])
    at = 0
    for i in range(partitions[axis]):
        size = each + (i < extra)
        offset, part = [0] * len(shape), list(shape)
        offset[axis], part[axis] = at, size
        yield offset, part
        at += size


def _takes_info(initializer):
    try:
        return "partition_info" in inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        return False


def get_partitioned(state, make, name, shape, dtype, initializer, partitioner, reuse, **options):
    """get_variable's way for variables in parts. make(name, ...) gets the single ones."""
    constant = initializer is not None and not (callable(initializer) and not isinstance(initializer, Tensor))
    if constant:
        initializer = convert_to_tensor(initializer)
        shape = initializer.shape
        dtype = initializer.dtype.base_dtype
    shape, dtype = as_shape(shape), dtypes.as_dtype(dtype)
    found = state.partitioned.get(name)
    partitions = None if partitioner is None else _partitions(partitioner, shape, dtype)
    if found is not None:
        if not reuse:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        if shape.rank is not None and not shape.is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified shape {shape} and found shape {found.shape}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified dtype {dtype.name} and found dtype {found.dtype.name}."
            )
        if partitions is not None and partitions != found._partitions:
            raise ValueError(
                f"Trying to reuse partitioned variable {name}, but specified partitions {partitions} and found partitions {found._partitions}."
            )
        return found
    if isinstance(initializer, type):
        initializer = initializer()
    parts = []
    for i, (offset, part) in enumerate(slices(shape.as_list(), partitions)):
        info = PartitionInfo(shape.as_list(), offset)
        if constant:
            value, part_shape = raw.Slice(input=initializer, begin=offset, size=part), None
        elif initializer is not None and _takes_info(initializer):

            def value(shape, dtype=None, info=info, **unused):
                return initializer(shape, dtype=dtype, partition_info=info)

            part_shape = part
        else:
            value, part_shape = initializer, part
        if value is None and dtype.is_floating:
            from weft._src.compat.v1.initializers import glorot_uniform

            def value(shape, dtype=None, info=info, **unused):
                return glorot_uniform()(shape, dtype=dtype, partition_info=info)

        made = make(name=f"{name}/part_{i}", shape=part_shape, dtype=dtype, initializer=value, reuse=reuse, **options)
        made._save_slice_info = SaveSliceInfo(name, shape.as_list(), offset, part)
        parts.append(made)
    state.partitioned[name] = whole = PartitionedVariable(name, shape, dtype, parts, partitions)
    return whole


def create_partitioned_variables(
    shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None, name=None, reuse=None
):
    """The parts of a variable, cut as slicing says."""
    from weft._src.compat.v1.variables import get_variable, variable_scope

    if len(shape) != len(slicing):
        raise ValueError(
            f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        made = get_variable(
            name="",
            shape=None if isinstance(initializer, Tensor) else shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
        return list(made)
