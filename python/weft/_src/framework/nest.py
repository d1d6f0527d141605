"""Nested structures: what is inside of lists, tuples, dicts, named tuples, attrs and dataclasses, and how to put it
back.

A dict counts in the order of its sorted keys; text is a leaf. With expand_composites, ragged tensors and their like
(and their specs) are structures too."""

import collections
import collections.abc

from weft import _weft

# What a type is. One lookup per type: structures are walked on every call of a function.
_LEAF, _PLAIN, _NAMED, _MAPPING, _VIEW, _ATTRS, _CUSTOM, _PROXY, _COMPOSITE, _SPEC = range(10)
_kinds = {
    list: _PLAIN,
    tuple: _PLAIN,
    dict: _MAPPING,
    int: _LEAF,
    float: _LEAF,
    str: _LEAF,
    bytes: _LEAF,
    bool: _LEAF,
    type(None): _LEAF,
}


def _kind_of(cls):
    if issubclass(cls, (str, bytes, _weft.TensorBase, _weft.VariableBase)):
        kind = _LEAF
    elif issubclass(cls, tuple):
        names = getattr(cls, "_fields", None)
        kind = _NAMED if isinstance(names, tuple) and all(isinstance(n, str) for n in names) else _PLAIN
    elif issubclass(cls, list):
        kind = _PLAIN
    elif hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        kind = _CUSTOM
    elif getattr(cls, "_is_composite", False):
        kind = _COMPOSITE
    elif getattr(cls, "_is_type_spec", False):
        kind = _LEAF if getattr(cls, "_is_leaf_spec", False) else _SPEC
    elif any(base.__name__ == "ObjectProxy" for base in cls.__mro__):
        kind = _PROXY
    elif issubclass(cls, collections.abc.Mapping):
        kind = _MAPPING
    elif issubclass(cls, collections.abc.MappingView):
        kind = _VIEW
    elif isinstance(getattr(cls, "__attrs_attrs__", None), tuple):
        kind = _ATTRS
    else:
        kind = _PLAIN if issubclass(cls, collections.abc.Sequence) else _LEAF
    _kinds[cls] = kind
    return kind


def _kind(value):
    cls = type(value)
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kind_of(cls)
    if kind == _PROXY:
        kind = _kind(value.__wrapped__)
    return kind


def _is_node(kind, expand_composites):
    return _LEAF < kind < _COMPOSITE or (expand_composites and kind >= _COMPOSITE)


def is_nested(seq):
    """Whether seq is a structure and not a leaf."""
    return _LEAF < _kind(seq) < _COMPOSITE


def is_nested_or_composite(seq):
    return _kind(seq) != _LEAF


is_sequence_or_composite = is_nested_or_composite


def is_namedtuple(instance, strict=False):
    return _kind(instance) == _NAMED and (not strict or tuple in type(instance).__bases__)


def is_mapping(obj):
    return _kind(obj) == _MAPPING


def is_attrs(obj):
    return _kind(obj) == _ATTRS


# ---- one level -------------------------------------------------------------------------------------------


def _children(value, kind):
    """What is directly inside, in order."""
    if kind == _PLAIN or kind == _NAMED or kind == _VIEW:
        return list(value)
    if kind == _MAPPING:
        return [value[k] for k in (sorted(value) if len(value) > 1 else value)]
    if kind == _COMPOSITE:
        return [value._type_spec._to_components(value)]
    if kind == _SPEC:
        return [value._component_specs]
    if kind == _CUSTOM:
        return list(value.__tf_flatten__()[1])
    return [getattr(value, a.name) for a in value.__attrs_attrs__]


def _keys(value, kind):
    """The step of a path to each child."""
    if kind == _MAPPING:
        return sorted(value)
    if kind == _NAMED:
        return list(value._fields)
    if kind == _ATTRS:
        return [a.name for a in value.__attrs_attrs__]
    if kind == _COMPOSITE:
        return [value._type_spec.value_type.__name__]
    if kind == _SPEC:
        return [value.value_type.__name__]
    return range(len(_children(value, kind)))


def sequence_like(instance, args):
    """A structure like the instance with other children."""
    cls = type(instance)
    if cls is list or cls is range:
        return list(args)
    if cls is tuple:
        return tuple(args)
    if _kinds.get(cls) == _PROXY:
        return cls(sequence_like(instance.__wrapped__, args))
    kind = _kind(instance)
    args = list(args)
    if kind == _MAPPING:
        new = dict(zip(sorted(instance), args))
        pairs = [(key, new[key]) for key in instance]
        if isinstance(instance, collections.defaultdict):
            return cls(instance.default_factory, pairs)
        return cls(pairs)
    if kind == _NAMED or kind == _ATTRS:
        return _tracked(cls)(*args)
    if kind == _CUSTOM:
        return cls.__tf_unflatten__(instance.__tf_flatten__()[0], tuple(args))
    if kind == _COMPOSITE:
        return instance._type_spec._from_components(args[0])
    if kind == _SPEC:
        return instance._from_components(args[0])
    if kind == _VIEW:
        return args
    return cls(args)


# ---- flatten and pack ------------------------------------------------------------------------------------


def _flatten(structure, expand, out):
    cls = type(structure)
    if cls is list or cls is tuple:
        children = structure
    elif cls is dict:
        children = [structure[k] for k in (sorted(structure) if len(structure) > 1 else structure)]
    else:
        kind = _kind(structure)
        if not _is_node(kind, expand):
            out.append(structure)
            return
        children = structure if kind == _PLAIN else _children(structure, kind)
    known = _kinds
    for child in children:
        if known.get(type(child)) == _LEAF:
            out.append(child)
        else:
            _flatten(child, expand, out)


def flatten(structure, expand_composites=False):
    """The leaves of a structure as a list."""
    out = []
    _flatten(structure, expand_composites, out)
    return out


def _pack(structure, flat, at, expand):
    """The structure with leaves from flat[at:], and where the next leaf is."""
    children = []
    for child in _children(structure, _kind(structure)):
        if _is_node(_kind(child), expand):
            child, at = _pack(child, flat, at, expand)
        else:
            child = flat[at]
            at += 1
        children.append(child)
    return sequence_like(structure, children), at


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The structure with the leaves of flat_sequence in place of its own."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {_cut(flat_sequence)}\ninto a structure, but found incompatible "
            f"type `{type(flat_sequence)}` instead."
        )
    if not _is_node(_kind(structure), expand_composites):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_cut(structure)}\nHowever the "
                f"input is a sequence ({type(flat_sequence)}) of "
                f"length {len(flat_sequence)}.\n  {_cut(flat_sequence)}\nnest cannot guarantee that it is "
                f"safe to map one to the other."
            )
        return flat_sequence[0]
    packed, at = None, 0
    try:
        packed, at = _pack(structure, flat_sequence, 0, expand_composites)
    except IndexError:
        at = -1
    if at != len(flat_sequence):
        count = len(flatten(structure, expand_composites))
        if count != len(flat_sequence):
            raise ValueError(
                f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
                f"{len(flat_sequence)} items.  "
                f"Structure: {structure!s}, flat_sequence: {flat_sequence!s}."
            )
        _pack(structure, flat_sequence, 0, expand_composites)  # the error is one of a class inside
    return packed


def _cut(value, length=200):
    text = str(value)
    return text if len(text) <= length else text[:length] + "..."


def map_structure(func, *structure, **kwargs):
    """The structure with func of the leaves in place of the leaves; several structures are walked side by side."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types, expand = _options(kwargs)
    first = structure[0]
    if len(structure) == 1:
        if type(first) in (list, tuple) and all(_kinds.get(type(v)) == _LEAF for v in first):
            return type(first)([func(v) for v in first])
        return pack_sequence_as(first, [func(v) for v in flatten(first, expand)], expand)
    for other in structure[1:]:
        assert_same_structure(first, other, check_types=check_types, expand_composites=expand)
    return pack_sequence_as(first, [func(*v) for v in zip(*(flatten(s, expand) for s in structure))], expand)


def _options(kwargs):
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: `{'`, `'.join(kwargs)}`"
        )
    return check_types, expand


# ---- comparison ------------------------------------------------------------------------------------------


class _Dot:
    def __str__(self):
        return "."

    __repr__ = __str__


def _described(value):
    return f"type={type(value).__name__} str={value!s}"


def _same_type(a, b, kind_a, kind_b):
    """Whether one structure may stand for the other: any two lists, any two mappings, named tuples of the same name
    and fields."""
    a, b = getattr(a, "__wrapped__", a), getattr(b, "__wrapped__", b)
    if (
        type(a) is type(b)
        or (isinstance(a, list) and isinstance(b, list))
        or (kind_a == kind_b and kind_a in (_MAPPING, _VIEW))
    ):
        return True
    if kind_a == kind_b == _NAMED and _tracked(type(a)).__name__ == _tracked(type(b)).__name__:
        return a._fields == b._fields
    # The wrapper of a tuple that a module tracks is of a subclass of the tuple's class.
    return _tracked(type(a)) is _tracked(type(b))


def _tracked(cls):
    """What a wrapper wraps; any other class as it is."""
    if cls.__name__ != "_TupleWrapper" or not issubclass(cls, tuple):
        return cls
    return getattr(cls, "_wrapped_type", tuple)


def _spec_of(value, kind):
    return value if kind == _SPEC else value._type_spec


def _compare(a, b, check_types, expand):
    kind_a, kind_b = _kind(a), _kind(b)
    node_a, node_b = _is_node(kind_a, expand), _is_node(kind_b, expand)
    if node_a != node_b:
        nested, leaf = (a, b) if node_a else (b, a)
        raise ValueError(
            f'Substructure "{_described(nested)}" is a sequence, while substructure "{_described(leaf)}" is not'
        )
    if not node_a:
        return
    if expand and kind_a >= _COMPOSITE and kind_b >= _COMPOSITE:
        one, two = _spec_of(a, kind_a), _spec_of(b, kind_b)
        if check_types and one.most_specific_common_supertype([two]) is None:
            raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {_described(one)} vs. {_described(two)}")
    elif check_types:
        if not _same_type(a, b, kind_a, kind_b):
            raise TypeError(
                f"The two namedtuples don't have the same sequence type. First structure {_described(a)} "
                f"has type {type(a).__name__}, while second "
                f"structure {_described(b)} has type {type(b).__name__}"
            )
        if kind_a == _MAPPING and set(a) != set(b):
            raise ValueError(
                f"The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_described(list(a))}, while second structure has "
                f"keys {_described(list(b))}"
            )
    in_a, in_b = _children(a, kind_a), _children(b, kind_b)
    for x, y in zip(in_a, in_b):
        _compare(x, y, check_types, expand)
    if len(in_a) != len(in_b):
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure: "
            f"{_described(a)}. Second structure: {_described(b)}"
        )


def _surely_same(a, b):
    """Quick, for plain lists, tuples, dicts and leaves; False where a closer look is due."""
    cls = type(a)
    if cls is not type(b):
        return _kinds.get(cls) == _LEAF and _kinds.get(type(b)) == _LEAF
    if cls is list or cls is tuple:
        return len(a) == len(b) and all(map(_surely_same, a, b))
    if cls is dict:
        return a.keys() == b.keys() and all(_surely_same(v, b[k]) for k, v in a.items())
    return _kinds.get(cls) == _LEAF


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises an error where the two structures differ in more than their leaves."""
    if _surely_same(nest1, nest2):
        return
    try:
        _compare(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        dots = [str(map_structure(lambda _: _Dot(), s)) for s in (nest1, nest2)]
        raise type(error)(
            f"The two structures don't have the same nested structure.\n\nFirst structure: "
            f"{_described(nest1)}\n\nSecond structure: "
            f"{_described(nest2)}\n\nMore specifically: {error}\nEntire first "
            f"structure:\n{dots[0]}\nEntire second structure:\n{dots[1]}"
        ) from None


# ---- a structure to the depth of another -----------------------------------------------------------------


def assert_shallow_structure(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """Raises an error unless input_tree has what shallow_tree has, down to shallow_tree's leaves."""
    kind, other = _kind(shallow_tree), _kind(input_tree)
    if not _is_node(kind, expand_composites):
        return
    if not _is_node(other, expand_composites):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if (
        check_types
        and not _same_type(shallow_tree, input_tree, kind, other)
        and not (kind >= _COMPOSITE and other >= _COMPOSITE)
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if kind >= _COMPOSITE and other >= _COMPOSITE and check_types:
        one, two = _spec_of(shallow_tree, kind), _spec_of(input_tree, other)
        if one.most_specific_common_supertype([two]) is None:
            raise ValueError(
                "Incompatible CompositeTensor TypeSpecs: %s vs. %s -- %r vs %r"
                % (type(one).__name__, type(two).__name__, one, two)
            )
    above, below = _children(shallow_tree, kind), _children(input_tree, other)
    if len(above) != len(below):
        raise ValueError(
            f"The two structures don't have the same sequence length. Input structure has length "
            f"{len(below)}, while shallow structure has length "
            f"{len(above)}."
        )
    if kind == _MAPPING and other == _MAPPING:
        absent = sorted(set(shallow_tree) - set(input_tree))
        if absent:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has "
                "the following keys that are not in the "
                f"input_tree: {absent}."
            )
    for x, y in zip(above, below):
        assert_shallow_structure(x, y, check_types, expand_composites)


def _walk_up_to(shallow, tree, expand, path):
    kind = _kind(shallow)
    if not _is_node(kind, expand):
        yield path, tree
        return
    for key, x, y in zip(_keys(shallow, kind), _children(shallow, kind), _children(tree, _kind(tree))):
        yield from _walk_up_to(x, y, expand, (*path, key))


def flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_walk_up_to(shallow_tree, input_tree, expand_composites, ()))


def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False):
    """The parts of input_tree where shallow_tree has its leaves."""
    return [
        value for _, value in flatten_with_tuple_paths_up_to(shallow_tree, input_tree, check_types, expand_composites)
    ]


def map_structure_up_to(shallow_tree, func, *inputs, **kwargs):
    """map_structure on what the inputs have at the leaves of shallow_tree."""
    return map_structure_with_tuple_paths_up_to(shallow_tree, lambda _, *values: func(*values), *inputs, **kwargs)


def map_structure_with_tuple_paths_up_to(shallow_tree, func, *inputs, **kwargs):
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types, expand = _options(kwargs)
    flat = [flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand) for tree in inputs]
    results = [func(row[0][0], *(value for _, value in row)) for row in zip(*flat)]
    return pack_sequence_as(shallow_tree, results, expand)


# ---- with paths ------------------------------------------------------------------------------------------


def flatten_with_tuple_paths(structure, expand_composites=False):
    """(path, leaf) for each leaf; a path is the tuple of keys and indices that lead there."""
    return list(_walk_up_to(structure, structure, expand_composites, ()))


flatten_with_path = flatten_with_tuple_paths


def yield_flat_paths(nest, expand_composites=False):
    for path, _ in _walk_up_to(nest, nest, expand_composites, ()):
        yield path


def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    return [
        (separator.join(str(step) for step in path), leaf)
        for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


def map_structure_with_tuple_paths(func, *structure, **kwargs):
    if not structure:
        raise ValueError("Must provide at least one structure")
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func, *structure, **kwargs):
    """map_structure where func gets the path of a leaf, joined with "/", before the leaf."""
    return map_structure_with_tuple_paths(
        lambda path, *values: func("/".join(str(step) for step in path), *values), *structure, **kwargs
    )


# ---- others ----------------------------------------------------------------------------------------------


def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """A structure of bools (or of structures of them): where traverse_fn lets a walk go deeper."""
    go = traverse_fn(structure)
    kind = _kind(structure)
    if not _is_node(kind, expand_composites):
        if not isinstance(go, bool):
            raise TypeError(f"traverse_fn returned structure: {go} for non-structure: {structure}")
        return go
    if isinstance(go, bool):
        if not go:
            return False
        return sequence_like(
            structure,
            [get_traverse_shallow_structure(traverse_fn, s, expand_composites) for s in _children(structure, kind)],
        )
    assert_shallow_structure(go, structure, expand_composites=expand_composites)
    below = []
    for flag, part in zip(_children(go, _kind(go)), _children(structure, kind)):
        if not isinstance(flag, bool):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {go}  for structure: {structure}"
            )
        below.append(get_traverse_shallow_structure(traverse_fn, part, expand_composites) if flag else False)
    return sequence_like(structure, below)


def flatten_dict_items(dictionary):
    """A dict whose keys are structures as one with an entry for each leaf."""
    if not isinstance(dictionary, collections.abc.Mapping):
        raise TypeError(
            f"FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of "
            f"'{type(dictionary).__name__}'."
        )
    flat = {}
    for key, value in dictionary.items():
        if is_nested(key):
            keys, values = flatten(key), flatten(value)
            if len(keys) != len(values):
                raise ValueError(
                    f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                    f"{len(values)} elements. Key: {keys}, value: {values}."
                )
        else:
            keys, values = [key], [value]
        for k, v in zip(keys, values):
            if k in flat:
                raise ValueError(f"Cannot flatten dict because this key is not unique: {k}")
            flat[k] = v
    return flat


def list_to_tuple(structure):
    """The structure with tuples in place of lists."""
    kind = _kind(structure)
    if not _is_node(kind, False):
        return structure
    children = [list_to_tuple(v) for v in _children(structure, kind)]
    return tuple(children) if isinstance(structure, list) else sequence_like(structure, children)
