"""tf.compat.v1.image: pictures, resized as version 1 does it."""

from weft._src.compat.v1.version_2 import namespace as _namespace

_MODULES = """
compat.v1.image: ResizeMethod draw_bounding_boxes extract_glimpse resize resize_area resize_bicubic resize_bilinear resize_image_with_pad
compat.v1.image: resize_nearest_neighbor sample_distorted_bounding_box
"""

__getattr__, __dir__ = _namespace(globals(), "image", _MODULES)
