"""tf.audio."""

from weft._src.ops.audio_ops import (  # noqa: F401
    __getattr__,
    decode_wav,
    encode_wav,
)
