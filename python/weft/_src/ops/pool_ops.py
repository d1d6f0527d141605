"""tf.nn: pools."""

import numpy as np

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.random_seed import get_seed
from weft._src.ops import array_ops
from weft._src.ops._direct import scope
from weft._src.ops.conv_ops import _channel, _padding, sequence, strides_and_dilations, with_space_to_batch


@dispatchable
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The greatest of each window of an image."""
    with scope(name, "MaxPool2d") as name:
        data_format = "NHWC" if data_format is None else data_format
        at = _channel(data_format)
        ksize, strides = sequence(ksize, 2, at, "ksize"), sequence(strides, 2, at, "strides")
        given = dict(ksize=ksize, strides=strides, data_format=data_format, name=name)
        return raw.MaxPool(input=input, **given, **_padding(padding))


@dispatchable
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The mean of each window of an image."""
    with scope(name, "AvgPool2D") as name:
        data_format = "NHWC" if data_format is None else data_format
        at = _channel(data_format)
        ksize, strides = sequence(ksize, 2, at, "ksize"), sequence(strides, 2, at, "strides")
        return raw.AvgPool(
            value=input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name
        )


def _pool3d(op):
    def pool(input, ksize, strides, padding, data_format="NDHWC", name=None):
        with scope(name, op.op_name) as name:
            data_format = "NDHWC" if data_format is None else data_format
            at = _channel(data_format)
            ksize, strides = sequence(ksize, 3, at, "ksize"), sequence(strides, 3, at, "strides")
            given = dict(ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)
            return op(input=input, **given)

    return pool


max_pool3d = _pool3d(raw.MaxPool3D)
max_pool3d.__name__, max_pool3d.__doc__ = "max_pool3d", "The greatest of each window of a volume."
avg_pool3d = _pool3d(raw.AvgPool3D)
avg_pool3d.__name__, avg_pool3d.__doc__ = "avg_pool3d", "The mean of each window of a volume."


def _pool1d(op, default):
    def pool(input, ksize, strides, padding, data_format="NWC", name=None):
        with scope(name, default) as name:
            data_format = "NWC" if data_format is None else data_format
            at = 1 if data_format.startswith("NC") else 2
            ksize = [1, *sequence(ksize, 1, at, "ksize")]
            strides = [1, *sequence(strides, 1, at, "strides")]
            given = {"padding": padding}
            if op is raw.MaxPool:
                given = _padding(padding, 3)
                if "explicit_paddings" in given:
                    given["explicit_paddings"] = [0, 0, *given["explicit_paddings"]]
            place, data_format = (1, "NHWC") if data_format == "NWC" else (2, "NCHW")
            wide = array_ops.expand_dims(input, place)
            first = {"input" if op is raw.MaxPool else "value": wide}
            out = op(**first, ksize=ksize, strides=strides, data_format=data_format, name=name, **given)
            return array_ops.squeeze(out, place)

    return pool


max_pool1d = _pool1d(raw.MaxPool, "MaxPool1d")
max_pool1d.__name__, max_pool1d.__doc__ = "max_pool1d", "The greatest of each window of a sequence."
avg_pool1d = _pool1d(raw.AvgPool, "AvgPool1D")
avg_pool1d.__name__, avg_pool1d.__doc__ = "avg_pool1d", "The mean of each window of a sequence."


def _dimensions(input, ksize, strides, data_format):
    """(number of dimensions, windows and strides of all axes)"""
    n = len(input.shape) - 2
    if not 1 <= n <= 3:
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank {n + 2}.")
    at = 1 if data_format is not None and data_format.startswith("NC") else n + 1
    return n, sequence(ksize, n, at, "ksize"), sequence(strides, n, at, "strides")


@dispatchable
def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The greatest of each window."""
    n, ksize, strides = _dimensions(input, ksize, strides, data_format)
    if isinstance(padding, (list, tuple)) and n == 3:
        raise ValueError(
            f"Explicit padding is not supported with an input tensor of rank 5. Received: padding={padding}"
        )
    function = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[n]
    return function(input, ksize, strides, padding, data_format, name)


@dispatchable
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window."""
    n, ksize, strides = _dimensions(input, ksize, strides, data_format)
    if n == 2:
        given = dict(ksize=ksize, strides=strides, padding=padding, data_format=data_format or "NHWC", name=name)
        return raw.AvgPool(value=input, **given)
    return {1: avg_pool1d, 3: avg_pool3d}[n](input, ksize, strides, padding, data_format, name)


@dispatchable
def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype=dtypes.int64,
    include_batch_in_index=False,
    name=None,
):
    """The greatest of each window, and where it is."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    return raw.MaxPoolWithArgmax(
        input=input,
        ksize=sequence(ksize, 2, -1, "ksize"),
        strides=sequence(strides, 2, -1, "strides"),
        padding=padding,
        Targmax=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


@dispatchable
def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """A pool of any kind, with gaps."""
    with scope(name, f"{pooling_type.lower()}_pool") as name:
        input = convert_to_tensor(input, name="input")
        n = len(window_shape)
        if n not in (1, 2, 3):
            raise ValueError(
                f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window_shape} of length {n}"
            )
        input.shape.with_rank(n + 2)
        strides, dilations = strides_and_dilations(n, strides, dilations)
        if padding == "SAME" and np.any(dilations > 1):
            raise ValueError(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. "
                f"Received: padding={padding} and dilation_rate={dilations}"
            )
        if np.any(strides > window_shape):
            raise ValueError(
                "`strides` > `window_shape` not supported due to inconsistency between CPU and GPU implementations. "
                f"Received: strides={strides} and window_shape={window_shape}"
            )
        if pooling_type not in ("MAX", "AVG"):
            raise ValueError(f"{n}-D {pooling_type} pooling is not supported.")
        if n == 1 and data_format not in (None, "NWC", "NCW"):
            raise ValueError(f"data_format must be either 'NWC' or 'NCW'. Received: data_format={data_format}")
        first = data_format is not None and data_format.startswith("NC")
        sizes = [sequence(list(v), n, 1 if first else -1, "") for v in (window_shape, strides.tolist())]
        table = (max_pool1d, max_pool2d, max_pool3d) if pooling_type == "MAX" else (avg_pool1d, avg_pool2d, avg_pool3d)
        function = table[n - 1]

        def op(x, _, padding):
            return function(x, *sizes, padding, data_format, name)

        return with_space_to_batch(input, dilations, padding, op, window_shape, range(1 + first, 1 + first + n))


def _fractional(op, value, pooling_ratio, pseudo_random, overlapping, seed, name):
    ratio = [float(r) for r in sequence(pooling_ratio, 2, 3, "pooling_ratio")]
    if seed == 0:
        return op(
            value=value,
            pooling_ratio=ratio,
            pseudo_random=pseudo_random,
            overlapping=overlapping,
            deterministic=False,
            seed=0,
            seed2=0,
            name=name,
        )
    one, two = get_seed(seed)
    return op(
        value=value,
        pooling_ratio=ratio,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        deterministic=True,
        seed=one,
        seed2=two,
        name=name,
    )


@dispatchable
def fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """The greatest of windows whose sizes vary by chance."""
    if isinstance(pooling_ratio, (list, tuple)):
        if pooling_ratio[0] != 1.0 or pooling_ratio[-1] != 1.0:
            raise ValueError(
                f"`pooling_ratio` should have first and last elements with value 1.0. Received: pooling_ratio={pooling_ratio}"
            )
        if any(r < 1.0 for r in pooling_ratio):
            raise ValueError(f"`pooling_ratio` elements should be >= 1.0. Received: pooling_ratio={pooling_ratio}")
    elif not isinstance(pooling_ratio, (int, float)):
        raise ValueError(f"`pooling_ratio` should be an int or a list of ints. Received: pooling_ratio={pooling_ratio}")
    elif pooling_ratio < 1.0:
        raise ValueError(f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={pooling_ratio}")
    return _fractional(raw.FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


@dispatchable
def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """The mean of windows whose sizes vary by chance."""
    return _fractional(raw.FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)
