"""tf.signal: Fourier and cosine transforms, windows, frames, short-time transforms, mel scales."""

import math

import weft as tf
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops._direct import define

# ---- Fourier transforms ----------------------------------------------------------------------------------


def _complex_transform(op):
    def transform(input, name=None):
        return op(input=convert_to_tensor(input), name=name)

    transform.__name__ = transform.__qualname__ = op.op_name.lower()
    return transform


define(
    globals(),
    """
fftnd_op FFTND input, fft_length, axes
ifftnd_op IFFTND input, fft_length, axes
rfftnd_op RFFTND input, fft_length, axes, Tcomplex=dtypes.complex64
irfftnd_op IRFFTND input, fft_length, axes, Treal=dtypes.float32
""",
)
fft, fft2d, fft3d = _complex_transform(raw.FFT), _complex_transform(raw.FFT2D), _complex_transform(raw.FFT3D)
ifft, ifft2d, ifft3d = _complex_transform(raw.IFFT), _complex_transform(raw.IFFT2D), _complex_transform(raw.IFFT3D)


def _fitted(x, lengths, rank, half):
    """Cut or padded with zeros to the length of the transform; of a spectrum, half of the last dimension is there."""
    known = constant_value(lengths)
    shape = x.shape
    if known is None or shape.rank is None or None in shape.as_list()[-rank:]:
        sizes = lengths
        if half:
            last = raw.ConcatV2(values=[raw.ZerosLike(x=lengths[:-1]) > 0, [True]], axis=0)
            sizes = tf.where(last, lengths // 2 + 1, lengths)
        begin = tf.zeros_like(tf.shape(x))
        take = tf.concat([tf.shape(x)[:-rank], tf.minimum(tf.shape(x)[-rank:], sizes)], 0)
        x = raw.Slice(input=x, begin=begin, size=take)
        missing = tf.concat([tf.zeros_like(tf.shape(x)[:-rank]), tf.maximum(sizes - tf.shape(x)[-rank:], 0)], 0)
        return tf.pad(x, tf.stack([tf.zeros_like(missing), missing], axis=1))
    want = [int(n) for n in known]
    if half:
        want[-1] = want[-1] // 2 + 1 if want[-1] > 0 else 0
    have = shape.as_list()[-rank:]
    if any(w < h for w, h in zip(want, have)):
        x = x[(Ellipsis, *[slice(0, min(w, h)) for w, h in zip(want, have)])]
    padding = [[0, 0]] * (shape.rank - rank) + [[0, max(0, w - h)] for w, h in zip(want, have)]
    return tf.pad(x, padding) if any(p[1] for p in padding) else x


def _real_transform(op, rank):
    def transform(input_tensor, fft_length=None, name=None):
        x = convert_to_tensor(input_tensor, dtype_hint=dtypes.float32)
        if x.dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{op.op_name.lower()} requires tf.float32 or tf.float64 inputs, got: {x}")
        result = dtypes.complex64 if x.dtype is dtypes.float32 else dtypes.complex128
        if fft_length is None:
            length = (
                tf.shape(x)[-rank:]
                if not x.shape.is_fully_defined()
                else convert_to_tensor(x.shape.as_list()[-rank:], dtypes.int32)
            )
        else:
            length = convert_to_tensor(fft_length, dtypes.int32)
            x = _fitted(x, length, rank, False)
        return op(input=x, fft_length=length, Tcomplex=result, name=name)

    transform.__name__ = op.op_name.lower()
    return transform


def _inverse_real_transform(op, rank):
    def transform(input_tensor, fft_length=None, name=None):
        x = convert_to_tensor(input_tensor, dtype_hint=dtypes.complex64)
        result = dtypes.float32 if x.dtype is dtypes.complex64 else dtypes.float64
        if fft_length is None:
            sizes = tf.shape(x)[-rank:]
            length = tf.concat([sizes[:-1], tf.maximum(2 * (sizes[-1:] - 1), 0)], 0)
            if x.shape.is_fully_defined():
                known = x.shape.as_list()[-rank:]
                length = convert_to_tensor([*known[:-1], max(0, 2 * (known[-1] - 1))], dtypes.int32)
        else:
            length = convert_to_tensor(fft_length, dtypes.int32)
            x = _fitted(x, length, rank, True)
        return op(input=x, fft_length=length, Treal=result, name=name)

    transform.__name__ = op.op_name.lower()
    return transform


rfft, rfft2d, rfft3d = _real_transform(raw.RFFT, 1), _real_transform(raw.RFFT2D, 2), _real_transform(raw.RFFT3D, 3)
irfft, irfft2d, irfft3d = (
    _inverse_real_transform(raw.IRFFT, 1),
    _inverse_real_transform(raw.IRFFT2D, 2),
    _inverse_real_transform(raw.IRFFT3D, 3),
)


def _axes(x, axes):
    rank = x.shape.rank
    if axes is None:
        return list(range(rank))
    axes = [axes] if isinstance(axes, int) else [int(a) for a in axes]
    return [a % rank for a in axes]


@dispatchable
def fftshift(x, axes=None, name=None):
    """The zero frequency into the middle."""
    x = convert_to_tensor(x)
    axes = _axes(x, axes)
    return tf.roll(x, [tf.shape(x)[a] // 2 for a in axes], axes)


@dispatchable
def ifftshift(x, axes=None, name=None):
    x = convert_to_tensor(x)
    axes = _axes(x, axes)
    return tf.roll(x, [-(tf.shape(x)[a] // 2) for a in axes], axes)


def _along(x, axis, transform):
    """A transform of the last dimension, along another."""
    rank = x.shape.rank
    if axis == rank - 1:
        return transform(x)
    order = [i for i in range(rank) if i != axis] + [axis]
    back = [order.index(i) for i in range(rank)]
    return tf.transpose(transform(tf.transpose(x, order)), back)


def _nd(x, lengths, axes, norm, transform):
    axes = _axes(x, axes)
    lengths = [None] * len(axes) if lengths is None else [int(n) for n in (constant_value(convert_to_tensor(lengths)))]
    for axis, length in zip(axes, lengths):
        x = _along(
            x,
            axis,
            lambda v: transform(
                _fitted(v, convert_to_tensor([length], dtypes.int32), 1, False) if length is not None else v
            ),
        )
    return x


def _scaled(x, spectrum, axes, lengths, norm, inverse):
    """numpy's norm= on top of "backward", which the ops have."""
    if norm in (None, "backward"):
        return spectrum
    n = 1
    for i, axis in enumerate(_axes(x, axes)):
        n *= int(constant_value(convert_to_tensor(lengths))[i]) if lengths is not None else x.shape[axis]
    factor = (1 / n if not inverse else n) if norm == "forward" else (n**-0.5 if not inverse else n**0.5)
    return spectrum * tf.cast(factor, spectrum.dtype)


def fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    x = convert_to_tensor(input_tensor)
    return _scaled(x, _nd(x, fft_length, axes, norm, fft), axes, fft_length, norm, False)


def ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    x = convert_to_tensor(input_tensor)
    return _scaled(x, _nd(x, fft_length, axes, norm, ifft), axes, fft_length, norm, True)


def rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    x = convert_to_tensor(input_tensor)
    axes_, lengths = (
        _axes(x, axes),
        (None if fft_length is None else [int(n) for n in constant_value(convert_to_tensor(fft_length))]),
    )
    made = _along(x, axes_[-1], lambda v: rfft(v, None if lengths is None else [lengths[-1]]))
    if axes_[:-1]:
        made = _nd(made, None if lengths is None else lengths[:-1], axes_[:-1], None, fft)
    return _scaled(x, made, axes_, lengths, norm, False)


def irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    x = convert_to_tensor(input_tensor)
    axes_, lengths = (
        _axes(x, axes),
        (None if fft_length is None else [int(n) for n in constant_value(convert_to_tensor(fft_length))]),
    )
    made = _nd(x, None if lengths is None else lengths[:-1], axes_[:-1], None, ifft) if axes_[:-1] else x
    made = _along(made, axes_[-1], lambda v: irfft(v, None if lengths is None else [lengths[-1]]))
    return _scaled(made, made, axes_, lengths, norm, True)


# ---- cosine transforms -----------------------------------------------------------------------------------


def _check_dct(x, type, n, axis, norm, name):
    if axis != -1:
        raise NotImplementedError("axis must be -1. Got: %s" % axis)
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in (1, 2, 3, 4):
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1:
        if norm == "ortho":
            raise ValueError("Normalization is not supported for the Type-I DCT.")
        if x.shape[-1] is not None and x.shape[-1] < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError("Unknown normalization. Expected None or 'ortho', got: %s" % norm)


@dispatchable
def dct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The discrete cosine transform of the last dimension."""
    x = convert_to_tensor(input)
    _check_dct(x, type, n, axis, norm, name)
    if n is not None:
        size = x.shape[-1]
        x = x[..., :n] if size >= n else tf.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[0, n - size]])
    size = x.shape[-1] if x.shape[-1] is not None else tf.shape(x)[-1]
    wide = tf.cast(size, x.dtype)
    if type == 1:
        return tf.math.real(rfft(tf.concat([x, x[..., -2:0:-1]], -1)))
    if type == 2:
        angle = -tf.range(tf.cast(0, x.dtype), wide) * math.pi * 0.5 / wide
        scale = 2.0 * tf.exp(tf.complex(tf.zeros_like(angle), angle))
        made = tf.math.real(rfft(x, fft_length=[2 * size])[..., :size] * scale)
        if norm == "ortho":
            first = 0.5 * tf.math.rsqrt(wide)
            rest = first * math.sqrt(2.0)
            made = made * tf.concat([[first], tf.fill([size - 1], rest)], 0) if size != 1 else made * first
        return made
    if type == 3:
        if norm == "ortho":
            first = tf.math.sqrt(wide)
            rest = first * math.sqrt(0.5)
            x = x * tf.concat([[first], tf.fill([size - 1], rest)], 0)
        else:
            x = x * wide
        angle = tf.range(tf.cast(0, x.dtype), wide) * math.pi * 0.5 / wide
        scale = 2.0 * tf.exp(tf.complex(tf.zeros_like(angle), angle))
        return tf.math.real(irfft(scale * tf.complex(x, tf.zeros_like(x)), fft_length=[2 * size]))[..., :size]
    odd = _dct4(x, size)
    return odd * math.sqrt(0.5) * tf.math.rsqrt(wide) if norm == "ortho" else odd


def _dct4(x, size):
    """Every second coefficient of a transform of type 2 that is twice as long."""
    return dct(x, type=2, n=2 * size)[..., 1::2]


@dispatchable
def idct(input, type=2, n=None, axis=-1, norm=None, name=None):
    """The inverse of dct, but for a factor where norm is None, as TensorFlow has it."""
    x = convert_to_tensor(input)
    _check_dct(x, type, n, axis, norm, name)
    return dct(x, type={1: 1, 2: 3, 3: 2, 4: 4}[type], n=n, axis=axis, norm=norm, name=name)


# ---- windows ---------------------------------------------------------------------------------------------


def _raised_cosine(length, periodic, dtype, a, b):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("dtype must be a floating point type. Found %s" % dtype)
    length = convert_to_tensor(length, dtypes.int32)
    # A periodic window of even length is a symmetric one that is longer by one, without its end.
    n = tf.cast(length - length % 2 if periodic else length - 1, dtype)
    count = tf.cast(tf.range(length), dtype)
    known = constant_value(length)
    if known is not None and known == 1:
        return tf.ones([1], dtype)
    return tf.cast(a - b * tf.cos(2 * math.pi * count / n), dtype)


@dispatchable
def hann_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    return _raised_cosine(window_length, periodic, dtype, 0.5, 0.5)


@dispatchable
def hamming_window(window_length, periodic=True, dtype=dtypes.float32, name=None):
    return _raised_cosine(window_length, periodic, dtype, 0.54, 0.46)


@dispatchable
def vorbis_window(window_length, dtype=dtypes.float32, name=None):
    n = tf.cast(tf.range(window_length), dtype)
    return tf.sin(math.pi / 2.0 * tf.pow(tf.sin(math.pi / tf.cast(window_length, dtype) * (n + 0.5)), 2.0))


@dispatchable
def kaiser_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    length = convert_to_tensor(window_length, dtypes.int32)
    if constant_value(length) == 1:
        return tf.ones([1], dtype)
    half = tf.cast(length - 1, dtype) / 2.0
    arg = (tf.cast(tf.range(length), dtype) - half) / half
    beta = tf.cast(beta, dtype)
    top = raw.BesselI0e(x=beta * tf.sqrt(1.0 - arg * arg))
    return top * tf.exp(beta * tf.sqrt(1.0 - arg * arg) - beta) / raw.BesselI0e(x=beta)


@dispatchable
def kaiser_bessel_derived_window(window_length, beta=12.0, dtype=dtypes.float32, name=None):
    half = convert_to_tensor(window_length, dtypes.int32) // 2
    sums = tf.cumsum(kaiser_window(half + 1, beta, dtype))
    rising = tf.sqrt(sums[:-1] / sums[-1])
    return tf.concat([rising, rising[::-1]], 0)


# ---- frames ----------------------------------------------------------------------------------------------


@dispatchable
def frame(signal, frame_length, frame_step, pad_end=False, pad_value=0, axis=-1, name=None):
    """Overlapping pieces of a dimension, which becomes two."""
    signal = convert_to_tensor(signal)
    rank = signal.shape.rank
    axis = axis % rank
    size = signal.shape[axis] if signal.shape[axis] is not None else tf.shape(signal)[axis]
    if pad_end:
        count = -(-size // frame_step)
        missing = tf.maximum(0, frame_length + frame_step * (count - 1) - size)
        if signal.shape[axis] is not None:
            missing = max(0, frame_length + frame_step * (count - 1) - size)
        pads = [[0, 0]] * axis + [[0, missing]] + [[0, 0]] * (rank - axis - 1)
        signal = tf.pad(signal, pads, constant_values=tf.cast(pad_value, signal.dtype))
    else:
        count = 1 + (size - frame_length) // frame_step
        count = max(0, count) if isinstance(count, int) else tf.maximum(0, count)
    at = tf.reshape(tf.range(count) * frame_step, [-1, 1]) + tf.reshape(tf.range(frame_length), [1, -1])
    return tf.gather(signal, at, axis=axis)


@dispatchable
def overlap_and_add(signal, frame_step, name=None):
    """Frames laid over each other, each a step further, and summed."""
    signal = convert_to_tensor(signal)
    frames, length = tf.shape(signal)[-2], tf.shape(signal)[-1]
    if signal.shape.is_fully_defined():
        frames, length = signal.shape.as_list()[-2:]
    total = (frames - 1) * frame_step + length
    at = tf.reshape(tf.reshape(tf.range(frames) * frame_step, [-1, 1]) + tf.reshape(tf.range(length), [1, -1]), [-1])
    outer = tf.shape(signal)[:-2]
    flat = tf.reshape(signal, tf.concat([outer, [frames * length]], 0))
    rank = signal.shape.rank - 1
    order = [rank - 1, *range(rank - 1)]
    summed = raw.UnsortedSegmentSum(data=tf.transpose(flat, order), segment_ids=at, num_segments=total)
    return tf.transpose(summed, [*range(1, rank), 0])


# ---- short-time transforms -------------------------------------------------------------------------------


def _power_of_two(n):
    return 1 << max(0, int(n - 1).bit_length())


@dispatchable
def stft(signals, frame_length, frame_step, fft_length=None, window_fn=hann_window, pad_end=False, name=None):
    """The Fourier transforms of overlapping frames."""
    signals = convert_to_tensor(signals)
    known = constant_value(convert_to_tensor(frame_length))
    fft_length = _power_of_two(int(known)) if fft_length is None else fft_length
    frames = frame(signals, frame_length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(frame_length, dtype=frames.dtype)
    return rfft(frames, [fft_length])


@dispatchable
def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """The window that undoes a forward window's."""

    def inverse(frame_length, dtype):
        forward = forward_window_fn(frame_length, dtype=dtype)
        size = int(constant_value(convert_to_tensor(frame_length)))
        step = int(constant_value(convert_to_tensor(frame_step)))
        overlaps = -(-size // step)
        square = tf.pad(tf.square(forward), [[0, overlaps * step - size]])
        total = tf.reduce_sum(tf.reshape(square, [overlaps, step]), 0, keepdims=True)
        return forward / tf.reshape(tf.tile(total, [overlaps, 1]), [overlaps * step])[:size]

    return inverse


@dispatchable
def inverse_stft(stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None):
    stfts = convert_to_tensor(stfts)
    size = int(constant_value(convert_to_tensor(frame_length)))
    fft_length = _power_of_two(size) if fft_length is None else fft_length
    frames = irfft(stfts, [fft_length])[..., :size]
    missing = size - int(constant_value(convert_to_tensor(fft_length)))
    if missing > 0:
        frames = tf.pad(frames, [[0, 0]] * (frames.shape.rank - 1) + [[0, missing]])
    if window_fn is not None:
        frames = frames * window_fn(size, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


@dispatchable
def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified cosine transform: frames that overlap by half."""
    signals = convert_to_tensor(signals)
    size = int(constant_value(convert_to_tensor(frame_length)))
    if size % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    half = size // 2
    frames = frame(signals, size, half, pad_end=pad_end)
    window = (
        tf.ones([size], frames.dtype) * math.sqrt(0.5) if window_fn is None else window_fn(size, dtype=frames.dtype)
    )
    a, b, c, d = tf.split(frames * window, 4, axis=-1)
    folded = tf.concat([-c[..., ::-1] - d, a - b[..., ::-1]], -1)
    return dct(folded, type=4, norm=norm)


@dispatchable
def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    mdcts = convert_to_tensor(mdcts)
    half = mdcts.shape[-1]
    if norm is None:
        folded = dct(mdcts, type=4, norm=None) * (0.5 / half)
    else:
        folded = dct(mdcts, type=4, norm="ortho")
    first, second = tf.split(folded, 2, axis=-1)
    real = tf.concat([second, -second[..., ::-1], -first[..., ::-1], -first], -1)
    window = (
        tf.ones([2 * half], real.dtype) * math.sqrt(0.5) if window_fn is None else window_fn(2 * half, dtype=real.dtype)
    )
    return overlap_and_add(real * window, half)


# ---- mel -------------------------------------------------------------------------------------------------


def _to_mel(hertz):
    return 1127.0 * tf.math.log(1.0 + hertz / 700.0)


@dispatchable
def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=dtypes.float32,
    name=None,
):
    """Triangles on the mel scale: what turns a spectrogram into a mel spectrogram."""
    if num_mel_bins <= 0:
        raise ValueError("num_mel_bins must be positive. Got: %s" % num_mel_bins)
    if lower_edge_hertz < 0.0:
        raise ValueError("lower_edge_hertz must be non-negative. Got: %s" % lower_edge_hertz)
    if lower_edge_hertz >= upper_edge_hertz:
        raise ValueError("lower_edge_hertz %.1f >= upper_edge_hertz %.1f" % (lower_edge_hertz, upper_edge_hertz))
    if upper_edge_hertz > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got %s for sample_rate: %s"
            % (upper_edge_hertz, sample_rate)
        )
    nyquist = tf.cast(sample_rate, dtype) / 2.0
    bins = _to_mel(tf.linspace(tf.cast(0.0, dtype), nyquist, num_spectrogram_bins)[1:])[:, tf.newaxis]
    edges = tf.linspace(
        _to_mel(tf.cast(lower_edge_hertz, dtype)), _to_mel(tf.cast(upper_edge_hertz, dtype)), num_mel_bins + 2
    )
    lower, center, upper = (tf.reshape(edges[i : i + num_mel_bins], [1, num_mel_bins]) for i in range(3))
    weights = tf.maximum(
        tf.cast(0, dtype), tf.minimum((bins - lower) / (center - lower), (upper - bins) / (upper - center))
    )
    return tf.pad(weights, [[1, 0], [0, 0]])


@dispatchable
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients: the scaled cosine transform of the logarithms."""
    spectrograms = convert_to_tensor(log_mel_spectrograms)
    bins = spectrograms.shape[-1] if spectrograms.shape[-1] is not None else tf.shape(spectrograms)[-1]
    if bins == 0:
        raise ValueError("num_mel_bins must be positive. Got: %s" % log_mel_spectrograms)
    return dct(spectrograms, type=2) * tf.math.rsqrt(2.0 * tf.cast(bins, spectrograms.dtype))
