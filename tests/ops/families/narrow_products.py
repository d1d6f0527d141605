"""Products of bytes, half and bfloat16 of sizes that fill vectors and leave rests: all the forms that quantised models use."""

import numpy as np
import tensorflow as tf

QINT8, QUINT8 = tf.qint8.as_numpy_dtype, tf.quint8.as_numpy_dtype
F = np.float32
WIDE = {"output_quantization_min_val": -(2**31), "output_quantization_max_val": 2**31 - 1}
BOUNDS = {
    "lhs_quantization_min_val": -128,
    "lhs_quantization_max_val": 127,
    "rhs_quantization_min_val": -127,
    "rhs_quantization_max_val": 127,
    **WIDE,
}
# UniformQuantizedConvolutionDimensionNumbersAttr: images [batch, height, width, features], a kernel [height, width, features, out].
CHANNELS_LAST = b"\x10\x03\x1a\x02\x01\x02 \x02(\x032\x02\x00\x01@\x03J\x02\x01\x02"


def record(call):
    random = np.random.default_rng(11)

    def numbers(shape, kind):
        signed = kind in (np.int8, QINT8)
        plain = np.int8 if signed else np.uint8
        values = random.integers(-128 if signed else 0, 128 if signed else 256, shape).astype(plain)
        return values.view(kind)

    for a in (np.int8, np.uint8):
        for b in (np.int8, np.uint8):
            for x, y, attrs in (
                ((3, 17, 70), (3, 70, 33), {}),
                ((2, 1, 9, 130), (3, 50, 130), {"adj_y": True}),
                ((66, 40), (66, 16), {"adj_x": True}),
            ):
                call("BatchMatMulV3", [numbers(x, a), numbers(y, b)], {"Tout": tf.int32, **attrs})

    for m, k, n, zero in ((1, 64, 48, 0), (19, 133, 37, -31), (5, 16, 16, 127)):
        scales = random.uniform(0.001, 0.01, n).astype(F)
        x = F(0.0625)
        inputs = [numbers((m, k), QINT8), numbers((k, n), QINT8), x, np.int32(zero), scales, np.zeros(n, np.int32)]
        axes = {"Tout": tf.qint32, "rhs_quantization_axis": 1, "output_quantization_axis": 1, **BOUNDS}
        call("UniformQuantizedDot", [*inputs, scales * x, np.zeros(n, np.int32)], axes)
        call("UniformQuantizedDot", [*inputs, scales * x * 3, np.full(n, 5, np.int32)], axes)
        floats = random.normal(size=(m, k)).astype(F)
        call(
            "UniformQuantizedDotHybrid",
            [floats, inputs[1], scales, inputs[5]],
            {
                "Tout": tf.float32,
                "rhs_quantization_axis": 1,
                "rhs_quantization_min_val": -127,
                "rhs_quantization_max_val": 127,
            },
        )

    for zero, strides, padding, explicit, dilation, window in (
        (-128, [1, 1], "SAME", [], [1, 1], (3, 3)),
        (40, [2, 1], "VALID", [], [1, 2], (2, 3)),
        (3, [1, 2], "EXPLICIT", [2, 0, 1, 3], [1, 1], (3, 1)),
        (0, [1, 1], "VALID", [], [1, 1], (1, 1)),
    ):
        scales = random.uniform(0.001, 0.01, 20).astype(F)
        call(
            "UniformQuantizedConvolution",
            [
                numbers((2, 9, 8, 6), QINT8),
                numbers((*window, 6, 20), QINT8),
                F(0.125),
                np.int32(zero),
                scales,
                np.zeros(20, np.int32),
                scales * F(0.125),
                np.zeros(20, np.int32),
            ],
            {
                "Tout": tf.qint32,
                "window_strides": strides,
                "padding": padding,
                "explicit_padding": explicit,
                "rhs_dilation": dilation,
                "dimension_numbers": CHANNELS_LAST,
                "rhs_quantization_axis": 3,
                "output_quantization_axis": 3,
                **BOUNDS,
            },
        )

    x = np.concatenate([random.normal(size=90), [1e12, -1e12, np.nan, np.inf, -np.inf, 0.0, 0.0625, -0.0625]]).astype(F)
    for zero in (0, -128, 90):
        call(
            "UniformQuantize",
            [x, F(0.03125), np.int32(zero)],
            {"Tout": tf.qint8, "quantization_min_val": -128, "quantization_max_val": 127},
        )
    sums = random.integers(-(2**31), 2**31, (3, 4, 19)).astype(np.int32).view(tf.qint32.as_numpy_dtype)
    call(
        "UniformDequantize",
        [sums, random.uniform(0.001, 0.01, 19).astype(F), np.zeros(19, np.int32)],
        {
            "Tout": tf.float32,
            "quantization_axis": 2,
            "quantization_min_val": -(2**31),
            "quantization_max_val": 2**31 - 1,
        },
    )

    for ta, tb in ((False, False), (True, True)):
        call(
            "QuantizedMatMul",
            [
                numbers((67, 18) if ta else (18, 67), QUINT8),
                numbers((35, 67) if tb else (67, 35), QUINT8),
                F(-1.5),
                F(3),
                F(-2),
                F(1),
            ],
            {"Toutput": tf.qint32, "transpose_a": ta, "transpose_b": tb},
        )

    for kind in (tf.bfloat16.as_numpy_dtype, np.float16):
        for m, k, n in ((1, 70, 150), (7, 33, 140), (30, 65, 40)):
            for tb in (False, True):
                b = random.normal(size=(n, k) if tb else (k, n)).astype(kind)
                call("MatMul", [random.normal(size=(m, k)).astype(kind), b], {"transpose_b": tb})
