"""Text, records and images, part 2."""

import tensorflow as tf
from calls import show, shown

ex = tf.train.Example(
    features=tf.train.Features(
        feature={
            "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2])),
            "b": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"])),
            "c": tf.train.Feature(float_list=tf.train.FloatList(value=[1.5])),
        }
    )
)
s = ex.SerializeToString(deterministic=True)
show(lambda: tf.io.parse_single_example([s], {"a": tf.io.FixedLenFeature([2], tf.int64)}))
show(
    lambda: tf.io.parse_example(
        [s, s],
        {
            "a": tf.io.FixedLenFeature([2], tf.int64),
            "r": tf.io.RaggedFeature(tf.int64),
            "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        },
    )
)
show(lambda: tf.io.FixedLenFeature([], tf.int64))
show(lambda: tf.io.VarLenFeature(tf.int64))
show(lambda: tf.io.SparseFeature("i", "v", tf.int64, 10))
show(lambda: tf.io.RaggedFeature(tf.int64))
show(lambda: tf.io.FixedLenSequenceFeature([2], tf.int64))
show(lambda: tf.io.parse_example([s], {"q": tf.io.FixedLenSequenceFeature([], tf.int64)}))
show(lambda: tf.train.Feature(int64_list=3))
show(lambda: tf.train.Int64List(value=["a"]))
show(lambda: tf.train.Int64List(value=[1.5]))
show(lambda: tf.train.BytesList(value=["a"]))
show(lambda: tf.train.Feature(foo=1))
f = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
show(lambda: f.WhichOneof("kind"))
show(lambda: f.HasField("int64_list"))
show(lambda: f.int64_list.value)
show(lambda: list(f.int64_list.value))
show(lambda: f.ByteSize())
show(lambda: f.IsInitialized())
show(lambda: f.HasField("foo"))
show(lambda: f.foo)
with shown():
    f.foo = 1
with shown():
    f.int64_list.value.append(5)
    f
with shown():
    f.int64_list.value[0] = 9
    f.int64_list.value[:], len(f.int64_list.value)
show(lambda: tf.io.gfile.copy("nonexistent", "x"))
show(lambda: tf.io.gfile.rename("nonexistent", "x"))
show(lambda: tf.io.gfile.makedirs(""))
show(lambda: tf.io.gfile.GFile(".", "zz"))
show(lambda: tf.io.matching_files("nonexistent/*"))
show(lambda: list(tf.data.TFRecordDataset("nonexistent")))
show(lambda: list(tf.data.TextLineDataset("nonexistent")))
show(lambda: tf.data.TFRecordDataset(3))
show(lambda: tf.io.TFRecordOptions(compression_type="FOO"))
show(lambda: tf.io.TFRecordOptions(compression_type="GZIP").compression_type)
show(lambda: tf.io.decode_image("junk"))
show(lambda: tf.io.decode_png("junk"))
show(lambda: tf.io.decode_jpeg("junk"))
show(lambda: tf.io.decode_png(tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8))))
show(lambda: tf.io.encode_png(tf.zeros([2, 2, 3], tf.float32)))
show(lambda: tf.io.encode_png(tf.zeros([2, 2, 7], tf.uint8)))
show(lambda: tf.io.encode_jpeg(tf.zeros([2, 2], tf.uint8)))
show(lambda: tf.image.resize(tf.ones([2, 2, 1]), [3]))
show(lambda: tf.image.resize(tf.ones([2, 2]), [3, 3]))
show(lambda: tf.image.resize(tf.ones([2, 2, 1]), [3, 3], method="foo"))
show(lambda: tf.image.rgb_to_grayscale(tf.ones([2, 2, 1])))
show(lambda: tf.image.adjust_hue(tf.ones([2, 2, 3]), 5.0))
show(lambda: tf.image.crop_to_bounding_box(tf.ones([2, 2, 3]), 0, 0, 5, 5))
show(lambda: tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32))
show(lambda: tf.image.psnr(tf.ones([2, 2, 3]), tf.ones([3, 3, 3]), 1.0))
show(lambda: tf.image.central_crop(tf.ones([4, 4, 1]), 1.5))
show(lambda: tf.image.flip_left_right(tf.ones([4])))
show(lambda: tf.image.ResizeMethod.BILINEAR)
show(lambda: tf.image.rot90(tf.reshape(tf.range(4), [2, 2, 1]))[..., 0])
