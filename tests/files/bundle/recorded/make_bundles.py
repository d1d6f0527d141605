"""Writes the checkpoints that src/wire/tensor_bundle_test.cc reads, with TensorFlow. Run: python make_bundles.py FOLDER.

Beside each PREFIX.index is PREFIX.expected, what TensorFlow restores: for each tensor the length of its name
(uint32), the name, the length of a TensorProto (uint32) and the TensorProto.
"""
import os
import shutil
import struct
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2

R = tf.raw_ops
X = tf.dtypes.experimental


def save(prefix, tensors, slices=None):
    names = [n for n, _ in tensors]
    R.SaveV2(prefix=prefix, tensor_names=names, shape_and_slices=slices or [""] * len(names), tensors=[t for _, t in tensors])


def expect(prefix, wanted):
    """wanted: (name, dtype, shape_and_slice). The name in the file is "NAME" or "NAME SLICE"."""
    with open(prefix + ".expected", "wb") as f:
        for name, dtype, part in wanted:
            (t,) = R.RestoreV2(prefix=prefix, tensor_names=[name], shape_and_slices=[part], dtypes=[dtype])
            key = (name + (" " + part if part else "")).encode()
            proto = tf.make_tensor_proto(t.numpy(), dtype=dtype, shape=t.shape).SerializeToString()
            f.write(struct.pack("<I", len(key)) + key + struct.pack("<I", len(proto)) + proto)


def all_types(folder):
    g = np.random.default_rng(1)
    numbers = g.integers(0, 100, size=(3, 4))
    tensors = []
    for dtype in [tf.float32, tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.complex64, tf.int64, tf.bfloat16, tf.uint16, tf.complex128, tf.half,
                  tf.uint32, tf.uint64, X.float8_e5m2, X.float8_e4m3fn]:
        tensors.append((f"dense/{dtype.name}", tf.cast(tf.cast(numbers, tf.float32), dtype)))
    tensors.append(("dense/bool", tf.constant(numbers % 2 == 0)))
    for dtype in [tf.qint8, tf.quint8, tf.qint32, tf.qint16, tf.quint16]:
        plain = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32, tf.qint16: tf.int16, tf.quint16: tf.uint16}[dtype]
        tensors.append((f"dense/{dtype.name}", tf.bitcast(tf.cast(numbers, plain), dtype)))
    tensors += [
        ("scalar/float", tf.constant(-2.5)),
        ("scalar/int64", tf.constant(-(2**62), tf.int64)),
        ("scalar/string", tf.constant("one string")),
        ("empty/float", tf.zeros([0])),
        ("empty/matrix", tf.zeros([2, 0, 3], tf.int32)),
        ("empty/string", tf.constant([], tf.string)),
        ("strings", tf.constant([["", "a", "b\0c"], ["x" * 23, "long " * 100, "\u00fc\u4e2d"]])),
        ("name with spaces/and \u00fc", tf.constant([1.0, 2.0])),
        ("a" * 300, tf.constant([3])),
        ("last", tf.constant(np.arange(1000, dtype=np.float32))),
    ]
    save(folder + "/all_types", tensors)
    expect(folder + "/all_types", [(n, t.dtype, "") for n, t in tensors if not t.dtype.is_quantized])


def sliced(folder):
    m = np.arange(48, dtype=np.float32).reshape(8, 6)
    c = np.arange(4 * 5 * 6, dtype=np.int64).reshape(4, 5, 6)
    save(folder + "/sliced", [("rows", m[0:3]), ("rows", m[3:4]), ("rows", m[4:8]), ("cube", c[:2, :3]), ("cube", c[:2, 3:]), ("cube", c[2:, :3]),
                              ("cube", c[2:, 3:]), ("whole", m), ("partly", m[2:5]), ("a\0b\xff", m[:, :1]), ("a\0b\xff", m[:, 1:])],
         ["8 6 0,3:-", "8 6 3,1:-", "8 6 4,4:-", "4 5 6 0,2:0,3:-", "4 5 6 0,2:3,2:-", "4 5 6 2,2:0,3:-", "4 5 6 2,2:3,2:-", "8 6 0,8:0,6",
          "8 6 2,3:-", "8 6 -:0,1", "8 6 -:1,5"])
    expect(folder + "/sliced", [("rows", tf.float32, ""), ("rows", tf.float32, "8 6 2,4:1,3"), ("rows", tf.float32, "8 6 3,1:-"),
                                ("rows", tf.float32, "8 6 -:5,1"), ("cube", tf.int64, ""), ("cube", tf.int64, "4 5 6 1,2:2,2:1,4"),
                                ("whole", tf.float32, ""), ("whole", tf.float32, "8 6 1,2:-"), ("whole", tf.float32, "8 6 -:2,3"),
                                ("partly", tf.float32, "8 6 3,2:0,2"), ("a\0b\xff", tf.float32, "")])


def sharded(folder):
    m = np.arange(48, dtype=np.float32).reshape(8, 6)
    tmp = folder + "/sharded_temp"
    save(tmp + "/part0", [("first", tf.constant([1, 2, 3])), ("cut", m[:4]), ("text", tf.constant(["x", "yy"]))], ["", "8 6 0,4:-", ""])
    save(tmp + "/part1", [("second", tf.constant(4.5)), ("cut", m[4:])], ["", "8 6 4,4:-"])
    R.MergeV2Checkpoints(checkpoint_prefixes=[tmp + "/part0", tmp + "/part1"], destination_prefix=folder + "/sharded", delete_old_dirs=True)
    expect(folder + "/sharded", [("first", tf.int32, ""), ("cut", tf.float32, ""), ("text", tf.string, ""), ("second", tf.float32, "")])


def lists(folder):
    some = R.EmptyTensorList(element_shape=tf.constant([-1, 3], tf.int64), max_num_elements=7, element_dtype=tf.int64)
    some = R.TensorListPushBack(input_handle=some, tensor=tf.constant([[1, 2, 3]], tf.int64))
    some = R.TensorListResize(input_handle=some, size=3)
    full = R.TensorListFromTensor(tensor=tf.constant([[1.0, 2.0], [3.0, 4.0]]), element_shape=[2])
    optional = tf.experimental.Optional.from_value(tf.constant([5, 6]))
    save(folder + "/variants", [("some", some), ("full", full), ("optional", optional._variant_tensor), ("two", tf.stack([full, some]))])


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def stored_block(block, kind):
    crc = crc32c(block + bytes([kind]))
    return block + bytes([kind]) + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def take_varint(data):
    n = shift = 0
    for at, byte in enumerate(data):
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, data[at + 1:]


def snappy(data):
    """Compressed by the Snappy inside TensorFlow, which dataset elements go through; a checkpoint shows its bytes."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder + "/x", [("x", R.CompressElement(components=[tf.constant(np.frombuffer(data, np.uint8))]))])
        with open(folder + "/x.data-00000-of-00001", "rb") as f:
            length, rest = take_varint(f.read())
    element = tensor_pb2.VariantTensorDataProto.FromString(rest[:length]).metadata
    assert element[0] == 0x0A  # CompressedElement: field 1 is the bytes
    length, rest = take_varint(element[1:])
    return rest[:length]


def compressed(folder):
    """TensorFlow reads compressed indices but no longer writes them: one that it wrote, its blocks compressed again."""
    prefix = folder + "/snappy"
    tensors = [(f"model/layer_{i:03}/kernel/.ATTRIBUTES/VARIABLE_VALUE", tf.fill([2, 3], float(i))) for i in range(60)]
    save(prefix, tensors)
    with open(prefix + ".index", "rb") as f:
        file = f.read()
    footer = file[-48:]
    meta_at, rest = take_varint(footer)
    meta_size, rest = take_varint(rest)
    index_at, rest = take_varint(rest)
    meta, index = file[meta_at:meta_at + meta_size], file[index_at:]
    data = snappy(file[:meta_at - 5])
    key = index[3:3 + index[1]]
    handle = varint(0) + varint(len(data))
    index = snappy(bytes([0, len(key), len(handle)]) + key + handle + struct.pack("<II", 0, 1))
    out = stored_block(data, 1)
    places = varint(len(out)) + varint(len(meta))
    out += stored_block(meta, 0)
    places += varint(len(out)) + varint(len(index))
    out += stored_block(index, 1)
    out += places.ljust(40, b"\0") + footer[40:]
    with open(prefix + ".index", "wb") as f:
        f.write(out)
    expect(prefix, [(n, t.dtype, "") for n, t in tensors])


def old_checkpoint(folder):
    R.Save(filename=folder + "/v1", tensor_names=["weights", "bias"], data=[tf.fill([4, 4], 1.5), tf.fill([4], 2.5)])


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for make in [all_types, sliced, sharded, lists, compressed, old_checkpoint]:
        make(folder)
    shutil.rmtree(folder + "/sharded_temp", ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
