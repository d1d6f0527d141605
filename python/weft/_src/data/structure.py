"""Elements of datasets: nested tuples and dicts of tensors and other values, described by the same structure of TypeSpecs.

Unlike tf.nest, a list is not a structure here but becomes a tensor, as in tf.data. A SparseTensorValue is a tuple but one value."""

from weft import _weft
from weft._src.framework.convert import convert_on_host, convert_to_tensor
from weft._src.framework.tensor import Tensor
from weft._src.framework.tensor_shape import TensorShape
from weft._src.framework.type_spec import NoneTensorSpec, TensorSpec, type_spec_from_value
from weft._src.ops.sparse_tensor import SparseTensor, SparseTensorValue


def is_structure(value):
    return _is_tuple(value) or isinstance(value, dict) or _is_attrs(value)


def _is_tuple(value):
    return isinstance(value, tuple) and not isinstance(value, SparseTensorValue)


def _is_attrs(value):
    return hasattr(type(value), "__attrs_attrs__")


def _keys(value):
    try:
        return sorted(value)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def flatten(structure):
    if isinstance(structure, dict):
        return [leaf for key in _keys(structure) for leaf in flatten(structure[key])]
    if _is_tuple(structure):
        return [leaf for part in structure for leaf in flatten(part)]
    if _is_attrs(structure):
        return [leaf for a in type(structure).__attrs_attrs__ for leaf in flatten(getattr(structure, a.name))]
    return [structure]


def flatten_up_to(structure, value):
    """The parts of a value that stand where a structure has its leaves, whatever they are made of."""
    if not is_structure(structure):
        return [value]
    if not is_structure(value):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: '{type(value).__name__}'."
        )
    if not isinstance(value, type(structure)):
        raise TypeError(
            f"The two structures don't have the same sequence type. Input structure has type '{type(value).__name__}', while shallow structure has type "
            f"'{type(structure).__name__}'."
        )
    below, parts = _parts(structure), _parts(value)
    if len(below) != len(parts):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length {len(parts)}, while shallow structure has length {len(below)}."
        )
    if isinstance(structure, dict) and set(structure) != set(value):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(value)}, while shallow structure has keys {list(structure)}."
        )
    return [leaf for part, own in zip(below, parts) for leaf in flatten_up_to(part, own)]


def _parts(structure):
    if isinstance(structure, dict):
        return [structure[key] for key in _keys(structure)]
    return (
        list(structure)
        if isinstance(structure, tuple)
        else [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    )


def pack(structure, leaves):
    """The structure with these leaves instead of its own."""
    return _pack(structure, iter(leaves))


def _pack(structure, leaves):
    if isinstance(structure, dict):
        made = {key: _pack(structure[key], leaves) for key in _keys(structure)}
        ordered = {key: made[key] for key in structure}
        return ordered if type(structure) is dict else _like_dict(structure, ordered)
    if _is_tuple(structure):
        parts = [_pack(part, leaves) for part in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    if _is_attrs(structure):
        return type(structure)(*[_pack(getattr(structure, a.name), leaves) for a in type(structure).__attrs_attrs__])
    return next(leaves)


def _like_dict(like, items):
    try:
        return type(like)(items)
    except TypeError:
        return dict(items)


def map_leaves(function, *structures):
    return pack(structures[0], [function(*leaves) for leaves in zip(*[flatten(s) for s in structures])])


def normalize(value):
    """An element as the user gives it: leaves become tensors (composite ones and datasets stay what they are)."""
    if isinstance(value, list):
        return _leaf(value)
    if is_structure(value):
        return pack(value, [_leaf(leaf) for leaf in flatten(value)])
    return _leaf(value)


def _leaf(value):
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, _weft.VariableBase):
        return convert_to_tensor(value)
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if hasattr(value, "_as_ragged"):
        return value._as_ragged()
    if (
        getattr(type(value), "_is_composite", False)
        or hasattr(value, "_type_spec")
        or type(value).__name__ == "TensorArray"
    ):
        return value
    return convert_on_host(value)


def spec_of(element):
    """The structure of TypeSpecs of a normalized element."""
    return map_leaves(lambda v: NoneTensorSpec() if v is None else _spec_of_leaf(v), element)


def _spec_of_leaf(value):
    return TensorSpec(value.shape, value.dtype) if isinstance(value, Tensor) else type_spec_from_value(value)


def _flat_specs(spec):
    return [spec] if isinstance(spec, TensorSpec) else list(spec._flat_tensor_specs)


def flat_tensor_specs(spec):
    """What the engine sees of an element: a row of tensors."""
    return [t for leaf in flatten(spec) for t in _flat_specs(leaf)]


def types_and_shapes(spec):
    flat = flat_tensor_specs(spec)
    return {"output_types": [s.dtype for s in flat], "output_shapes": [s.shape for s in flat]}


def to_tensors(spec, element):
    out = []
    for leaf, value in zip(flatten(spec), flatten(element)):
        if isinstance(leaf, TensorSpec):
            out.append(convert_to_tensor(value, leaf.dtype))
        else:
            out.extend(leaf._to_tensor_list(value))
    return out


def to_batched_tensors(spec, element):
    """For values whose first dimension is to be cut into elements."""
    out = []
    for leaf, value in zip(flatten(spec), flatten(element)):
        out.extend([value] if isinstance(leaf, TensorSpec) else leaf._to_batched_tensor_list(value))
    return out


def from_tensors(spec, tensors):
    if isinstance(spec, TensorSpec):
        return tensors[0]
    tensors = iter(tensors)
    made = []
    for leaf in flatten(spec):
        if isinstance(leaf, TensorSpec):
            made.append(next(tensors))
        else:
            made.append(leaf._from_tensor_list([next(tensors) for _ in leaf._flat_tensor_specs]))
    return pack(spec, made)


def batched(spec, size):
    return map_leaves(lambda s: s._batch(size), spec)


def unbatched(spec):
    return map_leaves(lambda s: s._unbatch(), spec)


def _common_shape(a, b):
    return a.most_specific_compatible_shape(b)


def common(a, b):
    """The most specific structure that both fit; None where there is none."""
    if type(a) is not type(b) and not (is_structure(a) and is_structure(b)):
        return None
    fa, fb = flatten(a), flatten(b)
    if len(fa) != len(fb):
        return None
    leaves = []
    for x, y in zip(fa, fb):
        if isinstance(x, TensorSpec) and isinstance(y, TensorSpec):
            if x.dtype != y.dtype:
                return None
            leaves.append(TensorSpec(_common_shape(x.shape, y.shape), x.dtype))
        else:
            both = x.most_specific_common_supertype([y])
            if both is None:
                return None
            leaves.append(both)
    return pack(a, leaves)


def same_types(a, b):
    fa, fb = flatten(a), flatten(b)
    return len(fa) == len(fb) and all(getattr(x, "dtype", None) == getattr(y, "dtype", None) for x, y in zip(fa, fb))


def compatible(spec, other):
    fa, fb = flatten(spec), flatten(other)
    return len(fa) == len(fb) and all(x.is_compatible_with(y) for x, y in zip(fa, fb))


def legacy(spec, what):
    """output_types, output_shapes, output_classes of version 1."""
    if what == "types":
        return map_leaves(lambda s: s._to_legacy_output_types() if not isinstance(s, TensorSpec) else s.dtype, spec)
    if what == "shapes":
        return map_leaves(lambda s: s._to_legacy_output_shapes() if not isinstance(s, TensorSpec) else s.shape, spec)
    return map_leaves(lambda s: s.value_type, spec)


def compute_batch_size(dataset):
    """How many elements a batch has, but for a last one that has less; -1 where that is not known."""
    from weft._src.raw import raw
    from weft._src.framework.convert import constant

    specs = flatten(dataset.element_spec)
    sizes = {s.shape[0] if isinstance(s, TensorSpec) and s.shape.rank else None for s in specs}
    if None in sizes:
        return raw.ComputeBatchSize(input_dataset=dataset._variant_tensor)
    return constant(sizes.pop() if len(sizes) == 1 else -1, "int64")


def unknown_shape():
    return TensorShape(None)
