"""Makes corpus/bundle from the checkpoints in tests/files/bundle/recorded. Run in tests/fuzz."""

import pathlib
import struct

golden = pathlib.Path("../files/bundle/recorded")
out = pathlib.Path("corpus/bundle")
out.mkdir(parents=True, exist_ok=True)


def varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        n |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return n, at


def rows(index):
    end, _ = varint(index, len(index) - 48)  # the metaindex block follows the only data block
    block = index[: end - 5]
    (restarts,) = struct.unpack("<I", block[-4:])
    block = block[: len(block) - 4 - 4 * restarts]
    at, key = 0, b""
    while at < len(block):
        shared, at = varint(block, at)
        own, at = varint(block, at)
        length, at = varint(block, at)
        key = key[:shared] + block[at : at + own]
        yield key, block[at + own : at + own + length]
        at += own + length


for name, shards in [("all_types", 1), ("sliced", 1), ("sharded", 2), ("snappy", 1), ("variants", 1)]:
    index = (golden / f"{name}.index").read_bytes()
    data = [(golden / f"{name}.data-{i:05}-of-{shards:05}").read_bytes() for i in range(shards)] + [b""]
    (out / f"files_{name}").write_bytes(
        b"\0" + struct.pack(">HH", len(index), len(data[0])) + index + data[0] + data[1]
    )
    if name == "snappy":
        continue
    entries = [(k, v) for k, v in rows(index) if k and len(k) < 256][:24]
    packed = b"".join(bytes([len(k), len(v)]) + k + v for k, v in entries)
    (out / f"rows_{name}").write_bytes(b"\1" + bytes([len(entries)]) + packed + data[0][:2000])
for i, text in enumerate(["4 6 0,2:-", "8 -", "2 3 4 -:1,2:0,4", "4 6", "9223372036854775807 0,1", " -:-"]):
    (out / f"text_{i}").write_bytes(b"\2" + text.encode())
index = (golden / "snappy.index").read_bytes()
end, _ = varint(index, len(index) - 48)
(out / "snappy_block").write_bytes(b"\3" + index[: end - 5])
