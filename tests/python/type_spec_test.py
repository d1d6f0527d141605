"""TypeSpec, TensorSpec and IndexedSlices; expected values and texts are TensorFlow's."""

import numpy as np
import pytest
import weft as tf
from weft._src.raw import raw
from weft._src.framework import nest
from weft._src.framework.type_spec import BatchableTypeSpec, BoundedTensorSpec, DenseSpec

T = tf.TensorSpec


def test_tensor_spec():
    s = T([None, 3], tf.float32, "x")
    assert repr(s) == "TensorSpec(shape=(None, 3), dtype=tf.float32, name='x')"
    assert repr(T(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert s == T((None, 3), name="x") and s != T([None, 3]) and hash(s) == hash(T([None, 3], "float32", "x"))
    assert T.from_spec(s, name="q").name == "q" and T.from_spec(s).name == "x"
    assert repr(T.from_tensor(tf.constant([1, 2]), name="k")) == "TensorSpec(shape=(2,), dtype=tf.int32, name='k')"
    two = tf.constant(np.zeros([2, 3], np.float32))
    assert [
        s.is_compatible_with(v) for v in (two, T([2, 3]), T([2, 3], tf.int32), np.zeros([2, 3], np.float32), None)
    ] == [True, True, False, False, False]
    assert s._serialize() == (tf.TensorShape([None, 3]), tf.float32, "x")
    assert s._batch(5) == T([5, None, 3]) and T([4, 2])._unbatch() == T([2])
    assert (s._to_legacy_output_types(), s._to_legacy_output_shapes()) == (
        tf.float32,
        tf.TensorShape([None, 3]),
    ) and s._to_legacy_output_classes() is tf.Tensor
    with pytest.raises(TypeError, match="Cannot convert the argument `type_value`: 'blah' to a TensorFlow DType."):
        T([1], "blah")


def test_tensor_spec_relations():
    assert T([2, 3]).most_specific_common_supertype([T([4, 3])]) == T([None, 3])
    assert T([2, 3]).most_specific_common_supertype([T([4])]) == T(None)
    assert T([2], name="a").most_specific_common_supertype([T([2], name="b")]) is None
    assert T([2, 3]).most_specific_compatible_type(T([4, 3])) == T([None, 3])
    with pytest.raises(ValueError) as e:
        T([2, 3]).most_specific_compatible_type(T([4, 3], tf.int32))
    assert str(e.value) == (
        "No TypeSpec is compatible with both TensorSpec(shape=(2, 3), dtype=tf.float32, "
        "name=None) and "
        "TensorSpec(shape=(4, 3), dtype=tf.int32, name=None)"
    )
    pairs = [
        (T([2, 3]), T([None, 3])),
        (T([None, 3]), T([2, 3])),
        (T([2], name="a"), T([2])),
        (T([2]), T([2], name="b")),
    ]
    assert [a.is_subtype_of(b) for a, b in pairs] == [True, False, False, True]


def test_cast():
    s = T([None, 3])
    assert s.cast(np.zeros([2, 3], np.int32)).dtype == tf.float32
    with pytest.raises(TypeError) as e:
        s.cast(np.zeros([2, 4], np.float32))
    assert (
        str(e.value) == "Can not cast TensorSpec(shape=(2, 4), dtype=tf.float32, name=None) to "
        "TensorSpec(shape=(None, 3), dtype=tf.float32, name=None)"
    )


def test_bounded():
    b = BoundedTensorSpec([3], tf.float32, 0, 1, "z")
    assert (
        repr(b) == "BoundedTensorSpec(shape=(3,), dtype=tf.float32, name='z', minimum=array(0., dtype=float32), "
        "maximum=array(1., dtype=float32))"
    )
    assert b == BoundedTensorSpec.from_spec(b) and T.from_spec(b) == T([3], name="z")
    with pytest.raises(ValueError, match="`minimum` can not be None."):
        BoundedTensorSpec([3], tf.float32, None, 1)
    with pytest.raises(ValueError, match=r"`minimum` \[0, 0\] is not compatible with shape \(3,\)."):
        BoundedTensorSpec([3], tf.float32, [0, 0], 1)


class Value:
    pass


class ValueSpec(tf.TypeSpec):
    def __init__(self, shape, n):
        self.shape, self.n = tf.TensorShape(shape), n

    value_type = property(lambda self: Value)
    _component_specs = property(lambda self: (T(self.shape), {"b": T([], tf.int32)}))

    def _serialize(self):
        return self.shape, self.n

    def _to_components(self, value):
        return value.parts

    def _from_components(self, components):
        value = Value()
        value.parts = components
        return value


def test_own_spec():
    a, b, c = ValueSpec([2, 3], "k"), ValueSpec([4, 3], "k"), ValueSpec([4, 3], "j")
    assert repr(a) == "ValueSpec(TensorShape([2, 3]), 'k')"
    assert a == ValueSpec([2, 3], "k") and a != b and hash(a) == hash(ValueSpec([2, 3], "k"))
    assert not a.is_compatible_with(b) and a.is_subtype_of(ValueSpec([None, 3], "k"))
    assert (
        a.most_specific_compatible_type(b) == ValueSpec([None, 3], "k")
        and a.most_specific_common_supertype([c]) is None
    )
    assert a._flat_tensor_specs == [T([2, 3]), T([], tf.int32)] == tf.nest.flatten(a, expand_composites=True)
    tensors = [tf.constant(np.zeros([2, 3], np.float32)), tf.constant(1)]
    value = a._from_tensor_list(tensors)
    assert value.parts[0] is tensors[0] and a._to_tensor_list(value)[1] is tensors[1]
    with pytest.raises(
        ValueError,
        match="Cannot create a Value from the tensor list because the TypeSpec expects 2 "
        "items, but the provided tensor list has 1 items.",
    ):
        a._from_tensor_list(tensors[:1])
    with pytest.raises(ValueError, match="because item 0 .* is incompatible with the expected TypeSpec TensorSpec"):
        a._from_tensor_list([tf.constant([1.0]), tensors[1]])
    with pytest.raises(TypeError, match="Can't instantiate abstract class TypeSpec"):
        tf.TypeSpec()


def test_type_spec_from_value():
    assert tf.type_spec_from_value(tf.constant(1)) == T([], tf.int32)
    assert tf.type_spec_from_value(np.zeros(2)) == T([2], tf.float64)
    assert tf.type_spec_from_value([[1.0], [2.0]]) == T([2, 1])
    assert tf.type_spec_from_value("a") == T([], tf.string)
    with pytest.raises(TypeError) as e:
        tf.type_spec_from_value({"a": 1})
    assert str(e.value) == "Could not build a TypeSpec for {'a': 1} of unsupported type <class 'dict'>."


def test_indexed_slices():
    i = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2]), tf.constant([3, 2]))
    j = tf.IndexedSlices(i.values, i.indices)
    assert i.shape == [3, 2] and i.dtype == tf.float32 and tf.is_tensor(i) and j.shape.rank is None
    assert (
        str(j) == "IndexedSlices(indices=tf.Tensor([0 2], shape=(2,), dtype=int32), values=tf.Tensor(\n[[1. 2.]\n "
        "[3. 4.]], shape=(2, 2), dtype=float32))"
    )
    assert (
        repr(i._type_spec) == "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int32, tf.int32, TensorShape([2]))"
    )
    assert (
        repr(j._type_spec) == "IndexedSlicesSpec(TensorShape([None, 2]), tf.float32, tf.int32, None, TensorShape([2]))"
    )
    assert (-i).values.numpy().tolist() == [[-1, -2], [-3, -4]]
    with pytest.raises(
        ValueError,
        match="Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: IndexedSlices",
    ):
        tf.convert_to_tensor(j)
    back = tf.nest.pack_sequence_as([i], tf.nest.flatten([i], expand_composites=True), expand_composites=True)
    assert isinstance(back[0], tf.IndexedSlices) and back[0].indices is i.indices
    with pytest.raises(ValueError, match="Incompatible tensor conversion requested to `dtype` int32 for IndexedSlices"):
        tf.convert_to_tensor(i, dtype=tf.int32)
    tf.nest.assert_same_structure([i], [i], expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs: type=IndexedSlicesSpec"):
        nest.assert_same_structure([i], [j], expand_composites=True)


def test_indexed_slices_as_tensor():
    i = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([2, 2]), tf.constant([3, 2]))
    assert tf.convert_to_tensor(i).numpy().tolist() == [[0, 0], [0, 0], [4, 6]]
    assert (tf.constant(1.0) + i).numpy().tolist() == [[1, 1], [1, 1], [5, 7]]
    assert raw.Square(x=i).numpy().tolist() == [[0, 0], [0, 0], [16, 36]]


def test_messages():
    specs = [
        T([2, None], tf.int32, "x"),
        tf.RaggedTensorSpec([None, None], tf.int32),
        tf.SparseTensorSpec([2]),
        tf.TensorArraySpec([2]),
        tf.IndexedSlicesSpec([3, 2]),
        BoundedTensorSpec([3], tf.float32, 0, 1),
    ]
    for spec in specs:
        proto = spec.experimental_as_proto()
        assert type(spec).experimental_from_proto(proto) == spec and isinstance(
            proto, type(spec).experimental_type_proto()
        )
    ragged = specs[1].experimental_as_proto()
    assert (
        ragged.type_spec_class_name == "RaggedTensorSpec"
        and ragged.num_flat_components == 2
        and len(ragged.type_state.tuple_value.values) == 4
    )


def test_pickle():
    import pickle

    for spec in (
        T([2, None], tf.int32, "x"),
        tf.RaggedTensorSpec([None, None], tf.int32),
        tf.SparseTensorSpec([2]),
        tf.TensorArraySpec([2]),
    ):
        assert pickle.loads(pickle.dumps(spec)) == spec


def test_functions_give_composites():
    """Also those that were there before the function: their parts are captured."""
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([0]), tf.constant([3, 2]))
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0]])

    @tf.function
    def f():
        return slices, ragged, sparse, {"a": ragged + 1}

    got = f()
    assert tf.convert_to_tensor(got[0]).numpy().tolist() == [[1, 2], [0, 0], [0, 0]]
    assert got[1].to_list() == [[1], [2, 3]] and tf.sparse.to_dense(got[2]).numpy().tolist() == [[1, 0]]
    assert got[3]["a"].to_list() == [[2], [3, 4]]

    @tf.function
    def g(x):
        return -x

    assert g(slices).values.numpy().tolist() == [[-1, -2]]


def test_bounded_specs_of_others():
    class ArraySpec:
        shape, dtype, name = (2,), np.dtype("int32"), "action"

    made = BoundedTensorSpec.from_spec(ArraySpec())
    assert (
        made.dtype is tf.int32
        and made.name == "action"
        and made.minimum == tf.int32.min
        and made.maximum == tf.int32.max
    )


def test_dense_specs_need_no_batches():
    class Spec(DenseSpec):
        value_type = property(lambda self: tf.Tensor)

    assert Spec([2], tf.float32).shape == [2]
    assert not isinstance(Spec([2], tf.float32), BatchableTypeSpec)
    assert isinstance(tf.TensorSpec([2]), BatchableTypeSpec)


def test_comparison_that_subclasses_ask_for():
    compatible = tf.TensorSpec([2])._TypeSpec__is_compatible
    assert compatible((tf.TensorShape([None]), "a"), (tf.TensorShape([3]), "a"))
    assert not compatible((tf.TensorShape([2]), "a"), (tf.TensorShape([3]), "a"))
    assert not compatible(("a",), ("b",))
