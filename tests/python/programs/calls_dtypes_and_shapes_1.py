"""Types and shapes, part 1."""

import numpy as np
import tensorflow as tf
from calls import show

for t in [
    int,
    float,
    bool,
    str,
    bytes,
    complex,
    object,
    list,
    np.int64,
    np.dtype("int32"),
    np.dtype("S3"),
    np.dtype("U5"),
    np.object_,
    np.str_,
    np.bytes_,
    "int",
    "float",
    "str",
    "double",
    "half",
    "DT_INT32",
    "f4",
    "<f4",
    "i8",
    "S",
    "O",
    1,
    99,
    101,
    -1,
    1.0,
    None,
    np.uint8,
    np.dtype(np.float16),
    "qint8",
    "float32_ref",
    "resource",
    "variant",
    "float32 ",
    tf.constant(1.0),
    np.array([1]),
    tf.Variable(1),
    [],
    {},
    (),
    np.datetime64,
    np.void,
    np.longlong,
    np.intc,
    np.bool_,
    np.clongdouble,
    np.float32(1),
    True,
]:
    try:
        print(repr(t), tf.as_dtype(t))
    except Exception as e:
        print(repr(t), type(e).__name__, e)
show(lambda: tf.float32 == "float32")
show(lambda: tf.float32 == np.float32)
show(lambda: tf.float32 == float)
show(lambda: tf.int32 == int)
show(lambda: tf.float32 == "nope")
show(lambda: tf.float32 != None)
show(lambda: tf.float32 == 1)
show(lambda: tf.string == str)
show(lambda: hash(tf.float32) == hash("float32"))
show(lambda: hash(tf.float32))
show(lambda: tf.float32 in ["float32"])
show(lambda: {tf.float32: 1}[tf.dtypes.float32])
show(lambda: {tf.float32: 1}.get("float32"))
show(lambda: tf.float32.name)
show(lambda: tf.float32.size)
show(lambda: tf.float32.max)
show(lambda: tf.float32.min)
show(lambda: tf.float32.limits)
show(lambda: tf.int8.limits)
show(lambda: tf.uint64.limits)
show(lambda: tf.bool.limits)
show(lambda: tf.string.limits)
show(lambda: tf.string.max)
show(lambda: tf.string.min)
show(lambda: tf.complex64.max)
show(lambda: tf.bfloat16.max)
show(lambda: tf.bfloat16.min)
show(lambda: tf.half.max)
show(lambda: tf.string.size)
show(lambda: tf.qint8.limits)
show(lambda: tf.quint8.max)
show(lambda: tf.resource.size)
show(lambda: tf.variant.is_numpy_compatible)
show(lambda: tf.resource.is_numpy_compatible)
show(lambda: tf.float32.is_compatible_with(tf.float64))
show(lambda: tf.float32.is_compatible_with("float32"))
show(lambda: tf.float32.is_compatible_with("foo"))
show(lambda: tf.float32.is_subtype_of(tf.float32))
show(lambda: tf.float32.is_subtype_of(tf.int32))
show(lambda: tf.float32.most_specific_common_supertype([tf.float32]))
show(lambda: tf.float32.most_specific_common_supertype([tf.int32]))
show(lambda: tf.float32.base_dtype)
show(lambda: tf.float32.real_dtype)
show(lambda: tf.complex64.real_dtype)
show(lambda: tf.complex128.real_dtype)
show(lambda: tf.float32.as_datatype_enum)
show(lambda: tf.string.as_datatype_enum)
show(lambda: tf.float32.is_integer)
show(lambda: tf.int8.is_integer)
show(lambda: tf.bool.is_integer)
show(lambda: tf.qint8.is_integer)
show(lambda: tf.qint8.is_quantized)
show(lambda: tf.uint8.is_unsigned)
show(lambda: tf.bool.is_bool)
show(lambda: tf.complex64.is_complex)
show(lambda: tf.bfloat16.is_floating)
show(lambda: tf.string.is_floating)
show(lambda: tf.float32._is_ref_dtype)
show(lambda: tf.float32.is_numeric)
show(lambda: tf.string.is_numeric)
show(lambda: tf.bool.is_numeric)
show(lambda: tf.float32.foo)
show(lambda: str(tf.float32))
show(lambda: repr(tf.float32))
show(lambda: f"{tf.float32}")
show(lambda: "%s" % tf.int32)
show(lambda: tf.DType(1))
show(lambda: tf.DType(3))
show(lambda: tf.DType(2000))
show(lambda: tf.DType("a"))
show(lambda: tf.dtypes.DType)
