"""Batch and Unbatch, messages, composite variants, debugger ops, records at random; wrong calls."""
import os
import tempfile
import threading

import tensorflow as tf

raw = tf.raw_ops
i64 = lambda v: tf.constant(v, tf.int64)


def show(label, code):
    try:
        got = code()
        print(label, [tf.get_static_value(t).tolist() if t.shape.rank else t.numpy() for t in tf.nest.flatten(got) if t is not None])
    except tf.errors.OpError as e:
        print(label, type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])


def batch(*tensors, **options):
    options = {"num_batch_threads": 1, "max_batch_size": 4, "batch_timeout_micros": 200000, "grad_timeout_micros": 100, **options}
    return raw.Batch(in_tensors=list(tensors), **options)


one = batch(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([5, 6]), batch_timeout_micros=10)
print([t.numpy().tolist() for t in one.batched_tensors], one.batch_index.shape, one.batch_index[0, 1:].numpy(), bool(one.batch_index[0, 0] == one.id))
show("unbatch", lambda: raw.Unbatch(batched_tensor=one.batched_tensors[0] * 2.0, batch_index=one.batch_index, id=one.id, timeout_micros=1000))
show("grad", lambda: raw.UnbatchGrad(original_input=tf.ones([2, 2]), batch_index=one.batch_index, grad=tf.fill([2, 2], 3.0), id=one.id))
padded = batch(tf.constant([7, 8, 9]), batch_timeout_micros=10, allowed_batch_sizes=[2, 4])
print([t.numpy().tolist() for t in padded.batched_tensors], padded.batch_index[0, 1:].numpy())

results = {}
with tf.compat.v1.Graph().as_default(), tf.compat.v1.Session() as session:
    x = tf.compat.v1.placeholder(tf.int32, [None])
    got = batch(x, batch_timeout_micros=60000000)
    mine = raw.Unbatch(batched_tensor=got.batched_tensors[0] * 10, batch_index=got.batch_index, id=got.id, timeout_micros=60000000)
    count = tf.shape(got.batch_index)[0]
    print([t.shape for t in got.batched_tensors], got.batch_index.shape, got.id.shape, mine.shape)

    def call(n):
        results[n] = session.run([mine, count], {x: [n, n + 10]})

    # Both together fill a batch of four.
    threads = [threading.Thread(target=call, args=(n,)) for n in (1, 2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
print([results[n][0].tolist() for n in (1, 2)], sorted(int(r[1]) for r in results.values()))

index = i64([[5, 0, 1], [6, 1, 3]])
show("first", lambda: raw.Unbatch(batched_tensor=[1.0, 2.0, 3.0], batch_index=index, id=i64(6), timeout_micros=10000000, shared_name="u"))
show("then", lambda: raw.Unbatch(batched_tensor=tf.zeros([0]), batch_index=tf.zeros([0, 3], tf.int64), id=i64(5), timeout_micros=10000000, shared_name="u"))
show("late", lambda: raw.Unbatch(batched_tensor=tf.zeros([0]), batch_index=tf.zeros([0, 3], tf.int64), id=i64(77), timeout_micros=1000, shared_name="u"))
show("id", lambda: raw.Unbatch(batched_tensor=[1.0, 2.0, 3.0], batch_index=index, id=i64([6]), timeout_micros=1000, shared_name="u"))
show("index", lambda: raw.Unbatch(batched_tensor=[1.0, 2.0, 3.0], batch_index=i64([[5, 0]]), id=i64(6), timeout_micros=1000, shared_name="u"))
show("rows", lambda: raw.Unbatch(batched_tensor=[1.0], batch_index=index, id=i64(6), timeout_micros=1000, shared_name="u"))
show("scalar", lambda: batch(tf.constant(1)))
show("rows", lambda: batch(tf.constant([1]), tf.constant([1, 2])))
show("too many", lambda: batch(tf.zeros([5])))
show("sizes", lambda: batch(tf.zeros([1]), allowed_batch_sizes=[4, 2]))
show("sizes", lambda: batch(tf.zeros([1]), allowed_batch_sizes=[2]))

cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
message = {"tensor_name": "m", "send_device": cpu, "send_device_incarnation": 1, "recv_device": cpu}
raw.Send(tensor=[1, 2], **message)
show("received", lambda: raw.Recv(tensor_type=tf.int32, **message))


@tf.function
def exchange(x):
    raw.Send(tensor=x * 2, **message)
    return raw.Recv(tensor_type=tf.int32, **message)


show("exchanged", lambda: exchange(tf.constant([3, 4])))
show("fact", raw.Fact)
show("sync", raw.SyncDevice)
for scheme in ("", "file", "ram", "nothing"):
    show("option " + scheme, lambda: raw.FileSystemSetConfiguration(scheme=scheme, key="k", value="v"))
show("option", lambda: raw.FileSystemSetConfiguration(scheme=["a"], key="k", value="v"))
show("option", lambda: raw.FileSystemSetConfiguration(scheme="a", key=["k"], value="v"))

ragged, sparse = b"\n\x02\x08\x03", b"\n\x02\x08\x01"
made = raw.CompositeTensorVariantFromComponents(components=[tf.constant([1.0, 2.0]), i64([0, 2])], metadata=ragged)
print(made.dtype, made.shape)
back = lambda metadata, types: raw.CompositeTensorVariantToComponents(encoded=made, metadata=metadata, Tcomponents=types)
show("components", lambda: back(ragged, [tf.float32, tf.int64]))
show("class", lambda: back(sparse, [tf.float32, tf.int64]))
show("count", lambda: back(ragged, [tf.float32]))
show("type", lambda: back(ragged, [tf.float32, tf.int32]))
show("metadata", lambda: back(b"\xff", [tf.float32, tf.int64]))
show("metadata", lambda: raw.CompositeTensorVariantFromComponents(components=[tf.constant(1)], metadata=b"\xff"))
x = tf.constant([3.0, 4.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = raw.CompositeTensorVariantFromComponents(components=[x], metadata=sparse)
    (z,) = raw.CompositeTensorVariantToComponents(encoded=y, metadata=sparse, Tcomponents=[tf.float32])
    total = tf.reduce_sum(z * z)
show("gradient", lambda: tape.gradient(total, x))

odd = tf.constant([float("nan"), 1.0, float("-inf")])
for name in ("", "a:b:0", "a:x", "a:0"):
    show("nans " + name, lambda: raw.DebugNanCount(input=odd, tensor_name=name))
    show("identity " + name, lambda: raw.DebugIdentity(input=x, tensor_name=name))
for mode in (-1, 0, 1, 6, 7, 9):
    show("mode", lambda: raw.DebugNumericSummaryV2(input=odd, tensor_debug_mode=mode))
show("number", lambda: raw.DebugNumericSummaryV2(input=odd, tensor_debug_mode=2, tensor_id=2**24 + 1))
show("number", lambda: raw.DebugNumericSummaryV2(input=odd, tensor_debug_mode=2, tensor_id=2**53 + 1, output_dtype=tf.float64))

folder = tempfile.mkdtemp()
for k in range(3):
    with tf.io.TFRecordWriter(os.path.join(folder, f"part{k}")) as w:
        for n in range(20):
            w.write(f"{k}-{n}".encode())
options = {"file_pattern": ",".join(os.path.join(folder, f"part{k}") for k in range(3)), "file_parallelism": 1, "batch_size": 30}
for seed, shift in ((301, 0.0), (7, 0.5)):
    a = raw.RecordInput(file_random_seed=seed, file_shuffle_shift_ratio=shift, **options)
    b = raw.RecordInput(file_random_seed=seed, file_shuffle_shift_ratio=shift, **options)
    print(a.numpy().tolist()[:12], len(set(a.numpy().tolist() + b.numpy().tolist())))
for wrong in ({"batch_size": -1}, {"file_parallelism": -1}):
    show("records", lambda: raw.RecordInput(file_pattern=folder, **wrong))
