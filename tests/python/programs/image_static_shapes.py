"""Static shapes of image functions whose arguments are known in part, or not at all."""

import tensorflow as tf

functions = dict(
    flip_left_right=tf.image.flip_left_right,
    flip_up_down=tf.image.flip_up_down,
    transpose=tf.image.transpose,
    rot90=tf.image.rot90,
    rot180=lambda x: tf.image.rot90(x, 2),
    rot_none=lambda x: tf.image.rot90(x, 0),
    rot_computed=lambda x: tf.image.rot90(x, tf.reduce_sum(tf.ones([3], tf.int32))),
    patches=lambda x: tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
    patches_valid=lambda x: tf.image.extract_patches(x, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "VALID"),
    central_crop=lambda x: tf.image.central_crop(x, 0.5),
    crop_or_pad=lambda x: tf.image.resize_with_crop_or_pad(x, 2, 9),
    pad=lambda x: tf.image.pad_to_bounding_box(x, 0, 0, 9, 9),
    crop=lambda x: tf.image.crop_to_bounding_box(x, 0, 0, 1, 1),
    sobel=tf.image.sobel_edges,
)
shapes = [None, [None] * 3, [None] * 4, [4, 5, 3], [2, 4, 5, 3], [None, 4, 5, 3], [2, 4, None, 3], [2, None, None, None], [4, None, None], [4, 4, 3]]
for name, function in functions.items():
    for shape in shapes:
        if shape is None and name in ("transpose", "rot90", "rot180", "rot_none", "rot_computed"):
            continue  # TensorFlow takes three dimensions for four there
        traced = tf.function(function, autograph=False)
        try:
            traced = traced.get_concrete_function(tf.TensorSpec(shape))
        except (ValueError, TypeError) as e:
            print(name, shape, type(e).__name__)
            continue
        print(name, shape, traced.outputs[0].shape)
        for value in tf.reshape(tf.range(60.0), [4, 5, 3]), tf.reshape(tf.range(120.0), [2, 4, 5, 3]):
            if shape is not None and not value.shape.is_compatible_with(shape):
                continue
            try:
                print("  ", traced(value).shape, tf.reduce_sum(traced(value)).numpy())
            except tf.errors.InvalidArgumentError:
                print("   InvalidArgumentError")
