"""Time series with datasets: windows, lagged labels, batches, strides, dense windows, sequences to batches."""
import tensorflow as tf

range_ds = tf.data.Dataset.range(40)
batches = range_ds.batch(10, drop_remainder=True)
for batch in batches.take(2):
    print(batch.numpy())


def dense_1_step(batch):
    return batch[:-1], batch[1:]


for features, label in batches.map(dense_1_step).take(2):
    print(features.numpy(), "=>", label.numpy())
batches = range_ds.batch(15, drop_remainder=True)


def label_next_5_steps(batch):
    return batch[:-5], batch[-5:]


for features, label in batches.map(label_next_5_steps).take(2):
    print(features.numpy(), "=>", label.numpy())
feature_length, label_length = 8, 3
features = range_ds.batch(feature_length, drop_remainder=True)
labels = range_ds.batch(feature_length).skip(1).map(lambda labels: labels[:label_length])
for f, l in tf.data.Dataset.zip((features, labels)).take(3):
    print(f.numpy(), "=>", l.numpy())
window_size = 5
windows = range_ds.window(window_size, shift=1)
for sub_ds in windows.take(2):
    print(sub_ds.element_spec, [x.numpy() for x in sub_ds])


def sub_to_batch(sub):
    return sub.batch(window_size, drop_remainder=True)


for example in windows.flat_map(sub_to_batch).take(3):
    print(example.numpy())


def make_window_dataset(ds, window_size=5, shift=1, stride=1):
    windows = ds.window(window_size, shift=shift, stride=stride)
    return windows.flat_map(lambda sub: sub.batch(window_size, drop_remainder=True))


ds = make_window_dataset(range_ds, window_size=6, shift=5, stride=3)
for example in ds.take(4):
    print(example.numpy())
for inputs, labels in ds.map(dense_1_step).take(2):
    print(inputs.numpy(), "=>", labels.numpy())
multi = tf.data.Dataset.from_tensor_slices({"t": tf.range(8), "v": tf.range(8.0) * 0.5})
for w in multi.window(4, shift=2,
                      drop_remainder=True).flat_map(lambda d: tf.data.Dataset.zip({k: v.batch(4) for k,
                          v in d.items()})):
    print({k: v.numpy().tolist() for k, v in sorted(w.items())})
running = range_ds.take(6).scan(tf.constant(0.0),
                                lambda s, x: (0.9 * s + 0.1 * tf.cast(x, tf.float32),
                                              0.9 * s + 0.1 * tf.cast(x, tf.float32)))
print([round(float(x), 4) for x in running])
