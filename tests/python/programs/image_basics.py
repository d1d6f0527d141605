"""tf.image: resize, crop, flip, rotate, colour, brightness, contrast, conversion, encode and decode, boxes."""
import tensorflow as tf

img = tf.reshape(tf.range(48, dtype=tf.float32), [4, 4, 3]) / 48.0


wave = tf.sin(tf.range(144.0) * 0.7)
wave = tf.reshape(wave, [12, 12, 1])


def show(name, t):
    print(name, t.shape, t.dtype.name, tf.reshape(tf.cast(t, tf.float32), [-1])[:6].numpy(),
          tf.reduce_sum(tf.cast(t, tf.float32)).numpy())


for method in ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"):
    show(method, tf.image.resize(img, [3, 5], method=method))
show("antialias", tf.image.resize(img, [2, 2], antialias=True))
show("ratio", tf.image.resize(img, [8, 6], preserve_aspect_ratio=True))
show("pad", tf.image.resize_with_pad(img, 6, 8))
show("crop_or_pad", tf.image.resize_with_crop_or_pad(img, 2, 6))
show("central", tf.image.central_crop(img, 0.5))
show("crop", tf.image.crop_to_bounding_box(img, 1, 1, 2, 3))
show("padbox", tf.image.pad_to_bounding_box(img, 1, 1, 6, 7))
show("lr", tf.image.flip_left_right(img))
show("ud", tf.image.flip_up_down(img))
show("rot", tf.image.rot90(img, 3))
show("transpose", tf.image.transpose(img))
show("bright", tf.image.adjust_brightness(img, 0.1))
show("contrast", tf.image.adjust_contrast(img, 2.0))
show("gamma", tf.image.adjust_gamma(img, 2.0))
show("hue", tf.image.adjust_hue(img, 0.2))
show("saturation", tf.image.adjust_saturation(img, 0.5))
show("gray", tf.image.rgb_to_grayscale(img))
show("rgb", tf.image.grayscale_to_rgb(img[..., :1]))
show("hsv", tf.image.rgb_to_hsv(img))
show("back", tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(img)))
show("yiq", tf.image.rgb_to_yiq(img))
show("yuv", tf.image.rgb_to_yuv(img))
u8 = tf.image.convert_image_dtype(img, tf.uint8)
show("u8", u8)
show("float", tf.image.convert_image_dtype(u8, tf.float32))
show("saturate", tf.image.convert_image_dtype(img * 2.0, tf.uint8, saturate=True))
show("standard", tf.image.per_image_standardization(img))
png = tf.io.encode_png(u8)
show("png", tf.image.decode_png(png, channels=3))
show("decode", tf.io.decode_image(png))
show("bmp gray", tf.image.decode_png(png, channels=1))
jpeg = tf.io.encode_jpeg(tf.fill([8, 8, 3], tf.constant(100, tf.uint8)), quality=95)
show("jpeg", tf.io.decode_jpeg(jpeg))
print(tf.io.is_jpeg(jpeg), tf.io.is_jpeg(png), tf.io.extract_jpeg_shape(jpeg), tf.image.is_jpeg(jpeg))
show("crops", tf.image.crop_and_resize(img[None], [[0.0, 0.0, 1.0, 1.0], [0.2, 0.2, 0.8, 0.8]], [0, 0], [2, 2]))
boxes = tf.constant([[0.0, 0.0, 1.0, 1.0], [0.0, 0.1, 1.0, 1.1], [0.0, 2.0, 1.0, 3.0]])
print(tf.image.non_max_suppression(boxes, [0.9, 0.8, 0.7], 3, iou_threshold=0.5))
print(tf.image.non_max_suppression_padded(boxes, [0.9, 0.8, 0.7], 3, iou_threshold=0.5, pad_to_max_output_size=True))
print(tf.image.psnr(img, img * 0.9, 1.0), tf.image.ssim(wave, wave[::-1], 1.0), tf.image.total_variation(img))
dy, dx = tf.image.image_gradients(img[None])
print(dy[0, :, 0, 0].numpy(), dx[0, 0, :, 0].numpy(), tf.image.sobel_edges(img[None]).shape)
show("draw", tf.image.draw_bounding_boxes(img[None], [[[0.0, 0.0, 0.9, 0.9]]], [[1.0, 0.0, 0.0]]))
print(tf.image.ResizeMethod.BILINEAR, tf.image.resize(img[None], [2, 2]).shape, tf.image.resize(u8, [2, 2]).dtype)
for bad in (lambda: tf.image.resize(img, [2]), lambda: tf.image.decode_png(b"not png"),
            lambda: tf.image.rgb_to_grayscale(img[..., :2]), lambda: tf.image.central_crop(img, 2.0),
            lambda: tf.image.resize(img[0, 0], [2, 2])):
    try:
        print(bad().shape)
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0])
