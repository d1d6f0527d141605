"""Casts of eight-bit floats: numbers between two codes, too large, too small; every code back."""

import numpy as np
import tensorflow as tf


def record(call):
    random = np.random.default_rng(3)
    for kind in (tf.dtypes.experimental.float8_e5m2, tf.dtypes.experimental.float8_e4m3fn):
        codes = np.arange(256).astype(np.uint8).view(kind.as_numpy_dtype)
        numbers = np.sort(codes.astype(np.float32)[np.isfinite(codes.astype(np.float32))])
        middle = (numbers[1:] + numbers[:-1]) / 2
        many = (random.normal(size=300) * np.exp2(random.integers(-18, 18, 300))).astype(np.float32)
        x = np.concatenate(
            [
                numbers,
                middle,
                middle * np.float32(1.0001),
                middle * np.float32(0.9999),
                many,
                np.float32(
                    [
                        0,
                        -0.0,
                        np.inf,
                        -np.inf,
                        np.nan,
                        1e38,
                        -1e38,
                        1e-40,
                        448,
                        464,
                        465,
                        480,
                        57344,
                        61439,
                        61440,
                        65520,
                    ]
                ),
            ]
        ).astype(np.float32)
        call("Cast", [x], {"DstT": kind})
        call("Cast", [x.astype(np.float64)], {"DstT": kind})
        for t in (np.float16, tf.bfloat16.as_numpy_dtype):
            call("Cast", [many.astype(t)], {"DstT": kind})
        for t in (tf.float32, tf.float64, tf.float16, tf.bfloat16):
            call("Cast", [codes], {"DstT": t})
