"""Ragged tensors in functions, datasets, map_fn, loops, gradients, SavedModels."""

import tempfile

import tensorflow as tf
from calls import tell

rt = tf.ragged.constant([[1, 2, 3], [], [4, 5]])
fl = tf.cast(rt, tf.float32)
deep = tf.ragged.constant([[[1, 2], [3]], [], [[4], [], [5, 6]]])
S = tf.RaggedTensorSpec
traces = []


@tf.function
def twice(r):
    traces.append(tf.type_spec_from_value(r))
    return r * 2


@tf.function(reduce_retracing=True)
def relaxed(r):
    traces.append(r.shape)
    return r + 1


@tf.function
def total(r):
    s = 0
    for row in r:
        s += tf.reduce_sum(row)
    return s


@tf.function
def longest(r):
    best = tf.constant(0, tf.int64)
    for n in r.row_lengths():
        if n > best:
            best = n
    return best


@tf.function
def chosen(r, flag):
    if flag:
        out = r[:, :1]
    else:
        out = r[:, 1:]
    return out


@tf.function
def grown(r):
    i = 0
    while i < 2:
        r = tf.concat([r, r], 1)
        i += 1
    return r


def gradient(function, r):
    with tf.GradientTape() as tape:
        tape.watch(r.flat_values)
        y = function(r)
    return tape.gradient(y, r.flat_values)


class Model(tf.Module):
    @tf.function(input_signature=[S([None, None], tf.int32)])
    def __call__(self, r):
        return {"twice": r * 2, "sums": tf.reduce_sum(r, 1)}


def saved():
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(Model(), folder)
        loaded = tf.saved_model.load(folder)
        print(sorted(loaded(rt).items()))
        f = loaded.signatures["serving_default"]
        print(sorted((k, str(v)) for k, v in f.structured_input_signature[1].items()))
        print(sorted(f.structured_outputs))
        return loaded(r=tf.ragged.constant([[1], [2, 3]]))["sums"]


tell(
    """
    twice(rt)
    twice(tf.ragged.constant([[1], [2], [3]]))
    twice(tf.ragged.constant([[1], [2]]))
    twice(deep)
    twice(tf.ragged.constant([[1.0]]))
    traces
    traces.clear()
    relaxed(rt)
    relaxed(tf.ragged.constant([[1], [2]]))
    relaxed(tf.ragged.constant([[1], [2], [3], [4]]))
    traces
    total(rt)
    longest(rt)
    chosen(rt, tf.constant(True))
    chosen(rt, tf.constant(False))
    grown(rt)
    gradient(lambda r: tf.reduce_sum(r * r), fl)
    gradient(lambda r: tf.reduce_sum(r, 1), fl)
    gradient(lambda r: tf.reduce_max(r, 1), fl)
    gradient(lambda r: tf.reduce_mean(r, 0), fl)
    gradient(lambda r: r[:, :1].flat_values, fl)
    gradient(lambda r: r[1:].to_tensor(), fl)
    gradient(lambda r: tf.gather(r, [0, 0]).flat_values, fl)
    gradient(lambda r: tf.nn.softmax(r).flat_values ** 2, fl)
    tf.map_fn(tf.reduce_sum, rt)
    tf.map_fn(lambda r: r * 2, rt, fn_output_signature=S([None], tf.int32))
    tf.map_fn(lambda r: r * 2, rt, fn_output_signature=tf.RaggedTensorSpec(shape=[None], dtype=tf.int32, ragged_rank=0))
    tf.map_fn(lambda r: r * 2, rt)
    tf.map_fn(tf.range, tf.constant([2, 0, 3]), fn_output_signature=S([None], tf.int32))
    tf.map_fn(lambda r: tf.reduce_sum(r, -1), deep, fn_output_signature=S([None], tf.int32))
    tf.map_fn(lambda r: r.to_tensor(), deep, fn_output_signature=tf.TensorSpec([None, None], tf.int32))
    tf.map_fn(lambda r: r, deep, fn_output_signature=S([None, None], tf.int32))
    tf.map_fn(lambda x: x[0] + tf.reduce_sum(x[1]), (tf.constant([10, 20, 30]), rt), fn_output_signature=tf.int32)
    tf.map_fn(lambda x: x, rt, fn_output_signature=tf.int32)
    tf.ragged.map_flat_values(tf.add, rt, 1)
    tf.ragged.map_flat_values(tf.add, rt, rt)
    tf.ragged.map_flat_values(tf.add, rt, tf.ragged.constant([[1], [2], [3]]))
    tf.ragged.map_flat_values(lambda x: x[:1], rt)
    tf.ragged.map_flat_values(lambda x: 1, rt)
    tf.ragged.map_flat_values(tf.reduce_sum, rt)
    tf.ragged.map_flat_values(tf.add, 1, 2)
    tf.scan(lambda a, r: a + tf.reduce_sum(r), rt, 0)
    tf.foldl(lambda a, r: a + tf.reduce_sum(r), rt, 0)
    tf.data.Dataset.from_tensors(rt).element_spec
    tf.data.Dataset.from_tensor_slices(rt).element_spec
    tf.data.Dataset.from_tensor_slices(deep).element_spec
    list(tf.data.Dataset.from_tensor_slices(rt))
    list(tf.data.Dataset.from_tensor_slices(deep).map(lambda r: tf.reduce_sum(r)))
    list(tf.data.Dataset.from_tensor_slices(rt).ragged_batch(2))
    list(tf.data.Dataset.from_tensor_slices(rt).ragged_batch(2, drop_remainder=True))
    tf.data.Dataset.from_tensor_slices(rt).ragged_batch(2).element_spec
    list(tf.data.Dataset.from_tensor_slices(rt).padded_batch(2))
    list(tf.data.Dataset.from_tensor_slices(rt).batch(2))
    list(tf.data.Dataset.from_tensor_slices(deep).batch(2))
    tf.data.Dataset.from_tensor_slices(deep).batch(2).element_spec
    list(tf.data.Dataset.from_tensor_slices(deep).batch(2).unbatch())
    list(tf.data.Dataset.from_tensors(rt).repeat(2).batch(2))
    list(tf.data.Dataset.from_tensor_slices({"a": rt, "b": [1, 2, 3]}).filter(lambda d: tf.size(d["a"]) > 0))
    list(tf.data.Dataset.range(3).map(lambda i: tf.ragged.range([i, 2])))
    list(tf.data.Dataset.range(4).apply(tf.data.experimental.dense_to_ragged_batch(3)))
    tf.data.Dataset.from_generator(lambda: iter([rt]), output_signature=S([None, None], tf.int32)).element_spec
    next(iter(tf.data.Dataset.from_generator(lambda: iter([rt]), output_signature=S([None, None], tf.int32))))
    tf.cond(tf.constant(True), lambda: rt, lambda: rt + 1)
    tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, r + 1), [0, rt])
    tf.nest.flatten(rt, expand_composites=True)
    tf.nest.map_structure(lambda t: t, rt, expand_composites=True)
    tf.type_spec_from_value(rt)
    tf.type_spec_from_value(rt).is_compatible_with(tf.ragged.constant([[1], [2], [3]]))
    tf.type_spec_from_value(rt).is_compatible_with(deep)
    tf.type_spec_from_value(rt).most_specific_common_supertype([tf.type_spec_from_value(rt[:2])])
    tf.print(rt)
    tf.print(deep, rt, summarize=1)
    print(rt, deep)
    tf.numpy_function(lambda x: x, [rt], tf.int32)
    tf.py_function(lambda r: r.row_lengths(), [rt], tf.int64)
    tf.py_function(lambda r: r * 2, [rt], S([None, None], tf.int32))
    tf.stop_gradient(rt)
    saved()
    S([None, None], tf.int32) == S([None, None], tf.int32)
    S([2, None])
    S([2, None], ragged_rank=0)
    S([2, None], ragged_rank=3)
    S([2, None], row_splits_dtype=tf.float32)
    S(None, tf.int32)
    S([2, None]).is_compatible_with(S([None, None]))
    S([None, None]).is_compatible_with(fl)
    S([None, None]).value_type
    S.from_value(rt)
    """,
    globals(),
)
