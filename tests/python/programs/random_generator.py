"""tf.random.Generator: seeds, distributions, algorithms, state, split, from_state, global generator."""
import tensorflow as tf

g1 = tf.random.Generator.from_seed(1)
print(g1.normal(shape=[2, 3]))
print(g1.algorithm, g1.state, g1.key)
g = tf.random.Generator.from_seed(1, alg="philox")
print(g.normal(shape=[]), g.uniform([3]), g.uniform([3], 0, 10, tf.int32), g.uniform([2], maxval=2**40, dtype=tf.int64))
print(g.truncated_normal([3]), g.normal([2], mean=10.0, stddev=0.1), g.uniform_full_int([2], tf.uint32),
      g.binomial([3], 10.0, 0.5))
print(g.normal([2], dtype=tf.float64), g.make_seeds(2).shape, g.uniform([], dtype=tf.float16))
g2 = tf.random.Generator.from_seed(1, alg="threefry")
print(g2.algorithm, g2.state)
try:
    g2.uniform_full_int([2], dtype=tf.uint64)
except tf.errors.UnimplementedError as e:
    print(type(e).__name__, e.message)
g = tf.random.Generator.from_state(state=[1, 2, 3], alg="philox")
print(g.normal([2]), g.state)
g.reset(g.state)
g.reset_from_seed(7)
print(g.uniform([2]))
g.reset_from_key_counter(key=5, counter=[0, 1])
print(g.uniform([2]), g.state)
g = tf.random.Generator.from_key_counter(key=1, counter=[0, 0], alg=tf.random.Algorithm.PHILOX)
print(g.uniform([2]))
g.skip(10)
print(g.state)
g = tf.random.Generator.from_seed(1)
new_gs = g.split(3)
print(len(new_gs), [n.normal([]).numpy() for n in new_gs], g.normal([]).numpy())
copy = tf.random.Generator(g)
print((copy.normal([3]) == g.normal([3])).numpy())
print(tf.random.Generator.from_non_deterministic_state().normal([2]).shape)
tf.random.set_global_generator(tf.random.Generator.from_seed(42))
print(tf.random.get_global_generator().normal([2]),
      tf.random.get_global_generator() is tf.random.get_global_generator())

g = tf.random.Generator.from_seed(3)


@tf.function
def foo():
    return g.normal([]), g.uniform([2])


print(foo(), foo())


class M(tf.Module):
    def __init__(self):
        self.g = None

    @tf.function
    def __call__(self):
        if self.g is None:
            self.g = tf.random.Generator.from_seed(1)
        return self.g.normal([])


m = M()
print(m().numpy(), m().numpy())
print(tf.random.create_rng_state(1, "philox"), tf.random.Algorithm.THREEFRY)
try:
    tf.random.Generator.from_seed(1, alg="nothing")
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.random.Generator.from_state([1, 2], "philox")
except Exception as e:
    print(type(e).__name__, e)
g.assign_me = 1
g = tf.random.Generator.from_seed([1, 2])
print(g.uniform([1]), g.uniform([2, 2], minval=[1.0, 100.0], maxval=[2.0, 200.0]))
