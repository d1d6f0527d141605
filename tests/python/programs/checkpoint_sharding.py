"""Checkpoints in several data files: policies by size and by task, callbacks of one's own."""
import os
import tempfile

import tensorflow as tf

experimental = tf.train.experimental
folder = tempfile.mkdtemp()
a, b, s = tf.Variable(tf.reshape(tf.range(100.0), [20, 5])), tf.Variable([1.0, 2.0]), tf.Variable("text")
checkpoint = tf.train.Checkpoint(a=a, b=b, s=s, deep=tf.Variable(tf.reshape(tf.range(24), [2, 3, 4])))


def write(name, callback):
    path = checkpoint.write(os.path.join(folder, name), tf.train.CheckpointOptions(experimental_sharding_callback=callback))
    files = sorted(f for f in os.listdir(folder) if f.startswith(name + "."))
    print(callback.description, files)
    print(tf.train.list_variables(path))
    a.assign(tf.zeros([20, 5]))
    checkpoint.deep.assign(tf.zeros([2, 3, 4], tf.int32))
    checkpoint.read(path).assert_consumed()
    print(a.numpy().sum(), a[7].numpy(), checkpoint.deep[1, 2].numpy(), s.numpy())


write("task", experimental.ShardByTaskPolicy())
for size in (1000, 300, 200, 100, 64):
    write(f"size{size}", experimental.MaxShardSizePolicy(max_shard_size=size))


class OneEach(experimental.ShardingCallback):
    @property
    def description(self):
        return "a file for each tensor"

    def __call__(self, shardable_tensors):
        for t in shardable_tensors:
            print(t.checkpoint_key, repr(t.slice_spec), t.shape, t.dtype, type(t.trackable).__name__, t.tensor is None)
        return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors]


write("each", OneEach())


class Twice(OneEach):
    def __call__(self, shardable_tensors):
        return [{t.checkpoint_key: {t.slice_spec: t.tensor}} for t in shardable_tensors * 2]


try:
    checkpoint.write(os.path.join(folder, "twice"), tf.train.CheckpointOptions(experimental_sharding_callback=Twice()))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__, "Duplicate tensor keyed by a/.ATTRIBUTES/VARIABLE_VALUE encountered" in e.message)
try:
    tf.train.CheckpointOptions(experimental_sharding_callback=5)
except ValueError as e:
    print(e)
print(sorted(f for f in os.listdir(folder) if "temp" in f and "twice" not in f))
module = tf.Module()
module.v = tf.Variable(tf.range(50.0))
module.f = tf.function(lambda: module.v[3], input_signature=[])
options = tf.saved_model.SaveOptions(experimental_sharding_callback=experimental.MaxShardSizePolicy(max_shard_size=120))
tf.saved_model.save(module, os.path.join(folder, "model"), options=options)
print(sorted(os.listdir(os.path.join(folder, "model", "variables"))))
loaded = tf.saved_model.load(os.path.join(folder, "model"))
print(loaded.f().numpy(), loaded.v.numpy().sum())
