"""Operators, conversions and attributes of tensors, part 1."""

import contextlib
import re

import tensorflow as tf


def without_addresses(text):
    return re.sub(r" at 0x\w+", "", text)


@contextlib.contextmanager
def shown():
    """Prints the kind and the text of an error."""
    try:
        yield
    except Exception as e:
        print(type(e).__name__ + ":", without_addresses(str(e)))


def show(call):
    with shown():
        value = call()
        if value is not None:
            print(without_addresses(repr(value)))


x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
show(lambda: x)
show(lambda: str(x))
show(lambda: f"{x}")
show(lambda: f"{tf.constant(3.14159):.2f}")
show(lambda: f"{tf.constant(3):d}")
show(lambda: f"{x:.2f}")
show(lambda: "%s" % x)
show(lambda: "%d" % tf.constant(3))
show(lambda: format(tf.constant(2.5), ".3e"))
show(lambda: len(x))
show(lambda: len(tf.constant(1)))
show(lambda: bool(tf.constant(1)))
show(lambda: bool(x))
show(lambda: bool(tf.constant([])))
show(lambda: int(tf.constant([1])))
show(lambda: int(tf.constant([1, 2])))
show(lambda: float(tf.constant("a")))
show(lambda: float(tf.constant(2)))
show(lambda: complex(tf.constant(1 + 2j)))
show(lambda: complex(tf.constant(1.0)))
show(lambda: int(tf.constant(2.7)))
show(lambda: hash(x))
show(lambda: x in [x])
show(lambda: x in x)
show(lambda: {x: 1})
show(lambda: x.ref())
show(lambda: x.ref() == x.ref())
show(lambda: {x.ref(): 1}[x.ref()])
show(lambda: x.ref().deref() is x)
show(lambda: iter(tf.constant(1)))
show(lambda: list(x))
show(lambda: [a.numpy() for a in x])
for a, b in x:
    print(a, b)
show(lambda: round(tf.constant(2.567)))
show(lambda: round(tf.constant(2.567), 2))
show(lambda: abs(tf.constant(-2)))
show(lambda: divmod(tf.constant(7), 2))
show(lambda: pow(tf.constant(2), 3))
show(lambda: -x)
show(lambda: +x)
show(lambda: ~tf.constant(5))
show(lambda: ~tf.constant(True))
show(lambda: ~x)
show(lambda: x @ x)
show(lambda: x @ [1.0, 2.0])
show(lambda: x // 2)
show(lambda: x % 2)
show(lambda: 7 // tf.constant(2))
show(lambda: 7.5 % tf.constant(2.0))
show(lambda: 2 ** tf.constant(3))
show(lambda: tf.constant(1) / tf.constant(2))
show(lambda: tf.constant(1) / 2.0)
show(lambda: tf.constant(5) & 3)
show(lambda: tf.constant(5) | tf.constant(2))
show(lambda: tf.constant(True) ^ True)
show(lambda: tf.constant(5) ^ 1)
show(lambda: tf.constant(1) << 2)
show(lambda: x > 2)
show(lambda: x > "a")
show(lambda: x == "a")
show(lambda: x != None)
show(lambda: x == None)
show(lambda: x == [1.0, 2.0])
show(lambda: x == [[1.0, 2.0, 3.0]])
show(lambda: x != tf.constant([1, 2]))
show(lambda: x < [[1.0, 2.0, 3.0]])
show(lambda: tf.constant("a") < tf.constant("b"))
show(lambda: tf.constant("a") + "b")
show(lambda: "b" + tf.constant("a"))
show(lambda: tf.constant("a") * 3)
