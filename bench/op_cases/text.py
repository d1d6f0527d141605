"""Strings, parsing, tables; sparse, ragged and listed tensors."""

import numpy as np

from op_cases.base import case, floats, i32, integers, random, raw, rows, text_count, words
from packages import field


@case("AsString")
def _as_string(tf, n, op, kind):
    return raw(tf, op, input=integers(text_count(n), high=1000000))


@case("AsString/float")
def _as_string_float(tf, n, op, kind):
    return raw(tf, op, input=floats(text_count(n)))


@case("StringToNumber")
def _to_number(tf, n, op, kind):
    return raw(tf, op, string_tensor=np.array([b"%g" % v for v in floats(text_count(n))], object))


@case("StringToNumber/int")
def _to_integer(tf, n, op, kind):
    return raw(tf, op, string_tensor=np.array([b"%d" % v for v in integers(text_count(n))], object), out_type=tf.int32)


@case("StringJoin")
def _join(tf, n, op, kind):
    return raw(tf, op, inputs=[words(text_count(n)), words(text_count(n))], separator="-")


@case("StringLength", "StringLower", "StringUpper", "StringStrip", "StringToHashBucketFast", "StringToHashBucket")
def _string(tf, n, op, kind):
    name = "string_tensor" if op == "StringToHashBucket" else "input"
    return raw(tf, op, **{name: words(text_count(n))}, **(dict(num_buckets=1000) if "Bucket" in op else {}))


@case("Substr")
def _substr(tf, n, op, kind):
    return raw(tf, op, input=words(text_count(n)), pos=np.int32(2).reshape(()), len=np.int32(4).reshape(()))


@case("StringSplitV2", "StringSplit")
def _string_split(tf, n, op, kind):
    text = words(text_count(n) // 4, 32)
    if op == "StringSplit":
        return raw(tf, op, input=text, delimiter=np.array(b" ", object))
    return raw(tf, op, input=text, sep=np.array(b" ", object))


@case("StaticRegexFullMatch")
def _match(tf, n, op, kind):
    return raw(tf, op, input=words(text_count(n)), pattern="[a-z ]*[0-9,]+.*")


@case("StaticRegexReplace")
def _replace(tf, n, op, kind):
    return raw(tf, op, input=words(text_count(n)), pattern="[0-9]+", rewrite="#")


@case("RegexReplace")
def _replace_words(tf, n, op, kind):
    return raw(
        tf,
        op,
        input=words(text_count(n) // 4, 32),
        pattern=np.array(b"([a-z]+) ", object),
        rewrite=np.array(rb"<\1>", object),
    )


@case("StringFormat")
def _format(tf, n, op, kind):
    return raw(tf, op, inputs=[floats(n)], template="{}", placeholder="{}", summarize=3)


@case("ReduceJoin")
def _reduce_join(tf, n, op, kind):
    return raw(tf, op, inputs=words(text_count(n)).reshape(-1, 8), reduction_indices=i32(1))


@case("EncodeBase64", "DecodeBase64")
def _base64(tf, n, op, kind):
    text = words(text_count(n))
    return raw(tf, op, input=text if op == "EncodeBase64" else np.array([b"YWJjZGVm"] * text.size, object))


@case("UnicodeDecode", "UnicodeTranscode")
def _unicode(tf, n, op, kind):
    if op == "UnicodeDecode":
        return raw(tf, op, input=words(text_count(n)), input_encoding="UTF-8")
    return raw(tf, op, input=words(text_count(n)), input_encoding="UTF-8", output_encoding="UTF-16-BE")


@case("UnicodeEncode")
def _unicode_encode(tf, n, op, kind):
    count = text_count(n)
    return raw(
        tf,
        op,
        input_values=integers(count * 8, low=97, high=122),
        input_splits=np.arange(0, count * 8 + 1, 8, dtype="int64"),
        output_encoding="UTF-8",
    )


@case("DecodeRaw")
def _decode_raw(tf, n, op, kind):
    return raw(tf, op, bytes=np.array([floats(n).tobytes()], object), out_type=tf.float32)


@case("DecodeCSV")
def _csv(tf, n, op, kind):
    lines = np.array([b"%d,%g,%s" % (i, i / 3, b"word") for i in range(text_count(n) // 4)], object)
    defaults = [np.zeros(1, "int32"), np.zeros(1, "float32"), np.array([b""], object)]
    return raw(tf, op, records=lines, record_defaults=defaults)


@case("ParseExampleV2")
def _parse(tf, n, op, kind):
    values = field(2, field(1, floats(8).tobytes()))  # Feature{float_list{value packed}}
    example = field(1, field(1, field(1, b"x") + field(2, values)))
    count = max(1, n // 8)
    return raw(
        tf,
        op,
        serialized=np.array([example] * count, object),
        names=np.array([], object),
        sparse_keys=np.array([], object),
        dense_keys=np.array([b"x"], object),
        ragged_keys=np.array([], object),
        dense_defaults=[np.zeros(0, "float32")],
        num_sparse=0,
        sparse_types=[],
        ragged_value_types=[],
        ragged_split_types=[],
        dense_shapes=[[8]],
    )


@case("LookupTableFindV2")
def _lookup(tf, n, op, kind):
    keys = tf.constant(np.arange(1000, dtype="int64"))
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys), -1)
    at, default = tf.constant(integers(n, high=1200, dtype="int64")), tf.constant(-1, tf.int64)
    return lambda: tf.raw_ops.LookupTableFindV2(table_handle=table.resource_handle, keys=at, default_value=default)


@case("LookupTableFindV2/strings")
def _lookup_strings(tf, n, op, kind):
    keys = tf.constant(words(1000, 3))
    keys = tf.unique(keys)[0]
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, tf.range(tf.size(keys))), -1)
    at, default = tf.constant(words(text_count(n), 3)), tf.constant(-1)
    return lambda: tf.raw_ops.LookupTableFindV2(table_handle=table.resource_handle, keys=at, default_value=default)


def sparse(n):
    """An eighth of a matrix with 64 columns, its places in order."""
    r, c = rows(n)
    flat = np.sort(random().choice(r * c, max(1, n // 8), replace=False))
    return np.stack([flat // c, flat % c], 1).astype("int64"), floats(flat.size), np.array([r, c], "int64")


@case("SparseTensorDenseMatMul")
def _sparse_matmul(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, a_indices=at, a_values=values, a_shape=shape, b=floats(64, 16))


@case("SparseToDense")
def _sparse_dense(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(
        tf, op, sparse_indices=at, output_shape=shape, sparse_values=values, default_value=np.float32(0).reshape(())
    )


@case("SparseReorder")
def _reorder(tf, n, op, kind):
    at, values, shape = sparse(n)
    order = random().permutation(len(values))
    return raw(tf, op, input_indices=at[order], input_values=values, input_shape=shape)


@case("SparseAdd")
def _sparse_add(tf, n, op, kind):
    at, values, shape = sparse(n)
    zero = np.float32(0).reshape(())
    return raw(
        tf, op, a_indices=at, a_values=values, a_shape=shape, b_indices=at, b_values=values, b_shape=shape, thresh=zero
    )


@case("SparseConcat")
def _sparse_concat(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, indices=[at, at], values=[values, values], shapes=[shape, shape], concat_dim=1)


@case("SparseDenseCwiseMul")
def _sparse_mul(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, sp_indices=at, sp_values=values, sp_shape=shape, dense=floats(*rows(n)))


@case("SparseReduceSum", "SparseReduceMax")
def _sparse_reduce(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, input_indices=at, input_values=values, input_shape=shape, reduction_axes=i32(1))


@case("SparseSlice")
def _sparse_slice(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(
        tf,
        op,
        indices=at,
        values=values,
        shape=shape,
        start=np.array([0, 8], "int64"),
        size=np.array([shape[0], 32], "int64"),
    )


@case("SparseFillEmptyRows")
def _fill_rows(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, indices=at, values=values, dense_shape=shape, default_value=np.float32(0).reshape(()))


@case("SparseSoftmax")
def _sparse_softmax(tf, n, op, kind):
    at, values, shape = sparse(n)
    return raw(tf, op, sp_indices=at, sp_values=values, sp_shape=shape)


def splits(n, most=9):
    lengths = integers(max(1, n // 4), high=most)
    return np.concatenate([[0], np.cumsum(lengths)]).astype("int64")


@case("RaggedRange")
def _ragged_range(tf, n, op, kind):
    ends = integers(max(1, n // 4), high=9)
    return raw(tf, op, starts=np.zeros_like(ends), limits=ends, deltas=np.ones_like(ends))


@case("RaggedGather")
def _ragged_gather(tf, n, op, kind):
    s = splits(n)
    return raw(
        tf,
        op,
        params_nested_splits=[s],
        params_dense_values=floats(s[-1]),
        indices=integers(len(s) - 1, high=len(s) - 1),
        OUTPUT_RAGGED_RANK=1,
    )


@case("RaggedTensorToTensor")
def _ragged_dense(tf, n, op, kind):
    s = splits(n)
    return raw(
        tf,
        op,
        shape=np.array([-1, -1], "int64"),
        values=floats(s[-1]),
        default_value=np.float32(0).reshape(()),
        row_partition_tensors=[s],
        row_partition_types=["ROW_SPLITS"],
    )


@case("RaggedTensorToSparse")
def _ragged_sparse(tf, n, op, kind):
    s = splits(n)
    return raw(tf, op, rt_nested_splits=[s], rt_dense_values=floats(s[-1]))


@case("TensorListFromTensor")
def _list(tf, n, op, kind):
    return raw(tf, op, tensor=floats(*rows(n)), element_shape=i32(64))


@case("TensorListStack")
def _list_stack(tf, n, op, kind):
    r, c = rows(n)
    handle = tf.raw_ops.TensorListFromTensor(tensor=tf.constant(floats(r, c)), element_shape=tf.constant([c]))
    shape = tf.constant([c])
    return lambda: tf.raw_ops.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.float32)
