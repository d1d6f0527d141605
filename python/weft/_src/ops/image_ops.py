"""tf.image: sizes, places and colours of images. One image [height, width, channels] or a batch of them; see image_random.py for random changes and
image_boxes.py for boxes, files and measures."""

import weft as tf
from weft import _weft
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import constant_value, convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.static_value import constant_value_as_shape
from weft._src.framework.tensor import EagerTensor
from weft._src.ops._direct import scope


class ResizeMethod:
    """The names of the ways to resize."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _batched(image, function, what="image"):
    """Calls a function of batches for one image, too."""
    image = convert_to_tensor(image)
    rank = image.shape.rank
    if rank is None:  # taken for a single one
        image = tf.identity(image)
        image.set_shape([None] * 3)
    if rank in (3, None):
        return tf.squeeze(function(tf.expand_dims(image, 0)), [0])
    if rank != 4:
        raise ValueError(f"'{what}' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return function(image)


def _size(image, axis):
    known = image.shape[axis] if image.shape.rank is not None else None
    return known if known is not None else tf.shape(image)[axis]


# ---- sizes -----------------------------------------------------------------------------------------------


def _resized(images, size, method, antialias):
    if method in (ResizeMethod.LANCZOS3, ResizeMethod.LANCZOS5, ResizeMethod.GAUSSIAN, ResizeMethod.MITCHELLCUBIC) or (
        antialias and method in (ResizeMethod.BILINEAR, ResizeMethod.BICUBIC)
    ):
        kernel = {ResizeMethod.BILINEAR: "triangle", ResizeMethod.BICUBIC: "keyscubic"}.get(method, method)
        ratio = tf.cast(size, dtypes.float32) / tf.cast(tf.shape(images)[1:3], dtypes.float32)
        return raw.ScaleAndTranslate(
            images=images, size=size, scale=ratio, translation=tf.zeros([2]), kernel_type=kernel, antialias=antialias
        )
    if method == ResizeMethod.BILINEAR:
        return raw.ResizeBilinear(images=images, size=size, half_pixel_centers=True)
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return raw.ResizeNearestNeighbor(images=images, size=size, half_pixel_centers=True)
    if method == ResizeMethod.BICUBIC:
        return raw.ResizeBicubic(images=images, size=size, half_pixel_centers=True)
    if method == ResizeMethod.AREA:
        return raw.ResizeArea(images=images, size=size)
    raise ValueError("Resize method is not implemented: {}".format(method))


@dispatchable
def resize(images, size, method=ResizeMethod.BILINEAR, preserve_aspect_ratio=False, antialias=False, name=None):
    """Images of another size."""
    with scope(name, "resize"):
        return resize_by(
            lambda batch, size: _resized(batch, size, method, antialias),
            lambda batch: (
                batch
                if method == ResizeMethod.NEAREST_NEIGHBOR or batch.dtype is dtypes.float32
                else tf.cast(batch, dtypes.float32)
            ),
            images,
            size,
            preserve_aspect_ratio,
        )


def resize_by(resized, unchanged, images, size, preserve_aspect_ratio):
    """`resized`(images, size), or `unchanged`(images) where they have the size."""
    images = convert_to_tensor(images, name="images")
    if images.shape.rank is None:
        raise ValueError("'images' contains no shape.")
    if images.shape.rank not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    single = images.shape.rank == 3
    batch = tf.expand_dims(images, 0) if single else images
    size = convert_to_tensor(size, dtypes.int32, name="size")
    if not size.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if preserve_aspect_ratio:
        have = tf.cast(tf.shape(batch)[1:3], dtypes.float32)
        ratio = tf.reduce_min(tf.cast(size, dtypes.float32) / have)
        size = tf.cast(tf.round(ratio * have), dtypes.int32)
    known = constant_value(size)
    if known is not None and batch.shape[1:3].as_list() == [int(known[0]), int(known[1])]:
        made = unchanged(batch)
    else:
        made = resized(batch, size)
        if not isinstance(made, EagerTensor):
            sizes = constant_value_as_shape(size)
            made.set_shape([None, *([None, None] if sizes.rank is None else sizes.as_list()), None])
    return tf.squeeze(made, [0]) if single else made


@dispatchable
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """A part of an image."""

    def crop(batch):
        for text, wrong in (
            ("offset_width must be >= 0.", _negative(offset_width)),
            ("offset_height must be >= 0.", _negative(offset_height)),
            ("target_width must be > 0.", _negative(target_width, 1)),
            ("target_height must be > 0.", _negative(target_height, 1)),
        ):
            if wrong:
                raise ValueError(text)
        height, width = batch.shape[1], batch.shape[2]
        if (
            isinstance(offset_width, int)
            and isinstance(target_width, int)
            and width is not None
            and width < target_width + offset_width
        ):
            raise ValueError("width must be >= target + offset.")
        if (
            isinstance(offset_height, int)
            and isinstance(target_height, int)
            and height is not None
            and height < target_height + offset_height
        ):
            raise ValueError("height must be >= target + offset.")
        made = raw.Slice(
            input=batch,
            begin=tf.stack([0, offset_height, offset_width, 0]),
            size=tf.stack([-1, target_height, target_width, -1]),
        )
        return _with_shape(made, batch, target_height, target_width)

    return _batched(image, crop)


def _negative(value, least=0):
    known = constant_value(convert_to_tensor(value))
    return known is not None and known < least


def _with_shape(made, batch, height, width):
    made.set_shape(
        [
            batch.shape[0],
            height if isinstance(height, int) else None,
            width if isinstance(width, int) else None,
            batch.shape[3],
        ]
    )
    return made


@dispatchable
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """An image in a larger one that is zero elsewhere."""

    def pad(batch):
        below = target_height - offset_height - _size(batch, 1)
        right = target_width - offset_width - _size(batch, 2)
        for text, value in (
            ("offset_height must be >= 0", offset_height),
            ("offset_width must be >= 0", offset_width),
            ("width must be <= target - offset", right),
            ("height must be <= target - offset", below),
        ):
            if _negative(value):
                raise ValueError(text)
        made = tf.pad(batch, tf.reshape(tf.stack([0, 0, offset_height, below, offset_width, right, 0, 0]), [4, 2]))
        return _with_shape(made, batch, target_height, target_width)

    return _batched(image, pad)


@dispatchable
def central_crop(image, central_fraction):
    """The middle of an image."""
    fraction = constant_value(convert_to_tensor(central_fraction))
    if fraction is not None and not 0.0 < fraction <= 1.0:
        raise ValueError("central_fraction must be within (0, 1]")
    if fraction is not None and fraction == 1.0:
        return convert_to_tensor(image)

    rank = convert_to_tensor(image).shape.rank
    if rank is None:
        raise ValueError("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = None.")

    def crop(batch):
        boxes = []
        for axis in (1, 2):
            size = _size(batch, axis)
            if isinstance(size, int) and fraction is not None:
                start = int((size - size * float(fraction)) / 2)
                boxes.append((start, size - 2 * start))
            else:
                start = tf.cast(
                    (
                        tf.cast(size, dtypes.float64)
                        - tf.cast(size, dtypes.float64) * tf.cast(central_fraction, dtypes.float64)
                    )
                    / 2.0,
                    dtypes.int32,
                )
                boxes.append((start, size - 2 * start))
        made = raw.Slice(
            input=batch,
            begin=tf.stack([0, boxes[0][0], boxes[1][0], 0]),
            size=tf.stack([-1, boxes[0][1], boxes[1][1], -1]),
        )
        return _with_shape(made, batch, boxes[0][1], boxes[1][1])

    return _batched(image, crop)


@dispatchable
def resize_with_crop_or_pad(image, target_height, target_width):
    """Cut or padded around the middle."""

    def fit(batch):
        for value, text in ((target_width, "target_width must be > 0."), (target_height, "target_height must be > 0.")):
            if _negative(value, 1):
                raise ValueError(text)
        height, width = _size(batch, 1), _size(batch, 2)
        dh, dw = target_height - height, target_width - width
        smaller = min if all(isinstance(v, int) for v in (dh, dw, target_height, target_width)) else tf.minimum
        larger = max if smaller is min else tf.maximum
        cut = crop_to_bounding_box(
            batch,
            larger(-dh // 2, 0),
            larger(-dw // 2, 0),
            smaller(target_height, height),
            smaller(target_width, width),
        )
        return pad_to_bounding_box(cut, larger(dh // 2, 0), larger(dw // 2, 0), target_height, target_width)

    return _batched(image, fit)


@dispatchable
def resize_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False):
    """Resized without a change of its form; zero around it."""
    return pad_around(
        image, target_height, target_width, lambda batch, size: resize(batch, size, method, antialias=antialias)
    )


def pad_around(image, target_height, target_width, resized):
    """`resized`(images, size) as large as fits, in the middle of zeros."""

    def fit(batch):
        height, width = tf.cast(_size(batch, 1), dtypes.float64), tf.cast(_size(batch, 2), dtypes.float64)
        th, tw = tf.cast(target_height, dtypes.float64), tf.cast(target_width, dtypes.float64)
        ratio = tf.maximum(width / tw, height / th)
        nh, nw = tf.cast(tf.floor(height / ratio), dtypes.int32), tf.cast(tf.floor(width / ratio), dtypes.int32)
        top = tf.maximum(0, tf.cast(tf.floor((th - height / ratio) / 2), dtypes.int32))
        left = tf.maximum(0, tf.cast(tf.floor((tw - width / ratio) / 2), dtypes.int32))
        made = resized(batch, tf.stack([nh, nw]))
        below, right = target_height - top - nh, target_width - left - nw
        made = tf.pad(made, tf.reshape(tf.stack([0, 0, top, below, left, right, 0, 0]), [4, 2]))
        return _with_shape(made, batch, target_height, target_width)

    return _batched(image, fit)


# ---- places ----------------------------------------------------------------------------------------------


def _check_three(image):
    image = convert_to_tensor(image)
    if image.shape.rank is not None and image.shape.rank < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    return image


@dispatchable
def flip_left_right(image):
    return _reversed(image, 2, "flip_left_right")


@dispatchable
def flip_up_down(image):
    return _reversed(image, 3, "flip_up_down")


def _reversed(image, axis, name):
    with scope(None, name):
        image = _check_three(image)
        if _weft.in_graph():
            image = raw.Identity(input=image, name="control_dependency")
        rank = image.shape.rank
        return raw.ReverseV2(
            tensor=image, axis=tf.expand_dims(tf.rank(image) - axis, 0) if rank is None else [rank - axis]
        )


@dispatchable
def transpose(image, name=None):
    image = _check_three(image)
    return tf.transpose(image, [1, 0, 2] if image.shape.rank in (3, None) else [0, 2, 1, 3])


@dispatchable
def rot90(image, k=1, name=None):
    """Turned k times by a right angle, against the clock."""
    image = _check_three(image)
    if image.shape.rank is None:

        def of_rank(rank):
            known = tf.identity(image)
            known.set_shape([None] * rank)
            return rot90(known, k)

        return tf.cond(tf.equal(tf.rank(image), 3), lambda: of_rank(3), lambda: of_rank(4))
    turns = None if _weft.in_graph() else constant_value(convert_to_tensor(k, dtypes.int32))

    def rotated(n):
        if n == 1:
            return transpose(flip_left_right(image))
        if n == 2:
            return flip_left_right(flip_up_down(image))
        return flip_left_right(transpose(image)) if n == 3 else image

    if turns is not None:
        return rotated(int(turns) % 4)
    made = tf.switch_case(tf.math.floormod(tf.cast(k, dtypes.int32), 4), [lambda n=n: rotated(n) for n in range(4)])
    made.set_shape(
        [None if i in (image.shape.rank - 3, image.shape.rank - 2) else d for i, d in enumerate(image.shape.as_list())]
    )
    return made


# ---- colours ---------------------------------------------------------------------------------------------


@dispatchable
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Another type, with the values scaled to its range: [0, 1] for floating types."""
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return tf.identity(image)
    with scope(name, "convert_image") as name:
        return _converted_image(image, dtype, saturate, name)


def _converted_image(image, dtype, saturate, name):
    if image.dtype.is_integer and dtype.is_integer:
        have, want = image.dtype.max, dtype.max
        if have > want:
            scaled = image // int((int(have) + 1) // (int(want) + 1))
            return tf.saturate_cast(scaled, dtype, name=name) if saturate else tf.cast(scaled, dtype, name=name)
        scale = (int(want) + 1) // (int(have) + 1)
        made = tf.saturate_cast(image, dtype) if saturate else tf.cast(image, dtype)
        return made * scale
    if image.dtype.is_floating and dtype.is_floating:
        return tf.cast(image, dtype, name=name)
    if image.dtype.is_integer:
        return raw.Mul(x=tf.cast(image, dtype), y=1.0 / float(image.dtype.max), name=name)
    scaled = image * (float(dtype.max) + 0.5)
    return tf.saturate_cast(scaled, dtype, name=name) if saturate else tf.cast(scaled, dtype, name=name)


def _in_float(images, function):
    """Colour changes are made in floating point and given back in the type of the image."""
    images = convert_to_tensor(images)
    original = images.dtype
    if original in (dtypes.float16, dtypes.float32):
        work = images
    else:
        work = convert_image_dtype(images, dtypes.float32)
    return convert_image_dtype(function(work), original, saturate=True)


@dispatchable
def adjust_brightness(image, delta):
    with scope(None, "adjust_brightness") as name:
        return _in_float(image, lambda x: raw.AddV2(x=x, y=tf.cast(delta, x.dtype), name=name))


@dispatchable
def adjust_contrast(images, contrast_factor):
    return _in_float(
        images,
        lambda x: tf.cast(
            raw.AdjustContrastv2(images=x, contrast_factor=tf.cast(contrast_factor, dtypes.float32)), x.dtype
        ),
    )


@dispatchable
def adjust_gamma(image, gamma=1, gain=1):
    known = constant_value(convert_to_tensor(gamma))
    if known is not None and known < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return _in_float(image, lambda x: gain * x ** tf.cast(gamma, x.dtype))


@dispatchable
def adjust_hue(image, delta, name=None):
    known = constant_value(convert_to_tensor(delta))
    if known is not None and not -1 <= known <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _in_float(image, lambda x: raw.AdjustHue(images=x, delta=tf.cast(delta, dtypes.float32)))


@dispatchable
def adjust_saturation(image, saturation_factor, name=None):
    return _in_float(image, lambda x: raw.AdjustSaturation(images=x, scale=tf.cast(saturation_factor, dtypes.float32)))


@dispatchable
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """As if stored as JPEG and read again."""
    image = convert_to_tensor(image)
    original = image.dtype
    channels = image.shape[-1] or 0
    image = convert_image_dtype(image, dtypes.uint8, saturate=True)
    if isinstance(jpeg_quality, int):
        jpeg_quality = convert_to_tensor(jpeg_quality, dtypes.int32)
    contents = raw.EncodeJpegVariableQuality(images=image, quality=jpeg_quality)
    return convert_image_dtype(
        raw.DecodeJpeg(contents=contents, channels=channels, dct_method=dct_method), original, saturate=True
    )


@dispatchable
def per_image_standardization(image):
    """Mean zero and deviation one, image by image."""
    image = (
        tf.cast(convert_to_tensor(image), dtypes.float32)
        if not convert_to_tensor(image).dtype.is_floating
        else convert_to_tensor(image)
    )
    axes = [-1, -2, -3]
    count = tf.cast(tf.reduce_prod(tf.shape(image)[-3:]), image.dtype)
    mean = tf.reduce_mean(image, axis=axes, keepdims=True)
    deviation = tf.math.reduce_std(image, axis=axes, keepdims=True)
    return (image - mean) / tf.maximum(deviation, tf.math.rsqrt(count))


def rgb_to_hsv(images, name=None):
    return raw.RGBToHSV(images=images, name=name)


def hsv_to_rgb(images, name=None):
    return raw.HSVToRGB(images=images, name=name)


@dispatchable
def rgb_to_grayscale(images, name=None):
    images = convert_to_tensor(images)
    original = images.dtype
    work = convert_image_dtype(images, dtypes.float32)
    gray = tf.tensordot(work, convert_to_tensor([0.2989, 0.587, 0.114], work.dtype), [[-1], [-1]])
    return convert_image_dtype(tf.expand_dims(gray, -1), original)


@dispatchable
def grayscale_to_rgb(images, name=None):
    images = convert_to_tensor(images)
    if images.shape.rank is not None and images.shape[-1] not in (1, None):
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    return tf.tile(images, [1] * (images.shape.rank - 1) + [3])


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]


def _colours(images, matrix):
    images = convert_to_tensor(images)
    return tf.tensordot(images, convert_to_tensor(matrix, images.dtype), [[images.shape.rank - 1], [0]])


@dispatchable
def rgb_to_yiq(images):
    return _colours(images, _YIQ)


@dispatchable
def yiq_to_rgb(images):
    return _colours(images, _FROM_YIQ)


@dispatchable
def rgb_to_yuv(images):
    return _colours(images, _YUV)


@dispatchable
def yuv_to_rgb(images):
    return _colours(images, _FROM_YUV)
