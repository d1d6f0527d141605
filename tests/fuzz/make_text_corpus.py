"""Writes corpus/text from tests/files/text: some texts, some messages, and a FileDescriptorSet made of proto/ by protoc."""

import pathlib
import re
import struct
import subprocess

here = pathlib.Path(__file__).parent
golden = here.parent / "files" / "text"
names = re.findall(r'"(\w+)"', re.search(r"kMessages\[\] = \{(.*?)\};", (here / "text_fuzz.cc").read_text(), re.S)[1])
out = here / "corpus" / "text"
out.mkdir(parents=True, exist_ok=True)
for old in out.glob("made_*"):
    old.unlink()


def rows(path, columns):
    data, at = path.read_bytes(), 0
    while at < len(data):
        row = []
        for _ in range(columns):
            (n,) = struct.unpack_from("<I", data, at)
            row.append(data[at + 4 : at + 4 + n])
            at += 4 + n
        yield row


def put(name, kind, message, body):
    (out / ("made_" + name)).write_bytes(bytes([kind, names.index(message)]) + body)


for i, row in enumerate(rows(golden / "parse.bin", 3)):
    if i % 4 == 0:
        put(f"parse_{i}", 0, "ServerDef", row[0])
seen = set()
for row in rows(golden / "messages.bin", 4):
    name = row[0].decode().removeprefix("tensorflow.")
    if name in names and name not in seen and len(row[1]) < 1000:
        seen.add(name)
        put(f"text_{name}", 0, name, row[2])
        put(f"bytes_{name}", 1, name, row[1])
proto = here.parent.parent / "proto"
for name in ("attr", "debug_info"):
    done = subprocess.run(
        ["protoc", "-I", proto, "--include_imports", "--descriptor_set_out=/dev/stdout", f"{name}.proto"],
        stdout=subprocess.PIPE,
        check=True,
    )
    put(f"descriptors_{name}", 2, "GraphDef", done.stdout)
