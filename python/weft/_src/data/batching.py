"""Batches of elements of different sizes: padded, ragged, sparse, by length."""

from weft._src.raw import raw
from weft._src.data import structure
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import TensorSpec


def _static_batch(batch_size, drop_remainder):
    size = constant_value(convert_to_tensor(batch_size, dtypes.int64))
    return int(size) if drop_remainder and size is not None else None


def _padded_shape(shape, component):
    """The shape of a padded component as a vector; -1 for sizes that the longest element decides."""
    if isinstance(shape, Tensor):
        return raw.Cast(x=shape, DstT=dtypes.int64), constant_value(shape)
    shape = TensorShape(shape)
    if shape.rank is None:
        raise ValueError(f"Unable to convert the shape {shape} of a component to a padded shape: its rank is unknown.")
    if component.shape.rank is not None and component.shape.rank != shape.rank:
        raise ValueError(
            f"The padded shape {shape} is not compatible with the shape {component.shape} of the corresponding input component."
        )
    if component.shape.rank is not None:
        for padded, own in zip(shape.as_list(), component.shape.as_list()):
            if padded is not None and own is not None and padded < own:
                raise ValueError(
                    f"The padded shape {shape} is not compatible with the shape {component.shape} of the corresponding input component."
                )
    sizes = [-1 if d is None else d for d in shape.as_list()]
    return (
        convert_to_tensor(sizes, dtypes.int64)
        if sizes
        else raw.Reshape(tensor=convert_to_tensor([], dtypes.int64), shape=[0])
    ), sizes


def _padding_value(value, component):
    if value is None:
        value = b"" if component.dtype is dtypes.string else False if component.dtype is dtypes.bool else 0
        if component.dtype is dtypes.bfloat16 or component.dtype.is_floating:
            value = 0.0
    value = convert_to_tensor(value) if isinstance(value, Tensor) else convert_to_tensor(value, component.dtype)
    if value.shape.rank != 0:
        raise ValueError(f"Padding value should be a scalar, but is {value}.")
    if value.dtype != component.dtype:
        raise TypeError(
            f"Padding value tensor with dtype {value.dtype} and elements of dtype {component.dtype} do not match"
        )
    return value


def _shapes_like(spec, shapes):
    """Shapes as the user nests them, one for each component: lists are shapes here, tuples only where the element is one."""
    if isinstance(spec, dict):
        return [s for key in sorted(spec) for s in _shapes_like(spec[key], shapes[key])]
    if isinstance(spec, tuple):
        return [s for part, own in zip(spec, shapes) for s in _shapes_like(part, own)]
    return [shapes]


def padded_batch(dataset, batch_size, padded_shapes, padding_values, drop_remainder):
    from weft._src.data.dataset import make

    spec = dataset.element_spec
    components = structure.flatten(spec)
    for component in components:
        if not isinstance(component, TensorSpec):
            raise TypeError(
                f"`padded_batch` is only supported for datasets that produce tensor elements but type spec of elements in the input dataset is not a subclass of "
                f"TensorSpec: `{component}`."
            )
    if padded_shapes is None:
        for component in components:
            if component.shape.rank is None:
                raise ValueError("You must provide `padded_shapes` argument because component 0 has unknown rank.")
        shapes = [c.shape for c in components]
    else:
        shapes = _shapes_like(spec, padded_shapes)
    values = (
        [None] * len(components)
        if padding_values is None
        else (
            [padding_values] * len(components)
            if not structure.is_structure(padding_values)
            else _values_like(spec, padding_values)
        )
    )
    pairs = [_padded_shape(s, c) for s, c in zip(shapes, components)]
    static = _static_batch(batch_size, drop_remainder)
    out = structure.pack(
        spec,
        [
            TensorSpec(
                [static]
                + ([None] * component.shape.rank if known is None else [None if d == -1 else int(d) for d in known]),
                component.dtype,
            )
            for component, (_, known) in zip(components, pairs)
        ],
    )
    variant = raw.PaddedBatchDatasetV2(
        input_dataset=dataset._variant_tensor,
        batch_size=convert_to_tensor(batch_size, dtypes.int64),
        padded_shapes=[p for p, _ in pairs],
        padding_values=[_padding_value(v, c) for v, c in zip(values, components)],
        drop_remainder=convert_to_tensor(drop_remainder, dtypes.bool),
        output_shapes=structure.types_and_shapes(out)["output_shapes"],
    )
    made = make("_PaddedBatchDataset", variant, out, [dataset])
    made._batch_size = convert_to_tensor(batch_size, dtypes.int64)
    return made


def _values_like(spec, values):
    if isinstance(spec, dict):
        return [v for key in sorted(spec) for v in _values_like(spec[key], values[key])]
    if isinstance(spec, tuple):
        return [v for part, own in zip(spec, values) for v in _values_like(part, own)]
    return [values]


def ragged_batch(dataset, batch_size, drop_remainder, row_splits_dtype):
    """Elements whose sizes differ are rows of ragged tensors: encoded one by one, batched as they are, decoded together."""
    from weft._src.data.dataset import make
    from weft._src.ops.ragged.spec import RaggedTensorSpec

    def differs(spec):
        return isinstance(spec, TensorSpec) and spec.shape.rank != 0 and not spec.shape.is_fully_defined()

    specs = structure.flatten(dataset.element_spec)
    for spec in specs:
        if differs(spec) and spec.shape.rank is None:
            raise ValueError(f"`ragged_batch` needs elements of known rank, but one is {spec}.")
    if not any(differs(s) for s in specs):
        return dataset.batch(batch_size, drop_remainder)

    def encode(*element):
        element = element if isinstance(dataset.element_spec, tuple) else element[0]
        leaves = [_encoded(v, row_splits_dtype) if differs(s) else v for s, v in zip(specs, structure.flatten(element))]
        return structure.pack(dataset.element_spec, leaves)

    encoded = dataset.map(encode)
    out = structure.pack(
        dataset.element_spec,
        [RaggedTensorSpec(s.shape, s.dtype, s.shape.rank - 1, row_splits_dtype) if differs(s) else s for s in specs],
    )
    return make("_DenseToRaggedDataset", encoded._variant_tensor, out, [encoded]).batch(batch_size, drop_remainder)


def _encoded(value, row_splits_dtype):
    """A dense element as the variant that a ragged one is."""
    rank = value.shape.rank
    shape = raw.Shape(input=value, out_type=row_splits_dtype)
    splits = []
    for axis in range(rank - 1):
        rows = raw.Prod(
            input=raw.StridedSlice(input=shape, begin=[0], end=[axis + 1], strides=[1]), reduction_indices=[0]
        )
        size = raw.StridedSlice(input=shape, begin=[axis + 1], end=[axis + 2], strides=[1], shrink_axis_mask=1)
        splits.append(
            raw.Range(
                start=raw.Cast(x=0, DstT=row_splits_dtype), limit=rows + 1, delta=raw.Cast(x=1, DstT=row_splits_dtype)
            )
            * size
        )
    flat = raw.Reshape(tensor=value, shape=[-1]) if rank > 1 else value
    return raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=flat, batched_input=False)


def sparse_batch(dataset, batch_size, row_shape):
    from weft._src.data.dataset import make
    from weft._src.ops.sparse_ops import SparseTensorSpec

    spec = dataset.element_spec
    if not isinstance(spec, TensorSpec):
        raise TypeError(f"`sparse_batch` requires all elements to be tensors, but they are {spec}.")
    row = TensorShape(row_shape) if not isinstance(row_shape, Tensor) else TensorShape([None] * row_shape.shape[0])
    out = SparseTensorSpec(TensorShape([None]).concatenate(row), spec.dtype)
    sizes = (
        row_shape
        if isinstance(row_shape, Tensor)
        else convert_to_tensor([-1 if d is None else d for d in row.as_list()], dtypes.int64)
    )
    variant = raw.DenseToSparseBatchDataset(
        input_dataset=dataset._variant_tensor,
        batch_size=convert_to_tensor(batch_size, dtypes.int64),
        row_shape=sizes,
        **structure.types_and_shapes(out),
    )
    return make("_DenseToSparseBatchDataset", variant, out, [dataset])


def bucket_by_sequence_length(
    dataset, length_func, boundaries, sizes, padded_shapes, padding_values, to_boundary, no_padding, drop_remainder
):
    if len(sizes) != len(boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)={len(sizes)}` and "
            f"`len(bucket_boundaries)={len(boundaries)}`."
        )
    batch_sizes = convert_to_tensor(list(sizes), dtypes.int64)

    def bucket(*element):
        length = raw.Cast(x=length_func(*element), DstT=dtypes.int32)
        low, high = [-(1 << 31), *boundaries], [*boundaries, (1 << 31) - 1]
        inside = raw.LogicalAnd(x=raw.LessEqual(x=low, y=length), y=raw.Less(x=length, y=high))
        return raw.Min(input=raw.Where(input=inside), reduction_indices=[0, 1])

    def window(number):
        return raw.GatherV2(params=batch_sizes, indices=number, axis=0)

    def shapes_for(grouped):
        if padded_shapes is not None:
            return padded_shapes
        spec = grouped.element_spec
        return structure.map_leaves(lambda s: s.shape, spec)

    def reduce(number, grouped):
        size = window(number)
        if no_padding:
            return grouped.batch(size, drop_remainder=drop_remainder)
        shapes = None
        if to_boundary:
            edge = convert_to_tensor([b - 1 for b in boundaries] + [-1], dtypes.int64)
            limit = raw.GatherV2(params=edge, indices=number, axis=0)
            flat = [
                [limit if d is None else d for d in TensorShape(s).as_list()]
                for s in (
                    structure.flatten(shapes_for(grouped))
                    if padded_shapes is None
                    else _shapes_like(grouped.element_spec, padded_shapes)
                )
            ]
            shapes = structure.pack(
                grouped.element_spec,
                [
                    raw.Pack(values=[raw.Cast(x=d, DstT=dtypes.int64) for d in s]) if s else TensorShape([])
                    for s in flat
                ],
            )
        else:
            shapes = padded_shapes
        return grouped.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    return dataset.group_by_window(key_func=bucket, reduce_func=reduce, window_size_func=window)
