"""Texts of errors for wrong dtypes in eager calls."""
import tensorflow as tf


def report(label, fn):
    try:
        print(label, "->", fn())
    except Exception as e:
        print(label, "->", type(e).__name__, "|", e)


i, f, s, b = tf.constant(1), tf.constant(1.0), tf.constant("s"), tf.constant(True)
report("int + float", lambda: i + f)
report("float * int", lambda: f * i)
report("float32 + float64", lambda: f + tf.constant(1.0, tf.float64))
report("int32 + int64", lambda: i + tf.constant(1, tf.int64))
report("int + str", lambda: i + "a")
report("str + int", lambda: s + 1)
report("bool + bool", lambda: b + b)
report("sqrt int", lambda: tf.sqrt(i))
report("exp str", lambda: tf.exp(s))
report("matmul bool", lambda: tf.matmul([[True]], [[True]]))
report("not int", lambda: ~f)
report("and int bool", lambda: i & b)
report("logical_and", lambda: tf.logical_and(1, 0))
report("concat", lambda: tf.concat([[1], [1.5]], 0))
report("concat strings", lambda: tf.concat([[1], ["a"]], 0))
report("stack", lambda: tf.stack([i, f]))
report("where", lambda: tf.where(b, i, f))
report("cond not bool", lambda: tf.where(i, i, i))
report("gather", lambda: tf.gather([1, 2], [0.0]))
report("one_hot", lambda: tf.one_hot([0.5], 3))
report("reduce_sum", lambda: tf.reduce_sum(["a"]))
report("reduce_all", lambda: tf.reduce_all([1, 0]))
report("maximum", lambda: tf.maximum(i, f))
report("pow", lambda: tf.pow(i, f))
report("cast", lambda: tf.cast("1", tf.int32))
report("assign", lambda: tf.Variable(1).assign(1.5))
report("assign tensor", lambda: tf.Variable(1).assign(f))
report("fill", lambda: tf.fill([2.0], 1))
report("reshape", lambda: tf.reshape([1, 2], [1.0, 2.0]))
report("add_n", lambda: tf.add_n([i, f]))
report("lookup", lambda: tf.nn.embedding_lookup([[1.0]], ["a"]))
report("clip", lambda: tf.clip_by_value([1, 2], 0.5, 1.5))
report("conv", lambda: tf.nn.conv2d(tf.ones([1, 2, 2, 1], tf.int32), tf.ones([1, 1, 1, 1], tf.int32), 1, "SAME").dtype)
report("dtype name", lambda: tf.zeros([1], "float33"))
report("dtype none", lambda: tf.cast(1, None))
report("convert", lambda: tf.convert_to_tensor([1.5], tf.int32))
report("string length", lambda: tf.strings.length(1))
