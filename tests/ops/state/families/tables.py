"""Lookup tables of every kind and every registered pair of types."""
import numpy as np
import tensorflow as tf

from state_format import strings

I, L, F, D = np.int32, np.int64, np.float32, np.float64
S = object
NAME = {I: "int32", L: "int64", F: "float", D: "double", S: "string", np.bool_: "bool"}
KIND = {I: tf.int32, L: tf.int64, F: tf.float32, D: tf.float64, S: tf.string, np.bool_: tf.bool}
HASH = [(S, np.bool_), (S, D), (S, F), (S, I), (S, L), (S, S), (L, np.bool_), (L, D), (L, F), (L, I), (L, L), (L, S),
        (I, D), (I, F), (I, I), (I, S), (I, L), (I, np.bool_)]


def t(kind, *values):
    """A vector of the numbers as the type has them."""
    if kind is S:
        return strings(*(f"s{v}" for v in values)) if values else np.empty([0], object)
    return np.array([v % 2 if kind is np.bool_ else v for v in values], kind)


def one(kind, value):
    return t(kind, value).reshape(())


def static(r):
    for anonymous in (False, True):
        op = "AnonymousHashTable" if anonymous else "HashTableV2"
        make = lambda k, v, **kw: r.op(op, key_dtype=KIND[k], value_dtype=KIND[v], **({} if anonymous else kw))
        for k, v in HASH:
            r.seq(f"{op}/{NAME[k]}_{NAME[v]}")
            h = make(k, v, shared_name="t")
            r.op("LookupTableFindV2", h, t(k, 1), one(v, 0), fails=True)
            r.op("InitializeTableV2", h, t(k, 1, 2, 3), t(v, 11, 12, 13))
            r.op("LookupTableSizeV2", h)
            r.op("LookupTableFindV2", h, t(k, 2, 9, 1, 2), one(v, 0))
            r.op("LookupTableFindV2", h, t(k, 1, 2, 3, 4).reshape(2, 2), one(v, 7))
            r.op("LookupTableFindV2", h, one(k, 3), one(v, 7))
            r.op("LookupTableFindV2", h, t(k), one(v, 7))
            r.op("InitializeTableV2", h, t(k, 1, 2, 3), t(v, 11, 12, 13))  # the same again
            r.op("LookupTableSizeV2", h)
        r.seq(op + "/export_one")
        h = make(S, L, shared_name="t")
        r.op("InitializeTableV2", h, strings("a"), np.array([5], L))
        r.ops("LookupTableExportV2", h, Tkeys=tf.string, Tvalues=tf.int64)
        r.seq(op + "/errors")
        h = make(S, L, shared_name="t")
        r.op("LookupTableSizeV2", h)
        r.op("InitializeTableV2", h, np.array([1], L), np.array([5], L), fails=True)
        r.op("InitializeTableV2", h, strings("a"), np.array([5], I), fails=True)
        r.op("InitializeTableV2", h, strings("a", "b"), np.array([5], L), fails=True)
        r.op("InitializeTableV2", h, strings("a", "a"), np.array([5, 6], L), fails=True)
        h = make(S, L, shared_name="t2")
        r.op("InitializeTableV2", h, strings("a", "b"), np.array([5, 6], L))
        r.op("InitializeTableV2", h, strings("a", "c"), np.array([5, 6], L), fails=True)
        r.op("InitializeTableV2", h, strings("a", "b"), np.array([5, 7], L), fails=True)
        r.op("InitializeTableV2", h, strings("a"), np.array([5], L), fails=True)
        r.op("LookupTableFindV2", h, np.array([1], L), L(0), fails=True)
        r.op("LookupTableFindV2", h, strings("a"), I(0), fails=True)
        r.op("LookupTableFindV2", h, strings("a"), np.array([0, 1], L), fails=True)
        r.op("LookupTableInsertV2", h, strings("a"), np.array([0], L), fails=True)
        r.op("LookupTableRemoveV2", h, strings("a"), fails=True)
        r.op("LookupTableImportV2", h, strings("a"), np.array([0], L), fails=True)
        r.op("LookupTableFindV2", h, strings("a", "b", "z"), L(-1))
        r.op("LookupTableSizeV2", h)
        r.seq(op + "/repeated_key_same_value")
        h = make(S, L, shared_name="t")
        r.op("InitializeTableV2", h, strings("a", "a", "b"), np.array([5, 5, 6], L))
        r.op("LookupTableSizeV2", h)
        r.seq(op + "/empty")
        h = make(L, S, shared_name="t")
        r.op("InitializeTableV2", h, np.zeros([0], L), np.empty([0], object))
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, np.array([1], L), "none")
    r.seq("HashTableV2/shared_names")
    a = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="x")
    b = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="x")
    c = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="y")
    d = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="x", container="c")
    r.op("InitializeTableV2", a, strings("k"), np.array([4], L))
    for h in (b, c, d):
        r.op("LookupTableSizeV2", h)
    r.op("LookupTableFindV2", b, strings("k"), L(0))
    r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.float32, shared_name="x", fails=True)
    r.op("HashTableV2", key_dtype=tf.int64, value_dtype=tf.int64, shared_name="x", fails=True)
    r.op("HashTableV2", key_dtype=tf.float32, value_dtype=tf.int64, shared_name="z", fails=True)
    r.op("DestroyResourceOp", a)
    r.op("LookupTableSizeV2", b, fails=True)


def text_files(r):
    whole, number = -2, -1
    path = "tests/golden/state/vocab.txt"
    cases = [("line_number", tf.string, tf.int64, whole, number, -1, L(-1), strings("the", "weft", "none")),
             ("vocab_size", tf.string, tf.int64, whole, number, 2, L(-1), strings("the", "weft", "none")),
             ("to_string", tf.int64, tf.string, number, whole, -1, "?", np.array([0, 2, 77], L)),
             ("columns", tf.string, tf.int64, 0, 1, -1, L(-1), strings("a", "c", "zz")),
             ("float_column", tf.string, tf.float32, 0, 2, -1, F(-1), strings("a", "c", "zz")),
             ("int_key", tf.int64, tf.string, 1, 0, -1, "?", np.array([10, 30, 5], L))]
    for name, k, v, ki, vi, size, default, keys in cases:
        r.seq("text_file/" + name)
        h = r.op("HashTableV2", key_dtype=k, value_dtype=v, shared_name="t")
        file = path if name in ("line_number", "vocab_size", "to_string") else path.replace("vocab", "columns")
        r.op("InitializeTableFromTextFileV2", h, file, key_index=ki, value_index=vi, vocab_size=size)
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, keys, default)
    r.seq("text_file/delimiter_and_offset")
    h = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    r.op("InitializeTableFromTextFileV2", h, path, key_index=0, value_index=-1, delimiter=" ", offset=1)
    r.op("LookupTableSizeV2", h)
    r.op("LookupTableFindV2", h, strings("the", "weft", "warp"), L(-1))
    r.seq("text_file/errors")
    h = r.op("HashTableV2", key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    go = lambda file, ki, vi, **kw: r.op("InitializeTableFromTextFileV2", h, file, key_index=ki, value_index=vi, fails=True, **kw)
    go("tests/golden/state/no_such_file.txt", whole, number)
    go(path, whole, number, vocab_size=100)
    go(path.replace("vocab", "columns"), 0, 7)
    go(path.replace("vocab", "columns"), 0, 2)
    go(path, whole, whole)
    go(path, whole, 0)
    go(path, whole, number, vocab_size=0)
    go(path, whole, number, delimiter="ab")
    go(path, -3, number)
    g = r.op("HashTableV2", key_dtype=tf.int64, value_dtype=tf.int64, shared_name="u")
    r.op("InitializeTableFromTextFileV2", g, path, key_index=whole, value_index=number, fails=True)


def mutable_pairs(r, op, pairs, value_shape, attrs):
    for k, v in pairs:
        r.seq(f"{op}/{NAME[k]}_{NAME[v]}")
        h = r.op(op, key_dtype=KIND[k], value_dtype=KIND[v], **attrs)
        row = (lambda *x: t(v, *x)) if not value_shape else (lambda *x: np.stack([t(v, y, y + 1) for y in x]))
        default = one(v, 0) if not value_shape else t(v, 0, 1)
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, t(k, 1), default)
        r.op("LookupTableInsertV2", h, t(k, 1, 2, 3), row(11, 12, 13))
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, t(k, 3, 9, 1), default)
        r.op("LookupTableInsertV2", h, t(k, 3, 4), row(20, 21))
        r.op("LookupTableFindV2", h, t(k, 1, 2, 3, 4).reshape(2, 2), default)
        r.op("LookupTableRemoveV2", h, t(k, 1, 9))
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, t(k, 1, 2), default)
        r.op("LookupTableImportV2", h, t(k, 6), row(31))
        r.op("LookupTableSizeV2", h)
        r.ops("LookupTableExportV2", h, Tkeys=KIND[k], Tvalues=KIND[v])
        r.op("LookupTableFindV2", h, t(k, 6, 2), default)
        r.op("LookupTableInsertV2", h, t(k, 7, 7), row(1, 2))  # the last one stays
        r.op("LookupTableFindV2", h, t(k, 7), default)


def mutable(r):
    pairs = HASH
    of_tensors = [(S, np.bool_), (S, D), (S, F), (S, I), (S, L), (L, np.bool_), (L, D), (L, F), (L, I), (L, L), (L, S), (I, D), (I, F), (I, I)]
    for anonymous in (False, True):
        names = {} if anonymous else {"shared_name": "t"}
        prefix, suffix = ("Anonymous", "") if anonymous else ("", "V2")
        mutable_pairs(r, prefix + "MutableHashTable" + suffix, pairs, [], names)
        op = prefix + "MutableHashTableOfTensors" + suffix
        mutable_pairs(r, op, of_tensors, [2], {**names, "value_shape": [2]})
        r.seq(op + "/default_of_each_key")
        h = r.op(op, key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[2], **names)
        r.op("LookupTableInsertV2", h, np.array([1], L), np.array([[5, 6]], F))
        r.op("LookupTableFindV2", h, np.array([1, 2, 3], L), np.array([[1, 1], [2, 2], [3, 3]], F))
        r.op("LookupTableFindV2", h, np.array([1, 2], L), np.array([[1, 1], [2, 2], [3, 3]], F), fails=True)
        r.op("LookupTableFindV2", h, np.array([1, 2], L), F(1), fails=True)
        r.op("LookupTableInsertV2", h, np.array([1], L), np.array([[5, 6, 7]], F), fails=True)
        r.op("LookupTableInsertV2", h, np.array([1, 2], L), np.array([[5, 6]], F), fails=True)
        r.op("LookupTableInsertV2", h, np.array([1, 2], L), np.array([5, 6], F), fails=True)
        r.op("LookupTableInsertV2", h, np.array([[4], [8]], L), np.array([[[5, 6]], [[7, 8]]], F))
        r.op("LookupTableFindV2", h, np.array([[8]], L), np.array([0, 0], F))
        r.op(op, key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[2, 2], fails=True)
        r.seq(prefix + "MutableHashTable" + suffix + "/default_of_each_key")
        h = r.op(prefix + "MutableHashTable" + suffix, key_dtype=tf.int64, value_dtype=tf.float32, **names)
        r.op("LookupTableInsertV2", h, np.array([1], L), np.array([5], F))
        r.op("LookupTableFindV2", h, np.array([1, 2, 3], L), np.array([1, 2, 3], F))
        r.op("LookupTableFindV2", h, np.array([1, 2, 3], L), np.array([1, 2], F), fails=True)
        r.seq(prefix + "MutableHashTable" + suffix + "/errors")
        h = r.op(prefix + "MutableHashTable" + suffix, key_dtype=tf.string, value_dtype=tf.int64, **names)
        r.op("LookupTableInsertV2", h, np.array([1], L), np.array([1], L), fails=True)
        r.op("LookupTableInsertV2", h, strings("a"), np.array([1], F), fails=True)
        r.op("LookupTableInsertV2", h, strings("a", "b"), np.array([1], L), fails=True)
        r.op("LookupTableFindV2", h, np.array([1], L), L(0), fails=True)
        r.op("LookupTableRemoveV2", h, np.array([1], L), fails=True)
        r.op("LookupTableImportV2", h, strings("a", "b"), np.array([1], L), fails=True)
        r.op("InitializeTableV2", h, strings("a"), np.array([1], L), fails=True)
        r.op("LookupTableExportV2", h, Tkeys=tf.int64, Tvalues=tf.int64, fails=True)
        r.op("LookupTableSizeV2", h)
        r.ops("LookupTableExportV2", h, Tkeys=tf.string, Tvalues=tf.int64)  # empty


def dense(r):
    pairs = [(I, np.bool_), (I, D), (I, F), (I, I), (L, np.bool_), (L, D), (L, F), (L, I), (L, L), (S, np.bool_), (S, D), (S, F), (S, I), (S, L)]
    for op, names in (("MutableDenseHashTableV2", {"shared_name": "t"}), ("AnonymousMutableDenseHashTable", {})):
        make = lambda k, v, empty=100, deleted=101, **kw: r.op(op, one(k, empty), one(k, deleted), value_dtype=KIND[v], **{**names, **kw})
        for k, v in pairs:
            for shape in ([], [2]):
                r.seq(f"{op}/{NAME[k]}_{NAME[v]}_rank{len(shape)}")
                h = make(k, v, value_shape=shape)
                row = (lambda *x: t(v, *x)) if not shape else (lambda *x: np.stack([t(v, y, y + 1) for y in x]))
                default = one(v, 0) if not shape else t(v, 0, 1)
                r.op("LookupTableSizeV2", h)
                r.op("LookupTableInsertV2", h, t(k, 1, 2, 3), row(11, 12, 13))
                r.op("LookupTableFindV2", h, t(k, 3, 9, 1), default)
                r.op("LookupTableInsertV2", h, t(k, 3, 4), row(20, 21))
                r.op("LookupTableSizeV2", h)
                r.op("LookupTableFindV2", h, t(k, 1, 2, 3, 4), default)
                r.op("LookupTableRemoveV2", h, t(k, 1, 9))
                r.op("LookupTableSizeV2", h)
                r.op("LookupTableFindV2", h, t(k, 1, 2), default)
        r.seq(op + "/grows")
        h = make(L, L, initial_num_buckets=4, max_load_factor=0.5)
        for n in range(0, 40, 8):
            r.op("LookupTableInsertV2", h, np.arange(n, n + 8), np.arange(n, n + 8) * 10)
            r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, np.arange(0, 45, 4), L(-1))
        r.ops("LookupTableExportV2", h, Tkeys=tf.int64, Tvalues=tf.int64, compare=False)
        r.seq(op + "/vector_keys")
        h = r.op(op, np.array([0, 0], L), np.array([-1, -1], L), value_dtype=tf.int64, **names)
        r.op("LookupTableInsertV2", h, np.array([[1, 2], [3, 4]], L), np.array([5, 6], L))
        r.op("LookupTableFindV2", h, np.array([[3, 4], [1, 1]], L), L(-1))
        r.op("LookupTableRemoveV2", h, np.array([[3, 4]], L))
        r.op("LookupTableSizeV2", h)
        r.op("LookupTableFindV2", h, np.array([3, 4], L), L(-1), fails=True)
        r.seq(op + "/errors")
        h = make(L, L)
        for key in (100, 101):
            r.op("LookupTableInsertV2", h, np.array([key], L), np.array([5], L), fails=True)
            r.op("LookupTableFindV2", h, np.array([key], L), L(0), fails=True)
            r.op("LookupTableRemoveV2", h, np.array([key], L), fails=True)
        r.op("LookupTableInsertV2", h, np.array([1, 2], L), np.array([5], L), fails=True)
        r.op("LookupTableInsertV2", h, np.array([1], I), np.array([5], L), fails=True)
        r.op("LookupTableFindV2", h, np.array([1], L), np.array([0, 0], L), fails=True)
        r.op("LookupTableSizeV2", h)
        kw = {} if not names else {"shared_name": "bad"}
        make(L, L, deleted=100, fails=True, **kw)
        make(L, L, initial_num_buckets=3, fails=True, **kw)
        make(L, L, max_load_factor=1.5, fails=True, **kw)
        r.op(op, L(1), np.array([1, 2], L), value_dtype=tf.int64, fails=True, **kw)


def old_handles(r):
    """The first generation, with ref-typed string handles."""
    r.seq("HashTable", ref=True)
    h = r.declare("HashTable", key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    r.op("LookupTableFind", h, strings("a"), L(-1), fails=True)
    r.op("InitializeTable", h, strings("a", "b"), np.array([1, 2], L))
    r.op("LookupTableSize", h)
    r.op("LookupTableFind", h, strings("b", "z"), L(-1))
    r.op("InitializeTable", h, strings("a", "b"), np.array([1, 2], L))
    r.op("InitializeTable", h, strings("a"), np.array([1], I), fails=True)
    r.seq("HashTable/text_file", ref=True)
    h = r.declare("HashTable", key_dtype=tf.string, value_dtype=tf.int64, shared_name="t")
    r.op("InitializeTableFromTextFile", h, "tests/golden/state/vocab.txt", key_index=-2, value_index=-1)
    r.op("LookupTableFind", h, strings("weft", "z"), L(-1))
    for op, attrs, row in (("MutableHashTable", {}, lambda *x: np.array(x, F)),
                           ("MutableHashTableOfTensors", {"value_shape": [2]}, lambda *x: np.array([[v, -v] for v in x], F))):
        r.seq(op, ref=True)
        h = r.declare(op, key_dtype=tf.int64, value_dtype=tf.float32, shared_name="t", **attrs)
        r.op("LookupTableInsert", h, np.array([3, 4], L), row(30, 40))
        r.op("LookupTableFind", h, np.array([4, 5], L), row(0)[0])
        r.op("LookupTableImport", h, np.array([8], L), row(80))
        r.op("LookupTableSize", h)
        r.ops("LookupTableExport", h, Tkeys=tf.int64, Tvalues=tf.float32)
        r.op("LookupTableInsert", h, np.array([3], I), row(30), fails=True)


def record(r):
    for part in (static, text_files, mutable, dense, old_handles):
        part(r)
