"""tf.nn: convolutions of one to three dimensions, their transposes, depthwise, separable and dilated ones."""

from weft._raw import raw
from weft.framework import dtypes
from weft.framework.convert import constant_value, convert_to_tensor
from weft.framework.dispatch import dispatchable
from weft.framework.tensor import Tensor
from weft.ops import array_ops
from weft.ops._direct import define, scope


def sequence(value, n, channel_index, name):
    """Strides or dilations of n dimensions in the form of ops: with ones for batch and channels."""
    if value is None:
        return [1] * (n + 2)
    value = list(value) if isinstance(value, (list, tuple)) else value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list):
        value = [int(value)]
    if len(value) == 1:
        value = value * n
    if len(value) == n:
        return [1, 1, *value] if channel_index == 1 else [1, *value, 1]
    if len(value) == n + 2:
        return value
    raise ValueError(f"{name} should be of length 1, {n} or {n + 2}. Received: {name}={value} of length {len(value)}")


def _channel(data_format):
    return 1 if data_format is not None and data_format.startswith("NC") else -1


def _padding(padding, channel_index, n):
    """The padding attributes: a name, or a list of explicit ones (of two dimensions, in ops)."""
    if isinstance(padding, str):
        return {"padding": padding}
    if len(padding) == n:
        padding = [[0, 0], [0, 0], *padding] if channel_index == 1 else [[0, 0], *padding, [0, 0]]
    return {"padding": "EXPLICIT", "explicit_paddings": [int(p) for pair in padding for p in pair]}


@dispatchable
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """A convolution of images."""
    data_format = data_format or "NHWC"
    at = _channel(data_format)
    strides, dilations = sequence(strides, 2, at, "strides"), sequence(dilations, 2, at, "dilations")
    input, filters = convert_to_tensor(input), convert_to_tensor(filters)
    given = dict(strides=strides, data_format=data_format, dilations=dilations, **_padding(padding, at, 2))
    return _batched(input, 3, lambda x, name: raw.Conv2D(input=x, filter=filters, name=name, **given), name, "Conv2D")


def _batched(x, inner, op, name, default):
    """An op of one batch axis for tensors with more of them."""
    rank = x.shape.rank
    if rank is None or rank <= inner + 1:
        return op(x, name)
    with scope(name, default):
        sizes = array_ops.shape(x)
        flat = array_ops.reshape(x, array_ops.concat([[-1], sizes[-inner:]], 0))
        flat.set_shape([None, *x.shape.as_list()[-inner:]])
        out = op(flat, None)
        lead = sizes[:-inner]
        shaped = array_ops.reshape(out, array_ops.concat([lead, array_ops.shape(out)[1:]], 0))
        shaped.set_shape(x.shape[:-inner].concatenate(out.shape[1:]))
        return shaped


@dispatchable
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """A convolution of sequences."""
    with scope(name, "conv1d") as name:
        data_format = data_format or "NWC"
        if data_format not in ("NWC", "NCW", "NHWC", "NCHW"):
            raise ValueError("`data_format` must be 'NWC' or 'NCW'. Received: data_format=%s" % data_format)
        last = data_format.endswith("C")
        at = -1 if last else 1
        strides = _insert(sequence(stride, 1, at, "stride"), 1 if last else 2)
        dilations = _insert(sequence(dilations, 1, at, "dilations"), 1 if last else 2)
        input, filters = convert_to_tensor(input), convert_to_tensor(filters)
        if not isinstance(padding, str):
            padding = [list(p) for p in padding]
            padding = (
                [[0, 0], *padding]
                if len(padding) == 1
                else [*padding[: 1 if last else 2], [0, 0], *padding[1 if last else 2 :]]
            )
        wide = array_ops.expand_dims(input, -3 if last else -2)
        kernel = array_ops.expand_dims(filters, 0)
        out = conv2d(wide, kernel, strides, padding, "NHWC" if last else "NCHW", dilations, name=name)
        return array_ops.squeeze(out, [-3 if last else -2])


def _insert(values, at):
    return [*values[:at], 1, *values[at:]]


@dispatchable
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """A convolution of volumes."""
    at = _channel(data_format)
    dilations = sequence(dilations, 3, at, "dilations")
    strides = sequence(strides, 3, at, "strides")
    input, filters = convert_to_tensor(input), convert_to_tensor(filters)
    return _batched(
        input,
        4,
        lambda x, name: raw.Conv3D(
            input=x,
            filter=filters,
            strides=strides,
            padding=padding,
            data_format=data_format or "NDHWC",
            dilations=dilations,
            name=name,
        ),
        name,
        "Conv3D",
    )


@dispatchable
def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """A convolution of as many dimensions as the filters have."""
    with scope(name, "convolution"):
        filters = convert_to_tensor(filters, name="filters")
        input = convert_to_tensor(input, name="input")
        rank = filters.shape.rank
        if rank is None and input.shape.rank is None:
            raise ValueError("rank of input or filter must be known.")
        n = (rank if rank is not None else input.shape.rank) - 2
        if n not in (1, 2, 3):
            raise ValueError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={n}.")
        strides = 1 if strides is None else strides
        function = {1: conv1d, 2: conv2d, 3: conv3d}[n]
        return function(
            input, filters, strides, padding, data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n], dilations
        )


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
            **_padding(padding, at, 2),
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
    with scope(name, "conv1d_transpose"):
        last = (data_format or "NWC").endswith("C")
        at, place = (-1, 1) if last else (1, 2)
        strides = _insert(sequence(strides, 1, at, "stride"), place)
        dilations = _insert(sequence(dilations, 1, at, "dilations"), place)
        if isinstance(output_shape, Tensor):
            output_shape = array_ops.concat([output_shape[:place], [1], output_shape[place:]], 0)
        else:
            output_shape = list(output_shape)
            output_shape = output_shape[:place] + [1] + output_shape[place:]
        out = conv2d_transpose(
            array_ops.expand_dims(input, place),
            array_ops.expand_dims(filters, 0),
            output_shape,
            strides,
            padding,
            "NHWC" if last else "NCHW",
            dilations,
        )
        return array_ops.squeeze(out, [place])


@dispatchable
def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """The transpose of `convolution`."""
    with scope(name, "conv_transpose") as name:
        n = len(output_shape) - 2 if not isinstance(output_shape, Tensor) else output_shape.shape[0] - 2
        if n not in (1, 2, 3):
            raise ValueError(
                f"`output_shape` must be a tensor of length 3, 4, or 5. Received: output_shape={output_shape} of length {n + 2}"
            )
        function = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
        return function(
            input,
            filters,
            output_shape,
            strides,
            padding,
            data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n],
            dilations,
            name,
        )


@dispatchable
def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d with gaps in the filters."""
    return convolution(value, filters, padding=padding, dilations=[rate, rate], name=name)


@dispatchable
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    with scope(name, "atrous_conv2d_transpose"):
        value, filters = convert_to_tensor(value, name="value"), convert_to_tensor(filters, name="filters")
        if rate < 1:
            raise ValueError(f"`rate` cannot be less than one. Received: rate={rate}")
        return conv2d_transpose(
            value, filters, output_shape, [1, 1, 1, 1], padding, "NHWC", None if rate == 1 else [1, rate, rate, 1]
        )


# ---- depthwise --------------------------------------------------------------------------------------------


@dispatchable
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """A convolution of each channel by itself."""
    with scope(name, "depthwise") as name:
        input, filter = convert_to_tensor(input, name="tensor_in"), convert_to_tensor(filter, name="filter_in")
        data_format = data_format or "NHWC"
        at = _channel(data_format)
        dilations = (
            [1, 1]
            if dilations is None
            else list(dilations) if isinstance(dilations, (list, tuple)) else [dilations] * 2
        )
        if len(dilations) == 4:
            dilations = dilations[2:] if at == 1 else dilations[1:3]

        def op(x, _, padding):
            return raw.DepthwiseConv2dNative(
                input=x,
                filter=filter,
                strides=strides,
                data_format=data_format,
                name=name if dilations == [1, 1] else None,
                **_padding(padding, at, 2),
            )

        return with_space_to_batch(
            input, dilations, padding, op, filter_shape=array_ops.shape(filter), data_format=data_format
        )


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
        **_padding(padding, at, 2),
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
        **_padding(padding, at, 2),
    )


@dispatchable
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None
):
    """depthwise_conv2d, then a convolution of single points."""
    with scope(name, "separable_conv2d") as name:
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        if not pointwise_filter.shape[:2].is_compatible_with([1, 1]):
            raise ValueError(
                f"Dimension 0 and 1 of `pointwise_filter` must be 1. Received: pointwise_filter.shape={pointwise_filter.shape}"
            )
        middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations, name="depthwise")
        return raw.Conv2D(
            input=middle,
            filter=pointwise_filter,
            strides=[1, 1, 1, 1],
            padding="VALID",
            data_format=data_format or "NHWC",
            name=name,
        )


@dispatchable
def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """op(input, num_spatial_dims, padding) with gaps: on parts of the input that are that far apart."""
    input = convert_to_tensor(input)
    rate = [int(r) for r in (constant_value(dilation_rate) if isinstance(dilation_rate, Tensor) else dilation_rate)]
    n = len(rate)
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    spatial = list(range(first, first + n)) if spatial_dims is None else [int(d) for d in spatial_dims]
    if any(r < 1 for r in rate):
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rate}")
    if all(r == 1 for r in rate):
        return op(input, n, padding)
    explicit = None
    if not isinstance(padding, str):
        explicit, padding = [list(p) for p in padding], "EXPLICIT"
        explicit = [explicit[d] for d in spatial] if len(explicit) == n + 2 else explicit
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError(
                "`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None and padding=SAME"
            )
        known = constant_value(filter_shape) if isinstance(filter_shape, Tensor) else filter_shape
        if known is None:
            gaps = (filter_shape[:n] - 1) * rate
            explicit = array_ops.stack([gaps // 2, gaps - gaps // 2], axis=1)
        else:
            gaps = [(int(k) - 1) * r for k, r in zip(list(known)[:n], rate)]
            explicit = [[g // 2, g - g // 2] for g in gaps]
    elif padding == "VALID":
        explicit = [[0, 0]] * n
    sizes = array_ops.shape(input)
    now = array_ops.stack([sizes[d] for d in spatial])
    pads, crops = array_ops.required_space_to_batch_paddings(now, rate, explicit)
    if first == 2:
        # The op for blocks wants space behind the batch: channels go along as a block of one.
        rate_all, pads, crops = (
            [1, *rate],
            array_ops.pad(pads, [[1, 0], [0, 0]]),
            array_ops.pad(crops, [[1, 0], [0, 0]]),
        )
    else:
        rate_all = rate
    blocks = raw.SpaceToBatchND(input=input, block_shape=convert_to_tensor(rate_all, dtypes.int32), paddings=pads)
    return raw.BatchToSpaceND(
        input=op(blocks, n, "VALID"), block_shape=convert_to_tensor(rate_all, dtypes.int32), crops=crops
    )


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
conv Conv input, filter, strides, padding, explicit_paddings=[], data_format='CHANNELS_LAST', dilations=[], batch_dims=1, groups=1
conv2d_backprop_filter_v2 Conv2DBackpropFilterV2 input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC', dilations=[1,1,1,1]
conv2d_backprop_input_v2 Conv2DBackpropInputV2 input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=[], data_format='NHWC', dilations=[1,1,1,1]
""",
)
