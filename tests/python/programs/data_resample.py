"""Resampling: class counts, rejection_resample, sampling with weights, balanced batches."""
import tensorflow as tf

labels = [0] * 16 + [1] * 4
ds = tf.data.Dataset.from_tensor_slices((list(range(20)), labels))


def count(counts, element):
    _, label = element
    return counts + tf.one_hot(label, 2, dtype=tf.int32)


print(ds.reduce(tf.zeros([2], tf.int32), count))
negative = ds.filter(lambda x, label: label == 0).repeat()
positive = ds.filter(lambda x, label: label == 1).repeat()
balanced = tf.data.Dataset.sample_from_datasets([negative, positive], weights=[0.5, 0.5], seed=3).batch(10)
for features, label in balanced.take(3):
    print(features.numpy(), label.numpy())
in_turn = tf.data.Dataset.choose_from_datasets([negative, positive], tf.data.Dataset.range(2).repeat()).batch(6)
print([label.numpy().tolist() for _, label in in_turn.take(2)])
tf.random.set_seed(5)
resampled = ds.repeat(10).rejection_resample(class_func=lambda x, label: label, target_dist=[0.5, 0.5],
                                             initial_dist=[0.8, 0.2], seed=1)
chosen = [int(c) for c, _ in resampled.take(40)]
print(0.25 < sum(chosen) / len(chosen) < 0.75, len(chosen))
print(resampled.element_spec)
