"""tf.nn: convolutions of one to three dimensions, their transposes, depthwise, separable and dilated ones."""

import collections.abc
import warnings

import numpy as np

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import Tensor, is_tensor
from weft._src.ops import array_ops
from weft._src.ops._direct import define, scope


def sequence(value, n, channel_index, name):
    """Strides or dilations of n dimensions in the form of ops: with ones for batch and channels."""
    if value is None:
        return [1] * (n + 2)
    value = list(value) if isinstance(value, collections.abc.Sized) else [value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(
            f"{name} should be of length 1, {n} or {n + 2}. Received: {name}={value} of length {len(value)}"
        )
    return [1, 1, *value] if channel_index == 1 else [1, *value, 1]


def _channel(data_format):
    return 1 if data_format is not None and data_format.startswith("NC") else -1


def convert_padding(padding, size=4):
    """(name, explicit paddings) of a name or a list of pairs for all dimensions."""
    if isinstance(padding, str) and padding == "EXPLICIT":
        raise ValueError(
            "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, `padding` must be a list."
        )
    if not isinstance(padding, (list, tuple)):
        return padding, []
    explicit = []
    for i, pair in enumerate(padding):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            what = f"size {len(pair)}" if isinstance(pair, (list, tuple)) else f"type {type(pair)}"
            raise ValueError(
                "When `padding` is a list, each element of `padding` must be a list/tuple of size 2. "
                f"Received: padding={padding} with element at index {i} of {what}"
            )
        explicit.extend(pair)
    if len(padding) != size:
        raise ValueError(
            f"When padding is a list, it must be of size {size}. Received: padding={padding} of size {len(padding)}"
        )
    return "EXPLICIT", explicit


def _padding(padding, size=4):
    """The attributes of an op for a padding."""
    name, explicit = convert_padding(padding, size)
    return {"padding": name, "explicit_paddings": explicit} if explicit else {"padding": name}


def _rank(input):
    rank = getattr(input.shape, "rank", -1)
    return len(input.shape) if rank == -1 else rank


@dispatchable
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """A convolution of images."""
    padding = _padding(padding)
    data_format = "NHWC" if data_format is None else data_format
    at = _channel(data_format)
    strides, dilations = sequence(strides, 2, at, "strides"), sequence(dilations, 2, at, "dilations")
    given = dict(filter=filters, strides=strides, data_format=data_format, dilations=dilations, **padding)
    return _batched(input, 3, lambda x, name=None: raw.Conv2D(input=x, name=name, **given), name)


def _batched(x, inner, op, name):
    """An op of one batch axis for tensors with more of them."""
    rank = _rank(x)
    if rank is None or rank <= inner + 1:
        return op(x, name)
    with scope(name, "squeeze_batch_dims"):
        x = convert_to_tensor(x, name="input")
        sizes = array_ops.shape(x)
        flat = array_ops.reshape(x, array_ops.concat([[-1], sizes[-inner:]], 0))
        flat.set_shape([None, *x.shape.as_list()[-inner:]])
        out = op(flat)
        shaped = array_ops.reshape(out, array_ops.concat([sizes[:-inner], array_ops.shape(out)[1:]], 0))
        shaped.set_shape(x.shape[:-inner].concatenate(out.shape[1:]))
        return shaped


@dispatchable
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """A convolution of sequences."""
    with scope(name, "conv1d") as name:
        if data_format in (None, "NHWC", "NWC"):
            data_format, place, at = "NHWC", -3, 2
        elif data_format in ("NCHW", "NCW"):
            data_format, place, at = "NCHW", -2, 1
        else:
            raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
        strides = [1, *sequence(stride, 1, at, "stride")]
        dilations = [1, *sequence(dilations, 1, at, "dilations")]
        input, filters = array_ops.expand_dims(input, place), array_ops.expand_dims(filters, 0)
        given = dict(filter=filters, strides=strides, padding=padding, data_format=data_format, dilations=dilations)
        out = _batched(input, 3, lambda x, name=None: raw.Conv2D(input=x, name=name, **given), name)
        return array_ops.squeeze(out, [place])


@dispatchable
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """A convolution of volumes."""
    given = dict(
        filter=filters, strides=strides, padding=padding, dilations=[1] * 5 if dilations is None else dilations
    )
    given["data_format"] = "NDHWC" if data_format is None else data_format
    return _batched(input, 4, lambda x, name=None: raw.Conv3D(input=x, name=name, **given), name)


@dispatchable
def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """A convolution of as many dimensions as the filters have."""
    if not is_tensor(filters):
        filters = convert_to_tensor(filters, name="filters")
    if not is_tensor(input):
        input = convert_to_tensor(input, name="input")
    of_filters, of_input = filters.shape.rank, input.shape.rank
    if not of_filters and not of_input:
        raise ValueError(
            "When `num_spatial_dims` is not set, one of `input.shape.rank` or `filters.shape.rank` must be known. "
            f"Received: input.shape={input.shape} of rank {of_input} and filters.shape={filters.shape} of rank {of_filters}"
        )
    n = (of_filters or of_input) - 2
    batch_dims = of_input - n - 1 if of_input else 1
    if n not in (1, 2, 3):
        raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={n}.")
    at = batch_dims + n if data_format in (None, "NWC", "NHC", "NHWC", "NWHC", "NDHWC") else batch_dims
    dilated = sequence(dilations, n, at, "dilations")
    strides = sequence(strides, n, at, "strides")
    with scope(name, "convolution") as name:
        if any(d != 1 for d in dilated):
            inner = slice(2, None) if at == 1 else slice(1, -1)
            return _dilated(input, filters, strides[inner], padding, data_format, dilated[inner], n, name)
        if n == 1:
            return conv1d(input, filters, strides, padding, data_format, dilated, name)
        function, default = (raw.Conv2D, "NHWC") if n == 2 else (raw.Conv3D, "NDHWC")
        given = dict(filter=filters, strides=strides, padding=padding, dilations=dilated)
        given["data_format"] = default if data_format is None else data_format
        return _batched(input, n + 1, lambda x, name=None: function(input=x, name=name, **given), name)


def strides_and_dilations(n, strides, dilations):
    """Both as arrays of n numbers; one of them is all ones."""
    both = []
    for name, value in (("dilation_rate", dilations), ("strides", strides)):
        if value is None:
            value = [1] * n
        elif len(value) != n:
            raise ValueError(f"`len({name})` should be {n}. Received: {name}={value} of length {len(value)}")
        value = np.array(value, np.int32)
        if np.any(value < 1):
            raise ValueError(f"all values of `{name}` must be positive. Received: {name}={value}")
        both.append(value)
    dilations, strides = both
    if np.any(strides > 1) and np.any(dilations > 1):
        raise ValueError(
            "`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
            f"Received: strides={strides} and dilation_rate={dilations}"
        )
    return strides, dilations


def _dilated(input, filters, strides, padding, data_format, dilations, n, name):
    """A convolution with gaps in the filters, by blocks."""
    shape, kernel = input.shape, filters.shape
    if shape.rank is not None and shape.rank < n + 2:
        raise ValueError(
            "`input.shape.rank` must be >= than `num_spatial_dims + 2`. "
            f"Received: input.shape={shape} of rank {shape.rank} and num_spatial_dims={n}"
        )
    batch_dims = 1 if shape.rank is None else shape.rank - n - 1
    first = data_format is not None and data_format.startswith("NC")
    channels = None if shape.rank is None else shape[batch_dims if first else -1]
    depth = None if kernel.rank is None else kernel[n]
    if channels is not None and depth and channels % depth:
        raise ValueError(
            "The number of input channels is not divisible by the corresponding number of output filters. "
            f"Received: input.shape={shape} with {channels} channels and filters.shape={kernel} with {depth} output filters."
        )
    strides, dilations = strides_and_dilations(n, strides, dilations)
    start = batch_dims + first
    formats = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}[n]

    def op(x, _, padding):
        if data_format is not None and data_format not in (*formats, *(("NHWC", "NCHW") if n == 1 else ())):
            raise ValueError(
                f"`data_format` must be '{formats[0]}' or '{formats[1]}'. Received: data_format={data_format}"
            )
        given = strides.tolist() if n < 3 else sequence(strides.tolist(), 3, 1 if first else -1, "strides")
        function = {1: conv1d, 2: conv2d, 3: conv3d}[n]
        return function(x, filters, given, padding, data_format or formats[0], name=name)

    size = kernel if kernel.is_fully_defined() else array_ops.shape(filters)
    return _in_blocks(input, dilations, padding, op, size, range(start, start + n), data_format, filters, batch_dims)


# ---- transposes -------------------------------------------------------------------------------------------


@dispatchable
def conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None
):
    """The transpose (gradient) of conv2d."""
    with scope(name, "conv2d_transpose") as name:
        data_format = data_format or "NHWC"
        at = _channel(data_format)
        return raw.Conv2DBackpropInput(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=sequence(strides, 2, at, "strides"),
            data_format=data_format,
            dilations=sequence(dilations, 2, at, "dilations"),
            name=name,
            **_padding(padding),
        )


@dispatchable
def conv3d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None
):
    """The transpose (gradient) of conv3d."""
    with scope(name, "conv3d_transpose") as name:
        data_format = data_format or "NDHWC"
        at = _channel(data_format)
        return raw.Conv3DBackpropInputV2(
            input_sizes=output_shape,
            filter=filters,
            out_backprop=input,
            strides=sequence(strides, 3, at, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=sequence(dilations, 3, at, "dilations"),
            name=name,
        )


@dispatchable
def conv1d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None
):
    """The transpose (gradient) of conv1d."""
    with scope(name, "conv1d_transpose") as name:
        if data_format in (None, "NWC"):
            data_format, place, at = "NHWC", 1, 2
        elif data_format == "NCW":
            data_format, place, at = "NCHW", 2, 1
        else:
            raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
        strides = [1, *sequence(strides, 1, at, "stride")]
        dilations = [1, *sequence(dilations, 1, at, "dilations")]
        input, filters = array_ops.expand_dims(input, place), array_ops.expand_dims(filters, 0)
        if not isinstance(output_shape, Tensor):
            output_shape = list(output_shape)
        out = raw.Conv2DBackpropInput(
            input_sizes=array_ops.concat([output_shape[:place], [1], output_shape[place:]], 0),
            filter=filters,
            out_backprop=input,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
        )
        return array_ops.squeeze(out, place)


@dispatchable
def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """The transpose of `convolution`."""
    with scope(name, "conv_transpose") as name:
        if is_tensor(output_shape):
            n = output_shape.shape[0] - 2
        elif isinstance(output_shape, collections.abc.Sized):
            n = len(output_shape) - 2
        else:
            raise ValueError(
                f"`output_shape` must be a tensor or sized collection. Received: output_shape={output_shape}"
            )
        if not 1 <= n <= 3:
            raise ValueError(
                f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length {n + 2}."
            )
        function = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
        return function(input, filters, output_shape, strides, padding, data_format, dilations, name)


@dispatchable
def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d with gaps in the filters."""
    return convolution(value, filters, padding=padding, dilations=np.broadcast_to(rate, (2,)), name=name)


@dispatchable
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    with scope(name, "atrous_conv2d_transpose"):
        value, filters = convert_to_tensor(value, name="value"), convert_to_tensor(filters, name="filters")
        shape, kernel = value.shape, filters.shape
        if not _fit(shape[3], kernel[3]):
            raise ValueError(
                "`value` channel count must be compatible with `filters` input channel count. "
                f"Received: value.shape={shape} with channel count {shape[3]} and filters.shape={kernel} with input channel count {kernel[3]}."
            )
        if rate < 1:
            raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding, "NHWC")
        sizes = convert_to_tensor(output_shape, name="output_shape")
        if not sizes.shape.is_compatible_with([4]):
            raise ValueError(f"`output_shape` must have shape (4,). Received: output_shape={sizes.shape}")
        if isinstance(output_shape, (list, tuple, np.ndarray)):
            output_shape = list(output_shape)
            if not _fit(kernel[2], output_shape[3]):
                raise ValueError(
                    "`output_shape` channel count must be compatible with `filters` output channel count. "
                    f"Received: output_shape={output_shape} with channel count {output_shape[3]} and filters.shape={kernel} "
                    f"with output channel count {kernel[3]}."
                )
        if padding == "SAME":
            size = kernel.as_list() if kernel.is_fully_defined() else array_ops.shape(filters)
            gaps = [(size[i] - 1) * rate for i in range(2)]
        elif padding == "VALID":
            gaps = [0, 0]
        else:
            raise ValueError(f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}")
        inner = [output_shape[i + 1] + gaps[i] for i in range(2)]
        more = [(rate - inner[i] % rate) % rate for i in range(2)]
        value = array_ops.space_to_batch(value, [rate, rate], [[0, more[0]], [0, more[1]]])
        value = raw.Conv2DBackpropInput(
            input_sizes=[
                rate * rate * output_shape[0],
                *[(inner[i] + more[i]) // rate for i in range(2)],
                output_shape[3],
            ],
            filter=filters,
            out_backprop=value,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format="NHWC",
        )
        crops = [[gaps[i] // 2, gaps[i] - gaps[i] // 2 + more[i]] for i in range(2)]
        return array_ops.batch_to_space(value, [rate, rate], crops)


def _fit(a, b):
    return a is None or b is None or a == b


# ---- depthwise --------------------------------------------------------------------------------------------


def _depthwise(filter, strides, data_format, name):
    def op(x, _, padding):
        return raw.DepthwiseConv2dNative(
            input=x,
            filter=filter,
            strides=strides,
            data_format="NHWC" if data_format is None else data_format,
            name=name,
            **_padding(padding),
        )

    return op


@dispatchable
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """A convolution of each channel by itself."""
    with scope(name, "depthwise") as name:
        input, filter = convert_to_tensor(input, name="tensor_in"), convert_to_tensor(filter, name="filter_in")
        rate = [1, 1] if dilations is None else dilations
        if any(r > 1 for r in rate) and any(s != 1 for s in strides):
            warnings.warn(
                "When dilation rate is greater than 1, then all values of strides must be 1. "
                f"Received: `dilation rate` {rate} and `strides` {strides}"
            )
        op = _depthwise(filter, strides, data_format, name)
        return with_space_to_batch(input, rate, padding, op, array_ops.shape(filter), data_format=data_format)


@dispatchable
def depthwise_conv2d_backprop_input(
    input_sizes, filter, out_backprop, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None
):
    """The gradient of depthwise_conv2d for its input."""
    at = _channel(data_format)
    return raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes=input_sizes,
        filter=filter,
        out_backprop=out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **_padding(padding),
    )


@dispatchable
def depthwise_conv2d_backprop_filter(
    input, filter_sizes, out_backprop, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None
):
    """The gradient of depthwise_conv2d for its filters."""
    at = _channel(data_format)
    return raw.DepthwiseConv2dNativeBackpropFilter(
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **_padding(padding),
    )


@dispatchable
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None
):
    """depthwise_conv2d, then a convolution of single points."""
    with scope(name, "separable_conv2d") as name:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        for size in pointwise_filter.shape.with_rank(4)[:2]:
            if not _fit(size, 1):
                raise ValueError(f"Dimensions {size} and 1 are not compatible")
        op = _depthwise(depthwise_filter, strides, data_format, "depthwise")
        rate = [1, 1] if dilations is None else dilations
        middle = with_space_to_batch(
            input, rate, padding, op, array_ops.shape(depthwise_filter), data_format=data_format
        )
        return conv2d(middle, pointwise_filter, [1, 1, 1, 1], "VALID", data_format, name=name)


@dispatchable
def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """op(input, num_spatial_dims, padding) with gaps: on parts of the input that are that far apart."""
    return _in_blocks(input, dilation_rate, padding, op, filter_shape, spatial_dims, data_format)


def _in_blocks(input, dilation_rate, padding, op, filter_shape, spatial_dims, data_format, filters=None, batch_dims=1):
    input = convert_to_tensor(input, name="input")
    rate = convert_to_tensor(dilation_rate, dtypes.int32, name="dilation_rate")
    if rate.shape.rank not in (None, 1):
        raise ValueError(
            f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={rate} of rank {rate.shape.rank}"
        )
    if not rate.shape.is_fully_defined():
        raise ValueError(
            f"`dilation_rate.shape` must be fully defined. Received: dilation_rate={rate} with shape {rate.shape}"
        )
    n = rate.shape[0]
    channels_first = data_format is not None and data_format.startswith("NC")
    given = list(
        range(batch_dims + channels_first, batch_dims + channels_first + n) if spatial_dims is None else spatial_dims
    )
    spatial = sorted({int(d) for d in given})
    if spatial != given or any(d < 1 for d in spatial):
        raise ValueError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: spatial_dims={given}"
        )
    least = spatial[-1] + (not channels_first)
    if input.shape.rank is not None and input.shape.rank < least:
        raise ValueError(
            f"`input.shape.rank` must be at least {least}. Received: input.shape={input.shape} with rank {input.shape.rank}"
        )
    known = constant_value(rate)
    if known is not None:
        if np.any(known < 1):
            raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={known}")
        if np.all(known == 1):
            return op(input, n, padding)
    base = _base_paddings(padding, n, rate if known is None else known, filter_shape, channels_first)
    sizes = array_ops.shape(input)
    shape = None if input.shape.rank is None else [input.shape[d] for d in spatial]
    if shape is None or None in shape:
        shape = array_ops.stack([sizes[d] for d in spatial])
    pads, crops = array_ops.required_space_to_batch_paddings(shape, rate, base)
    blocks, pads, crops = (_placed(v, fill, spatial) for v, fill in ((rate, 1), (pads, 0), (crops, 0)))
    result = op(raw.SpaceToBatchND(input=input, block_shape=blocks, paddings=pads), n, "VALID")
    made = raw.BatchToSpaceND(input=result, block_shape=blocks, crops=crops)
    if channels_first and filters is not None and made.shape.rank and not made.shape[1]:
        made.set_shape([made.shape[0], filters.shape[-1], *made.shape[2:]])
    return made


def _base_paddings(padding, n, rate, filter_shape, channels_first):
    """The paddings that make a convolution with gaps one of padding VALID."""
    name, explicit = convert_padding(padding)
    if name == "SAME":
        if filter_shape is None:
            raise ValueError(
                f"`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape={filter_shape} and padding={name}"
            )
        filter_shape = convert_to_tensor(filter_shape, name="filter_shape")
        known = constant_value(filter_shape)
        gaps = ((filter_shape if known is None else known)[:n] - 1) * rate
        return array_ops.stack([gaps // 2, gaps - gaps // 2], axis=1)
    if name == "VALID":
        return np.zeros([n, 2], np.int32)
    if name == "EXPLICIT":
        pairs = np.array(explicit).reshape([n + 2, 2])
        return pairs[2:] if channels_first else pairs[1:-1]
    raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={name}")


def _placed(value, fill, spatial):
    """Rows for the spatial dimensions at their places among all behind the first; what is between them is filled."""
    known = constant_value(value)
    rows = known if known is not None else value
    parts, before = [], 0
    for i, d in enumerate(spatial):
        if d - 1 > before:
            parts.append(np.full([d - 1 - before, *value.shape[1:]], fill, np.int32))
        parts.append(rows[i : i + 1])
        before = d
    return np.concatenate(parts) if known is not None else array_ops.concat(parts, 0)


@dispatchable
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """The greatest of input + filter over a window."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    return raw.Dilation2D(input=input, filter=filters, strides=strides, rates=dilations, padding=padding, name=name)


@dispatchable
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """The least of input - filter over a window."""
    if data_format != "NHWC":
        raise ValueError(
            f"`data_format` values other  than 'NHWC' are not supported. Received: data_format={data_format}"
        )
    with scope(name, "erosion2d") as name:
        value, filters = convert_to_tensor(value), convert_to_tensor(filters)
        return raw.Neg(
            x=raw.Dilation2D(
                input=-value,
                filter=array_ops.reverse(filters, [0, 1]),
                strides=strides,
                rates=dilations,
                padding=padding,
            ),
            name=name,
        )


define(
    globals(),
    """
conv input, filter, strides, padding, explicit_paddings=[], data_format='CHANNELS_LAST', dilations=[], batch_dims=1, groups=1
conv2d_backprop_filter_v2 Conv2DBackpropFilterV2 input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC', dilations=[1,1,1,1]
conv2d_backprop_input_v2 Conv2DBackpropInputV2 input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC', dilations=[1,1,1,1]
""",
)
