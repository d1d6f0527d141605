"""What tf.compat.v1.io has beside version 2's."""


class TFRecordCompressionType:
    """How records are compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2
