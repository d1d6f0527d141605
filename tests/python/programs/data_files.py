"""Datasets of files: text lines, TFRecords, CSV, list_files, fixed-length records."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
for name, lines in (("a.txt", "one\ntwo\n\nthree"), ("b.txt", "four\r\nfive\n")):
    with open(os.path.join(folder, name), "w", newline="") as f:
        f.write(lines)
paths = [os.path.join(folder, n) for n in ("a.txt", "b.txt")]
print(list(tf.data.TextLineDataset(paths).as_numpy_iterator()))
print([os.path.basename(p.decode()) for p in tf.data.Dataset.list_files(os.path.join(folder, "*.txt"),
    shuffle=False).as_numpy_iterator()])
files = tf.data.Dataset.from_tensor_slices(paths)
print(list(files.interleave(tf.data.TextLineDataset, cycle_length=2).as_numpy_iterator()))
nonempty = files.flat_map(
    lambda p: tf.data.TextLineDataset(p).skip(1).filter(lambda line: tf.strings.length(line) > 0))
print(list(nonempty.as_numpy_iterator()))

record = os.path.join(folder, "r.tfrecord")
with tf.io.TFRecordWriter(record) as writer:
    for i in range(4):
        example = tf.train.Example(features=tf.train.Features(feature={
            "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % i]))}))
        writer.write(example.SerializeToString())
raw = tf.data.TFRecordDataset([record])
print(raw, sum(1 for _ in raw))
parsed = tf.train.Example.FromString(next(iter(raw)).numpy())
print(parsed.features.feature["name"].bytes_list.value[0], parsed.features.feature["id"].int64_list.value)
features = {"id": tf.io.FixedLenFeature([], tf.int64), "name": tf.io.FixedLenFeature([], tf.string)}
for r in raw.map(lambda s: tf.io.parse_single_example(s, features)).batch(3):
    print({k: v.numpy() for k, v in r.items()})
zipped = os.path.join(folder, "z.tfrecord.gz")
with tf.io.TFRecordWriter(zipped, options=tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
    writer.write(b"compressed")
print(list(tf.data.TFRecordDataset(zipped, compression_type="GZIP").as_numpy_iterator()))

table = os.path.join(folder, "t.csv")
with open(table, "w") as f:
    f.write('age,name,score\n3,"smith, j",0.5\n4,bob,\n5,eve,2.5\n')
print([[c.numpy() for c in row] for row in tf.data.experimental.CsvDataset(table, [tf.int32, tf.string, [9.0]],
    header=True)])
print([[c.numpy() for c in row] for row in tf.data.experimental.CsvDataset(table, [tf.float32], header=True,
    select_cols=[0])])
other = os.path.join(folder, "u.csv")
with open(other, "w") as f:
    f.write("age,name,score\n3,smith,0.5\n4,bob,1.5\n5,eve,2.5\n")
for features, label in tf.data.experimental.make_csv_dataset(other, batch_size=2, label_name="score", num_epochs=1,
    shuffle=False):
    print({k: v.numpy() for k, v in features.items()}, label.numpy())
print([t.numpy() for t in tf.io.decode_csv(["1,a", "2,b"], [[0], [""]])])
binary = os.path.join(folder, "fixed.bin")
tf.io.write_file(binary, b"HEADaabbccF")
print(list(tf.data.FixedLengthRecordDataset(binary, record_bytes=2, header_bytes=4,
                                            footer_bytes=1).as_numpy_iterator()))
print(tf.io.gfile.exists(record), sorted(tf.io.gfile.listdir(folder))[:3],
      tf.io.matching_files(os.path.join(folder, "*.csv")).shape)
try:
    list(tf.data.TextLineDataset(os.path.join(folder, "missing")))
except tf.errors.NotFoundError as e:
    print(type(e).__name__)
with open(record, "r+b") as f:
    f.seek(30)
    f.write(b"XX")
try:
    list(raw)
except tf.errors.DataLossError as e:
    print(type(e).__name__, e.message.split(";")[0].split(" at ")[0])
