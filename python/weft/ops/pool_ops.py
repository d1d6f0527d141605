"""tf.nn: pools."""

from weft._raw import raw
from weft.framework import dtypes
from weft.framework.convert import convert_to_tensor
from weft.framework.dispatch import dispatchable
from weft.framework.random_seed import get_seed
from weft.ops import array_ops
from weft.ops._direct import scope
from weft.ops.conv_ops import _channel, _insert, _padding, sequence, with_space_to_batch


@dispatchable
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The greatest of each window of an image."""
    with scope(name, "MaxPool2d") as name:
        data_format = data_format or "NHWC"
        at = _channel(data_format)
        return raw.MaxPool(
            input=input,
            ksize=sequence(ksize, 2, at, "ksize"),
            strides=sequence(strides, 2, at, "strides"),
            data_format=data_format,
            name=name,
            **_padding(padding, at, 2),
        )


@dispatchable
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The mean of each window of an image."""
    with scope(name, "AvgPool2D") as name:
        data_format = data_format or "NHWC"
        at = _channel(data_format)
        return raw.AvgPool(
            value=input,
            ksize=sequence(ksize, 2, at, "ksize"),
            strides=sequence(strides, 2, at, "strides"),
            padding=padding,
            data_format=data_format,
            name=name,
        )


def _pool3d(op, default):
    def pool(input, ksize, strides, padding, data_format="NDHWC", name=None):
        with scope(name, default) as name:
            data_format = data_format or "NDHWC"
            at = _channel(data_format)
            return getattr(raw, op)(
                input=input,
                ksize=sequence(ksize, 3, at, "ksize"),
                strides=sequence(strides, 3, at, "strides"),
                padding=padding,
                data_format=data_format,
                name=name,
            )

    return pool


max_pool3d = _pool3d("MaxPool3D", "MaxPool3D")
max_pool3d.__name__, max_pool3d.__doc__ = "max_pool3d", "The greatest of each window of a volume."
avg_pool3d = _pool3d("AvgPool3D", "AvgPool3D")
avg_pool3d.__name__, avg_pool3d.__doc__ = "avg_pool3d", "The mean of each window of a volume."


def _pool1d(function, default):
    def pool(input, ksize, strides, padding, data_format="NWC", name=None):
        with scope(name, default):
            if padding == "EXPLICIT" or isinstance(padding, (list, tuple)) and function is avg_pool2d:
                raise ValueError("Explicit padding is not supported for this pool.")
            last = (data_format or "NWC").endswith("C")
            at, place = (-1, 1) if last else (1, 2)
            ksize = _insert(sequence(ksize, 1, at, "ksize"), place)
            strides = _insert(sequence(strides, 1, at, "strides"), place)
            if isinstance(padding, (list, tuple)):
                padding = [[0, 0], *padding] if len(padding) == 1 else _insert([list(p) for p in padding], place)
                padding = [[0, 0] if p == 1 else p for p in padding]
            out = function(array_ops.expand_dims(input, place), ksize, strides, padding, "NHWC" if last else "NCHW")
            return array_ops.squeeze(out, [place])

    return pool


max_pool1d = _pool1d(max_pool2d, "MaxPool1d")
max_pool1d.__name__, max_pool1d.__doc__ = "max_pool1d", "The greatest of each window of a sequence."
avg_pool1d = _pool1d(avg_pool2d, "AvgPool1D")
avg_pool1d.__name__, avg_pool1d.__doc__ = "avg_pool1d", "The mean of each window of a sequence."

_MAX, _AVG = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}, {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}
_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


def _any_rank(table, input, ksize, strides, padding, data_format, name):
    input = convert_to_tensor(input)
    n = len(data_format) - 2 if data_format else input.shape.rank - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: input.shape={input.shape} of rank {n + 2}.")
    return table[n](input, ksize, strides, padding, data_format or _FORMATS[n], name)


@dispatchable
def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The greatest of each window."""
    return _any_rank(_MAX, input, ksize, strides, padding, data_format, name)


@dispatchable
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):
    """The mean of each window."""
    return _any_rank(_AVG, input, ksize, strides, padding, data_format, name)


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
    window_shape = list(window_shape) if isinstance(window_shape, (list, tuple)) else [window_shape]
    with scope(name, f"{pooling_type.lower()}_pool"):
        input = convert_to_tensor(input, name="input")
        n = len(window_shape)
        if n not in (1, 2, 3):
            raise ValueError(
                f"`len(window_shape)` must be 1, 2, or 3. Received: window_shape={window_shape} of length {n}"
            )
        strides = [1] * n if strides is None else list(strides) if isinstance(strides, (list, tuple)) else [strides] * n
        dilations = (
            [1] * n
            if dilations is None
            else list(dilations) if isinstance(dilations, (list, tuple)) else [dilations] * n
        )
        if any(s > 1 for s in strides) and any(d > 1 for d in dilations):
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                f"Received: strides={strides} and dilation_rate={dilations}"
            )
        if padding == "SAME" and any(d > 1 for d in dilations):
            raise ValueError(
                "pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: "
                f"padding={padding} and dilation_rate={dilations}"
            )
        if pooling_type not in ("MAX", "AVG"):
            raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
        function = (_MAX if pooling_type == "MAX" else _AVG)[n]

        def op(x, _, padding):
            return function(x, window_shape, strides, padding, data_format or _FORMATS[n])

        return with_space_to_batch(input, dilations, padding, op, filter_shape=window_shape, data_format=data_format)


def _fractional(op, value, pooling_ratio, pseudo_random, overlapping, seed, name):
    ratio = sequence(pooling_ratio, 2, 3, "pooling_ratio")
    ratio = [float(r) for r in ratio]
    if any(r < 1 for r in ratio):
        raise ValueError(f"`pooling_ratio` should be >= 1.0. Received: pooling_ratio={pooling_ratio}")
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
    return _fractional(raw.FractionalMaxPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


@dispatchable
def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """The mean of windows whose sizes vary by chance."""
    return _fractional(raw.FractionalAvgPool, value, pooling_ratio, pseudo_random, overlapping, seed, name)
