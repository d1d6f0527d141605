"""The example of word embeddings for sentences of different lengths: hash, lookup, bigrams, average."""
import tensorflow as tf

queries = tf.ragged.constant([["Who", "is", "Dan", "Smith"], ["Pause"], ["Will", "it", "rain", "later", "today"]])
num_buckets, embedding_size = 16, 4
table = tf.Variable(tf.reshape(tf.sin(tf.range(num_buckets * embedding_size, dtype=tf.float32)),
                               [num_buckets, embedding_size]))
word_buckets = tf.strings.to_hash_bucket_fast(queries, num_buckets)
print(word_buckets)
word_embeddings = tf.nn.embedding_lookup(table, word_buckets)
print(word_embeddings.shape, word_embeddings[1])
marker = tf.fill([queries.nrows(), 1], "#")
padded = tf.concat([marker, queries, marker], axis=1)
print(padded)
bigrams = tf.strings.join([padded[:, :-1], padded[:, 1:]], separator="+")
print(bigrams)
bigram_buckets = tf.strings.to_hash_bucket_fast(bigrams, num_buckets)
print(bigram_buckets)
bigram_embeddings = tf.nn.embedding_lookup(table, bigram_buckets)
all_embeddings = tf.concat([word_embeddings, bigram_embeddings], axis=1)
print(all_embeddings.shape, all_embeddings.row_lengths())
avg_embedding = tf.reduce_mean(all_embeddings, axis=1)
print(avg_embedding)
print(tf.strings.ngrams(queries, 2), tf.strings.ngrams(["a", "b", "c"], [1, 2]),
      tf.strings.ngrams(["a", "b"], 3, pad_values=("^", "$")))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.reduce_mean(tf.gather(table, word_buckets), axis=1) ** 2)
g = tape.gradient(loss, table)
print(type(g).__name__, tf.reduce_sum(tf.convert_to_tensor(g)).numpy())
lengths = tf.strings.length(queries)
print(lengths, tf.reduce_max(lengths, axis=1), tf.reduce_sum(lengths))
print(tf.strings.lower(queries), tf.strings.upper(queries)[0], tf.strings.regex_replace(queries, "[aeiou]", "_"))
