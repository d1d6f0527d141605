"""scan, cache, snapshot-free pipelines, py_function in map, side effects, errors in map, options, names."""
import numpy as np
import tensorflow as tf

print(list(tf.data.Dataset.range(6).scan(initial_state=tf.constant(0, tf.int64),
                                         scan_func=lambda s, x: (s + x, s + x)).as_numpy_iterator()))
print(list(tf.data.Dataset.range(1, 6).scan((np.int64(1), np.int64(1)),
                                            lambda s, x: ((s[1], s[0] + s[1]), s[0])).as_numpy_iterator()))
calls = []


def python_work(x):
    calls.append(int(x))
    return x * 10


ds = tf.data.Dataset.range(3).map(lambda x: tf.py_function(python_work, [x], tf.int64)).cache()
print(list(ds.as_numpy_iterator()), list(ds.as_numpy_iterator()), calls)
print(list(tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(lambda v: v + 0.5, [x],
    tf.float64)).as_numpy_iterator()))
v = tf.Variable(0, dtype=tf.int64)


def counting(x):
    print("traced once")
    return v.assign_add(x)


print(list(tf.data.Dataset.range(5).map(counting).as_numpy_iterator()), v.numpy())
structured = tf.data.Dataset.from_tensor_slices((tf.range(3),
                                                 {"k": tf.range(3) * 2})).map(lambda a, d: {"sum": a + d["k"],
                                                     "pair": (a, "s")})
print(structured.element_spec)
print(list(structured.as_numpy_iterator())[1])


def branchy(x):
    if x % 2 == 0:
        return x // 2
    return 3 * x + 1


print(list(tf.data.Dataset.range(6).map(branchy).as_numpy_iterator()))
checked = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x,
    "error"))
print(list(checked.ignore_errors().as_numpy_iterator()))
try:
    print(list(checked.as_numpy_iterator()))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__)
options = tf.data.Options()
options.deterministic = True
options.threading.private_threadpool_size = 2
options.autotune.enabled = False
options.experimental_optimization.map_fusion = True
opt = tf.data.Dataset.range(4).with_options(options)
print(opt.options().deterministic, opt.options().threading.private_threadpool_size, list(opt.as_numpy_iterator()))
print(tf.data.Options().deterministic, options == tf.data.Options())
try:
    options.nothing = 1
except AttributeError as e:
    print(type(e).__name__)
print(tf.data.Dataset.range(10).reduce((np.int64(0), np.int64(0)), lambda s, x: (s[0] + x, s[1] + 1)))
print(list(tf.data.Dataset.range(4).apply(lambda d: d.map(lambda x: -x)).as_numpy_iterator()))
print(tf.data.Dataset.range(2, name="r").element_spec)
print([x.numpy().tolist() for x in tf.data.Dataset.from_tensor_slices(tf.random.stateless_uniform([4, 2], [1, 2], 0, 9,
    tf.int32)).batch(2)])
print(next(tf.data.Dataset.range(3).as_numpy_iterator()), tf.data.experimental.get_structure(ds),
      tf.data.experimental.cardinality(ds))
optional = iter(tf.data.Dataset.range(1)).get_next_as_optional()
print(optional.has_value(), optional.get_value(), tf.experimental.Optional.from_value(3).element_spec)
