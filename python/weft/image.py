"""tf.image."""

from weft._src.namespace import missing
from weft._src.ops.image_ops import (
    ResizeMethod,
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_jpeg_quality,
    adjust_saturation,  # noqa: F401
    central_crop,
    convert_image_dtype,
    crop_to_bounding_box,
    flip_left_right,
    flip_up_down,
    grayscale_to_rgb,
    hsv_to_rgb,
    pad_to_bounding_box,
    per_image_standardization,
    resize,
    resize_with_crop_or_pad,
    resize_with_pad,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    rot90,
    transpose,
    yiq_to_rgb,
    yuv_to_rgb,
)
from weft._src.ops.image_random import (
    random_brightness,
    random_contrast,
    random_crop,
    random_flip_left_right,
    random_flip_up_down,
    random_hue,  # noqa: F401
    random_jpeg_quality,
    random_saturation,
    stateless_random_brightness,
    stateless_random_contrast,
    stateless_random_crop,
    stateless_random_flip_left_right,
    stateless_random_flip_up_down,
    stateless_random_hue,
    stateless_random_jpeg_quality,
    stateless_random_saturation,
)
from weft._src.ops.image_boxes import (
    combined_non_max_suppression,
    crop_and_resize,
    draw_bounding_boxes,
    extract_glimpse,
    extract_patches,  # noqa: F401
    generate_bounding_box_proposals,
    image_gradients,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
    psnr,
    sample_distorted_bounding_box,
    sobel_edges,
    ssim,
    ssim_multiscale,
    stateless_sample_distorted_bounding_box,
    total_variation,
)
from weft._src.ops.io_ops import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    decode_webp,
    encode_jpeg,  # noqa: F401
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)

__getattr__ = missing("tf.image")
