"""Calls of tf.random: each line is run by TensorFlow (record_cases.py) and by weft (cases_test.py)."""


def setup(tf):
    tf.random.set_seed(0)
    return dict(R=tf.random, S=(1, 2), G=tf.random.Generator, seeded=lambda seed, f: (tf.random.set_seed(seed), f())[1])


CASES = """
seeded(1, lambda: R.normal([3])), seeded(1, lambda: R.normal([3], 5.0, 0.1)), seeded(1, lambda: R.normal([2], dtype=tf.float64)), seeded(1, lambda: R.normal([3], seed=4)), seeded(7, lambda: [R.normal([2]), R.normal([2])])
seeded(1, lambda: R.uniform([3])), seeded(1, lambda: R.uniform([3], 5, 9)), seeded(1, lambda: R.uniform([3], 0, 100, tf.int32)), seeded(2, lambda: R.uniform([2], maxval=2**40, dtype=tf.int64)), seeded(2, lambda: R.uniform([2], dtype=tf.float16)), seeded(0, lambda: R.uniform([], seed=0))
seeded(1, lambda: R.truncated_normal([4])), seeded(1, lambda: R.shuffle(tf.range(10))), seeded(1, lambda: R.categorical([[0.1, 0.5, -1.0]], 6)), seeded(1, lambda: R.categorical([[0.1, 0.5]], 3, tf.int32, 5)), seeded(1, lambda: R.gamma([2], 0.5)), seeded(1, lambda: R.gamma([2], [0.5, 3.0], beta=2.0)), seeded(1, lambda: R.poisson([3], 4.0)), seeded(1, lambda: R.poisson([2], [1.0, 9.0], tf.int32))
R.uniform([2], dtype=tf.int32)
R.uniform([2], dtype=tf.uint8)
R.stateless_normal([3], S), R.stateless_normal([2], S, 3.0, 0.5), R.stateless_normal([2], [3, 4], dtype=tf.float64), R.stateless_normal([2], tf.constant([5, 6], tf.int64)), R.stateless_uniform([3], S), R.stateless_uniform([3], S, 1, 5, tf.int32), R.stateless_uniform([2], S, None, None, tf.int64), R.stateless_uniform([2], S, None, None, tf.uint32), R.stateless_uniform([2], S, 5.0, 6.0), R.stateless_truncated_normal([3], S), R.stateless_uniform([], S), R.stateless_normal([2], S, alg="philox")
R.stateless_categorical([[0.5, 0.1]], 5, S), R.stateless_gamma([3], S, 0.5), R.stateless_gamma([2], S, [0.5, 2.0], beta=3.0), R.stateless_poisson([3], S, 4.0), R.stateless_poisson([2], S, [1.0, 9.0], tf.float32), R.stateless_binomial([4], S, 10.0, 0.3), R.stateless_parameterized_truncated_normal([3], S, 1.0, 2.0, 0.0, 3.0)
R.split(S), R.split(S, 3), R.fold_in(S, 7), R.experimental.stateless_split(S, 2), R.experimental.stateless_fold_in(S, 1), R.experimental.stateless_shuffle(tf.range(8), S), R.experimental.index_shuffle(tf.range(5), [1, 2], 4)
R.stateless_uniform([2], S, None, 5, tf.int32)
R.stateless_uniform([2], S, dtype=tf.uint8)
R.stateless_normal([2], [1, 2, 3])
R.stateless_normal([2], S, alg="nothing")
G.from_seed(1).normal([3]), G.from_seed(2).uniform([3]), G.from_seed(3).uniform([3], 0, 9, tf.int32), G.from_seed(3).uniform_full_int([2]), G.from_seed(1).truncated_normal([2]), G.from_seed(1).binomial([3], [10.0, 5.0, 3.0], [0.1, 0.2, 0.3]), G.from_seed(1).make_seeds(2), [g.normal([]) for g in G.from_seed(1).split(3)], G.from_state([1, 2, 3], 1).uniform([2]), G.from_key_counter(1, [0, 5], "philox").state.numpy().tolist(), G.from_seed(2**70 + 5).state.numpy().tolist()
G.from_seed(1).uniform([2], dtype=tf.int32)
G.from_state([1, 2], "philox")
tf.random_uniform_initializer(seed=3)([2]), tf.random_normal_initializer(1.0, 2.0, seed=5)([2]), seeded(1, lambda: tf.random_normal_initializer()([2])), tf.constant_initializer([1, 2])([2]), tf.constant_initializer(3)([2, 2], tf.int32), tf.zeros_initializer()([2]), tf.ones_initializer()([2], dtype=tf.int32)
R.create_rng_state(5, "philox"), R.create_rng_state([12, 34], "threefry")
seeded(1, lambda: R.log_uniform_candidate_sampler([[0]], 1, 3, True, 10, seed=2)), seeded(1, lambda: R.uniform_candidate_sampler([[0]], 1, 3, True, 10, seed=2)), seeded(1, lambda: R.all_candidate_sampler([[0]], 1, 3, True, seed=2)), seeded(1, lambda: R.fixed_unigram_candidate_sampler([[0]], 1, 2, False, 4, unigrams=[1.0, 2.0, 3.0, 4.0], seed=1)), seeded(1, lambda: R.learned_unigram_candidate_sampler([[0]], 1, 2, True, 5, seed=3))
"""
