"""tf.sets on sparse and dense sets; tf.nest: flatten, pack, map, assert_same_structure, composites, errors."""
import collections
import tensorflow as tf

a = tf.sparse.from_dense([[1, 2, 3], [4, 5, 0]])
b = tf.sparse.from_dense([[2, 3, 9], [4, 0, 0]])
for name in ("intersection", "union", "difference"):
    r = getattr(tf.sets, name)(a, b)
    print(name, tf.sparse.to_dense(r).numpy().tolist(), r.dense_shape.numpy())
print(tf.sets.size(a), tf.sparse.to_dense(tf.sets.difference([[1, 2, 3]], [[2, 7, 8]])),
      tf.sparse.to_dense(tf.sets.difference([[1, 2]], [[2, 7]], aminusb=False)))
print(tf.sparse.to_dense(tf.sets.intersection(tf.constant([["a", "b"]]), tf.constant([["b", "c"]])), default_value=""))

Point = collections.namedtuple("Point", "x y")
s = {"b": [1, (2, 3)], "a": Point(4, {"k": 5}), "n": None}
print(tf.nest.flatten(s), tf.nest.flatten(7), tf.nest.flatten([]), tf.nest.flatten("string"))
print(tf.nest.pack_sequence_as(s, list("abcdef")))
print(tf.nest.map_structure(lambda x: x if x is None else x * 10, s))
print(tf.nest.map_structure(lambda x, y: x + y, [1, (2, 3)], [10, (20, 30)]))
print(tf.nest.is_nested([1]), tf.nest.is_nested(1), tf.nest.is_nested({}), tf.nest.is_nested("abc"))
tf.nest.assert_same_structure([1, (2,)], [3, (4,)])
ordered = collections.OrderedDict([("z", 1), ("a", 2)])
print(tf.nest.flatten(ordered), tf.nest.map_structure(str, ordered).items(),
      tf.nest.flatten(collections.defaultdict(int, {"q": 1, "p": 2})))
rt = tf.ragged.constant([[1], [2, 3]])
print(len(tf.nest.flatten([rt], expand_composites=True)), len(tf.nest.flatten([rt])))
doubled = tf.nest.map_structure(lambda t: t * 2, {"r": rt, "t": tf.constant(4)})
print(doubled)
for bad in (lambda: tf.nest.assert_same_structure([1], [1, 2]), lambda: tf.nest.assert_same_structure([1], (1,)),
            lambda: tf.nest.pack_sequence_as([1, 2], [3]),
            lambda: tf.nest.map_structure(lambda x, y: x, {"a": 1}, {"b": 1}), lambda: tf.nest.map_structure(5, [1]),
            lambda: tf.nest.map_structure(lambda x: x),
            lambda: tf.nest.flatten({1: 2, "a": 3})):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
tf.nest.assert_same_structure([1], (1,), check_types=False)
print(tf.nest.map_structure(lambda x: x.shape, (tf.zeros([2]), [tf.zeros([3, 4])])))
