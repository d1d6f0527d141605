"""Skip-gram pairs, negative samples, embeddings trained with gathered gradients."""
import tensorflow as tf

sentence = "the wide road shimmered in the hot sun"
tokens = sentence.lower().split()
vocab = {"<pad>": 0}
for token in tokens:
    vocab.setdefault(token, len(vocab))
inverse = {i: t for t, i in vocab.items()}
print(vocab)
example = [vocab[w] for w in tokens]
pairs = [(example[i], example[j]) for i in range(len(example)) for j in range(max(0, i - 2),
    min(len(example), i + 3)) if i != j]
print(len(pairs), [(inverse[a], inverse[b]) for a, b in pairs[:4]])
target, context = pairs[0]
context_class = tf.reshape(tf.constant(context, dtype="int64"), (1, 1))
sampled, true_expected, sampled_expected = tf.random.log_uniform_candidate_sampler(
    true_classes=context_class, num_true=1, num_sampled=4, unique=True, range_max=len(vocab), seed=42, name="negative")
print(sampled.shape, sampled.dtype, len(set(sampled.numpy().tolist())))
negative = tf.random.stateless_uniform([len(pairs), 4], [1, 2], 1, len(vocab), tf.int64)
targets = tf.constant([a for a, _ in pairs])
contexts = tf.concat([tf.constant([[b] for _, b in pairs], tf.int64), negative], axis=1)
labels = tf.concat([tf.ones([len(pairs), 1]), tf.zeros([len(pairs), 4])], axis=1)
print(targets.shape, contexts.shape, labels.shape)


class Word2Vec(tf.Module):
    def __init__(self, vocab_size, dim):
        super().__init__()
        self.target = tf.Variable(tf.random.stateless_uniform([vocab_size, dim], [3, 4], -0.05, 0.05), name="target")
        self.context = tf.Variable(tf.random.stateless_uniform([vocab_size, dim], [5, 6], -0.05, 0.05), name="context")

    def __call__(self, target, context):
        word = tf.nn.embedding_lookup(self.target, target)
        around = tf.gather(self.context, context)
        return tf.einsum("be,bce->bc", word, around)


model = Word2Vec(len(vocab), 4)
dataset = tf.data.Dataset.from_tensor_slices(((targets, contexts), labels)).shuffle(100, seed=1).batch(10,
    drop_remainder=True)
print(dataset)


@tf.function
def step(t, c, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=model(t, c)))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.scatter_sub(tf.IndexedSlices(1.0 * g.values, g.indices))
    return loss


for epoch in range(6):
    losses = [step(t, c, y) for (t, c), y in dataset]
    print(epoch, f"{tf.reduce_mean(losses):.4f}")
norms = tf.norm(model.target, axis=1)
print(norms.shape, model.trainable_variables[1].name)
