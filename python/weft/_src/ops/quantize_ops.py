"""tf.quantization: numbers in a few bits."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops._direct import define

define(
    globals(),
    """
fake_quant_with_min_max_args inputs, min=-6, max=6, num_bits=8, narrow_range=False
fake_quant_with_min_max_args_gradient gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False
fake_quant_with_min_max_vars inputs, min, max, num_bits=8, narrow_range=False
fake_quant_with_min_max_vars_gradient gradients, inputs, min, max, num_bits=8, narrow_range=False
fake_quant_with_min_max_vars_per_channel inputs, min, max, num_bits=8, narrow_range=False
fake_quant_with_min_max_vars_per_channel_gradient gradients, inputs, min, max, num_bits=8, narrow_range=False
quantized_concat concat_dim, values, input_mins, input_maxes
""",
)


@dispatchable
def quantize(
    input,
    min_range,
    max_range,
    T,
    mode="MIN_COMBINED",
    round_mode="HALF_AWAY_FROM_ZERO",
    name=None,
    narrow_range=False,
    axis=None,
    ensure_minimum_range=0.01,
):
    """Numbers of a range as integers: (output, its least, its greatest)."""
    return raw.QuantizeV2(
        input=input,
        min_range=min_range,
        max_range=max_range,
        T=T,
        mode=mode,
        round_mode=round_mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis,
        ensure_minimum_range=ensure_minimum_range,
        name=name,
    )


@dispatchable
def dequantize(
    input, min_range, max_range, mode="MIN_COMBINED", name=None, axis=None, narrow_range=False, dtype=dtypes.float32
):
    """The numbers that integers of a range stand for."""
    return raw.Dequantize(
        input=input,
        min_range=min_range,
        max_range=max_range,
        mode=mode,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis,
        dtype=dtype,
        name=name,
    )


def _quantize_and_dequantize(
    op, input, input_min, input_max, signed_input, num_bits, range_given, round_mode, name, narrow_range, axis
):
    input = convert_to_tensor(input)
    given = dict(
        input=input,
        input_min=input_min,
        input_max=input_max,
        signed_input=signed_input,
        range_given=range_given,
        narrow_range=narrow_range,
        axis=-1 if axis is None else axis % input.shape.rank,
        name=name,
    )
    return op(num_bits=num_bits, round_mode=round_mode, **given)


@dispatchable
def quantize_and_dequantize(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """Numbers as they come back from being quantized."""
    return _quantize_and_dequantize(
        raw.QuantizeAndDequantizeV2,
        input,
        input_min,
        input_max,
        signed_input,
        num_bits,
        range_given,
        round_mode,
        name,
        narrow_range,
        axis,
    )


@dispatchable
def quantize_and_dequantize_v2(
    input,
    input_min,
    input_max,
    signed_input=True,
    num_bits=8,
    range_given=False,
    round_mode="HALF_TO_EVEN",
    name=None,
    narrow_range=False,
    axis=None,
):
    """As quantize_and_dequantize, with gradients only inside of the range."""
    return _quantize_and_dequantize(
        raw.QuantizeAndDequantizeV4,
        input,
        input_min,
        input_max,
        signed_input,
        num_bits,
        range_given,
        round_mode,
        name,
        narrow_range,
        axis,
    )
