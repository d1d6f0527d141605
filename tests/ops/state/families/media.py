"""Image files whose headers promise what the data does not hold, and others that are broken: sizes, pixels and errors."""
import struct
import zlib

import numpy as np
import tensorflow as tf

data = lambda b: np.array(b, dtype=object)


def lzw(pixels):
    """Codes of three bits, the table cleared before each."""
    bits = "".join(f"{c:03b}"[::-1] for p in pixels for c in (4, p)) + "101"
    bits += "0" * (-len(bits) % 8)
    packed = bytes(int(bits[i : i + 8][::-1], 2) for i in range(0, len(bits), 8))
    blocks = b"".join(bytes([len(packed[i : i + 255])]) + packed[i : i + 255] for i in range(0, len(packed), 255))
    return b"\x02" + blocks + b"\0"


def gif(screen, *parts, end=b"\x3b", colors=b"\1\2\3\xff\xfe\xfd"):
    out = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x80 if colors else 0, 0, 0) + colors
    return out + b"".join(parts) + end


def frame(left, top, width, height, pixels, colors=b""):
    coded = pixels if isinstance(pixels, bytes) else lzw(pixels)
    return b"\x2c" + struct.pack("<HHHHB", left, top, width, height, 0x80 if colors else 0) + colors + coded


def transparent(index):
    return b"\x21\xf9\x04" + struct.pack("<BHBB", 1, 0, index, 0)


WHOLE = frame(0, 0, 2, 2, [0, 1, 1, 0])
GIFS = {
    "screen much larger": gif((65535, 65535), frame(0, 0, 1, 1, [0])),
    "screen larger": gif((9, 9), WHOLE, frame(1, 1, 2, 2, [1, 1, 1, 1])),
    "screen empty": gif((0, 0), WHOLE),
    "screen smaller": gif((1, 1), WHOLE),
    "second frame larger": gif((9, 9), frame(0, 0, 1, 1, [1]), frame(0, 0, 2, 2, [0, 1, 0, 1])),
    "wide and high": gif((9, 9), frame(0, 0, 3, 1, [1, 0, 1]), frame(0, 0, 1, 3, [0, 1, 0])),
    "second frame small": gif((9, 9), WHOLE, frame(1, 0, 1, 1, [0])),
    "frame outside": gif((9, 9), frame(5, 5, 1, 1, [1])),
    "frame far outside": gif((9, 9), frame(65535, 65535, 1, 1, [1])),
    "frame partly outside": gif((9, 9), frame(1, 0, 2, 1, [1, 1])),
    "transparent": gif((2, 1), transparent(1), frame(0, 0, 2, 1, [0, 1])),
    "transparent second": gif((2, 1), frame(0, 0, 2, 1, [1, 1]), transparent(1), frame(0, 0, 2, 1, [0, 1])),
    "no colors": gif((2, 1), frame(0, 0, 2, 1, [0, 1]), colors=b""),
    "no colors in second": gif((2, 1), frame(0, 0, 2, 1, [0, 1], b"\0\0\0\1\1\1"), frame(0, 0, 2, 1, [0, 1]), colors=b""),
    "color out of range": gif((2, 1), frame(0, 0, 2, 1, [0, 3])),
    "color out of range outside": gif((2, 1), frame(1, 0, 2, 1, [0, 3])),
    "data cut": gif((2, 2), frame(0, 0, 2, 2, lzw([0, 1, 1, 1])[:3]), end=b""),
    "data ends early": gif((2, 2), frame(0, 0, 2, 2, [0, 1])),
    "second cut": gif((2, 2), WHOLE, frame(0, 0, 2, 2, lzw([0, 1, 1, 1])[:3]), end=b""),
    "second ends early": gif((2, 2), WHOLE, frame(0, 0, 2, 2, [0, 1]), WHOLE),
    "second huge": gif((2, 2), WHOLE, frame(0, 0, 65535, 65535, [0, 1])),
    "second large": gif((2, 2), WHOLE, frame(0, 0, 30000, 30000, [0, 1])),
    "second empty": gif((2, 2), WHOLE, frame(0, 0, 0, 4, [0, 1])),
    "huge": gif((2, 2), frame(0, 0, 65535, 65535, [0, 1])),
    "large": gif((2, 2), frame(0, 0, 30000, 30000, [0, 1])),
    "empty": gif((2, 2), frame(0, 0, 0, 0, [0])),
    "codes too wide": gif((2, 2), frame(0, 0, 2, 2, b"\x0c" + lzw([0, 1, 1, 1])[1:])),
    "unknown block": gif((2, 2), b"\x99", WHOLE),
    "unknown block behind": gif((2, 2), WHOLE, b"\x99"),
    "no trailer": gif((2, 2), WHOLE, end=b""),
    "no frames": gif((60000, 60000)),
    "no frames and no trailer": gif((2, 2), end=b""),
    "too many pixels": gif((2, 2), frame(0, 0, 2, 2, [0, 1, 1, 1, 0, 0, 0])),
    "header cut": gif((2, 2))[:9],
    "colors cut": gif((2, 2), end=b"")[:15],
}


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth, color, raw):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


PNGS = {
    "short": png(20000, 20000, 8, 0, b"\0" * 100),
    "too many pixels": png(30000, 30000, 8, 2, b"\0" * 100),
    "the most pixels": png(1 << 15, 1 << 14, 1, 0, b"\0" * 100),
    "widest": png(1000000, 1000000, 8, 0, b"\0" * 100),
    "too wide": png(1000001, 1, 8, 0, b"\0" * 1000002),
}


def bmp(width, height, bits, pixels, offset=54):
    return b"BM" + struct.pack("<IHHIIiiHHIIIIII", 54 + len(pixels), 0, 0, offset, 40, width, height, 1, bits, 0, 0, 0, 0, 0, 0) + pixels


BMPS = {
    "short": bmp(30000, 30000, 24, b"\0" * 12),
    "overflow": bmp(2**31 - 1, 2**31 - 1, 32, b"\0" * 12),
    "lowest": bmp(1, -(2**31), 24, b"\0" * 12),
    "offset beyond": bmp(1, 1, 24, b"\0" * 4, offset=2**31 - 1),
}


def record(r):
    for name, file in GIFS.items():
        r.seq("gif/" + name)
        r.op("DecodeGif", data(file), fails=None)
        r.op("DecodeImage", data(file), fails=None, channels=0, dtype=tf.uint8, expand_animations=True)
        r.op("DecodeImage", data(file), fails=None, channels=0, dtype=tf.uint8, expand_animations=False)
        r.op("DecodePng", data(file), fails=None, channels=0, dtype=tf.uint8)
    for name, file in PNGS.items():
        r.seq("png/" + name)
        r.op("DecodePng", data(file), fails=None, channels=0, dtype=tf.uint8)
        r.op("DecodePng", data(file), fails=None, channels=4, dtype=tf.uint16)
    for name, file in BMPS.items():
        r.seq("bmp/" + name)
        r.op("DecodeBmp", data(file), fails=None, channels=0)
