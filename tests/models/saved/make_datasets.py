"""Writes datasets.tar.xz: SavedModels with tf.data pipelines inside, and what TensorFlow made of them.

    python make_datasets.py [--only NAME]

Each program is a function of tensors; NAME.npz holds its inputs and outputs (or the status code it fails with), as play.py wants
it. Pipelines here call functions; those that call none are recorded op by op in tests/ops/state.
"""
import argparse
import os
import pathlib
import shutil
import tarfile
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

D = tf.data.Dataset
PROGRAMS = {}


def program(**inputs):
    def add(f):
        PROGRAMS[f.__name__] = (f, {k: np.asarray(v) for k, v in inputs.items()})
        return f
    return add


def row(*parts):
    """One element as text: what has no fixed shape can be gathered too."""
    return tf.strings.reduce_join([tf.strings.format("{};", p, summarize=-1) if p.dtype != tf.string else
                                   tf.strings.reduce_join(tf.reshape(p, [-1]), separator=",") for p in parts])


def texts(ds):
    """Every element as text, in order."""
    return ds.map(row).batch(10000).get_single_element()


def gather(ds):
    return ds.batch(10000).get_single_element()


N = dict(n=np.int64(10))
KEPT = tf.Module()  # what functions of datasets capture
KEPT.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([1, 2, 5], tf.int64), tf.constant(["one", "two", "five"])), "many")
KEPT.v = tf.Variable(0.5)


@program(n=np.int64(7), k=np.float32(2.5))
def map_captures(n, k):
    return dict(y=gather(D.range(n).map(lambda x: tf.cast(x, tf.float32) * k + 3.0)))


@program(**N)
def map_two(n):
    a, b = gather(D.range(n).map(lambda x: (x * x, tf.as_string(x))))
    return dict(a=a, b=b)


@program(**N)
def map_dict(n):
    d = D.range(n).map(lambda x: dict(a=x, b=dict(c=-x))).map(lambda d: dict(s=d["a"] * d["b"]["c"]))
    return dict(y=gather(d)["s"])


@program(**N)
def map_parallel(n):
    f = lambda x: tf.cond(x % 2 == 0, lambda: x * 10, lambda: -x)
    return dict(a=gather(D.range(n).map(f, num_parallel_calls=4, deterministic=True)), b=gather(D.range(n).map(f, num_parallel_calls=tf.data.AUTOTUNE)))


@program(**N)
def map_loop(n):
    def collatz(x):
        steps = tf.constant(0)
        while x > 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        return steps
    return dict(y=gather(D.range(n).map(collatz)))


@program(**N)
def map_tensor_array(n):
    def f(x):
        a = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        for i in tf.range(x % 4 + 1):
            a = a.write(tf.cast(i, tf.int32), i * x)
        return tf.reduce_sum(a.stack())
    return dict(y=gather(D.range(n).map(f)))


@program(**N)
def filters(n):
    d = D.range(n).filter(lambda x: x % 3 != 1)
    return dict(y=gather(d), z=gather(d.filter(lambda x: x > 3)), none=d.filter(lambda x: x > 100).cardinality(),
                empty=d.filter(lambda x: x > 100).reduce(np.int64(5), lambda s, x: s + x))


@program(**N)
def take_while(n):
    return dict(y=gather(D.range(n).take_while(lambda x: x * x < 30)))


@program(**N)
def scan_state(n):
    f = lambda s, x: ((s[0] + x, s[1] * 2.0), (s[0], s[1] + tf.cast(x, tf.float32)))
    a, b = gather(D.range(n).scan((np.int64(0), np.float32(1)), f))
    return dict(a=a, b=b)


@program(**N)
def scan_growing(n):
    d = D.range(5).scan(tf.constant([], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), tf.reduce_sum(s)))
    return dict(y=gather(d))


@program(x=np.arange(12, dtype=np.float32))
def reduce_states(x):
    count, total = D.from_tensor_slices(x).reduce((0, 0.0), lambda s, v: (s[0] + 1, s[1] + v))
    joined = D.from_tensor_slices(x).map(tf.as_string).reduce("", lambda s, v: s + "|" + v)
    return dict(count=count, total=total, joined=joined)


@program(x=np.arange(12, dtype=np.float32))
def for_loop(x):
    total, last = 0.0, 0.0
    for v in D.from_tensor_slices(x).batch(5):
        if tf.reduce_sum(v) > 30.0:
            break
        total += tf.reduce_sum(v)
        last = v[-1]
    return dict(total=total, last=last)


@program(**N)
def iterator_by_hand(n):
    it = iter(D.range(n).map(lambda x: x * 2))
    a, b = next(it), next(it)
    o = it.get_next_as_optional()
    total = tf.constant(0, tf.int64)
    while o.has_value():
        total += o.get_value()
        o = it.get_next_as_optional()
    return dict(a=a, b=b, total=total)


@program(**N)
def iterator_past_the_end(n):
    it = iter(D.range(2).map(lambda x: x + n))
    return dict(y=next(it) + next(it) + next(it))


@program(**N)
def flat_map(n):
    return dict(y=gather(D.range(n).flat_map(lambda x: D.range(x).map(lambda y: y * 10 + x))),
                none=D.range(n).flat_map(lambda x: D.range(0)).reduce(np.int64(1), lambda s, x: s + x))


@program(x=np.arange(12).reshape([3, 4]).astype(np.int32))
def flat_map_slices(x):
    return dict(y=gather(D.from_tensor_slices(x).flat_map(lambda r: D.from_tensor_slices(r).repeat(2))))


@program(**N)
def interleave(n):
    f = lambda x: D.range(x).map(lambda y: x * 100 + y)
    out = {}
    for cycle, block in ((1, 1), (2, 1), (3, 2), (4, 3), (20, 1), (2, 50)):
        out[f"c{cycle}b{block}"] = gather(D.range(n).interleave(f, cycle_length=cycle, block_length=block))
    return out


@program(**N)
def interleave_parallel(n):
    f = lambda x: D.range(x % 4).map(lambda y: x * 100 + y)
    out = {}
    for cycle, block in ((1, 1), (2, 1), (3, 2), (4, 3), (20, 1), (2, 50)):
        out[f"c{cycle}b{block}"] = gather(D.range(n).interleave(f, cycle_length=cycle, block_length=block, num_parallel_calls=min(2, cycle), deterministic=True))
    return out


@program(**N)
def windows(n):
    out = {}
    for k, (size, shift, stride, drop) in enumerate(((3, 3, 1, False), (3, 1, 1, True), (2, 2, 3, True), (3, 4, 2, False))):
        d = D.range(n).window(size, shift, stride, drop).flat_map(lambda w: w.batch(5))
        out[f"w{k}"] = texts(d)
    return out


@program(**N)
def windows_of_pairs(n):
    d = D.range(n).map(lambda x: (x, tf.cast(x, tf.float32) / 2)).window(4)
    return dict(y=texts(d.flat_map(lambda a, b: D.zip((a.batch(4), b.batch(4))))))


@program(**N)
def nested_reduce(n):
    return dict(y=gather(D.range(n).window(3).map(lambda w: w.reduce(np.int64(0), lambda s, x: s + x))))


@program(x=np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9], np.int64))
def group_by_window(x):
    d = D.from_tensor_slices(x).group_by_window(lambda v: v % 3, lambda k, w: w.batch(4).map(lambda b: (k, b)), window_size=3)
    e = D.from_tensor_slices(x).group_by_window(lambda v: v % 3, lambda k, w: w.batch(9), window_size_func=lambda k: k + 1)
    return dict(y=texts(d), z=texts(e))


@program(x=np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9], np.int64))
def group_by_reducer(x):
    r = tf.data.experimental.Reducer(lambda k: (k, np.int64(0)), lambda s, v: (s[0], s[1] + v), lambda a, b: (a, b))
    a, b = gather(D.from_tensor_slices(x).apply(tf.data.experimental.group_by_reducer(lambda v: -(v % 4), r)))
    return dict(a=a, b=b)


@program(x=np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9], np.int64))
def buckets(x):
    d = D.from_tensor_slices(x).map(lambda v: tf.range(v)).bucket_by_sequence_length(lambda v: tf.cast(tf.size(v), tf.int32), [3, 6], [2, 3, 2])
    return dict(y=texts(d))


@program(**N)
def padded_batches(n):
    d = D.range(n).map(lambda x: tf.fill([x % 4 + 1, 2], x)).padded_batch(3)
    e = D.range(n).map(lambda x: (tf.range(x), tf.as_string(x))).padded_batch(4, padded_shapes=([12], []), padding_values=(np.int64(-1), ""), drop_remainder=True)
    a, b = gather(e)
    return dict(y=texts(d), a=a, b=b)


@program(**N)
def ragged_batches(n):
    d = D.range(n).map(lambda x: tf.range(x)).ragged_batch(4)
    return dict(y=texts(d.map(lambda r: (r.values, r.row_splits))))


@program(**N)
def ragged_elements(n):
    r = tf.ragged.range(tf.range(n))
    d = D.from_tensor_slices(r).map(lambda v: tf.reduce_sum(v))
    e = D.from_tensor_slices(r).batch(3).map(lambda v: (v.values, v.row_lengths()))
    return dict(y=gather(d), z=texts(e))


@program(**N)
def sparse_elements(n):
    s = tf.sparse.from_dense(tf.reshape(tf.range(12, dtype=tf.int64) % 3, [4, 3]))
    d = D.from_tensor_slices(s).map(lambda v: (v.indices, v.values))
    e = D.from_tensor_slices(s).batch(2).map(lambda v: tf.sparse.to_dense(v) + n)
    return dict(y=texts(d), z=gather(e))


@program(**N)
def shuffles(n):
    d = D.range(n).map(lambda x: x * x).shuffle(4, seed=7)
    e = D.range(n).shuffle(100, seed=3, reshuffle_each_iteration=False).repeat(2).map(lambda x: -x)
    f = D.range(n).shuffle(5, seed=9).repeat(3).batch(4)
    return dict(d=gather(d), e=gather(e), f=texts(f))


@program(**N)
def caches(n):
    d = D.range(n).shuffle(10, seed=5).cache().repeat(3)
    return dict(y=gather(d), size=d.cardinality())


@program(**N)
def choices(n):
    d = D.choose_from_datasets([D.range(n).map(lambda x: x * 2), D.range(100, 103)], D.range(n).map(lambda x: x % 2), stop_on_empty_dataset=False)
    e = D.choose_from_datasets([D.range(n), D.range(100, 103)], D.range(n).map(lambda x: x % 2))
    return dict(d=gather(d), e=gather(e))


@program(**N)
def samples(n):
    d = D.sample_from_datasets([D.range(n), D.range(100, 120)], [0.3, 0.7], seed=11, stop_on_empty_dataset=True)
    e = D.sample_from_datasets([D.range(n), D.range(100, 120), D.range(200, 205)], seed=5)
    return dict(d=gather(d), e=gather(e))


@program(**N)
def random_numbers(n):
    return dict(y=gather(D.random(seed=4).take(n).map(lambda x: x % 1000)))


@program(**N)
def enumerate_zip(n):
    d = D.zip(D.range(n).enumerate(start=5), D.range(100, 107).map(tf.as_string))
    (a, b), c = gather(d)
    return dict(a=a, b=b, c=c, size=d.cardinality())


@program(**N)
def unbatch_rebatch(n):
    d = D.range(n).batch(4).map(lambda x: x + 1).unbatch()
    e = D.range(n).batch(4).map(lambda x: x + 1).rebatch([1, 3, 2])
    return dict(d=gather(d), e=texts(e))


@program(**N)
def prefetches(n):
    d = D.range(n).map(lambda x: x + 1).prefetch(2).filter(lambda x: x % 2 == 0).prefetch(tf.data.AUTOTUNE)
    return dict(y=gather(d))


@program(**N)
def ignored_errors(n):
    d = D.range(n).map(lambda x: tf.debugging.check_numerics(1.0 / tf.cast(x % 3, tf.float32), "divided by zero")).ignore_errors()
    return dict(y=gather(d))


@program(**N)
def cardinalities(n):
    d = D.range(n)
    all_ = dict(map=d.map(lambda x: x), filter=d.filter(lambda x: x > 0), flat_map=d.flat_map(lambda x: D.range(x)), batch=d.batch(3), scan=d.scan(0, lambda s, x: (s, x)),
                take_while=d.take_while(lambda x: x < 3), asserted=d.filter(lambda x: x < 3).apply(tf.data.experimental.assert_cardinality(3)),
                parallel=d.map(lambda x: x, num_parallel_calls=2), interleave=d.interleave(lambda x: D.range(x)), repeat=d.map(lambda x: x).repeat())
    return {k: v.cardinality() for k, v in all_.items()}


@program(**N)
def map_and_batch(n):
    d = D.range(n).apply(tf.data.experimental.map_and_batch(lambda x: (x * x, tf.fill([2], x)), 3))
    e = D.range(n).apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 4, drop_remainder=True, num_parallel_calls=2))
    return dict(d=texts(d), e=gather(e))


@program(text=np.array([b"the cat sat", b"a dog", b"", b"the end of the tale"], object))
def words(text):
    d = D.from_tensor_slices(text).flat_map(lambda s: D.from_tensor_slices(tf.strings.split(s))).filter(lambda w: tf.strings.length(w) > 0)
    d = d.unique().map(lambda w: tf.strings.upper(w))
    return dict(y=gather(d))


@program(**N)
def tables_and_variables(n):
    return dict(y=gather(D.range(n).map(KEPT.table.lookup)), z=gather(D.range(n).map(lambda x: KEPT.v.assign_add(tf.cast(x, tf.float32)))))


@program(**N)
def dense_to_sparse(n):
    d = D.range(n).map(lambda x: tf.range(x % 4)).apply(tf.data.experimental.dense_to_sparse_batch(4, [6]))
    return dict(y=texts(d.map(lambda s: (s.indices, s.values, s.dense_shape))))


@program(**N)
def counters(n):
    d = tf.data.Dataset.counter(start=3, step=2).take(n).map(lambda x: x * 2)
    return dict(y=gather(d))


@program(**N)
def parallel_pipeline(n):
    d = D.range(200).map(lambda x: x * n, num_parallel_calls=3).batch(7, num_parallel_calls=2).prefetch(3).unbatch()
    d = d.filter(lambda x: x % 20 == 0).map(lambda x: (x, tf.as_string(x)), num_parallel_calls=tf.data.AUTOTUNE).prefetch(1)
    a, b = gather(d)
    return dict(a=a, b=b)


@program(**N)
def early_end(n):
    """A function ends the walk by OutOfRange."""
    def until_five(x):
        it = iter(D.range(5).skip(x))
        return next(it) * n
    return dict(y=D.range(n).apply(lambda d: d.map(until_five)).ignore_errors().reduce(np.int64(0), lambda s, x: s + x))


@program(**N)
def options(n):
    o = tf.data.Options()
    o.deterministic = True
    o.threading.private_threadpool_size = 2
    o.threading.max_intra_op_parallelism = 1
    o.experimental_optimization.map_and_batch_fusion = True
    return dict(y=gather(D.range(n).map(lambda x: x + 1).with_options(o).batch(3).unbatch()))


@program(**N)
def rejection(n):
    d = D.range(30).map(lambda x: tf.cast(x % 3, tf.int32)).filter(lambda x: x != tf.cast(n % 2, tf.int32))
    return dict(y=d.reduce(0, lambda s, x: s + x))


@program(x=np.array([1.0, 2.0, 0.0, 4.0], np.float32))
def error_in_map(x):
    return dict(y=gather(D.from_tensor_slices(x).map(lambda v: tf.debugging.check_numerics(1.0 / v, "bad number"))))


@program(**N)
def error_parallel_calls(n):
    return dict(y=gather(D.range(n).interleave(lambda x: D.range(x), cycle_length=1, num_parallel_calls=2)))


@program(**N)
def error_two_elements(n):
    return dict(y=D.range(n).map(lambda x: x).get_single_element())


@program(**N)
def error_empty(n):
    return dict(y=D.range(n).filter(lambda x: x < 0).get_single_element())


@program(**N)
def error_ragged_batch(n):
    return dict(y=gather(D.range(n).map(lambda x: tf.range(x))))


@program(**N)
def error_cardinality(n):
    return dict(y=gather(D.range(n).filter(lambda x: x < 5).apply(tf.data.experimental.assert_cardinality(7))))


@program(n=np.int64(0))
def error_batch_size(n):
    return dict(y=texts(D.range(5).map(lambda x: x).batch(n)))


@program(**N)
def error_in_reduce(n):
    return dict(y=D.range(n).reduce(np.int64(1), lambda s, x: s // (x - 5)))


@program(**N)
def error_in_group(n):
    return dict(y=gather(D.range(n).group_by_window(lambda x: x % 2, lambda k, w: w, window_size_func=lambda k: k)))


def one(name, out):
    f, inputs = PROGRAMS[name]
    module = tf.Module()
    module.kept = KEPT
    spec = {k: tf.TensorSpec(v.shape, tf.string if v.dtype == object else v.dtype, name=k) for k, v in inputs.items()}
    module.f = tf.function(f, input_signature=[spec[k] for k in inputs])
    tf.saved_model.save(module, str(out / name), signatures=module.f.get_concrete_function())
    given = {k: tf.constant(list(v.ravel()), shape=v.shape) if v.dtype == object else tf.constant(v) for k, v in inputs.items()}
    facts = {"in_" + k: v.astype("S") if v.dtype == object else v for k, v in inputs.items()}
    loaded = tf.saved_model.load(str(out / name)).signatures["serving_default"]
    try:
        for k, v in loaded(**given).items():
            v = np.asarray(v.numpy(), dtype=object if v.dtype == tf.string else None)
            facts["out_" + k] = v.astype("S") if v.dtype == object else v
    except tf.errors.OpError as e:
        facts = {k: v for k, v in facts.items() if k.startswith("in_")} | {"error": e.error_code}
    print(name, facts.get("error", ""), {k: (v.tolist() if v.size < 12 else v.shape) for k, v in facts.items() if k.startswith("out_")}, flush=True)
    np.savez(out / (name + ".npz"), **facts)


def version_1(out):
    """Iterators of graphs with sessions: each run takes the next element."""
    v1 = tf.compat.v1
    for name in ("v1_one_shot", "v1_initializable", "v1_string_handle"):
        with tf.Graph().as_default() as g, v1.Session(graph=g) as session:
            k = v1.placeholder(tf.int64, [], name="k")
            d = D.range(5).map(lambda x: x * x).shuffle(3, seed=8).batch(2)
            main_op = None
            if name == "v1_one_shot":
                y = v1.data.make_one_shot_iterator(d).get_next()
            elif name == "v1_initializable":
                it = v1.data.make_initializable_iterator(d)
                y, main_op = it.get_next(), it.initializer
            else:
                it = v1.data.make_initializable_iterator(d, shared_name="shared")
                handle = it.string_handle()
                y = v1.data.Iterator.from_string_handle(handle, v1.data.get_output_types(d), v1.data.get_output_shapes(d)).get_next()
                main_op = it.initializer
            y = tf.add(y, k, name="y")
            b = v1.saved_model.builder.SavedModelBuilder(str(out / name))
            b.add_meta_graph_and_variables(session, ["serve"], main_op=main_op, signature_def_map=dict(
                serving_default=v1.saved_model.signature_def_utils.predict_signature_def(dict(k=k), dict(y=y))))
            b.save()
        facts = dict(in_k=np.int64(100))
        with tf.Graph().as_default() as g, v1.Session(graph=g) as session:
            v1.saved_model.loader.load(session, ["serve"], str(out / name))
            for key in ("out_y", "out2_y", "out3_y"):
                facts[key] = session.run("y:0", {"k:0": 100})
        print(name, {k: v.tolist() for k, v in facts.items()}, flush=True)
        np.savez(out / (name + ".npz"), **facts)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--only", default="")
    a = p.parse_args()
    here = pathlib.Path(__file__).parent
    with tempfile.TemporaryDirectory() as d:
        out = pathlib.Path(d) / "datasets"
        out.mkdir()
        for name in PROGRAMS:
            if a.only in name:
                one(name, out)
        version_1(out)
        for junk in list(out.rglob("fingerprint.pb")) + list(out.rglob("assets")):
            junk.unlink() if junk.is_file() else shutil.rmtree(junk)
        with tarfile.open(here / "datasets.tar.xz", "w:xz") as t:
            t.add(out, "datasets")


if __name__ == "__main__":
    main()
