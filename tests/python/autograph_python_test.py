"""Python code without tensors: its conversion must not change what it does."""

import contextlib
import copy
import functools

import pytest

import weft as tf


def loops(n):
    out = []
    for i in range(n):
        if i % 3 == 0:
            continue
        for j in range(i):
            if j == 4:
                break
            out.append((i, j))
        while len(out) > 20:
            out.pop()
            if len(out) == 10:
                return out
    return out


def walrus(x):
    if (y := x + 1) > 3:
        return y
    while (z := x * 2) < 10:
        x += 1
    return y, z


def walrus2(xs):
    return [y for x in xs if (y := x * 2) > 2]


def tries(x):
    try:
        if x > 2:
            raise ValueError("big")
        y = 1
    except ValueError as e:
        y = str(e)
    else:
        y = (y, "else")
    finally:
        x += 1
    return x, y


def withs(x):
    with contextlib.suppress(KeyError):
        {}["a"]
        x = 100
    with contextlib.nullcontext(x) as a, contextlib.nullcontext(2) as b:
        if a > b:
            return a
    return b


def unpack(*args, k=1, **kw):
    a, (b, *c) = args[0], args[1:]
    d = {**kw, "k": k}
    return a, b, c, d, f"{a!r:>5}{b}"


def call_unpack(x):
    return unpack(x, *[1, 2, 3], **{"z": 1}, k=5)


def gen(x):
    return list(y for y in range(x) if y % 2), {k: v for k, v in zip("abc", range(x))}, {y for y in range(x)}


def nested(x):
    total = 0

    def add(y):
        nonlocal total
        total += y
        if total > 3:
            return "over"
        return total

    r = [add(i) for i in range(x)]
    return r, total


def cond_expr(x):
    return ("a" if x > 1 else "b") + ("c" if not x else "d"), x and 3, x or 4, (x > 0 and x < 10 or None)


def matches(x):
    match x:
        case 1 | 2:
            return "small"
        case [a, b]:
            return a + b
        case {"k": v}:
            return v
        case _:
            return None


def classy(x):
    class A:
        z = 3

        def __init__(self, v):
            self.v = v

        def get(self):
            if self.v > 1:
                return self.v * self.z
            return 0

    a = A(x)
    a.v += 1
    return a.get()


class Base:
    def __init__(self, v=1):
        self.v = v
        self.items = {"a": 1}

    def run(self, x):
        if x > 1:
            self.v += x
            self.items["a"] += x
            del self.items["a"]
        return self.v, self.items

    @property
    def prop(self):
        return self.v if self.v else 5


class Der(Base):
    def run(self, x):
        r = super().run(x)
        if r[0] > 2:
            return (super(Der, self).run(x), self.prop)
        return r

    @staticmethod
    def st(x):
        return -x if x > 0 else x

    @classmethod
    def cl(cls, x):
        return cls.st(x), cls.__name__


def methods(x):
    d = Der(2)
    return d.run(x), Der.st(x), Der.cl(x), d.cl(-x)


def dels(x):
    y = [1, 2, 3]
    del y[0]
    if x:
        z = 1
        del z
    return y


def globs(x):
    return "globs" in globals(), "x" in locals(), eval("x + 1")


def chain(x):
    return 0 < x < 5, 1 == x != 3, x in (1, 2) and x is not None


def lambdas(x):
    f = lambda a, b=2, *c, d=4, **e: (a, b, c, d, e) if a else None
    g = functools.partial(f, 1, d=9)
    return f(x), g(5, 6, z=1), (lambda: x)(), sorted([3, 1, 2], key=lambda q: -q if x else q)


def forelse(x):
    for i in range(x):
        if i == 3:
            break
    else:
        return "none"
    return "found"


def annotated(x: int, y: "str" = "a", *, z: float = 1.0) -> tuple:
    w: int = x
    if w > 1:
        w: int = 5
    return w, y, z


def multi(x):
    a = b = c = x
    a += 1
    b -= 1
    if x > 0:
        a, b = b, a
    return a, b, c


def early(x):
    """doc"""
    if x == 0:
        return
    if x == 1:
        return "one"
    for i in range(10):
        if i == x:
            return i
    return None


def recursive(n):
    if n <= 1:
        return 1
    return n * recursive(n - 1)


def strings(x):
    s = (
        """multi
line"""
        + "q"
    )
    if x:
        s += "\n"
    return s


def assertion(x):
    assert x > 0, "positive"
    return x


def starred(x):
    first, *rest = range(x + 2)
    return first, rest, [*rest, *[1]], (*rest, 2), {*rest}


def whiletrue(x):
    n = 0
    while True:
        n += 1
        if n > x:
            break
        if n == 2:
            continue
    return n


def whiletry(x):
    it = iter(range(x))
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            break
    return out


def attrs(x):
    o = Base()
    for i in range(x):
        o.v = o.v * 2
        if o.v > 5:
            o.w = i
    return o.v, getattr(o, "w", None)


def dicts(x):
    d = {}
    for i in range(x):
        d[i] = i * i
        if i == 2:
            d["x"] = d[i]
    return d


def kwonly(x):
    def h(a, /, b, *, c=3):
        return a, b, c

    return h(x, b=2), h(x, 3, c=4)


FUNCTIONS = (
    loops,
    walrus,
    tries,
    withs,
    call_unpack,
    gen,
    nested,
    cond_expr,
    matches,
    classy,
    methods,
    dels,
    chain,
    lambdas,
    forelse,
    annotated,
    multi,
    early,
    recursive,
    strings,
    starred,
    whiletrue,
    whiletry,
    attrs,
    dicts,
    kwonly,
    globs,
    assertion,
)
CASES = [(f, n) for f in FUNCTIONS for n in (0, 1, 3, 7)] + [
    (walrus2, [1, 2, 3]),
    (matches, [1, 2]),
    (matches, {"k": 3}),
]


def converted(f):
    if tf.__name__ == "weft":
        from weft._src.autograph import convert_for_tracing

        return convert_for_tracing(f)
    internal = tf.__internal__.autograph
    return internal.tf_convert(f, internal.control_status_ctx(), user_requested=True)


def outcome(f, value):
    try:
        return repr(f(copy.deepcopy(value)))
    except Exception as e:
        return type(e).__name__


@pytest.mark.parametrize("f, value", CASES, ids=[f"{f.__name__}-{value}" for f, value in CASES])
def test_does_the_same(f, value):
    assert outcome(converted(f), value) == outcome(f, value)
