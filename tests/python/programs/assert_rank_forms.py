"""tf.debugging.assert_rank and its like: ranks must be scalars of int32, known or fed; digits as symbols of assert_shapes; sparse tensors."""

import tensorflow as tf

D, v1 = tf.debugging, tf.compat.v1
x = tf.ones([2])


def tell(call):
    try:
        print("holds", call())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])


for rank in (0.5, [1], 1, 2, tf.constant(0.5), tf.constant([1]), tf.constant(1, tf.int64), tf.constant(1)):
    tell(lambda: D.assert_rank(x, rank))
    tell(lambda: D.assert_rank_at_least(x, rank))
    tell(lambda: D.assert_rank_in(x, [rank, 3]))
for fed, value in ((tf.float32, 0.5), (tf.int32, [1]), (tf.int32, 2), (tf.int32, 1)):
    for name in ("assert_rank", "assert_rank_at_least", "assert_rank_in"):
        with tf.Graph().as_default(), v1.Session() as session:
            t, rank = v1.placeholder(tf.float32, name="t"), v1.placeholder(fed, name="rank")
            tell(lambda: session.run(getattr(v1, name)(t, [rank] if name.endswith("in") else rank), {t: [1.0], rank: value}))
tell(lambda: D.assert_shapes([(tf.ones([2, 3]), "A3")]))
tell(lambda: D.assert_shapes([(tf.ones([2, 3]), ["?", "2"])]))
sparse = tf.sparse.from_dense([[1, 0], [0, 2]])
tell(lambda: D.assert_shapes([(sparse, ("N", "N"))]))
tell(lambda: D.assert_shapes([(sparse, ("N", 3))]))
tell(lambda: D.assert_shapes([(sparse, ("N", "K", "L"))]))
