"""Writes declared.txt: the signatures of TensorFlow's ops for which no family here has kernels.

    python3 src/ops/declared/make.py WEFT

WEFT is the built command, which says what ops families register (`weft ops`). The OpDefs are those of
tests/ops/data/op_defs.bin, without the ones that TensorFlow's Python package alone adds. It needs to run again only for another
version of TensorFlow: where a family registers an op that stands in the file, the family's spec wins.
"""

import pathlib
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = pathlib.Path(__file__).with_name("declared.txt")
HEAD = """\
# Ops of TensorFlow that no family registers: signatures alone, written by make.py. A line says by its first character what it is:
# + op, < input, > output, & full type of that output, = attribute, ! properties, ~ deprecated since.
"""
TYPES = """invalid float double int32 uint8 int16 int8 string complex64 int64 bool qint8 quint8 qint32 bfloat16 qint16 quint16 uint16
complex128 half resource variant uint32 uint64 float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz int4 uint4
int2 uint2 float4_e2m1fn""".split()
NUMBERS = [1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 22, 23]
FULL_TYPES = {
    1: "VAR",
    2: "ANY",
    3: "PRODUCT",
    20: "FOR_EACH",
    214: "STRING",
    1000: "TENSOR",
    1001: "ARRAY",
    1002: "OPTIONAL",
    1005: "SHAPE_TENSOR",
    10102: "DATASET",
    10103: "RAGGED",
    10202: "MUTEX_LOCK",
}
PROPERTIES = {
    16: "aggregate",
    17: "stateful",
    18: "commutative",
    19: "allows_uninitialized_input",
    21: "distributed_communication",
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a message: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def one(data, number, default=None):
    return next((v for n, v in fields(data) if n == number), default)


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def number(value):
    short = next(
        t for t in (f"{value:.{n}g}" for n in range(1, 10)) if struct.pack("<f", float(t)) == struct.pack("<f", value)
    )
    return short if any(c in short for c in ".en") else short + ".0"


def quoted(data):
    out = ""
    for byte in data:
        c = chr(byte)
        out += "\\" + c if c in "'\\" else c if 32 <= byte < 127 else f"\\{byte:03o}"
    return f"'{out}'"


def shape(data):
    if one(data, 3, 0):
        return "<unknown>"
    sizes = [signed(one(d, 1, 0)) for n, d in fields(data) if n == 2]
    return "[" + ",".join("?" if s < 0 else str(s) for s in sizes) + "]"


def unpacked(value, kind):
    if isinstance(value, int):
        return [value]
    if kind == "f":
        return [struct.unpack_from("<f", value, i)[0] for i in range(0, len(value), 4)]
    out, at = [], 0
    while at < len(value):
        item, at = varint(value, at)
        out.append(item)
    return out


def tensor(data):
    if one(data, 1) != 4:
        raise ValueError("a tensor that is not of bytes")
    return "uint8[" + ", ".join(str(v) for n, value in fields(data) if n == 7 for v in unpacked(value, "i")) + "]"


def value_text(data):
    for n, v in fields(data):
        if n == 1:
            return "[" + ", ".join(items(v)) + "]"
        if n == 2:
            return quoted(v)
        if n == 3:
            return str(signed(v))
        if n == 4:
            return number(struct.unpack("<f", v)[0])
        if n == 5:
            return "true" if v else "false"
        if n == 6:
            return TYPES[v]
        if n == 7:
            return shape(v)
        if n == 8:
            return tensor(v)
        if n == 10:
            return one(v, 1, b"").decode()
    raise ValueError("an empty value")


def items(data):
    for n, v in fields(data):
        if n == 2:
            yield quoted(v)
        elif n == 3:
            yield from (str(signed(i)) for i in unpacked(v, "i"))
        elif n == 4:
            yield from (number(f) for f in unpacked(v, "f"))
        elif n == 5:
            yield from ("true" if i else "false" for i in unpacked(v, "i"))
        elif n == 6:
            yield from (TYPES[i] for i in unpacked(v, "i"))
        elif n == 7:
            yield shape(v)
        else:
            raise ValueError("a list of tensors or functions")


def attr(data):
    kind = one(data, 2).decode()
    allowed = one(data, 7)
    if allowed is not None:
        types = [t for n, v in fields(one(allowed, 1)) if n == 6 for t in unpacked(v, "i")]
        names = list(items(one(allowed, 1)))
        if types[: len(NUMBERS)] == NUMBERS:
            names[: len(NUMBERS)] = ["numbertype"]
        choices = "{" + ", ".join(names) + "}"
        kind = f"list({choices})" if kind.startswith("list(") else choices
    text = f"={one(data, 1).decode()}: {kind}"
    if one(data, 5, 0):
        text += f" >= {signed(one(data, 6, 0))}"
    default = one(data, 3)
    return text if default is None else f"{text} = {value_text(default)}"


def full_type(data):
    text = FULL_TYPES[one(data, 1, 0)]
    label = one(data, 3)
    if label is not None:
        text += ":" + label.decode()
    args = [full_type(v) for n, v in fields(data) if n == 2]
    return f"{text}({', '.join(args)})" if args else text


def argument(mark, data):
    kind = one(data, 4) or one(data, 6)
    kind = kind.decode() if kind else TYPES[one(data, 3)]
    count = one(data, 5)
    if count:
        kind = f"{count.decode()} * {kind}"
    if one(data, 16, 0):
        kind = f"Ref({kind})"
    yield f"{mark}{one(data, 1).decode()}: {kind}"
    full = one(data, 17)
    if full is not None:
        yield "&" + full_type(full)


def op_lines(data):
    properties = []
    for n, v in fields(data):
        if n == 1:
            yield "+" + v.decode()
        elif n in (2, 3):
            yield from argument("<" if n == 2 else ">", v)
        elif n == 4:
            yield attr(v)
        elif n == 8:
            yield f"~{one(v, 1, 0)} {one(v, 2, b'').decode()}".rstrip()
        elif v:
            properties.append(PROPERTIES[n])
    if properties:
        yield "!" + " ".join(properties)


def records():
    data = (ROOT / "tests/ops/data/op_defs.bin").read_bytes()
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        yield data[at + 4 : at + 4 + size]
        at += 4 + size


def main():
    lines = subprocess.run([sys.argv[1], "ops"], check=True, capture_output=True, text=True).stdout.splitlines()
    registered = {line.split(":")[0] for line in lines if not line.endswith(": signature only, no kernel")}
    left_out = registered | set((ROOT / "tests/ops/data/op_defs_python.txt").read_text().split())
    ops = sorted((one(r, 1).decode(), r) for r in records())
    chosen = [r for name, r in ops if name not in left_out]
    OUT.write_text(HEAD + "".join(line + "\n" for r in chosen for line in op_lines(r)))
    print(len(chosen), "ops,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
