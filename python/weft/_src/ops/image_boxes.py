"""tf.image: boxes, patches and measures."""

import weft as tf
from weft._src.raw import raw
from weft._src.framework import dtypes
from weft._src.framework.convert import convert_to_tensor
from weft._src.framework.dispatch import dispatchable
from weft._src.framework.tensor import EagerTensor

# ---- boxes -----------------------------------------------------------------------------------------------


@dispatchable
def crop_and_resize(image, boxes, box_indices, crop_size, method="bilinear", extrapolation_value=0.0, name=None):
    return raw.CropAndResize(
        image=image,
        boxes=boxes,
        box_ind=box_indices,
        crop_size=crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


@dispatchable
def generate_bounding_box_proposals(
    scores,
    bbox_deltas,
    image_info,
    anchors,
    nms_threshold=0.7,
    pre_nms_topn=6000,
    min_size=16,
    post_nms_topn=300,
    name=None,
):
    """Regions of interest from scores and shifts of anchors; the engine has no kernel for CPUs."""
    return raw.GenerateBoundingBoxProposals(
        scores=scores,
        bbox_deltas=bbox_deltas,
        image_info=image_info,
        anchors=anchors,
        nms_threshold=nms_threshold,
        pre_nms_topn=pre_nms_topn,
        min_size=min_size,
        post_nms_topn=post_nms_topn,
        name=name,
    )


@dispatchable
def draw_bounding_boxes(images, boxes, colors, name=None):
    if colors is None:
        return raw.DrawBoundingBoxes(images=images, boxes=boxes, name=name)
    return raw.DrawBoundingBoxesV2(images=images, boxes=boxes, colors=colors, name=name)


@dispatchable
def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The boxes that are left when those that overlap better ones are taken away."""
    return raw.NonMaxSuppressionV3(
        boxes=boxes,
        scores=scores,
        max_output_size=max_output_size,
        iou_threshold=iou_threshold,
        score_threshold=score_threshold,
        name=name,
    )


@dispatchable
def non_max_suppression_with_scores(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), soft_nms_sigma=0.0, name=None
):
    made = raw.NonMaxSuppressionV5(
        boxes=boxes,
        scores=scores,
        max_output_size=max_output_size,
        iou_threshold=iou_threshold,
        score_threshold=score_threshold,
        soft_nms_sigma=soft_nms_sigma,
        pad_to_max_output_size=False,
        name=name,
    )
    return made.selected_indices, made.selected_scores


@dispatchable
def non_max_suppression_overlaps(
    overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"), name=None
):
    return raw.NonMaxSuppressionWithOverlaps(
        overlaps=overlaps,
        scores=scores,
        max_output_size=max_output_size,
        overlap_threshold=overlap_threshold,
        score_threshold=score_threshold,
        name=name,
    )


@dispatchable
def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
    sorted_input=False,
    canonicalized_coordinates=False,
    tile_size=512,
):
    boxes = convert_to_tensor(boxes)
    if boxes.shape.rank != 2:
        raise NotImplementedError("non_max_suppression_padded of a batch of boxes")
    made = raw.NonMaxSuppressionV4(
        boxes=boxes,
        scores=scores,
        max_output_size=max_output_size,
        iou_threshold=iou_threshold,
        score_threshold=score_threshold,
        pad_to_max_output_size=pad_to_max_output_size,
        name=name,
    )
    return made.selected_indices, made.valid_outputs


@dispatchable
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    return raw.CombinedNonMaxSuppression(
        boxes=boxes,
        scores=scores,
        max_output_size_per_class=max_output_size_per_class,
        max_total_size=max_total_size,
        iou_threshold=convert_to_tensor(iou_threshold, dtypes.float32),
        score_threshold=convert_to_tensor(score_threshold, dtypes.float32),
        pad_per_class=pad_per_class,
        clip_boxes=clip_boxes,
        name=name,
    )


def _sampling(aspect_ratio_range, area_range, max_attempts, use_image):
    return dict(
        aspect_ratio_range=aspect_ratio_range or [0.75, 1.33],
        area_range=area_range or [0.05, 1.0],
        max_attempts=max_attempts or 100,
        use_image_if_no_bounding_boxes=bool(use_image),
    )


@dispatchable
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=0,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    from weft._src.framework.random_seed import get_seed

    seed1, seed2 = get_seed(seed) if seed else (0, 0)
    return raw.SampleDistortedBoundingBoxV2(
        image_size=image_size,
        bounding_boxes=bounding_boxes,
        min_object_covered=min_object_covered,
        seed=seed1 or 0,
        seed2=seed2 or 0,
        name=name,
        **_sampling(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )


@dispatchable
def stateless_sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    return raw.StatelessSampleDistortedBoundingBox(
        image_size=image_size,
        bounding_boxes=bounding_boxes,
        min_object_covered=min_object_covered,
        seed=seed,
        name=name,
        **_sampling(aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
    )


@dispatchable
def extract_glimpse(input, size, offsets, centered=True, normalized=True, noise="uniform", name=None):
    return raw.ExtractGlimpseV2(
        input=input,
        size=size,
        offsets=offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=False,
        noise=noise,
        name=name,
    )


@dispatchable
def extract_patches(images, sizes, strides, rates, padding, name=None):
    return raw.ExtractImagePatches(
        images=images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )


# ---- measures --------------------------------------------------------------------------------------------


@dispatchable
def image_gradients(image):
    """Differences to the next row and to the next column."""
    image = convert_to_tensor(image)
    if image.shape.rank != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    dy, dx = image[:, 1:, :, :] - image[:, :-1, :, :], image[:, :, 1:, :] - image[:, :, :-1, :]
    return tf.pad(dy, [[0, 0], [0, 1], [0, 0], [0, 0]]), tf.pad(dx, [[0, 0], [0, 0], [0, 1], [0, 0]])


@dispatchable
def sobel_edges(image):
    """Sobel's two filters on each channel; the last dimension is (dy, dx)."""
    image = convert_to_tensor(image)
    channels = image.shape[-1] if image.shape.rank is not None else None
    if channels is None:
        channels = tf.shape(image)[-1]
    filters = convert_to_tensor(
        [[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], image.dtype
    )
    kernel = tf.tile(tf.expand_dims(tf.transpose(filters, [1, 2, 0]), -2), [1, 1, channels, 1])
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    made = raw.DepthwiseConv2dNative(input=padded, filter=kernel, strides=[1, 1, 1, 1], padding="VALID")
    made = tf.reshape(made, tf.concat([tf.shape(image), [2]], 0))
    if not isinstance(made, EagerTensor) and image.shape.rank is not None:
        made.set_shape(image.shape.concatenate([2]))
    return made


@dispatchable
def total_variation(images, name=None):
    images = convert_to_tensor(images)
    rank = images.shape.rank
    if rank not in (3, 4):
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    dy = tf.abs(images[..., 1:, :, :] - images[..., :-1, :, :])
    dx = tf.abs(images[..., :, 1:, :] - images[..., :, :-1, :])
    axes = None if rank == 3 else [1, 2, 3]
    return tf.reduce_sum(dy, axes) + tf.reduce_sum(dx, axes)


def _as_float(image):
    from weft._src.ops.image_ops import convert_image_dtype

    return convert_image_dtype(convert_to_tensor(image), dtypes.float32)


@dispatchable
def psnr(a, b, max_val, name=None):
    """The ratio of the peak to the noise, in decibels."""
    from weft._src.ops.image_ops import convert_image_dtype

    a, b = convert_to_tensor(a), convert_to_tensor(b)
    top = convert_image_dtype(tf.cast(max_val, a.dtype), dtypes.float32)
    error = tf.reduce_mean(tf.math.squared_difference(_as_float(a), _as_float(b)), [-3, -2, -1])
    return 20 * tf.math.log(top) / tf.math.log(10.0) - tf.cast(10 / 2.302585092994046, dtypes.float32) * tf.math.log(
        error
    )


def _gauss(size, sigma):
    at = tf.cast(tf.range(size), dtypes.float32) - (size - 1) / 2.0
    row = tf.square(at) * (-0.5 / (sigma * sigma))
    both = tf.reshape(row, [1, -1]) + tf.reshape(row, [-1, 1])
    return tf.reshape(tf.nn.softmax(tf.reshape(both, [1, -1])), [size, size, 1, 1])


def _ssim_parts(x, y, max_val, filter_size, filter_sigma, k1, k2):
    """Structural similarity and its contrast part, for each place and channel."""
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    channels = x.shape[-1]
    kernel = tf.tile(_gauss(filter_size, filter_sigma), [1, 1, channels, 1])

    def blurred(v):
        return tf.nn.depthwise_conv2d(v, kernel, [1, 1, 1, 1], "VALID")

    mean_x, mean_y = blurred(x), blurred(y)
    product = mean_x * mean_y * 2.0
    squares = tf.square(mean_x) + tf.square(mean_y)
    light = (product + c1) / (squares + c1)
    contrast = (blurred(x * y) * 2.0 - product + c2) / (blurred(tf.square(x) + tf.square(y)) - squares + c2)
    return light * contrast, contrast


def _ssim_inputs(img1, img2, max_val):
    from weft._src.ops.image_ops import convert_image_dtype

    a, b = convert_to_tensor(img1), convert_to_tensor(img2)
    top = convert_image_dtype(tf.cast(max_val, a.dtype), dtypes.float32)
    return _as_float(a), _as_float(b), top


@dispatchable
def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Structural similarity of images."""
    a, b, top = _ssim_inputs(img1, img2, max_val)
    single = a.shape.rank == 3
    if single:
        a, b = a[tf.newaxis], b[tf.newaxis]
    if min(d for d in (a.shape[-3], a.shape[-2]) if d is not None) < filter_size:
        raise tf.errors.InvalidArgumentError(None, None, "the images are smaller than the filter of tf.image.ssim")
    value, _ = _ssim_parts(a, b, top, filter_size, filter_sigma, k1, k2)
    made = tf.reduce_mean(value, [-1]) if return_index_map else tf.reduce_mean(tf.reduce_mean(value, [-3, -2]), [-1])
    return made[0] if single else made


@dispatchable
def ssim_multiscale(
    img1,
    img2,
    max_val,
    power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
):
    """Structural similarity over several scales, each half of the one before."""
    a, b, top = _ssim_inputs(img1, img2, max_val)
    single = a.shape.rank == 3
    if single:
        a, b = a[tf.newaxis], b[tf.newaxis]
    values = []
    for k in range(len(power_factors)):
        if k:
            odd = [a.shape[1] % 2, a.shape[2] % 2]
            pads = [[0, 0], [0, odd[0]], [0, odd[1]], [0, 0]]
            a, b = (
                tf.nn.avg_pool2d(tf.pad(v, pads, mode="SYMMETRIC") if any(odd) else v, 2, 2, "VALID") for v in (a, b)
            )
        value, contrast = _ssim_parts(a, b, top, filter_size, filter_sigma, k1, k2)
        values.append(tf.nn.relu(tf.reduce_mean(contrast if k + 1 < len(power_factors) else value, [-3, -2])))
    powers = tf.reduce_prod(tf.pow(tf.stack(values, -1), list(power_factors)), [-1])
    made = tf.reduce_mean(powers, [-1])
    return made[0] if single else made
