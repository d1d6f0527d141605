"""What the files of cases share: the table, values, shapes.

A case is a function (tf, n) -> what is called, with inputs of about n elements. It is told by its op and, where an op has several, by a word after a slash. Values are
the same for every package: they come from one generator of numpy."""

import functools
import pathlib

import numpy as np

CASES = {}
_OP_DEFS = (
    pathlib.Path(__file__).parents[2] / "tests/ops/data/op_defs.bin"
)  # TensorFlow's, each with its length in front


def case(*names):
    """Adds the cases `op` or `op/kind` that a function (tf, n, op, kind) makes."""

    def add(make):
        for name in names:
            assert name not in CASES, name
            op, _, kind = name.partition("/")
            CASES[name] = functools.partial(make, op=op, kind=kind)
        return make

    return add


def _fields(message):
    """(number, value) of the fields of a message of protobuf: bytes, or an integer."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, at = message[at : at + value], at + value
        yield key >> 3, value


@functools.cache
def _signatures():
    data, at, found = _OP_DEFS.read_bytes(), 0, {}
    while at < len(data):
        length = int.from_bytes(data[at : at + 4], "little")
        fields = list(_fields(data[at + 4 : at + 4 + length]))
        at += 4 + length
        first = lambda number: [dict(_fields(v)).get(1, b"").decode() for n, v in fields if n == number]  # noqa: E731  names
        found[dict(fields)[1].decode()] = first(2), first(4)
    return found


def ops_of(*inputs):
    """The public ops of these inputs and one type."""
    return [op for op, signature in _signatures().items() if signature == (list(inputs), ["T"]) and op[0] != "_"]


def random():
    return np.random.RandomState(7)


def floats(*shape, low=-2.0, high=2.0, dtype="float32"):
    return random().uniform(low, high, shape).astype(dtype)


def integers(*shape, low=0, high=100, dtype="int32"):
    return random().randint(low, high, shape).astype(dtype)


def rows(n, width=64):
    return max(1, n // width), width


def square(n):
    side = int(n**0.5)
    return side, side


def image(n, depth=16):
    """Batch, height, width, channels: 2x2, 32x32 or eight of 128x128."""
    pixels = max(4, n // depth)
    batch = 8 if pixels >= 65536 else 1
    side = int((pixels / batch) ** 0.5)
    return batch, side, side, depth


def raw(tf, op, **arguments):
    """A call of the raw op: arrays become tensors once, the rest are attributes."""
    call = getattr(tf.raw_ops, op)
    arguments = {
        k: tf.constant(v)
        if isinstance(v, np.ndarray)
        else [tf.constant(x) for x in v]
        if isinstance(v, list) and v and isinstance(v[0], np.ndarray)
        else v
        for k, v in arguments.items()
    }
    return lambda: call(**arguments)


def i32(*values):
    return np.array(values, "int32")


def words(n, length=8):
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz 0123456789,", "S1")
    text = random().choice(letters, (n, length)).view(f"S{length}")[:, 0]
    return text.astype(object)


def text_count(n):
    """Strings are larger than numbers: an eighth of them."""
    return max(8, n // 8)
