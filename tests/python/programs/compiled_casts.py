"""Casts in compiled functions: numbers that do not fit an integer give the nearest one, and NaN gives 0; other than in eager calls."""
import numpy as np
import tensorflow as tf

numbers = [np.nan, np.inf, -np.inf, 1e10, -1e10, 3e38, -2.7, 2.7, 255.9, -1.0, 300.0, -0.0]
for kind in ("float32", "float64", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"):
    source = getattr(tf, kind, None) or getattr(tf.dtypes.experimental, kind)
    x = tf.cast(tf.constant(numbers, tf.float64), source)
    for target in (tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.uint32, tf.uint64, tf.bool):
        print(kind, target.name, tf.function(lambda x: tf.cast(x, target), jit_compile=True)(x).numpy().tolist())


@tf.function(jit_compile=True)
def chain(x):
    return tf.cast(tf.cast(x * 2.0, tf.int32) + 1, tf.float32)


print(chain(tf.constant([0.4, -0.6, 1e8, 1e9])).numpy().tolist())


@tf.function(jit_compile=True)
def differences(x, y):
    out, at = tf.raw_ops.ListDiff(x=x, y=y)
    return out * 10, at, tf.size(out)


print([v.numpy().tolist() for v in differences(tf.constant([1, 2, 3, 4, 2]), tf.constant([2, 9]))])
print([v.numpy().tolist() for v in differences(tf.constant([1, 2]), tf.constant([1, 2]))])
