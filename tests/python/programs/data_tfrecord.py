"""TFRecord files: features of three kinds, serialise, write, read, parse, in batches and one by one."""
import os
import tempfile
import tensorflow as tf


def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


print(_bytes_feature(b"test_string"))
print(_bytes_feature("test_bytes".encode("utf-8")))
print(_float_feature(0.5))
print(_int64_feature(1))
print(_float_feature(0.5).SerializeToString())


def serialize_example(feature0, feature1, feature2, feature3):
    feature = {"feature0": _int64_feature(feature0), "feature1": _int64_feature(feature1),
               "feature2": _bytes_feature(feature2), "feature3": _float_feature(feature3)}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


serialized = serialize_example(0, 4, b"goat", 0.9876)
example = tf.train.Example.FromString(serialized)
print(example.features.feature["feature2"].bytes_list.value,
      round(example.features.feature["feature3"].float_list.value[0], 4))
n = 5
f0, f1 = tf.constant([True, False, True, True, False]), tf.constant([0, 3, 2, 4, 1])
f2 = tf.gather(tf.constant(["cat", "dog", "chicken", "horse", "goat"]), f1)
f3 = tf.linspace(-1.0, 1.0, n)
dataset = tf.data.Dataset.from_tensor_slices((f0, f1, f2, f3))


def tf_serialize_example(a, b, c, d):
    s = tf.py_function(lambda a, b, c, d: serialize_example(int(a), int(b), c, float(d)), (a, b, c, d), tf.string)
    return tf.reshape(s, ())


path = os.path.join(tempfile.mkdtemp(), "test.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for s in dataset.map(tf_serialize_example):
        writer.write(s.numpy())
raw = tf.data.TFRecordDataset([path])
description = {
    "feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
}
for record in raw.map(lambda p: tf.io.parse_single_example(p, description)):
    print({k: record[k].numpy() for k in sorted(record)})
for batch in raw.batch(3).map(lambda p: tf.io.parse_example(p, description)):
    print(batch["feature1"].numpy(), batch["feature2"].numpy())
print(len(list(raw)), len(list(tf.data.TFRecordDataset([path, path], num_parallel_reads=1))))
