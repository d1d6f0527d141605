"""Batches of datasets pass through map and are taken apart again."""

import tensorflow as tf

Dataset = tf.data.Dataset
ones = Dataset.range(6).map(lambda i: Dataset.from_tensors(i)).batch(3)
print(ones.element_spec)
ones = ones.map(lambda x: x)
print(ones.element_spec)
print([int(x) for x in ones.unbatch().flat_map(lambda x: x)])
pairs = Dataset.range(6).map(lambda i: (i, Dataset.range(i))).batch(2).map(lambda i, x: (x, i))
print(pairs.element_spec)
print([[int(y) for y in x] for x, _ in pairs.unbatch()])
print(pairs.batch(2).map(lambda x, i: x).unbatch().unbatch().element_spec)
