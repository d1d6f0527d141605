"""Counting words with strings, tables and ragged tensors."""
import tensorflow as tf

lines = tf.constant(["the cat sat on the mat", "the dog sat", "a cat and a dog"])
words = tf.strings.split(lines)
print(words)
print("words per line:", words.row_lengths().numpy())
flat = words.flat_values
unique, index, count = tf.unique_with_counts(flat)
order = tf.argsort(count, direction="DESCENDING", stable=True)
for w, c in zip(tf.gather(unique, order).numpy(), tf.gather(count, order).numpy()):
    print(w.decode(), c)
print("longest:", flat[tf.argmax(tf.strings.length(flat))].numpy())
print("starts with c or d:", tf.boolean_mask(flat, tf.strings.regex_full_match(flat, "[cd].*")).numpy())
print("upper:", tf.strings.upper(words[1]).numpy())
print("joined:", tf.strings.reduce_join(words, axis=1, separator="-").numpy())
print("lengths:", tf.strings.length(words))
print("first words:", words[:, :1].values.numpy())
print("padded:", words.to_tensor(default_value="-"))
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(unique, tf.range(tf.size(unique))), -1)
print("ids:", table.lookup(words), table.lookup(tf.constant("bird")).numpy())
