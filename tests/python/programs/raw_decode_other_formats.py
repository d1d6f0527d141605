"""Image decoders that are given another format than their own."""
import tensorflow as tf

raw = tf.raw_ops
image = tf.reshape(tf.cast(tf.range(36) * 7 % 256, tf.uint8), [3, 4, 3])
gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
files = {
    "png": tf.io.encode_png(image).numpy(),
    "jpeg": tf.io.encode_jpeg(image).numpy(),
    "gif": gif,
    "not webp": b"RIFF1234WEBPxxxx",
    "unknown": b"abc",
    "empty": b"",
}
for name, contents in files.items():
    for op in (raw.DecodeJxl, raw.DecodeWebP, raw.DecodePng, raw.DecodeImage):
        for channels in (0, 1, 2):
            try:
                got = op(contents=contents, channels=channels)
                print(name, channels, got.shape, int(tf.reduce_sum(tf.cast(got, tf.int32))) if name != "jpeg" else "")
            except tf.errors.OpError as e:
                print(name, channels, type(e).__name__, e.message.split("}} ")[-1].split(" [Op:")[0])
try:
    raw.DecodeJxl(contents=["a"])
except tf.errors.OpError as e:
    print(type(e).__name__, e.message.split(" [Op:")[0])


@tf.function
def traced(x):
    print(raw.DecodeJxl(contents=x).shape, raw.DecodeJxl(contents=x, channels=3).shape)


traced(tf.constant("a"))
