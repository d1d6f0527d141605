"""Broken and boastful media: images, sound, compressed data, CSV, JSON and protos whose headers promise more than there is, or that are damaged at random
places, through every decoder, in 2 GB of address space. An error or a value is an answer; so is ResourceExhausted."""

import os
import sys
import tempfile

import support

CHILD = r"""
import os, struct, sys, time, zlib, random, resource
import weft as tf
from weft import raw_ops as raw

seed = int(sys.argv[1])
folder = sys.argv[2]
rng = random.Random(seed)


def lzw(pixels):
    bits = "".join(f"{c:03b}"[::-1] for p in pixels for c in (4, p)) + "101"
    bits += "0" * (-len(bits) % 8)
    packed = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
    return b"\x02" + b"".join(bytes([len(packed[i:i + 255])]) + packed[i:i + 255] for i in range(0, len(packed), 255)) + b"\0"


def size():
    return rng.choice([0, 1, 2, 3, 8, 100, 30000, 32767, 65535])


def gif():
    out = b"GIF89a" + struct.pack("<HHBBB", size(), size(), 0x80, 0, 0) + b"\1\2\3\xff\xfe\xfd"
    for _ in range(rng.randint(0, 4)):
        w, h = (rng.randint(1, 5), rng.randint(1, 5)) if rng.random() < 0.8 else (size(), size())
        pixels = [rng.randint(0, 1) for _ in range(min(w * h, 64))]
        out += b"\x2c" + struct.pack("<HHHHB", size(), size(), w, h, rng.choice([0, 0x40])) + lzw(pixels)
    return out + b"\x3b"


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png():
    side = lambda: rng.choice([1, 2, 5, 1000, 20000, 1000000, 2**31 - 1])
    depth, color = rng.choice([(1, 0), (8, 0), (8, 2), (8, 3), (16, 6), (4, 3)])
    body = rng.choice([zlib.compress(b"\0" * rng.randint(0, 3000)), zlib.compress(b"\0" * 20_000_000, 9), os.urandom(30)])
    palette = chunk(b"PLTE", bytes(range(30))) if color == 3 else b""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side(), side(), depth, color, 0, 0, rng.choice([0, 1])))
    return b"\x89PNG\r\n\x1a\n" + head + palette + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def bmp():
    side = lambda: rng.choice([0, 1, 3, 30000, 2**31 - 1, -1, -(2**31), -3])
    pixels = os.urandom(rng.choice([0, 4, 12, 64]))
    return b"BM" + struct.pack("<IHHIIiiHHIIIIII", 54 + len(pixels), 0, 0, rng.choice([54, 0, 2**31, 2**32 - 1]), 40, side(), side(), 1, rng.choice([8, 24, 32, 1, 65535]), 0, 0, 0, 0, 0, 0) + pixels


def jpeg():
    image = tf.cast(tf.random.uniform([16, 16, 3], 0, 255, tf.int32), tf.uint8)
    data = bytearray(tf.io.encode_jpeg(image, progressive=rng.random() < 0.5).numpy())
    at = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
    data[at + 5:at + 9] = struct.pack(">HH", size(), size())
    return bytes(data)


def webp():
    w, h = rng.choice([0, 1, 100, 16383]), rng.choice([0, 1, 100, 16383])
    body = b"\x2f" + struct.pack("<I", (w & 0x3fff) | (h & 0x3fff) << 14) + os.urandom(rng.randint(0, 40))
    return b"RIFF" + struct.pack("<I", 12 + len(body)) + b"WEBPVP8L" + struct.pack("<I", len(body)) + body


def wav():
    n = rng.choice([0, 2, 100, 2**31 - 1, 2**32 - 1])
    channels = rng.choice([0, 1, 2, 65535])
    return b"RIFF" + struct.pack("<I", 36) + b"WAVEfmt " + struct.pack("<IHHIIHH", rng.choice([16, 18, 2**31]), 1, channels, 8000, 16000 * channels % 2**32, 2 * channels % 65536, 16) + b"data" + struct.pack("<I", n) + b"\0\1" * 50


def damaged(data):
    data = bytearray(data)
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        if not data:
            break
        kind = rng.randint(0, 3)
        at = rng.randrange(len(data))
        if kind == 0:
            data[at] ^= 1 << rng.randint(0, 7)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff"])
        else:
            data[at:at] = bytes(data[:rng.randint(0, 20)])
    return bytes(data)


def decode_images(data):
    yield lambda: tf.io.decode_gif(data)
    yield lambda: tf.io.decode_png(data, channels=rng.choice([0, 1, 3, 4]), dtype=rng.choice([tf.uint8, tf.uint16]))
    yield lambda: tf.io.decode_jpeg(data, ratio=rng.choice([1, 8]), try_recover_truncated=rng.random() < 0.3, acceptable_fraction=rng.choice([1.0, 0.1]))
    yield lambda: tf.io.decode_and_crop_jpeg(data, [rng.choice([0, -1, 5]), 0, rng.choice([1, 2**31 - 1]), 1])
    yield lambda: tf.io.extract_jpeg_shape(data)
    yield lambda: tf.io.decode_bmp(data)
    yield lambda: tf.io.decode_image(data, expand_animations=rng.random() < 0.5, dtype=rng.choice([tf.uint8, tf.uint16, tf.float32]))
    yield lambda: raw.DecodeWebP(contents=data, channels=rng.choice([0, 3, 4]), dtype=tf.uint8)


def attempts():
    data = damaged(rng.choice([gif, gif, png, bmp, jpeg, webp])())
    yield from decode_images(data)
    yield lambda: tf.audio.decode_wav(damaged(wav()))
    bomb = zlib.compress(b"\0" * rng.choice([100, 1_000_000, 50_000_000]), 9)
    kind = rng.choice(["ZLIB", "GZIP", "ZSTD"])
    if kind == "GZIP":
        import gzip
        bomb = gzip.compress(b"\0" * 1_000_000) * rng.choice([1, 50])
    bomb = damaged(bomb)
    yield lambda: tf.io.decode_compressed(bomb, compression_type=kind)
    path = os.path.join(folder, "records")
    with open(path, "wb") as f:
        f.write(damaged(rng.choice([bomb, struct.pack("<Q", rng.choice([1, 2**40, 2**63, 2**64 - 1])) + os.urandom(20)])))
    for compression in ("", "ZLIB", "GZIP"):
        yield lambda: [x for x in tf.data.TFRecordDataset(path, compression_type=compression).take(3)]
        yield lambda: [x for x in tf.data.TextLineDataset(path, compression_type=compression).take(3)]
        yield lambda: [x for x in tf.data.FixedLengthRecordDataset(path, 2**31 - 1, compression_type=compression).take(3)]
    yield lambda: raw.DecodePaddedRaw(input_bytes=[b"abc"] * rng.choice([1, 3]), fixed_length=rng.choice([0, -4, 8, 2**31 - 4]), out_type=tf.float32)
    yield lambda: tf.io.decode_raw([damaged(b"abcdefgh")], tf.float32)
    yield lambda: tf.io.decode_csv([damaged(b'1,2.5,"a ""q"" b",x\n')], [[0], [0.0], [""], [""]])
    yield lambda: tf.io.decode_json_example(damaged(b'{"features":{"feature":{"a":{"int64List":{"value":["1","2"]}}}}}' + b"[" * rng.choice([0, 10, 100000])))
    example = tf.train.Example(features=tf.train.Features(feature={"a": tf.train.Feature(float_list=tf.train.FloatList(value=[1.0, 2.0]))})).SerializeToString()
    yield lambda: tf.io.parse_single_example(damaged(example), {"a": tf.io.FixedLenFeature([2], tf.float32), "b": tf.io.VarLenFeature(tf.int64)})
    tensor = tf.io.serialize_tensor(tf.range(10)).numpy()
    yield lambda: tf.io.parse_tensor(damaged(tensor), tf.int32)
    yield lambda: raw.DecodeProtoV2(bytes=[damaged(example)], message_type="tensorflow.Example", field_names=["features"], output_types=[tf.string], descriptor_source="")


for one in attempts():
    start = time.monotonic()
    try:
        one()
    except (tf.errors.OpError, ValueError, TypeError, MemoryError):
        pass
    took = time.monotonic() - start
    if took > 20:
        sys.exit(f"FAILED: a call took {took:.0f} s")
"""


def attack(random, build):
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "child.py")
        with open(script, "w") as f:
            f.write(CHILD)
        seed = random.randrange(2**31)
        outcome = support.child(
            [sys.executable, script, str(seed), folder], seconds=90, memory=2 << 30, env={"OMP_NUM_THREADS": "2"}
        )
        problem = outcome.problem()
        if not problem and outcome.code:
            problem = (outcome.out + outcome.err)[-1500:]
        return problem


if __name__ == "__main__":
    support.main(__doc__, attack)
