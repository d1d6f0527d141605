"""tf.lookup. Expected values are TensorFlow's."""

import pytest
import weft as tf


def test_static_table():
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert t.lookup(tf.constant(["b", "z"])).numpy().tolist() == [2, -1] and t.size().numpy() == 2
    assert t.key_dtype == tf.string and t.value_dtype == tf.int32 and t[tf.constant("a")].numpy() == 1
    with pytest.raises(
        TypeError, match="Dtype of argument `keys` must be <dtype: 'string'>, received: <dtype: 'int32'>"
    ):
        t.lookup(tf.constant([1]))
    with pytest.raises(
        tf.errors.FailedPreconditionError,
        match="HashTable has different value for same key. Key a has 1 and trying to add value 2",
    ):
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "a"], [1, 2]), -1)


def test_vocabulary():
    t = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64)), num_oov_buckets=3
    )
    assert (
        t.lookup(tf.constant(["a", "b", "c", "d", "e"])).numpy().tolist() == [0, 1, 3, 4, 3] and t.size().numpy() == 5
    )
    with pytest.raises(ValueError, match="`num_oov_buckets` must be > 0; use StaticHashTable."):
        tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], tf.constant([0], tf.int64)), 0)


def test_files(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("alpha\tone\nbeta\ttwo\n")
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    assert tf.lookup.StaticHashTable(lines, -1).lookup(tf.constant(["beta\ttwo", "x"])).numpy().tolist() == [1, -1]
    columns = tf.lookup.TextFileInitializer(path, tf.string, 0, tf.string, 1, delimiter="\t")
    assert tf.lookup.StaticHashTable(columns, "none").lookup(tf.constant(["alpha", "x"])).numpy().tolist() == [
        b"one",
        b"none",
    ]
    with pytest.raises(ValueError, match="`key_dtype` must be int64 if `key_index` is -1, received: <dtype: 'string'>"):
        tf.lookup.TextFileInitializer("x", tf.string, -1, tf.int64, -1)


def test_tables_that_change():
    m = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)
    m.insert(["x", "y"], [10, 20])
    m.insert(["x"], [11])
    m.remove(["y"])
    assert m.lookup(["x", "y"]).numpy().tolist() == [11, 0] and [t.numpy().tolist() for t in m.export()] == [
        [b"x"],
        [11],
    ]
    d = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, -1.0, empty_key=0, deleted_key=-1)
    d.insert([5, 6], [0.5, 0.25])
    d.erase([5])
    assert d.lookup(tf.constant([5, 6], tf.int64)).numpy().tolist() == [-1, 0.25] and d.size().numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key is not allowed"):
        d.insert([0], [1.0])


def test_in_a_function():
    t = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
    assert tf.function(lambda x: t.lookup(x) + 1)(tf.constant(["a", "q"])).numpy().tolist() == [2, 0]
