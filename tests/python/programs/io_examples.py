"""tf.train.Example and tf.io parsing: fixed, variable, ragged and sparse features, defaults, sequences, batches."""
import tensorflow as tf


def feature(value):
    if isinstance(value, (bytes, str)):
        value = [value]
    value = [v.encode() if isinstance(v, str) else v for v in value]
    if value and isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if value and isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature={k: feature(v) for k, v in features.items()}))


a = example(id=[1], tags=["red", "blue"], score=[0.5], point=[1.0, 2.0], counts=[1, 2, 3])
b = example(id=[2], tags=["green"], point=[3.0, 4.0], counts=[4])
print(a.features.feature["tags"].bytes_list.value, sorted(a.features.feature))
print(tf.train.Example.FromString(a.SerializeToString()) == a, feature([0.5]), feature(["x"]))
serialized = [a.SerializeToString(), b.SerializeToString()]
spec = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "tags": tf.io.VarLenFeature(tf.string),
    "score": tf.io.FixedLenFeature([], tf.float32, default_value=-1.0),
    "point": tf.io.FixedLenFeature([2], tf.float32),
    "counts": tf.io.RaggedFeature(tf.int64),
}
parsed = tf.io.parse_example(serialized, spec)
for key in sorted(parsed):
    print(key, parsed[key])
single = tf.io.parse_single_example(serialized[0], spec)
for key in sorted(single):
    print(key, single[key])
print(tf.io.parse_example(serialized,
                          {"seq": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
                           "counts": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=0)}))
sp = example(ix=[3, 1], val=[30.0, 10.0])
print(tf.sparse.to_dense(tf.io.parse_single_example(sp.SerializeToString(),
                                                    {"s": tf.io.SparseFeature("ix", "val", tf.float32, 5)})["s"]))
rg = example(v=[3, 1, 4, 1, 5], lengths=[2, 0, 3])
ragged = tf.io.RaggedFeature(tf.int64, value_key="v", partitions=[tf.io.RaggedFeature.RowLengths("lengths")])
print(tf.io.parse_single_example(rg.SerializeToString(), {"r": ragged})["r"])
words = tf.train.FeatureLists(feature_list={"w": tf.train.FeatureList(feature=[feature(["a"]), feature(["b"])])})
sequence = tf.train.SequenceExample(context=tf.train.Features(feature={"n": feature([2])}), feature_lists=words)
context, lists = tf.io.parse_single_sequence_example(sequence.SerializeToString(),
                                                     {"n": tf.io.FixedLenFeature([], tf.int64)},
                                                     {"w": tf.io.FixedLenSequenceFeature([], tf.string)})
print(context, lists)
for bad in (lambda: tf.io.parse_example(serialized, {"missing": tf.io.FixedLenFeature([], tf.int64)}),
            lambda: tf.io.parse_single_example(serialized[0], {"id": tf.io.FixedLenFeature([], tf.string)})):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
t = tf.constant([[1.5, 2.5]])
print(tf.io.parse_tensor(tf.io.serialize_tensor(t), tf.float32), tf.make_tensor_proto([1, 2]).dtype,
      tf.make_ndarray(tf.make_tensor_proto([1.0, 2.0])))
print(tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["5"]}}}}}').dtype)
print(tf.data.Dataset.from_tensor_slices(serialized).map(lambda s: tf.io.parse_single_example(s,
    {"id": tf.io.FixedLenFeature([], tf.int64)})["id"]).reduce(tf.constant(0, tf.int64), lambda x, y: x + y))
print(tf.io.FixedLenFeature([], tf.int64), tf.io.VarLenFeature(tf.string))
