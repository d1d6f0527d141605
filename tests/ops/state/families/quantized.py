"""Wrong calls of quantised ops; the right ones are in tests/ops."""
import numpy as np
import tensorflow as tf

QINT8, QINT32 = tf.qint8.as_numpy_dtype, tf.qint32.as_numpy_dtype
F, I = np.float32, np.int32


def q8(*shape):
    return (np.arange(np.prod(shape, dtype=int)) % 50).astype(np.int8).reshape(shape).view(QINT8)


def q32(*shape):
    return np.arange(np.prod(shape, dtype=int)).astype(I).reshape(shape).view(QINT32)


def bounds(*sides):
    return {f"{side}_quantization_{end}_val": value for side in sides for end, value in (("min", -128), ("max", 127))}


S, Z = F(0.5), I(3)
V = lambda n: np.full(n, 0.5, F)
N = lambda n: np.full(n, 3, I)


def per_channel(r):
    r.seq("RequantizePerChannel")
    x = q32(1, 2, 2, 2)
    good = [x, V(2), V(2), F(-1), F(1)]
    r.op("RequantizePerChannel", *good, T=tf.qint32, out_type=tf.qint8)
    for at, wrong in ((0, q32(2, 2)), (2, V(1)), (3, F([-1, -2])), (3, F(1))):
        r.op("RequantizePerChannel", *good[:at], wrong, *good[at + 1:], T=tf.qint32, out_type=tf.qint8, fails=True)
    r.seq("RequantizationRangePerChannel")
    good = [x, V(2), V(2)]
    r.op("RequantizationRangePerChannel", *good, T=tf.qint32, clip_value_max=6.0)
    for at, wrong in ((0, q32(2, 2)), (0, q32(0, 1, 1, 2)), (0, q32(1, 1, 1, 3)), (1, V(1)), (2, V((1, 2)))):
        r.op("RequantizationRangePerChannel", *good[:at], wrong, *good[at + 1:], T=tf.qint32, clip_value_max=6.0, fails=True)


def uniform(r):
    r.seq("UniformQuantizedAdd")
    attrs = {"T": tf.qint32, **{f"{s}_quantization_axis": -1 for s in ("lhs", "rhs", "output")}, **bounds("lhs", "rhs", "output")}
    good = [q32(2, 3), q32(2, 3), S, Z, S, Z, S, Z]
    r.op("UniformQuantizedAdd", *good, **attrs)
    for at, wrong in ((1, q32(2, 2)), (2, V(3)), (3, N(3)), (2, F(0)), (4, F(-1)), (6, F(0)), (6, V(3)), (5, N(1))):
        r.op("UniformQuantizedAdd", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    for side in ("lhs", "rhs", "output"):
        for axis in (-2, 0, 5):
            r.op("UniformQuantizedAdd", *good, **{**attrs, f"{side}_quantization_axis": axis}, fails=True)
    r.op("UniformQuantizedAdd", q32(2, 2), q32(2, 2), V(2), N(2), S, Z, V(2), N(2), **{**attrs, "lhs_quantization_axis": 0, "output_quantization_axis": 1}, fails=True)
    r.op("UniformQuantizedAdd", q32(2, 2), q32(2, 2), V(2), N(2), V(2), N(2), V(2), N(2),
         **{**attrs, "lhs_quantization_axis": 1, "rhs_quantization_axis": 0, "output_quantization_axis": 1}, fails=True)

    r.seq("UniformQuantizedClipByValue")
    attrs = {"T": tf.qint32, "quantization_axis": -1, "quantization_min_val": -128, "quantization_max_val": 127}
    good = [q32(2, 3), q32(), q32(), S, Z]
    r.op("UniformQuantizedClipByValue", *good, **attrs)
    for at, wrong in ((1, q32(1)), (2, q32(3)), (3, V(3)), (4, N(1))):
        r.op("UniformQuantizedClipByValue", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    for axis in (-2, 0, 2):
        r.op("UniformQuantizedClipByValue", *good, **{**attrs, "quantization_axis": axis}, fails=True)

    r.seq("UniformQuantizedDot")
    attrs = {"Tin": tf.qint8, "Tout": tf.qint32, **{f"{s}_quantization_axis": -1 for s in ("lhs", "rhs", "output")}, **bounds("lhs", "rhs", "output")}
    good = [q8(2, 3), q8(3, 4), S, Z, S, Z, S, Z]
    r.op("UniformQuantizedDot", *good, **attrs)
    for at, wrong in ((0, q8(2)), (1, q8(3)), (0, q8(2, 2)), (2, V(3)), (3, N(1)), (2, F(0)), (4, F(-1)), (6, F(np.nan)), (4, V(3)), (5, N(1)), (7, N(4))):
        r.op("UniformQuantizedDot", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    r.op("UniformQuantizedDot", q8(2, 3), q8(3, 4), S, Z, S, Z, V(4), N(4), **attrs, fails=True)
    r.op("UniformQuantizedDot", q8(2, 3), q8(3, 4), F(1e30), Z, F(1e30), Z, F(1e-30), Z, **attrs)
    for side, axis in (("lhs", 0), ("rhs", 0), ("output", 0), ("rhs", 2), ("output", -2)):
        r.op("UniformQuantizedDot", *good, **{**attrs, f"{side}_quantization_axis": axis}, fails=True)

    r.seq("UniformQuantizedDotHybrid")
    attrs = {"Tlhs": tf.float32, "Trhs": tf.qint8, "Tout": tf.float32, "rhs_quantization_axis": -1, **bounds("rhs")}
    good = [np.ones((2, 3), F), q8(3, 4), S, Z]
    r.op("UniformQuantizedDotHybrid", *good, **attrs)
    for at, wrong in ((0, np.ones(2, F)), (1, q8(3)), (0, np.ones((2, 2), F)), (2, F(0)), (2, V(3)), (3, N(1))):
        r.op("UniformQuantizedDotHybrid", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    r.op("UniformQuantizedDotHybrid", *good, **{**attrs, "rhs_quantization_axis": 0}, fails=True)

    conv = {"window_strides": [], "padding": "SAME", "explicit_padding": [], "lhs_dilation": [], "rhs_dilation": [], "batch_group_count": 1, "feature_group_count": 1,
            "dimension_numbers": b""}
    wrong_attrs = ({"padding": "FULL"}, {"explicit_padding": [1, 1, 1, 1]}, {"padding": "EXPLICIT", "explicit_padding": [1]}, {"padding": "EXPLICIT", "explicit_padding": [1, 1, 1, -1]},
                   {"window_strides": [1]}, {"window_strides": [1, 0]}, {"lhs_dilation": [1]}, {"lhs_dilation": [0, 1]}, {"rhs_dilation": [1, 1, 1]}, {"rhs_dilation": [1, -1]},
                   {"feature_group_count": 0}, {"feature_group_count": 2}, {"feature_group_count": 3}, {"batch_group_count": 0}, {"batch_group_count": 3}, {"batch_group_count": 2},
                   {"dimension_numbers": b"\xff"}, {"dimension_numbers": b"\x1a\x02\x02\x07"}, {"dimension_numbers": b"\x1a\x01\x02"}, {"rhs_quantization_axis": 1})
    r.seq("UniformQuantizedConvolution")
    attrs = {"Tin": tf.qint8, "Tout": tf.qint32, **conv, **{f"{s}_quantization_axis": -1 for s in ("lhs", "rhs", "output")}, **bounds("lhs", "rhs", "output")}
    good = [q8(2, 3, 4, 4), q8(5, 3, 2, 2), S, Z, S, Z, S, Z]
    r.op("UniformQuantizedConvolution", *good, **attrs)
    for at, wrong in ((0, q8(2, 3, 4)), (0, q8(2, 3)), (1, q8(5, 3)), (1, q8(5, 2, 2, 2)), (2, V(3)), (3, N(1)), (2, F(0)), (4, F(-1)), (6, F(0)), (4, V(5)), (7, N(5))):
        r.op("UniformQuantizedConvolution", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    r.op("UniformQuantizedConvolution", *good[:6], V(5), N(5), **{**attrs, "output_quantization_axis": 1}, fails=True)
    for wrong in (*wrong_attrs, {"lhs_quantization_axis": 0}, {"output_quantization_axis": 0}):
        r.op("UniformQuantizedConvolution", *good, **{**attrs, **wrong}, fails=True)
    r.seq("UniformQuantizedConvolutionHybrid")
    attrs = {"Tlhs": tf.float32, "Trhs": tf.qint8, "Tout": tf.float32, **conv, "rhs_quantization_axis": -1, **bounds("rhs")}
    good = [np.ones((2, 3, 4, 4), F), q8(5, 3, 2, 2), S, Z]
    r.op("UniformQuantizedConvolutionHybrid", *good, **attrs)
    for at, wrong in ((0, np.ones((2, 3), F)), (1, q8(5, 3)), (2, F(0)), (2, V(5)), (3, N(1))):
        r.op("UniformQuantizedConvolutionHybrid", *good[:at], wrong, *good[at + 1:], **attrs, fails=True)
    for wrong in wrong_attrs:
        r.op("UniformQuantizedConvolutionHybrid", *good, **{**attrs, **wrong}, fails=True)


def record(r):
    per_channel(r)
    uniform(r)
