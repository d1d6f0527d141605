"""Indexing and slicing ragged tensors; gather; what is not allowed."""
import tensorflow as tf

queries = tf.ragged.constant([["Who", "is", "George", "Washington"], ["What", "is", "the", "weather", "tomorrow"],
                              ["Goodnight"]])
print(queries[1])
print(queries[1, 2])
print(queries[1:])
print(queries[:, :3])
print(queries[:, -2:])
print(queries[::2], queries[::-1])
print(queries[0, 1:3], queries[:, ::2], queries[:, 1:-1])
rt = tf.ragged.constant([[[1, 2, 3], [4]], [[5], [], [6]], [[7]], [[8, 9], [10]]])
print(rt[1])
print(rt[3, 0])
print(rt[:, 1:3])
print(rt[:, -1:])
print(rt[1, 2, 0], rt[..., :1], rt[:, :, -1:])
print(rt[tf.newaxis].shape, rt[:, tf.newaxis].shape, tf.expand_dims(rt, 1).shape)
print(tf.gather(queries, [2, 0]), tf.gather(rt, [[0], [2]]))
print(tf.gather_nd(rt, [[1, 0], [3, 1]]), tf.gather(queries, [[0], [1], [0]], batch_dims=1))
i = tf.constant(2)
print(queries[i], queries[:i], queries.shape[0])
print(tf.ragged.boolean_mask(queries, [True, False, True]),
      tf.ragged.boolean_mask(rt.values, [True, False, True, False, True, True, True, False]))
print(queries.to_tensor(), queries.to_tensor(default_value=""), queries.to_tensor(shape=[None, 2]))
print(tf.reverse(queries, [1]), tf.reverse(queries, [0]), tf.strings.reduce_join(queries, axis=1, separator=" "))
for bad in (lambda: queries[:, 4], lambda: queries[5], lambda: rt[:, 0], lambda: queries["a"]):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
for row in rt[:2]:
    for col in row:
        print(col.numpy().tolist(), end=" ")
print()
