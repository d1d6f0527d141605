"""Orders of repeat, shuffle and batch: epochs, remainders, counters."""
import tensorflow as tf

lines = tf.data.Dataset.from_tensor_slices([f"line {i}" for i in range(7)])
print([b.numpy().tolist() for b in lines.batch(3)])
print([b.numpy().tolist() for b in lines.batch(3, drop_remainder=True)])
print([len(b) for b in lines.repeat(3).batch(4)], [len(b) for b in lines.batch(4).repeat(3)])
for epoch in range(2):
    for i, batch in enumerate(lines.batch(4)):
        print(epoch, i, batch.shape)
counter = tf.data.experimental.Counter()
dataset = tf.data.Dataset.zip((counter, lines)).shuffle(buffer_size=4, seed=9).batch(3)
print(dataset)
n, batch = next(iter(dataset))
print(n.numpy(), batch.numpy())
shuffled = tf.data.Dataset.range(12).shuffle(buffer_size=5, seed=1)
first = [int(x) for x in shuffled]
second = [int(x) for x in shuffled]
print(first, second)
print(sorted(first) == list(range(12)), all(x <= i + 5 for i, x in enumerate(first)))
fixed = tf.data.Dataset.range(12).shuffle(12, seed=3, reshuffle_each_iteration=False)
print([int(x) for x in fixed] == [int(x) for x in fixed])
before = tf.data.Dataset.range(4).shuffle(4, seed=2).repeat(2)
after = tf.data.Dataset.range(4).repeat(2).shuffle(4, seed=2)
print([int(x) for x in before], [int(x) for x in after])
infinite = tf.data.Dataset.range(3).repeat()
print([int(x) for x in infinite.take(7)], infinite.cardinality() == tf.data.INFINITE_CARDINALITY)
cached = tf.data.Dataset.range(3).map(lambda x: x * 10).cache()
print(list(cached.as_numpy_iterator()), list(cached.as_numpy_iterator()))
it = iter(tf.data.Dataset.range(3))
print(int(next(it)), int(next(it)), int(next(it)), next(it, "end"))
