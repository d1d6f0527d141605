"""Sums, limits, products and convolutions of uniformly quantised numbers."""

import numpy as np
import tensorflow as tf
from tensorflow.core.util.quantization import uniform_quant_ops_attr_pb2 as attr_pb2

QINT8, QINT32 = tf.qint8.as_numpy_dtype, tf.qint32.as_numpy_dtype
F, I = np.float32, np.int32


def bounds(*sides):
    return {f"{side}_quantization_{end}_val": value for side in sides for end, value in (("min", -128), ("max", 127))}


def record(call):
    random = np.random.default_rng(11)
    int8 = lambda *shape: random.integers(-128, 128, shape).astype(np.int8).view(QINT8) if shape else None
    int32 = lambda *shape: random.integers(-2000, 2000, shape).astype(I).view(QINT32)
    scales = lambda *shape: np.asarray(random.uniform(0.01, 0.5, shape), F)
    zeros = lambda *shape: np.asarray(random.integers(-20, 20, shape), I)

    def one(*shape):  # scales and zero points
        return [scales(*shape), zeros(*shape)]

    def many(n):
        return [scales(n), zeros(n)]

    wide = {"output_quantization_min_val": -(2**31), "output_quantization_max_val": 2**31 - 1}
    for x, y in (
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((3,), (2, 3)),
        ((2, 1), (1, 3)),
        ((), (4,)),
        ((4,), ()),
        ((2, 3, 4), (3, 1)),
        ((0, 3), (3,)),
        ((), ()),
    ):
        for limit in ({}, wide):
            call(
                "UniformQuantizedAdd",
                [int32(*x), int32(*y), *one(), *one(), *one()],
                {**bounds("lhs", "rhs", "output"), **limit},
            )
    axes = {"lhs_quantization_axis": 1, "rhs_quantization_axis": 1, "output_quantization_axis": 1}
    call(
        "UniformQuantizedAdd",
        [int32(2, 3), int32(2, 3), *many(3), *many(3), *many(3)],
        {**bounds("lhs", "rhs", "output"), **wide, **axes},
    )
    call(
        "UniformQuantizedAdd",
        [int32(2, 3), int32(2, 3), *many(3), *many(3), *one()],
        {**bounds("lhs", "rhs", "output"), **wide, **axes, "output_quantization_axis": -1},
    )
    call(
        "UniformQuantizedAdd",
        [int32(2, 3), int32(2, 3), *many(3), *one(), *many(3)],
        {**bounds("lhs", "rhs", "output"), **wide, **axes, "rhs_quantization_axis": -1},
    )
    call(
        "UniformQuantizedAdd",
        [int32(2, 3), int32(3), *many(2), *one(), *one()],
        {**bounds("lhs", "rhs", "output"), **wide, "lhs_quantization_axis": 0},
    )

    for shape, axis in (((3, 4), -1), ((3, 4), 0), ((3, 4), 1), ((2, 3, 2), 1), ((0, 2), 1), ((), -1)):
        n = [] if axis < 0 else [shape[axis]]
        call(
            "UniformQuantizedClipByValue",
            [
                int32(*shape),
                np.asarray(random.integers(-1500, 0, n), I).view(QINT32),
                np.asarray(random.integers(-200, 1500, n), I).view(QINT32),
                *one(*n),
            ],
            {"quantization_axis": axis, "quantization_min_val": -128, "quantization_max_val": 127},
        )

    for m, k, n in ((2, 3, 4), (1, 1, 1), (5, 17, 9), (0, 3, 2), (2, 0, 3)):
        x, y = int8(m, k), int8(k, n)
        for rhs, out in ((-1, -1), (1, -1), (1, 1)):
            for limit in ({}, wide):
                call(
                    "UniformQuantizedDot",
                    [x, y, *one(), *(one() if rhs < 0 else many(n)), *(one() if out < 0 else many(n))],
                    {
                        "Tout": tf.qint32,
                        "rhs_quantization_axis": rhs,
                        "output_quantization_axis": out,
                        **bounds("lhs", "rhs", "output"),
                        **limit,
                    },
                )
            for left in (
                random.normal(size=(m, k)),
                np.abs(random.normal(size=(m, k))),
                -np.abs(random.normal(size=(m, k))) * 100,
                np.zeros((m, k)),
            ):
                call(
                    "UniformQuantizedDotHybrid",
                    [left.astype(F), y, *(one() if rhs < 0 else many(n))],
                    {"Tout": tf.float32, "rhs_quantization_axis": rhs, **bounds("rhs")},
                )

    def numbers(rank, channels_last):
        if not channels_last:
            return b""
        spatial = list(range(1, rank - 1))
        return attr_pb2.UniformQuantizedConvolutionDimensionNumbersAttr(
            input_batch_dimension=0,
            input_feature_dimension=rank - 1,
            input_spatial_dimensions=spatial,
            kernel_input_feature_dimension=rank - 2,
            kernel_output_feature_dimension=rank - 1,
            kernel_spatial_dimensions=range(rank - 2),
            output_batch_dimension=0,
            output_feature_dimension=rank - 1,
            output_spatial_dimensions=spatial,
        ).SerializeToString()

    def conv(shape, kernel, channels_last=False, **attrs):
        rank = len(shape)
        out, axis = (kernel[-1], rank - 1) if channels_last else (kernel[0], 0)
        out_axis = rank - 1 if channels_last else 1
        attrs = {"padding": "SAME", "dimension_numbers": numbers(rank, channels_last), **attrs}
        x, y = int8(*shape), int8(*kernel)
        for per_channel, out_per_channel in ((False, False), (True, False), (True, True)):
            rhs = many(out) if per_channel else one()
            own = {"rhs_quantization_axis": axis if per_channel else -1}
            call(
                "UniformQuantizedConvolution",
                [x, y, *one(), *rhs, *(many(out) if out_per_channel else one())],
                {
                    "Tout": tf.qint32,
                    **attrs,
                    **own,
                    "output_quantization_axis": out_axis if out_per_channel else -1,
                    **bounds("lhs", "rhs", "output"),
                    **wide,
                },
            )
            if not out_per_channel:
                call(
                    "UniformQuantizedConvolutionHybrid",
                    [random.normal(size=shape).astype(F), y, *rhs],
                    {"Tout": tf.float32, **attrs, **own, **bounds("rhs")},
                )

    conv((2, 3, 5, 4), (4, 3, 2, 2))
    conv((2, 3, 5, 4), (4, 3, 2, 2), padding="VALID", window_strides=[2, 1])
    conv((2, 3, 5, 4), (4, 3, 2, 2), padding="EXPLICIT", explicit_padding=[1, 0, 2, 1], window_strides=[2, 2])
    conv((2, 3, 5, 4), (4, 3, 2, 2), lhs_dilation=[2, 1], rhs_dilation=[1, 2])
    conv((2, 4, 5, 4), (4, 2, 2, 2), feature_group_count=2)
    conv((4, 3, 5, 4), (4, 3, 2, 2), batch_group_count=2)
    conv((2, 5, 4, 3), (2, 2, 3, 4), channels_last=True)
    conv((2, 6, 3), (3, 3, 5), channels_last=True, window_strides=[2])
    conv((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), padding="VALID")
    conv((0, 3, 5, 4), (4, 3, 2, 2))
