"""Comma-separated files: by hand with decode_csv, CsvDataset, batches of features, column choice, defaults."""
import os
import tempfile
import tensorflow as tf

path = os.path.join(tempfile.mkdtemp(), "titanic.csv")
with open(path, "w") as f:
    f.write("survived,sex,age,fare,deck\n0,male,22.0,7.25,unknown\n1,female,38.0,71.28,C\n"
            "1,female,26.0,7.92,unknown\n0,male,,8.05,E\n")
lines = tf.data.TextLineDataset(path).skip(1)
for line in lines.take(2):
    print(line.numpy())


def parse(line):
    survived, sex, age, fare, deck = tf.io.decode_csv(line, record_defaults=[0, "", 0.0, 0.0, ""])
    return {"sex": sex, "age": age, "fare": fare, "deck": deck}, survived


for features, label in lines.map(parse):
    print(label.numpy(), {k: v.numpy() for k, v in sorted(features.items())})
for batch, labels in lines.map(parse).batch(3).take(1):
    print(labels.numpy(), batch["age"].numpy(), batch["deck"].numpy())
types = [tf.int32, tf.string, tf.float32, tf.float32, tf.string]
try:
    for row in tf.data.experimental.CsvDataset(path, types, header=True):
        print([field.numpy() for field in row])
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__)
for row in tf.data.experimental.CsvDataset(path, [tf.string, tf.constant([-1.0])], header=True, select_cols=[1, 2]):
    print([field.numpy() for field in row])
print(tf.io.decode_csv(["a|1", "b|2"], [["x"], [0]], field_delim="|"))
print(tf.io.decode_csv(['1,"quoted, text"'], [[0], [""]])[1].numpy(),
      tf.io.decode_csv(["NA,2"], [[5], [0]], na_value="NA")[0].numpy())
titles = next(iter(tf.data.TextLineDataset(path))).numpy().decode().split(",")
print(titles)
mean = lines.map(lambda l: parse(l)[0]["fare"]).reduce((0.0, 0.0), lambda s, x: (s[0] + x, s[1] + 1.0))
print((mean[0] / mean[1]).numpy())
try:
    tf.io.decode_csv(["1,2,3"], [[0], [0]])
except tf.errors.InvalidArgumentError as e:
    print(e.message)
