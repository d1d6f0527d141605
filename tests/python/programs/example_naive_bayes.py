"""Naive Bayes on words: counts by bincount, log probabilities, prediction, confusion."""
import tensorflow as tf

spam = ["win money now", "free money win", "claim free prize now"]
ham = ["meeting at noon", "lunch at noon today", "project meeting today"]
texts = tf.constant(spam + ham)
labels = tf.constant([1] * len(spam) + [0] * len(ham))
tokens = tf.strings.split(texts)
vocabulary = tf.constant(sorted(set(" ".join(spam + ham).split())))
print(vocabulary.numpy().tolist())
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(vocabulary, tf.range(tf.size(vocabulary))), -1)
ids = table.lookup(tokens)
print(ids)
size = int(tf.size(vocabulary))
counts = tf.stack([tf.math.bincount(row, minlength=size) for row in ids])
print(counts)
log_prior, log_word = [], []
for k in (0, 1):
    chosen = tf.boolean_mask(counts, labels == k)
    smoothed = tf.cast(tf.reduce_sum(chosen, axis=0) + 1, tf.float32)
    log_word.append(tf.math.log(smoothed / tf.reduce_sum(smoothed)))
    log_prior.append(tf.math.log(tf.reduce_mean(tf.cast(labels == k, tf.float32))))
log_word, log_prior = tf.stack(log_word), tf.stack(log_prior)
print(log_word.shape, log_prior.numpy())


@tf.function
def predict(text):
    words = table.lookup(tf.strings.split(text))
    known = tf.boolean_mask(words, words >= 0)
    scores = log_prior + tf.reduce_sum(tf.gather(log_word, known, axis=1), axis=1)
    return tf.argmax(scores), tf.nn.softmax(scores)


for text in ("free lunch", "win a prize", "noon meeting about money", "unknown words"):
    label, p = predict(tf.constant(text))
    print(text, "->", ["ham", "spam"][int(label)], p.numpy())
guesses = tf.stack([predict(t)[0] for t in texts])
print(tf.math.confusion_matrix(labels, guesses))
