"""tf.image: random changes, with a seed of an op (random_*) or with one that says all (stateless_random_*)."""

import weft as tf
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops import image_ops
from weft._src.ops.image_boxes import sample_distorted_bounding_box, stateless_sample_distorted_bounding_box  # noqa: F401


def _uniform(shape, low, high, seed, stateless):
    if stateless:
        return tf.random.stateless_uniform(shape, seed, low, high)
    return tf.random.uniform(shape, low, high, seed=seed)


def _flip(image, axis, seed, stateless):
    image = convert_to_tensor(image)
    if image.shape.rank == 3:
        flipped = _uniform([], 0.0, 1.0, seed, stateless) < 0.5
        return tf.cond(flipped, lambda: raw.ReverseV2(tensor=image, axis=[axis]), lambda: tf.identity(image))
    if image.shape.rank not in (4, None):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    draw = _uniform([tf.shape(image)[0]], 0.0, 1.0, seed, stateless)
    flips = tf.cast(tf.round(tf.reshape(draw, [-1, 1, 1, 1])), image.dtype)
    return flips * raw.ReverseV2(tensor=image, axis=[axis + 1]) + (1 - flips) * image


@dispatchable
def random_flip_left_right(image, seed=None):
    return _flip(image, 1, seed, False)


@dispatchable
def random_flip_up_down(image, seed=None):
    return _flip(image, 0, seed, False)


@dispatchable
def stateless_random_flip_left_right(image, seed):
    return _flip(image, 1, seed, True)


@dispatchable
def stateless_random_flip_up_down(image, seed):
    return _flip(image, 0, seed, True)


def _around(delta, text):
    if delta < 0:
        raise ValueError(text)
    return -delta, delta


def _between(lower, upper, low_text="lower must be non-negative."):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError(low_text)
    return lower, upper


@dispatchable
def random_brightness(image, max_delta, seed=None):
    return image_ops.adjust_brightness(
        image, _uniform([], *_around(max_delta, "max_delta must be non-negative."), seed, False)
    )


@dispatchable
def stateless_random_brightness(image, max_delta, seed):
    return image_ops.adjust_brightness(
        image, _uniform([], *_around(max_delta, "max_delta must be non-negative."), seed, True)
    )


@dispatchable
def random_contrast(image, lower, upper, seed=None):
    return image_ops.adjust_contrast(image, _uniform([], *_between(lower, upper), seed, False))


@dispatchable
def stateless_random_contrast(image, lower, upper, seed):
    return image_ops.adjust_contrast(image, _uniform([], *_between(lower, upper), seed, True))


def _hue(max_delta):
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    return _around(max_delta, "max_delta must be non-negative.")


@dispatchable
def random_hue(image, max_delta, seed=None):
    return image_ops.adjust_hue(image, _uniform([], *_hue(max_delta), seed, False))


@dispatchable
def stateless_random_hue(image, max_delta, seed):
    return image_ops.adjust_hue(image, _uniform([], *_hue(max_delta), seed, True))


@dispatchable
def random_saturation(image, lower, upper, seed=None):
    return image_ops.adjust_saturation(image, _uniform([], *_between(lower, upper), seed, False))


@dispatchable
def stateless_random_saturation(image, lower, upper, seed=None):
    return image_ops.adjust_saturation(image, _uniform([], *_between(lower, upper), seed, True))


def _quality(low, high):
    if low < 0 or high < 0 or low > 100 or high > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if low >= high:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return low, high


@dispatchable
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    low, high = _quality(min_jpeg_quality, max_jpeg_quality)
    return image_ops.adjust_jpeg_quality(image, tf.random.uniform([], low, high, dtype=dtypes.int32, seed=seed))


@dispatchable
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    low, high = _quality(min_jpeg_quality, max_jpeg_quality)
    return image_ops.adjust_jpeg_quality(image, tf.random.stateless_uniform([], seed, low, high, dtype=dtypes.int32))


def _cropped(value, size, draw):
    value = convert_to_tensor(value)
    size = convert_to_tensor(size, dtypes.int32)
    have, want = constant_value(tf.shape(value)), constant_value(size)
    if have is not None and want is not None and (have < want).any():
        raise ValueError(f"Need value.shape >= size, got {have} {want}")
    room = tf.shape(value) - size + 1
    offset = draw(tf.shape(room), size.dtype) % room
    return raw.Slice(input=value, begin=offset, size=size)


@dispatchable
def random_crop(value, size, seed=None, name=None):
    """A part of that size, anywhere."""
    return _cropped(
        value, size, lambda shape, dtype: tf.random.uniform(shape, dtype=dtype, maxval=dtype.max, seed=seed)
    )


@dispatchable
def stateless_random_crop(value, size, seed, name=None):
    return _cropped(
        value, size, lambda shape, dtype: tf.random.stateless_uniform(shape, seed, dtype=dtype, maxval=dtype.max)
    )
