"""tf.debugging: asserts that hold and that fail, in eager and in functions, check_numerics, shapes, types."""
import re
import tensorflow as tf


def report(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__, "|", re.sub(r"\s+", " ", str(e)))


x = tf.constant([1, 2, 3])
d = tf.debugging
report("equal", lambda: d.assert_equal(x, [1, 2, 3]))
report("equal fails", lambda: d.assert_equal(x, [1, 2, 4], message="values differ"))
report("less", lambda: d.assert_less(x, 3))
report("greater", lambda: d.assert_greater(x, 0))
report("greater fails", lambda: d.assert_greater(x, 1, summarize=2))
report("less_equal", lambda: d.assert_less_equal(x, [0, 5, 5]))
report("greater_equal", lambda: d.assert_greater_equal(x, 1))
report("none_equal", lambda: d.assert_none_equal(x, 2))
report("positive", lambda: d.assert_positive([1.0, -2.0]))
report("negative", lambda: d.assert_negative(x))
report("non_negative", lambda: d.assert_non_negative([-1]))
report("non_positive", lambda: d.assert_non_positive([-1]))
report("near", lambda: d.assert_near(1.0, 1.0 + 1e-7))
report("near fails", lambda: d.assert_near(1.0, 1.1))
report("integer", lambda: d.assert_integer(1.5))
report("type", lambda: d.assert_type(x, tf.float32))
report("rank", lambda: d.assert_rank(x, 2))
report("rank ok", lambda: d.assert_rank(x, 1))
report("rank at least", lambda: d.assert_rank_at_least(x, 3))
report("rank in", lambda: d.assert_rank_in(x, (0, 2)))
report("scalar", lambda: d.assert_scalar(x))
report("shapes ok", lambda: d.assert_shapes([(x, ("N",)), (tf.zeros([3, 2]), ("N", 2))]))
report("shapes", lambda: d.assert_shapes([(x, ("N",)), (tf.zeros([4, 2]), ("N", 2))]))
report("same dtype", lambda: d.assert_same_float_dtype([tf.constant(1.0), tf.constant(1.0, tf.float64)]))
report("same ok", lambda: d.assert_same_float_dtype([tf.constant(1.0)]))
report("Assert", lambda: d.Assert(False, [x, "data"]))
report("Assert ok", lambda: d.Assert(True, [x]))
report("numerics", lambda: d.check_numerics(tf.constant([1.0, float("nan")]), "found"))
report("numerics inf", lambda: d.check_numerics(tf.constant([1.0, float("inf")]), "found"))
report("numerics ok", lambda: d.check_numerics(tf.constant([1.0]), "found"))
report("proper iterable", lambda: d.assert_proper_iterable(x))
print(d.is_numeric_tensor(x), d.is_numeric_tensor(tf.constant("s")), tf.debugging.is_traceback_filtering_enabled())


@tf.function
def checked(x):
    d.assert_positive(x, message="must be positive")
    with tf.control_dependencies([d.assert_less(x, 100.0)]):
        y = tf.identity(x)
    return tf.sqrt(y)


print(checked(tf.constant([4.0, 9.0])))
for value in (-1.0, 1000.0):
    try:
        checked(tf.constant([value]))
    except tf.errors.InvalidArgumentError as e:
        print("must be positive" in e.message)
d.enable_check_numerics()
try:
    tf.math.log(tf.constant(-1.0))
except tf.errors.InvalidArgumentError as e:
    print(type(e).__name__)
d.disable_check_numerics()
print(tf.math.log(tf.constant(-1.0)))
