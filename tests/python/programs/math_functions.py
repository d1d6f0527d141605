"""tf.math: elementwise functions over one vector, special functions, rounding, comparisons with tolerance."""
import tensorflow as tf

x = tf.constant([-1.5, -0.5, 0.0, 0.25, 2.0])
p = tf.constant([0.1, 0.5, 1.0, 2.5, 4.0])
for name in ("abs", "ceil", "floor", "round", "rint", "sign", "square", "exp", "expm1", "sin", "cos", "tan", "sinh",
             "cosh", "tanh", "asinh", "atan",
             "erf", "erfc", "sigmoid", "softplus", "softsign", "negative", "sobol_sample"):
    if name == "sobol_sample":
        print(tf.math.sobol_sample(2, 4))
        continue
    print(name, getattr(tf.math, name)(x).numpy())
for name in ("log", "log1p", "sqrt", "rsqrt", "reciprocal", "reciprocal_no_nan", "lgamma", "digamma", "bessel_i0",
             "bessel_i1", "bessel_i0e", "acosh", "log_sigmoid"):
    print(name, getattr(tf.math, name)(p).numpy())
for name in ("bessel_j0", "bessel_j1", "bessel_k0", "bessel_y0", "dawsn", "expint", "fresnel_cos", "spence"):
    print(name, getattr(tf.math.special, name)(p).numpy())
print(tf.math.erfinv([0.0, 0.5]), tf.math.ndtri([0.5, 0.9]), tf.math.erfcinv([0.5]), tf.math.atanh([0.5]),
      tf.math.acos([0.5]), tf.math.asin([0.5]))
print(tf.math.atan2([1.0, -1.0], [1.0, -1.0]), tf.math.pow(2.0, [1.0, 0.5]), tf.math.polygamma(1.0, 2.0),
      tf.math.zeta(2.0, 1.0), tf.math.igamma(2.0, 1.0), tf.math.igammac(2.0, 1.0))
print(tf.math.betainc(1.0, 2.0, 0.5), tf.math.lbeta([1.0, 2.0]), tf.math.xlogy([0.0, 2.0], [0.0, 3.0]),
      tf.math.xlog1py(2.0, 1.0), tf.math.xdivy([0.0, 1.0], [0.0, 2.0]))
print(tf.math.is_nan([1.0, float("nan")]), tf.math.is_inf([float("inf"), 0.0]), tf.math.is_finite([float("nan"), 1.0]))
print(tf.math.nextafter(1.0, 2.0).numpy() > 1.0, tf.math.squared_difference([1, 5], [4, 3]),
      tf.math.polyval([1.0, 2.0, 3.0], 2.0), tf.math.mod(-7, 3))
print(tf.math.top_k([1, 9, 3, 7], 2), tf.math.in_top_k([0, 1], [[0.1, 0.9], [0.2, 0.8]], 1),
      tf.math.invert_permutation([2, 0, 1]), tf.math.bincount([1, 1, 3]))
print(tf.math.confusion_matrix([0, 1, 1], [0, 0, 1]), tf.math.cumulative_logsumexp([1.0, 2.0]),
      tf.math.cumprod([1, 2, 3], exclusive=True), tf.math.cumsum([1, 2, 3], reverse=True))
print(tf.cumsum([[1, 2], [3, 4]], axis=1), tf.math.zero_fraction([0.0, 1.0, 0.0, 2.0]),
      tf.math.count_nonzero([0, 1, 2]), tf.math.l2_normalize([3.0, 4.0]))
print(tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [0, 0, 1], 2), tf.math.segment_prod([2, 3, 4], [0, 0, 1]),
      tf.math.segment_max([1, 5, 2], [0, 0, 1]), tf.math.unsorted_segment_sqrt_n([4.0, 4.0], [0, 0], 1))
print(tf.math.scalar_mul(2.0, x), tf.math.add(1, 2), tf.math.subtract(3, 1), tf.math.multiply(2, 3),
      tf.math.divide(1, 4), tf.math.truediv(1, 4), tf.math.equal(1, 1), tf.math.greater(2, 1))
print(tf.math.ndtri(0.5), tf.math.conj(1 + 2j), tf.math.angle([1j]), tf.math.real(3 + 4j), tf.math.imag(3 + 4j))
print(tf.sort([3, 1, 2]), tf.sort([3, 1, 2], direction="DESCENDING"), tf.argsort([3, 1, 2]),
      tf.histogram_fixed_width([1.0, 2.0, 9.0], [0.0, 10.0], nbins=5), tf.math.argmin([[3, 1], [0, 5]], 1))
