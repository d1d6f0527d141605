"""tf.einsum in many forms: products, traces, sums, broadcasting, batches, outer products, gradients."""
import tensorflow as tf

m0 = tf.reshape(tf.range(6.0), [2, 3])
m1 = tf.reshape(tf.range(15.0), [3, 5]) / 10.0
print(tf.einsum("ij,jk->ik", m0, m1))
print(tf.einsum("ij,jk", m0, m1).shape, tf.einsum("ij->ji", m0), tf.einsum("ij->", m0), tf.einsum("ij->j", m0),
      tf.einsum("ij->i", m0))
u, v = tf.constant([1.0, 2.0, 3.0]), tf.constant([4.0, 5.0, 6.0])
print(tf.einsum("i,i->", u, v), tf.einsum("i,j->ij", u, v), tf.einsum("i,i->i", u, v), tf.einsum("i->", u))
s, t = tf.reshape(tf.range(12.0), [2, 2, 3]), tf.reshape(tf.range(18.0), [2, 3, 3]) / 5.0
print(tf.einsum("bij,bjk->bik", s, t), tf.einsum("bij,bij->b", s, s), tf.einsum("bii->b", t), tf.einsum("bii->bi", t))
print(tf.einsum("...ij,...jk->...ik", s, t).shape, tf.einsum("...ii->...i", t),
      tf.einsum("ij...,jk...->ik...", tf.ones([2, 3, 4]), tf.ones([3, 5, 4])).shape)
print(tf.einsum("ii", tf.reshape(tf.range(9.0), [3, 3])), tf.einsum("ij,jk,kl->il", m0, m1, tf.ones([5, 2])),
      tf.einsum("i,j,k->ijk", u, v, u).shape)
q = tf.reshape(tf.sin(tf.range(24.0)), [1, 3, 2, 4])
scores = tf.einsum("bqhd,bkhd->bhqk", q, q)
print(scores.shape, scores[0, 0])
out = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores), q)
print(out.shape, tf.reduce_sum(out).numpy())
print(tf.einsum("ij,jk->ik", m0, m1, optimize="optimal")[0],
      tf.einsum("ab,bc->ac", tf.constant([[1, 2]]), tf.constant([[3], [4]])))
print(tf.einsum("ij,jk->ik", tf.complex(m0, m0), tf.complex(m1, -m1))[0])
with tf.GradientTape() as tape:
    tape.watch([m0, m1])
    y = tf.reduce_sum(tf.einsum("ij,jk->ki", m0, m1) ** 2)
print(tape.gradient(y, [m0, m1])[0])


@tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None, 2])])
def f(a, b):
    r = tf.einsum("ij,jk->ik", a, b)
    print(r.shape)
    return r


print(f(m0, tf.ones([3, 2])))
for bad in (lambda: tf.einsum("ij,jk->ik", m0, m0), lambda: tf.einsum("ij,jk->il", m0, m1),
            lambda: tf.einsum("ij->ij->ij", m0), lambda: tf.einsum("ijk->i", m0), lambda: tf.einsum("i$->i", u),
            lambda: tf.einsum("i,j", u), lambda: tf.einsum("ij->iij", m0)):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
