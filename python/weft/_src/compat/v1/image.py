"""tf.compat.v1.image: resizing as version 1 does it, and arguments in its order."""

from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.ops import image_ops
from weft._src.ops._direct import define, scope


class ResizeMethod:
    """How resize finds values between pixels."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


_OPS = {0: raw.ResizeBilinear, 1: raw.ResizeNearestNeighbor, 2: raw.ResizeBicubic, 3: raw.ResizeArea}
_OPS.update({"bilinear": _OPS[0], "nearest": _OPS[1], "bicubic": _OPS[2], "area": _OPS[3]})


@dispatchable
def resize(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    """Images of another size; corners, not centres, of pixels have whole coordinates."""

    def resized(batch, size):
        if method not in _OPS:
            raise ValueError("Resize method is not implemented: {}".format(method))
        return _OPS[method](images=batch, size=size, align_corners=align_corners)

    with scope(name, "resize"):
        return image_ops.resize_by(resized, lambda batch: batch, images, size, preserve_aspect_ratio)


define(
    globals(),
    """
resize_area images, size, align_corners=False
resize_bicubic images, size, align_corners=False, name=None, half_pixel_centers=False
resize_bilinear images, size, align_corners=False, name=None, half_pixel_centers=False
resize_nearest_neighbor images, size, align_corners=False, name=None, half_pixel_centers=False
extract_glimpse input, size, offsets, centered=True, normalized=True, uniform_noise=True
""",
)


@dispatchable
def resize_image_with_pad(image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False):
    """Resized without distortion, with zeros around it."""
    return image_ops.pad_around(
        image, target_height, target_width, lambda batch, size: resize(batch, size, method, align_corners)
    )


@dispatchable
def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """Images with boxes drawn into them."""
    if colors is None:
        return raw.DrawBoundingBoxes(images=images, boxes=boxes, name=name)
    return raw.DrawBoundingBoxesV2(images=images, boxes=boxes, colors=colors, name=name)


@dispatchable
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A box by chance that has enough of an object in it."""
    from weft._src.ops.image_boxes import _sampling

    return raw.SampleDistortedBoundingBoxV2(
        image_size=image_size,
        bounding_boxes=bounding_boxes,
        min_object_covered=convert_to_tensor(min_object_covered, dtypes.float32),
        seed=seed or 0,
        seed2=seed2 or 0,
        name=name,
        **_sampling(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )
