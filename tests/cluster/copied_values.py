"""One tensor of every type that has values, for programs that copy them between tasks: NaN, infinities and the ends of ranges among them."""

import numpy as np
import tensorflow as tf

_FLOATS = "float16 float32 float64 bfloat16".split()
_NARROW = "float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz float4_e2m1fn".split()
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 int4 uint4 int2 uint2".split()
_QUANTISED = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}


def _bits(name, width):
    """An array of the type of this name whose elements have all kinds of bits; narrow ones leave the rest of their byte at zero."""
    dtype = np.dtype(tf.as_dtype(name).as_numpy_dtype)
    used = 2 if name in ("int2", "uint2") else 4 if name in ("int4", "uint4", "float4_e2m1fn") else 8
    raw = np.random.RandomState(width).randint(0, 256, [6, dtype.itemsize]).astype(np.uint8)
    raw[0], raw[1] = 0, 255
    return (raw & (2**used - 1)).reshape(-1).view(dtype)


def values():
    """(its name, dtype, array) of each; arrays of quantised types are plain integers."""
    for i, name in enumerate([*_FLOATS, *_NARROW, *_INTEGERS, "complex64", "complex128"]):
        yield name, tf.as_dtype(name), _bits(name, i)
    for name, plain in _QUANTISED.items():
        ends = np.array([np.iinfo(plain).min, 1, np.iinfo(plain).max], plain)
        yield name, tf.as_dtype(name), ends
    yield "bool", tf.bool, np.bool_([True, False, True])
    yield "string", tf.string, np.array([b"text", b"", b"x" * 300, "\N{SNOWMAN}\0".encode()], object)
    yield "scalar", tf.float64, np.float64(3.25)
    yield "matrix", tf.int64, np.int64([[2**60, -1, 0], [1, 2, 3]])
    for name in ("float32", "string", "complex128", "bfloat16"):
        dtype = tf.as_dtype(name)
        yield f"no {name}", dtype, np.zeros([0, 3], dtype.as_numpy_dtype)


def as_type(x, dtype):
    """A tensor of a plain type as one of the quantised type that has its bits."""
    return tf.bitcast(x, dtype) if dtype.is_quantized else x


def same(a, b):
    """Whether arrays have the same bits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and (a.tolist() == b.tolist() if b.dtype == object else a.tobytes() == b.tobytes())
