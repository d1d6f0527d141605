"""Quantised convolutions and products with bias, summand, Relu and requantisation: TensorFlow runs them by oneDNN, convolutions in graphs only."""

import numpy as np
import tensorflow as tf

ONEDNN = True
QUINT8, QINT8, QINT32 = (t.as_numpy_dtype for t in (tf.quint8, tf.qint8, tf.qint32))
F = np.float32


def quantized(values, kind):
    return np.asarray(values, {QUINT8: np.uint8, QINT8: np.int8, QINT32: np.int32}[kind]).view(kind)


class Calls:
    def __init__(self, call):
        self.call, self.random = call, np.random.default_rng(7)

    def bytes(self, shape, kind):
        low, high = (0, 256) if kind is QUINT8 else (-128, 128)
        return quantized(self.random.integers(low, high, shape), kind)

    def ranges(self, count):
        """A range of the filter: one, or one for each channel."""
        if count is None:
            low, high = sorted(self.random.normal(size=2))
            return F(low), F(high)
        return -np.abs(self.random.normal(size=count)).astype(F), np.abs(self.random.normal(size=count)).astype(F)

    def conv(
        self,
        op,
        out,
        per_channel=False,
        kind=QUINT8,
        bias=None,
        summand=None,
        attrs=None,
        shape=(2, 5, 4, 3),
        filter_shape=(3, 2, 3, 4),
        limit=6.0,
    ):
        depthwise = "Depthwise" in op
        channels = filter_shape[2] * filter_shape[3] if depthwise else filter_shape[3]
        low, high = sorted(self.random.normal(size=2) * 3)
        attrs = {"out_type": out, "strides": [1, 1, 1, 1], "padding": "SAME", **(attrs or {})}
        inputs = [self.bytes(shape, kind), self.bytes(filter_shape, QINT8)]
        if bias is not None:
            inputs.append(
                quantized(self.random.integers(-20000, 20000, channels), QINT32)
                if bias is QINT32
                else (self.random.normal(size=channels) * 3).astype(F)
            )
        inputs += [F(low), F(high), *self.ranges(channels if per_channel else None)]
        if "Requantize" in op:
            inputs += [F(-limit / 2), F(limit)]
        if summand is not None:
            size = [*shape[:3], channels]  # padding SAME, strides 1
            if summand is F:
                values = (self.random.normal(size=size) * 5).astype(F)
                inputs.append(lambda: tf.constant(values) * 1.0)  # not a constant: TensorFlow writes over it
            else:
                values = self.random.integers(
                    -127 if summand is QINT8 else 0, 128 if summand is QINT8 else 256, size
                ).astype(F)
                low, high, kind = (-127.0, 127.0, tf.qint8) if summand is QINT8 else (0.0, 255.0, tf.quint8)
                inputs.append(
                    lambda: (
                        tf.raw_ops.QuantizeV2(
                            input=values,
                            min_range=low,
                            max_range=high,
                            T=kind,
                            mode="SCALED",
                            round_mode="HALF_TO_EVEN",
                        ).output
                    )
                )
                inputs += [F(-3.5), F(4.0)]
        self.call(op, inputs, attrs, graph=True)

    def product(self, op, out, bias=F, mode="MIN_FIRST", size=(3, 5, 4), low=None):
        m, k, n = size
        range_a = sorted(self.random.normal(size=2) * 3) if low is None else [low, 2.5]
        inputs = [self.bytes((m, k), QUINT8), self.bytes((k, n), QINT8)]
        inputs.append(
            quantized(self.random.integers(-20000, 20000, n), QINT32)
            if bias is QINT32
            else (self.random.normal(size=n) * 3).astype(F)
        )
        inputs += [F(v) for v in range_a] + list(self.ranges(None))
        if "quantize" in op:
            inputs += [F(-2.5), F(8.0)]
        self.call(op, inputs, {"Toutput": out, "input_quant_mode": mode}, graph=True)


def pools(c):
    for attrs in (
        {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
        {"ksize": [1, 3, 2, 1], "strides": [1, 1, 1, 1], "padding": "SAME"},
    ):
        for op in ("QuantizedAvgPool", "QuantizedMaxPool"):
            c.call(op, [c.bytes((2, 5, 4, 3), QUINT8), F(-1), F(2)], attrs, graph=True)
            c.call(op, [c.bytes((1, 4, 4, 2), QINT8), F(-1), F(2)], attrs, graph=True)


def norms(c):
    for after in (True, False):
        inputs = [c.bytes((2, 3, 3, 2), QUINT8), F(-1), F(2)]
        for i in range(4):
            inputs += [c.bytes(2, QUINT8), F(0 if i == 1 else -1), F(3)]
        c.call(
            "QuantizedBatchNormWithGlobalNormalization",
            inputs,
            {"out_type": tf.qint32, "variance_epsilon": 0.01, "scale_after_normalization": after},
            graph=True,
        )


def record(call):
    c = Calls(call)
    variants = [
        {},
        {"per_channel": True},
        {"attrs": {"strides": [1, 2, 2, 1]}},
        {"attrs": {"padding": "VALID"}},
        {"attrs": {"strides": [1, 2, 1, 1], "padding": "VALID"}},
        {"attrs": {"dilations": [1, 2, 1, 1]}},
    ]
    for v in variants[:1] + variants[2:5]:
        c.conv("QuantizedConv2D", tf.qint32, **v)
        c.conv("QuantizedConv2DAndRequantize", tf.qint8, **v)
    for v in variants:
        c.conv("QuantizedConv2DAndRelu", tf.qint32, **v)
        c.conv("QuantizedConv2DPerChannel", tf.qint32, **v)
        c.conv("QuantizedConv2DAndReluAndRequantize", tf.quint8, **v)
        for kind in (QUINT8, QINT8):
            c.conv("QuantizedConv2DWithBias", tf.qint32, bias=F, kind=kind, **v)
            c.conv("QuantizedConv2DWithBiasAndRelu", tf.qint32, bias=F, kind=kind, **v)
            for bias in (F, QINT32):
                c.conv("QuantizedConv2DWithBiasAndReluAndRequantize", tf.quint8, bias=bias, kind=kind, **v)
                c.conv("QuantizedConv2DWithBiasAndRequantize", tf.qint8, bias=bias, kind=kind, **v)
        c.conv("QuantizedDepthwiseConv2D", tf.qint32, filter_shape=(3, 2, 3, 2), **v)
        c.conv("QuantizedDepthwiseConv2DWithBias", tf.qint32, bias=F, filter_shape=(3, 2, 3, 2), **v)
        c.conv("QuantizedDepthwiseConv2DWithBiasAndRelu", tf.qint32, bias=F, filter_shape=(2, 2, 3, 1), **v)
        for bias in (F, QINT32):
            c.conv(
                "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
                tf.quint8,
                bias=bias,
                filter_shape=(3, 2, 3, 2),
                **v,
            )
    pads = {"padding_list": [0, 0, 2, 1, 0, 3, 0, 0]}
    c.conv("QuantizedConv2DWithBiasAndRelu", tf.qint32, bias=F, attrs=pads)
    c.conv("QuantizedConv2DAndReluAndRequantize", tf.quint8, attrs={"padding": "VALID", **pads})
    c.conv("QuantizedDepthwiseConv2DWithBiasAndRelu", tf.qint32, bias=F, filter_shape=(3, 2, 3, 2), attrs=pads)
    c.conv("QuantizedConv2DWithBiasAndRequantize", tf.qint8, bias=F, limit=0.01)  # saturates
    c.conv("QuantizedConv2DWithBias", tf.qint32, bias=F, shape=(1, 9, 9, 20), filter_shape=(5, 5, 20, 33))
    for per_channel in (False, True):
        c.conv("QuantizedConv2DWithBiasSumAndRelu", tf.qint32, bias=F, summand=F, per_channel=per_channel)
        for bias in (F, QINT32):
            c.conv(
                "QuantizedConv2DWithBiasSumAndReluAndRequantize",
                tf.quint8,
                bias=bias,
                summand=QUINT8,
                per_channel=per_channel,
            )
            c.conv(
                "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
                tf.quint8,
                bias=bias,
                summand=QINT8,
                per_channel=per_channel,
            )
    for mode in ("MIN_FIRST", "SCALED"):
        for size in ((3, 5, 4), (1, 1, 1), (7, 16, 33)):
            for low in (None, 0.0):
                for bias in (F, QINT32):
                    c.product("QuantizedMatMulWithBias", tf.qint32, bias, mode, size, low)
                    c.product("QuantizedMatMulWithBiasAndDequantize", tf.float32, bias, mode, size, low)
                    c.product("QuantizedMatMulWithBiasAndReluAndRequantize", tf.quint8, bias, mode, size, low)
                    c.product("QuantizedMatMulWithBiasAndRequantize", tf.quint8, bias, mode, size, low)
                c.product("QuantizedMatMulWithBiasAndRelu", tf.qint32, F, mode, size, low)
    for t in (tf.qint8, tf.quint8):
        for channels in (1, 3, 4):
            low = -np.abs(c.random.normal(size=channels) * 50).astype(F)
            high = np.abs(c.random.normal(size=channels) * 50).astype(F)
            x = quantized(c.random.integers(-(2**27), 2**27, (2, 2, 3, channels)), QINT32)
            call("RequantizePerChannel", [x, low, high, F(-1.5), F(2.5)], {"out_type": t}, graph=True)
            for clip in (6.0, 1e9):
                call("RequantizationRangePerChannel", [x, low, high], {"clip_value_max": clip}, graph=True)
    call(
        "RequantizationRangePerChannel",
        [quantized(np.full((1, 1, 1, 2), 5), QINT32), F([-1, -2]), F([3, 1])],
        {"clip_value_max": 6.0},
        graph=True,
    )
    pools(c)
    norms(c)
