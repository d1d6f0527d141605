"""tf.TensorArray: a Python list while ops run at once, one of the engine's tensor lists in graphs."""

import contextlib

from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes, errors, type_spec_registry
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape, as_shape
from weft._src.framework.type_spec import TensorSpec, TypeSpec, register_type_spec_from_value_converter
from weft._src.ops._direct import scope


def _scope(name, default):
    from weft._src.framework.graph import name_scope_v1

    return name_scope_v1(name, default) if _weft.in_graph() else contextlib.nullcontext()


def _out_of_range(text):
    return errors.OutOfRangeError(None, None, text)


def _invalid(text):
    return errors.InvalidArgumentError(None, None, text)


def _check_dtype(value, dtype):
    if value.dtype.base_dtype != dtype:
        raise _invalid(f"TensorArray dtype is {dtype.name} but Op is trying to write dtype {value.dtype.name} ")


class _EagerArray:
    """Tensors in a Python list. All TensorArrays that writes gave share it, as they do in TensorFlow."""

    handle = None

    def __init__(self, dtype, size, dynamic_size, clear_after_read, infer_shape, element_shape):
        self.dtype, self.dynamic_size, self.infer_shape = dtype, bool(dynamic_size), infer_shape
        self._clear = clear_after_read is None or bool(clear_after_read)
        self.element_shape = as_shape(element_shape)
        self._items, self._read = [None] * int(size), set()

    @property
    def flow(self):
        return convert_to_tensor(0)

    def with_flow(self, flow):
        return self

    def _zeros(self):
        return raw.Fill(
            dims=convert_to_tensor(self.element_shape, dtypes.int32),
            value=convert_to_tensor("" if self.dtype is dtypes.string else 0, self.dtype),
        )

    def _item(self, i):
        if self._items[i] is None:
            self._items[i] = self._zeros()
        return self._items[i]

    def read(self, index, name):
        index = _plain_index(index)
        if index < 0:
            raise _out_of_range(f"Reading from negative indices (index {index}) is not allowed.")
        if index >= len(self._items):
            raise _out_of_range(f"Tried to read from index {index} but array size is: {len(self._items)} ")
        if self._items[index] is None and index in self._read:
            raise _invalid(
                f"Could not read index {index} twice because it was cleared after a previous read (perhaps "
                f"try setting clear_after_read = false?)"
            )
        value = self._item(index)
        if self._clear:
            self._items[index] = None
            self._read.add(index)
        return value

    def _check_shape(self, value):
        if not self.element_shape.is_compatible_with(value.shape):
            raise ValueError(f"Incompatible shape for value ({value.shape}), expected ({self.element_shape})")
        if self.infer_shape:
            self.element_shape = self.element_shape.merge_with(value.shape)

    def write(self, index, value, name):
        index = _plain_index(index)
        if not isinstance(value, Tensor):
            value = convert_to_tensor(value, dtype_hint=self.dtype)
        if index < 0:
            raise _out_of_range(f"Writing to negative indices (index {index}) is not allowed.")
        size = len(self._items)
        if index >= size:
            if not self.dynamic_size:
                raise _out_of_range(f"Tried to write to index {index} but array is not resizeable and size is: {size} ")
            self._items.extend([None] * (index - size + 1))
        _check_dtype(value, self.dtype)
        self._check_shape(value)
        self._items[index] = value
        return self

    def stack(self, name):
        items = [self._item(i) for i in range(len(self._items))]
        if items:
            return raw.Pack(values=items, axis=0)
        if self.element_shape.is_fully_defined():
            return raw.Fill(
                dims=[0, *self.element_shape],
                value=convert_to_tensor("" if self.dtype is dtypes.string else 0, self.dtype),
            )
        return convert_to_tensor([], self.dtype)

    def gather(self, indices, name):
        return raw.Pack(values=[self._item(int(i)) for i in _plain_list(indices)], axis=0)

    def concat(self, name):
        items = [self._item(i) for i in range(len(self._items))]
        for i, item in enumerate(items):
            if item.shape.rank == 0:
                raise _invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        return items[0] if len(items) == 1 else raw.ConcatV2(values=items, axis=0)

    def _replace(self, items):
        if len(items) > len(self._items) and not self.dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(items)} tensors into a TensorArray of static size {len(self._items)} "
            )
        self._items, self._read = items, set()
        return self

    def unstack(self, value, name):
        value = convert_to_tensor(value, dtype_hint=self.dtype)
        _check_dtype(value, self.dtype)
        return self._replace(_rows(value))

    def scatter(self, indices, value, name):
        for index, item in zip(_plain_list(indices), _rows(convert_to_tensor(value, dtype_hint=self.dtype))):
            self.write(int(index), item, None)
        return self

    def split(self, value, lengths, name):
        value = convert_to_tensor(value, dtype_hint=self.dtype)
        _check_dtype(value, self.dtype)
        lengths = _plain_list(lengths)
        if sum(lengths) != value.shape[0]:
            raise _invalid(
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is "
                f"{sum(lengths)} and value's shape is: "
                f"{value.shape.as_list()} "
            )
        return self._replace(list(raw.SplitV(value=value, size_splits=lengths, split_dim=0, num_split=len(lengths))))

    def size(self, name):
        return convert_to_tensor(len(self._items))

    def close(self, name):
        self._items = []


def _rows(value):
    if value.shape.rank == 0:
        raise ValueError("Argument `axis` = 0 not in range [0, 0)")
    return list(raw.Unpack(value=value, num=value.shape[0], axis=0)) if value.shape[0] else []


def _plain_index(index):
    return index.numpy() if hasattr(index, "numpy") else index


def _plain_list(values):
    import numpy as np

    return np.asarray(values.numpy() if hasattr(values, "numpy") else values).tolist()


def _shape_argument(shape):
    """A shape as the list ops take it: -1 for what is not known. An array, which the op makes a constant of its own."""
    import numpy as np

    if shape.rank is None:
        return np.array(-1, np.int32)
    if shape.rank == 0 and _weft.in_graph():
        return convert_to_tensor([], dtypes.int32)
    return np.array([-1 if d is None else d for d in shape], np.int32)


class _ListArray:
    """A tensor list: `flow` holds its handle; every write makes a new list."""

    handle = None

    def __init__(self, dtype, size, dynamic_size, clear_after_read, infer_shape, element_shape, flow=None, name=None):
        self.dtype, self.dynamic_size, self.infer_shape = dtype, bool(dynamic_size), infer_shape
        # One shape for all that writes give: what a write tells of the elements, the array of before the loop knows
        # too.
        self._shape = [as_shape(element_shape)]
        self._size = size
        if flow is None:
            with scope(name, "TensorArrayV2") as name:
                flow = raw.TensorListReserve(
                    element_shape=_shape_argument(self._shape[0]),
                    num_elements=0 if size is None else size,
                    element_dtype=dtype,
                    name=name,
                )
        self.flow = flow

    def with_flow(self, flow):
        new = _ListArray.__new__(_ListArray)
        new.__dict__.update(self.__dict__)
        new.flow = flow
        return new

    @property
    def element_shape(self):
        return self._shape[0]

    def _meet(self, shape):
        if not shape.is_compatible_with(self._shape[0]):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self._shape[0]} ")
        if self.infer_shape:
            self._shape[0] = self._shape[0].merge_with(shape)

    def read(self, index, name):
        with _scope(name, "TensorArrayV2Read"):
            return raw.TensorListGetItem(
                input_handle=self.flow,
                index=index,
                element_shape=_shape_argument(self.element_shape),
                element_dtype=self.dtype,
            )

    def write(self, index, value, name):
        with _scope(name, "TensorArrayV2Write"):
            value = convert_to_tensor(value, dtype_hint=self.dtype)
            _check_dtype(value, self.dtype)
            self._meet(value.shape)
            return self.with_flow(
                raw.TensorListSetItem(
                    input_handle=self.flow, index=index, item=value, resize_if_index_out_of_bounds=self.dynamic_size
                )
            )

    def _static_size(self):
        if self.dynamic_size or self._size is None:
            return -1
        value = constant_value(self._size) if isinstance(self._size, Tensor) else self._size
        return -1 if value is None else int(value)

    def stack(self, name):
        with _scope(name, "TensorArrayV2Stack"):
            return raw.TensorListStack(
                input_handle=self.flow,
                element_shape=_shape_argument(self.element_shape),
                element_dtype=self.dtype,
                num_elements=self._static_size(),
            )

    def gather(self, indices, name):
        return raw.TensorListGather(
            input_handle=self.flow,
            indices=indices,
            element_shape=_shape_argument(self.element_shape),
            element_dtype=self.dtype,
            name=name,
        )

    def concat(self, name):
        # What is joined along the first axis may differ in it.
        shape = (
            TensorShape([None]).concatenate(self.element_shape[1:]) if self.element_shape.rank else TensorShape(None)
        )
        return raw.TensorListConcatV2(
            input_handle=self.flow,
            element_shape=_shape_argument(shape),
            leading_dims=convert_to_tensor([], dtypes.int64),
            element_dtype=self.dtype,
            name=name,
        )[0]

    def unstack(self, value, name):
        with _scope(name, "TensorArrayUnstack"):
            value = convert_to_tensor(value, dtype_hint=self.dtype)
            _check_dtype(value, self.dtype)
            self._meet(value.shape[1:])
            shape = _shape_argument(value.shape[1:])
            return self.with_flow(raw.TensorListFromTensor(tensor=value, element_shape=shape))

    def scatter(self, indices, value, name):
        with _scope(name, "TensorArrayScatter"):
            value = convert_to_tensor(value, dtype_hint=self.dtype)
            _check_dtype(value, self.dtype)
            self._meet(value.shape[1:])
            return self.with_flow(
                raw.TensorListScatterIntoExistingList(input_handle=self.flow, tensor=value, indices=indices)
            )

    def split(self, value, lengths, name):
        with _scope(name, "TensorArraySplit"):
            value = convert_to_tensor(value, dtype_hint=self.dtype)
            _check_dtype(value, self.dtype)
            lengths = (
                convert_to_tensor(lengths, dtypes.int64)
                if not isinstance(lengths, Tensor)
                else raw.Cast(x=lengths, DstT=dtypes.int64)
            )
            sizes = constant_value(lengths)
            first = int(sizes[0]) if sizes is not None and len(sizes) and (sizes == sizes[0]).all() else None
            shape = TensorShape([first]).concatenate(value.shape[1:])
            if self.infer_shape:
                self._meet(shape)
            return self.with_flow(
                raw.TensorListSplit(tensor=value, element_shape=_shape_argument(shape), lengths=lengths)
            )

    def size(self, name):
        if not self.dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtypes.int32)
        return raw.TensorListLength(input_handle=self.flow, name=name)

    def close(self, name):
        return raw.NoOp(name=name)


class TensorArray:
    """An array of tensors that loops write and read one by one."""

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        dtype = dtypes.as_dtype(dtype).base_dtype
        if _weft.in_graph() or (flow is not None and flow.dtype is dtypes.variant):
            if handle is not None:
                raise NotImplementedError("TensorArray of a version 1 handle")
            self._implementation = _ListArray(
                dtype, size, dynamic_size, clear_after_read, infer_shape, element_shape, flow, name
            )
        else:
            if handle is not None:
                raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
            if size is None:
                raise ValueError("Size must be declared for TensorArrays when eager execution is enabled.")
            self._implementation = _EagerArray(dtype, size, dynamic_size, clear_after_read, infer_shape, element_shape)

    def _of(self, implementation):
        if implementation is self._implementation:
            return self
        new = TensorArray.__new__(TensorArray)
        new._implementation = implementation
        return new

    @property
    def flow(self):
        return self._implementation.flow

    @property
    def dtype(self):
        return self._implementation.dtype

    @property
    def handle(self):
        return None

    @property
    def element_shape(self):
        return self._implementation.element_shape

    @property
    def dynamic_size(self):
        return self._implementation.dynamic_size

    @property
    def _infer_shape(self):
        return self._implementation.infer_shape

    def identity(self):
        """A copy that keeps the control dependencies of here."""
        implementation = self._implementation
        if isinstance(implementation, _EagerArray):
            return self
        return self._of(implementation.with_flow(raw.Identity(input=implementation.flow)))

    def grad(self, source, flow=None, name=None):
        if isinstance(self._implementation, _EagerArray):
            raise NotImplementedError(
                "TensorArray.grad is not supported when executing eagerly; eager's gradient "
                "implementation does not use/need this function to "
                "compute gradients of operations that use TensorArrays."
            )
        raise NotImplementedError("TensorArray.grad is of version 1's arrays")

    def read(self, index, name=None):
        """The tensor at an index; an eager array forgets it unless clear_after_read=False."""
        return self._implementation.read(index, name)

    def write(self, index, value, name=None):
        """The array with the value at an index."""
        return self._of(self._implementation.write(index, value, name))

    def stack(self, name=None):
        """All tensors as one, along a new first axis."""
        return self._implementation.stack(name)

    def gather(self, indices, name=None):
        """Some of the tensors as one, along a new first axis."""
        return self._implementation.gather(indices, name)

    def concat(self, name=None):
        """All tensors joined along their first axis."""
        return self._implementation.concat(name)

    def unstack(self, value, name=None):
        """The array of the rows of a tensor."""
        return self._of(self._implementation.unstack(value, name))

    def scatter(self, indices, value, name=None):
        """The array with the rows of a tensor at the indices."""
        return self._of(self._implementation.scatter(indices, value, name))

    def split(self, value, lengths, name=None):
        """The array of pieces of a tensor, cut along its first axis."""
        return self._of(self._implementation.split(value, lengths, name))

    def size(self, name=None):
        """The number of tensors."""
        return self._implementation.size(name)

    def close(self, name=None):
        """Frees the array."""
        return self._implementation.close(name)

    def mark_used(self):
        pass

    def __tf_tracing_type__(self, context):
        return TensorArraySpec.from_value(self)


def build_ta_with_new_flow(old_ta, flow):
    """The array with the list that a loop or branch gave for it."""
    if isinstance(old_ta._implementation, _EagerArray):
        return TensorArray(
            old_ta.dtype,
            flow=flow,
            dynamic_size=old_ta.dynamic_size,
            infer_shape=old_ta._infer_shape,
            element_shape=old_ta.element_shape,
        )
    return old_ta._of(old_ta._implementation.with_flow(flow))


@type_spec_registry.register("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of a tf.TensorArray."""

    value_type = property(lambda self: TensorArray)

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape = as_shape(element_shape)
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    def is_subtype_of(self, other):
        # The shape of the elements is checked when they are written.
        return isinstance(other, TensorArraySpec) and (self._dtype, self._dynamic_size) == (
            other._dtype,
            other._dynamic_size,
        )

    def most_specific_common_supertype(self, others):
        others = list(others)
        if not all(self.is_subtype_of(o) for o in others):
            return None
        shape = self._element_shape.most_specific_common_supertype([o._element_shape for o in others])
        return TensorArraySpec(shape, self._dtype, self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, other):
        if not isinstance(other, TypeSpec):
            if not isinstance(other, TensorArray):
                return False
            other = TensorArraySpec.from_value(other)
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype.is_compatible_with(other._dtype)
            and self._element_shape.is_compatible_with(other._element_shape)
            and self._dynamic_size == other._dynamic_size
        )

    def _serialize(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        if isinstance(value._implementation, _ListArray):
            return [value.flow]
        return [raw.TensorListFromTensor(tensor=value.stack(), element_shape=_shape_argument(value.element_shape))]

    def _from_components(self, components):
        return TensorArray(
            self._dtype,
            flow=components[0],
            dynamic_size=self._dynamic_size,
            infer_shape=self._infer_shape,
            element_shape=self._element_shape,
        )

    @staticmethod
    def from_value(value):
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`")
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, value._infer_shape)

    def _to_legacy_output_types(self):
        return self._dtype

    def _to_legacy_output_shapes(self):
        return TensorShape([self._dynamic_size, self._infer_shape]).concatenate(self._element_shape)


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value, allow_subclass=True)
