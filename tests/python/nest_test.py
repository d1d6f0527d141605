"""tf.nest; expected values and texts are TensorFlow's."""

import collections
import dataclasses

import pytest
import weft as tf
from weft._src.framework import nest

P = collections.namedtuple("P", "x y")
Q = collections.namedtuple("Q", "x y")


def test_flatten():
    assert tf.nest.flatten([1, (2, {"b": 3, "a": [4]}), P(5, "six"), None]) == [1, 2, 4, 3, 5, "six", None]
    assert tf.nest.flatten(7) == [7]
    assert tf.nest.flatten({3, 1}) == [{1, 3}]
    assert tf.nest.flatten([range(3), collections.deque([1, 2]), {2: 3, 1: 4}.values(), {2: 3, 1: 4}.keys()]) == [
        0,
        1,
        2,
        1,
        2,
        3,
        4,
        2,
        1,
    ]
    assert tf.nest.flatten(collections.OrderedDict([("b", 1), ("a", 2)])) == [2, 1]
    with pytest.raises(TypeError, match="'<' not supported between instances of 'str' and 'int'"):
        tf.nest.flatten({1: 2, "a": 3})


def test_is_nested():
    values = [
        (),
        [],
        {},
        "a",
        b"a",
        range(3),
        {1: 2}.keys(),
        tf.constant([1]),
        collections.OrderedDict(),
        None,
        tf.TensorShape([1, 2]),
        bytearray(b"a"),
    ]
    assert [tf.nest.is_nested(v) for v in values] == [
        True,
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        True,
        False,
        False,
        True,
    ]


def test_pack():
    packed = tf.nest.pack_sequence_as(collections.OrderedDict([("b", 1), ("a", 2)]), [5, 6])
    assert list(packed.items()) == [("b", 6), ("a", 5)]
    packed = tf.nest.pack_sequence_as(collections.defaultdict(list, {"b": 1, "a": [2]}), [5, 6])
    assert packed == {"b": 6, "a": [5]} and packed.default_factory is list
    assert tf.nest.pack_sequence_as(1, [5]) == 5
    assert tf.nest.pack_sequence_as(P(1, [2]), [5, 6]) == P(5, [6])
    assert tf.nest.pack_sequence_as([1, 2], [[5], 6]) == [[5], 6]
    with pytest.raises(ValueError) as e:
        tf.nest.pack_sequence_as([1, [2, 3]], [5, 6])
    assert (
        str(e.value) == "Could not pack sequence. Structure had 3 atoms, but flat_sequence had 2 items.  "
        "Structure: [1, [2, 3]], flat_sequence: [5, 6]."
    )
    with pytest.raises(ValueError, match="Structure had 3 atoms, but flat_sequence had 4 items"):
        tf.nest.pack_sequence_as([1, [2, 3]], [5, 6, 7, 8])
    with pytest.raises(ValueError, match="However the input is a sequence .* of length 2."):
        tf.nest.pack_sequence_as(1, [5, 6])
    with pytest.raises(TypeError, match="into a structure, but found incompatible type `<class 'int'>` instead."):
        tf.nest.pack_sequence_as([1], 3)


def test_map_structure():
    assert tf.nest.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": [3, 4]}) == {"a": [4, 6]}
    assert tf.nest.map_structure(lambda x, y: x + y, {"a": [1, 2]}, {"a": (3, 4)}, check_types=False) == {"a": [4, 6]}
    assert tf.nest.map_structure(lambda x: x + 1, (1, 2)) == (2, 3)
    assert tf.nest.map_structure(lambda x, y: x + y, "a", "b") == "ab"
    with pytest.raises(TypeError, match="func must be callable, got: 3"):
        tf.nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        tf.nest.map_structure(lambda x: x)
    with pytest.raises(
        ValueError, match="Only valid keyword arguments are `check_types` and `expand_composites`, not: `foo`"
    ):
        tf.nest.map_structure(lambda x: x, [1], foo=1)


@pytest.mark.parametrize(
    "a, b, kind, text",
    [
        (
            [1, [2, 3]],
            [3, [4]],
            ValueError,
            "The two structures don't have the same number of elements. First structure: "
            "type=list str=[2, 3]. Second structure: type=list str=[4]",
        ),
        (
            [3, 4],
            [1, [2, 3]],
            ValueError,
            'Substructure "type=list str=[2, 3]" is a sequence, while substructure "type=int str=4" is not',
        ),
        (
            [1, [2]],
            [1, (2,)],
            TypeError,
            "The two namedtuples don't have the same sequence type. First structure type=list "
            "str=[2] has type list, while second structure "
            "type=tuple str=(2,) has type tuple",
        ),
        (
            {"a": 1},
            {"b": 1, "a": 2},
            ValueError,
            "The two dictionaries don't have the same set of keys. First structure "
            "has keys type=list str=['a'], while second structure "
            "has keys type=list str=['b', 'a']",
        ),
        (
            P(1, 2),
            Q(1, 2),
            TypeError,
            "The two namedtuples don't have the same sequence type. First structure type=P "
            "str=P(x=1, y=2) has type P, while second structure "
            "type=Q str=Q(x=1, y=2) has type Q",
        ),
    ],
)
def test_same_structure_errors(a, b, kind, text):
    with pytest.raises(kind) as e:
        tf.nest.assert_same_structure(a, b)
    assert f"More specifically: {text}\nEntire first structure:\n" in str(e.value)


def test_same_structure():
    with pytest.raises(TypeError) as e:
        nest.assert_same_structure([1, 2, {"a": [4]}], [1, 2, {"a": (4, 5)}])
    assert (
        str(e.value)
        == """The two structures don't have the same nested structure.

First structure: type=list str=[1, 2, {'a': [4]}]

Second structure: type=list str=[1, 2, {'a': (4, 5)}]

More specifically: The two namedtuples don't have the same sequence type. \
First structure type=list str=[4] has type list, while second structure type=tuple str=(4, 5) has type tuple
Entire first structure:
[., ., {'a': [.]}]
Entire second structure:
[., ., {'a': (., .)}]"""
    )
    tf.nest.assert_same_structure({"a": 1}, collections.OrderedDict(a=1))
    tf.nest.assert_same_structure([1, [2]], [1, (2,)], check_types=False)


def test_shallow():
    assert nest.flatten_up_to([1, [2]], [{"a": 3}, [4]]) == [{"a": 3}, 4]
    assert nest.map_structure_up_to([1, [2]], lambda x, y: (x, y), [{"a": 3}, [4]], [5, [(6, 7)]]) == [
        ({"a": 3}, 5),
        [(4, (6, 7))],
    ]
    with pytest.raises(ValueError, match="Input structure has length 1, while shallow structure has length 2."):
        nest.assert_shallow_structure([1, 2], [1])
    with pytest.raises(
        TypeError,
        match="If shallow structure is a sequence, input must also be a sequence. Input has type: <class 'int'>.",
    ):
        nest.assert_shallow_structure([1, [2]], [1, 2])
    with pytest.raises(ValueError, match=r"keys that are not in the input_tree: \['a'\]."):
        nest.assert_shallow_structure({"a": 1}, {"b": 1})
    assert nest.get_traverse_shallow_structure(lambda s: isinstance(s, list), [1, [2, (3,)]]) == [False, [False, False]]


def test_paths():
    structure = {"b": [1, (2, 3)], "a": P(4, {"k": 5})}
    assert nest.flatten_with_joined_string_paths(structure) == [
        ("a/x", 4),
        ("a/y/k", 5),
        ("b/0", 1),
        ("b/1/0", 2),
        ("b/1/1", 3),
    ]
    assert nest.flatten_with_tuple_paths(structure)[1] == (("a", "y", "k"), 5)
    assert nest.flatten_with_joined_string_paths(3) == [("", 3)]
    assert nest.map_structure_with_paths(lambda p, x: (p, x), {"a": [1, 2]}) == {"a": [("a/0", 1), ("a/1", 2)]}


def test_others():
    assert nest.flatten_dict_items({"a": 1, ("b", "c"): (2, 3)}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements."):
        nest.flatten_dict_items({("b", "c"): (2,)})
    assert nest.list_to_tuple([1, [2, {"a": [3]}], (4, [5])]) == (1, (2, {"a": (3,)}), (4, (5,)))


def test_dataclass_protocol():
    @dataclasses.dataclass
    class D:
        mask: bool
        x: object

        def __tf_flatten__(self):
            return (self.mask,), (self.x,)

        @classmethod
        def __tf_unflatten__(cls, metadata, components):
            return cls(*metadata, *components)

    assert tf.nest.flatten([D(True, {"a": 1}), 2]) == [1, 2]
    assert tf.nest.map_structure(lambda v, w: v + w, D(True, 1), D(False, 1)) == D(True, 2)
    assert nest.flatten_with_joined_string_paths([D(True, {"a": 1})]) == [("0/0/a", 1)]


def test_wrapped_structures():
    """What a module tracks is wrapped, and still what it was."""
    m = tf.Module()
    m.l, m.d, m.t, m.p = [1, [2]], {"b": 1, "a": 2}, (1, [2]), P(1, [2])
    assert tf.nest.flatten([m.l, m.d, m.t, m.p]) == [1, 2, 2, 1, 1, 2, 1, 2]
    assert [type(x).__name__ for x in tf.nest.map_structure(lambda x: x, [m.l, m.d, m.t, m.p])] == [
        "ListWrapper",
        "_DictWrapper",
        "_TupleWrapper",
        "P",
    ]
    tf.nest.assert_same_structure([m.l, m.d, m.t, m.p], [[1, [2]], {"b": 1, "a": 2}, (1, [2]), P(1, [2])])
    with pytest.raises(TypeError, match="The two namedtuples don't have the same sequence type."):
        tf.nest.assert_same_structure(m.p, Q(1, [2]))
