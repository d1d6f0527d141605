"""Distributions of version 1: how likely values are, and what describes them."""

import numpy as np
import tensorflow as tf

D = tf.compat.v1.distributions


def attempt(name, call):
    try:
        value = call()
        shown = np.round(np.asarray(value, np.float64), 4).tolist() if hasattr(value, "numpy") else value
        print(name, shown)
    except (NotImplementedError, ValueError, tf.errors.OpError) as e:
        print(name, type(e).__name__)


made = {
    "normal": (D.Normal(1.0, [1.0, 2.0]), [0.5, 3.0]),
    "uniform": (D.Uniform([0.0, 1.0], 3.0), [0.5, 3.5]),
    "laplace": (D.Laplace([0.0, 1.0], 2.0), [0.5, -3.0]),
    "student": (D.StudentT([3.0, 0.5], 1.0, 2.0), [0.5, 3.0]),
    "student_1": (D.StudentT([1.5, 5.0], 1.0, 2.0), [0.5, 3.0]),
    "gamma": (D.Gamma([3.0, 0.5], [1.0, 2.0]), [0.5, 3.0]),
    "exponential": (D.Exponential([3.0, 0.5]), [0.5, 3.0]),
    "beta": (D.Beta([3.0, 0.5], [2.0, 2.0]), [0.5, 0.9]),
    "dirichlet": (D.Dirichlet([4.0, 2.0, 3.0]), [0.2, 0.3, 0.5]),
    "bernoulli": (D.Bernoulli(probs=[0.2, 0.9]), [0, 1]),
    "bernoulli_l": (D.Bernoulli(logits=[0.5, -1.0]), [1, 1]),
    "categorical": (D.Categorical(probs=[[0.2, 0.8], [0.5, 0.5]]), [0, 1]),
    "categorical_l": (D.Categorical(logits=[0.1, 0.2, 0.7]), [0, 2]),
    "multinomial": (D.Multinomial(4.0, probs=[0.2, 0.3, 0.5]), [1.0, 1.0, 2.0]),
    "dirichlet_multinomial": (D.DirichletMultinomial(4.0, [1.0, 2.0, 3.0]), [1.0, 1.0, 2.0]),
}
for name, (d, value) in made.items():
    print(name, d.batch_shape, d.event_shape, d.dtype.name, d.batch_shape_tensor().numpy().tolist(), d.event_shape_tensor().numpy().tolist(), d.reparameterization_type)
    for what in "log_prob prob cdf log_cdf survival_function".split():
        attempt(f"  {what}", lambda: getattr(d, what)(value))
    for what in "mean variance stddev mode entropy covariance".split():
        attempt(f"  {what}", lambda: getattr(d, what)())
    sample = d.sample([2, 3], seed=1)
    print("  sample", sample.shape, sample.dtype.name, sorted(d.parameters))
attempt("quantile", lambda: made["normal"][0].quantile([0.1, 0.9]))
attempt("tail", lambda: made["normal"][0].log_cdf([-30.0, -60.0]))
for a, b in (("normal", D.Normal(0.0, 1.0)), ("bernoulli", D.Bernoulli(probs=0.5)), ("categorical", D.Categorical(probs=[0.5, 0.5])), ("gamma", D.Gamma(1.0, 1.0)),
             ("exponential", D.Exponential(1.0)), ("beta", D.Beta(1.0, 1.0)), ("dirichlet", D.Dirichlet([1.0, 1.0, 1.0])), ("uniform", D.Uniform())):
    attempt(f"kl {a}", lambda: D.kl_divergence(made[a][0], b))
    attempt(f"cross {a}", lambda: made[a][0].cross_entropy(b))
tf.random.set_seed(3)
drawn = D.Normal(1.0, 2.0).sample(20000, seed=1).numpy()
print(abs(drawn.mean() - 1) < 0.1, abs(drawn.std() - 2) < 0.1)
counts = D.Multinomial(4.0, probs=[0.2, 0.3, 0.5]).sample(5000, seed=1).numpy()
print(np.unique(counts.sum(-1)).tolist(), np.abs(counts.mean(0) - [0.8, 1.2, 2.0]).max() < 0.1)
for call in (lambda: D.Bernoulli(), lambda: D.Categorical(logits=[1.0], probs=[1.0]), lambda: D.Normal(0.0, -1.0, validate_args=True), lambda: D.Beta(0.5, 2.0, allow_nan_stats=False).mode()):
    attempt("refused", call)
with tf.GradientTape() as tape:
    loc = tf.constant(2.0)
    tape.watch(loc)
    y = tf.reduce_sum(D.Normal(loc, 1.0).sample(3, seed=2))
print(tape.gradient(y, loc).numpy(), made["normal"][0].copy(loc=5.0).mean().numpy().tolist())
