"""tf.audio."""

from weft._src.namespace import missing
from weft._src.raw import raw as _raw


def decode_wav(contents, desired_channels=-1, desired_samples=-1, name=None):
    """A 16-bit WAV file as numbers between -1 and 1, and its rate."""
    return _raw.DecodeWav(
        contents=contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


def encode_wav(audio, sample_rate, name=None):
    return _raw.EncodeWav(audio=audio, sample_rate=sample_rate, name=name)


__getattr__ = missing("tf.audio")
