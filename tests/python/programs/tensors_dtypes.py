"""Element types: what Python and numpy values become, casts, limits, attributes of DType."""
import numpy as np
import tensorflow as tf

for value in (1, 1.0, True, "s", b"s", 1j, [1, 2.5], np.int8(1), np.float64(2), np.arange(2), [True, False]):
    print(repr(value), "->", tf.constant(value).dtype.name)

the_f64 = tf.constant([2.2, 3.3, 4.4], dtype=tf.float64)
the_f16 = tf.cast(the_f64, dtype=tf.float16)
the_u8 = tf.cast(the_f16, dtype=tf.uint8)
print(the_f64, the_f16, the_u8)
print(tf.cast([1.7, -1.7, 255.0], tf.int32), tf.cast([0.0, 2.0], tf.bool), tf.cast([True, False], tf.float32))
print(tf.cast([300, -1], tf.uint8), tf.cast([1 + 2j], tf.float32), tf.cast([1.5], tf.complex64))
print(tf.dtypes.cast(3, tf.float16), tf.saturate_cast([300.0, -5.0], tf.uint8))
print(tf.bitcast(tf.constant(1.0), tf.int32), tf.bitcast(tf.constant([1, 2], tf.int32), tf.uint8))

for d in (tf.float32, tf.float16, tf.bfloat16, tf.int8, tf.uint16, tf.bool, tf.string, tf.complex128):
    print(d, repr(d), d.name, d.size, d.is_floating, d.is_integer, d.is_complex, d.is_bool, d.is_unsigned,
          d.is_numpy_compatible, d.as_datatype_enum, d.real_dtype)
print(tf.int32.min, tf.int32.max, tf.uint8.limits, tf.float16.max, tf.float32.min)
print(tf.as_dtype("float32") is tf.float32, tf.as_dtype(np.int64), tf.as_dtype(float), tf.dtypes.as_dtype(bool))
print(tf.float32 == np.float32, tf.float32 == "float32", tf.float32 != tf.float64,
      tf.float32.is_compatible_with(tf.float32))
print(tf.int64.as_numpy_dtype, tf.string.as_numpy_dtype, tf.dtypes.int32, tf.dtypes.float32, tf.dtypes.string)
print({tf.float32: "f", tf.int32: "i"}[tf.int32])
try:
    tf.as_dtype("float31")
except TypeError as e:
    print(e)
try:
    tf.constant(1.5, dtype=tf.int32)
except TypeError as e:
    print(e)
try:
    tf.constant(300, dtype=tf.uint8)
except Exception as e:
    print(type(e).__name__, e)
try:
    tf.constant(1) + tf.constant(1.0)
except tf.errors.InvalidArgumentError as e:
    print(e)
print(tf.constant(1.0) + 1, tf.constant(1, tf.int64) * 2, 3 - tf.constant(0.5, tf.float64))
try:
    tf.constant(1) + 1.5
except Exception as e:
    print(type(e).__name__, e)
