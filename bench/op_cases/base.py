"""What the files of cases share: the table, values, shapes.

A case is a function (tf, n) -> what is called, with inputs of about n elements. It is told by its op and, where an op has several, by a word after a slash. Values are
the same for every package: they come from one generator of numpy."""

import functools

import numpy as np

CASES = {}


def case(*names):
    """Adds the cases `op` or `op/kind` that a function (tf, n, op, kind) makes."""

    def add(make):
        for name in names:
            assert name not in CASES, name
            op, _, kind = name.partition("/")
            CASES[name] = functools.partial(make, op=op, kind=kind)
        return make

    return add


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
