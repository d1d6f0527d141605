"""A text pipeline: files, lines, vocabulary, lookup, padding, bag of words, batches of ragged tokens."""
import os
import tempfile
import tensorflow as tf

folder = tempfile.mkdtemp()
texts = {"a.txt": ["The quick brown fox", "jumps over", "the lazy dog"],
         "b.txt": ["A quick lookup", "of the fox and the dog", ""]}
for name, lines in texts.items():
    with open(os.path.join(folder, name), "w") as f:
        f.write("\n".join(lines))


def labeler(example, index):
    return example, tf.cast(index, tf.int64)


labeled = []
for i, name in enumerate(sorted(texts)):
    lines = tf.data.TextLineDataset(os.path.join(folder, name))
    labeled.append(lines.map(lambda ex, i=i: labeler(ex, i)))
all_data = labeled[0].concatenate(labeled[1])
for text, label in all_data:
    print(label.numpy(), text.numpy())


def tokenize(text):
    return tf.strings.split(tf.strings.lower(text))


tokens = all_data.filter(lambda t, l: tf.strings.length(t) > 0).map(lambda t, l: (tokenize(t), l))
print(tokens.element_spec)
vocabulary = {}
for words, _ in tokens:
    for w in words.numpy():
        vocabulary[w] = vocabulary.get(w, 0) + 1
ordered = sorted(vocabulary.items(), key=lambda kv: (-kv[1], kv[0]))
print(ordered[:4], len(ordered))
keys = [k for k, _ in ordered]
table = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(keys,
    tf.range(2, len(keys) + 2, dtype=tf.int64) - 2), 1)
encoded = tokens.map(lambda words, label: (table.lookup(words), label))
for ids, label in encoded.padded_batch(3, padded_shapes=([None], []), padding_values=(tf.constant(-1, tf.int64), None)):
    print(ids.numpy(), label.numpy())
for ids, label in encoded.ragged_batch(2).take(2):
    print(ids, label.numpy())
depth = len(keys) + 1
bags = encoded.map(lambda ids, label: tf.reduce_sum(tf.one_hot(ids, depth, dtype=tf.int32), axis=0))
print(tf.reduce_sum(tf.stack(list(bags)), 0).numpy())
lengths = [int(tf.size(w)) for w, _ in tokens]
print(lengths, max(lengths))
splits = encoded.shuffle(10, seed=2, reshuffle_each_iteration=False)
train, valid = splits.skip(2), splits.take(2)
print([i.numpy().tolist() for i, _ in valid], sum(1 for _ in train))
by_label = encoded.group_by_window(lambda ids, l: l, lambda key, ds: ds.ragged_batch(10), window_size=10)
print([(l.numpy().tolist(), r.row_lengths().numpy().tolist()) for r, l in by_label])
cached = encoded.cache().repeat(2)
print(sum(1 for _ in cached))
print(tf.strings.join([tf.strings.reduce_join(w, separator="_") for w, _ in tokens.take(2)], separator="|").numpy())
