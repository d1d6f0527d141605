"""Random small functions with branches, loops, calls and shapes that depend on data, inside each other: compiled (jit_compile, clusters by
TF_XLA_FLAGS, SavedModels by `weft run --jit` and `weft compile`) they give what the plain function gives, or an error. A death, a hang or another value is
a failure.

All numbers are small integers, so that every way of computing gives the same bits. With WEFT_ATTACK_PRINT=1 the functions are printed."""

import os
import sys
import tempfile

import support

FUNCTIONS = 4  # of one attempt
SHOW = "\n  WEFT_ATTACK_PRINT=1 shows the functions"


class Writer:
    """One function as text. x: float32 [n], s: float32 scalar, k: int32 scalar, v: a variable of x's shape."""

    def __init__(self, random, number):
        self.random = random
        self.number = number
        self.lines = []
        self.helpers = []
        self.names = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def vector(self, depth=0):
        c = self.random.randrange(-3, 4)
        if depth > 1:
            return self.pick("x", "v + 0.", f"x * {c}.", "tf.fill(tf.shape(x), s)")
        a = self.vector(depth + 1)
        return self.pick(
            f"({a}) + {c}.",
            f"({a}) - x",
            f"tf.maximum({a}, {c}.)",
            f"tf.minimum({a}, v)",
            f"tf.abs({a})",
            f"tf.where(x > {c}., {a}, s)",
            f"tf.reverse({a}, [0])",
            f"tf.cumsum({a})",
            f"tf.gather({a}, tf.math.floormod(tf.cast(x, tf.int32), tf.size(x)))",
            f"tf.sort({a})",
            f"tf.concat([({a})[1:], ({a})[:1]], 0)",
            f"tf.transpose(tf.stack([{a}, x]))[:, 0]",
            f"tf.cast(tf.argsort({a}, stable=True), tf.float32)",
            f"tf.roll({a}, k, 0)",
            f"tf.tensor_scatter_nd_add({a}, [[tf.math.floormod(k, tf.size(x))]], [s])",
            f"tf.linalg.matvec(tf.reshape(tf.tile({a}, [tf.size(x)]), [tf.size(x), tf.size(x)]), x)",
            f"tf.math.floormod({a}, 5.)",
            f"tf.reshape(tf.reshape({a}, [-1, 1]), tf.shape(x))",
        )

    def scalar(self):
        a = self.vector(1)
        return self.pick(
            f"tf.reduce_sum({a})",
            f"tf.reduce_max({a})",
            f"({a})[0]",
            "s + 1.",
            "s - tf.cast(k, tf.float32)",
            f"({a})[tf.math.floormod(k, tf.size(x))]",
            "tf.cast(tf.size(x), tf.float32)",
            # Shapes from data.
            "tf.cast(tf.reduce_sum(tf.range(tf.math.floormod(tf.cast(x[0], tf.int32), 6))), tf.float32)",
            "tf.reduce_sum(tf.boolean_mask(x, x > 0.))",
            "tf.cast(tf.size(tf.unique(x)[0]), tf.float32)",
            "tf.cast(tf.shape(tf.where(x > s))[0], tf.float32)",
            "tf.reduce_sum(tf.zeros([tf.math.floormod(k, 4)]) + 1.)",
            "tf.reduce_sum(x[:tf.math.floormod(k, 3)])",
            "tf.reduce_sum(tf.repeat(x, tf.math.floormod(k, 3)))",
            "tf.cast(tf.strings.length(tf.strings.as_string(k)), tf.float32)",
            "tf.reduce_sum(tf.one_hot(k, tf.math.floormod(k, 4) + 1))",
            "tf.reduce_sum(tf.linspace(0., 4., 5))",
            "tf.reduce_sum(tf.reshape(tf.range(12.), [tf.math.floormod(k, 2) + 1, -1])[0])",
        )

    def condition(self):
        return self.pick(
            "tf.reduce_sum(x) > 0.",
            "s < 3.",
            "tf.math.floormod(k, 2) == 0",
            "x[0] > x[-1]",
            "tf.reduce_any(x > s)",
            "tf.constant(True)",
            "tf.size(x) > 2",
            "k < 4",
        )

    def put(self, indent, line):
        self.lines.append("    " * indent + line)

    def block(self, indent, depth):
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent, depth)

    def statement(self, indent, depth):
        kinds = ["x", "x", "s", "s", "k", "variable"]
        if depth < 4:
            kinds += [
                "if",
                "if",
                "for",
                "while",
                "for",
                "call",
                "cond",
                "switch",
                "array",
                "while_loop",
                "try_shape",
                "grad",
            ]
        kind = self.random.choice(kinds)
        if kind == "x":
            self.put(indent, f"x = small({self.vector()})")
        elif kind == "s":
            self.put(indent, f"s = small({self.scalar()})")
        elif kind == "k":
            self.put(
                indent,
                f"k = tf.math.floormod({self.pick('k + 3', 'k * 2 + tf.size(x)', 'tf.cast(s, tf.int32)', 'tf.cast(x[0], tf.int32) - k')}, 7)",
            )
        elif kind == "variable":
            self.put(
                indent,
                self.pick(
                    "v.assign(small(v + x))",
                    "v.assign_add(tf.clip_by_value(x, -1., 1.))",
                    "v.assign(x)",
                    "s = small(s + tf.reduce_sum(v))",
                ),
            )
        elif kind == "if":
            self.put(indent, f"if {self.condition()}:")
            self.block(indent + 1, depth + 1)
            if self.random.random() < 0.6:
                self.put(indent, "else:")
                self.block(indent + 1, depth + 1)
        elif kind == "for":
            over = self.pick(
                "tf.range(3)",
                "tf.range(tf.math.floormod(k, 4))",
                "x",
                "tf.range(2)",
                "tf.range(tf.cast(tf.math.floormod(s, 3.), tf.int32))",
            )
            self.put(indent, f"for {self.fresh('i')} in {over}:")
            self.block(indent + 1, depth + 1)
            if self.random.random() < 0.2:
                self.put(indent + 1, f"if {self.condition()}:")
                self.put(indent + 2, self.pick("break", "continue"))
        elif kind == "while":
            n = self.fresh("n")
            self.put(indent, f"{n} = tf.constant(0)")
            self.put(
                indent, f"while {n} < {self.pick('2', 'tf.math.floormod(k, 4)', '3')}{self.pick('', ' and s < 30.')}:"
            )
            self.put(indent + 1, f"{n} += 1")
            self.block(indent + 1, depth + 1)
        elif kind == "call":
            name = self.fresh(f"helper{self.number}_")
            inner = Writer(self.random, f"{self.number}_{name}")
            inner.names = self.names + 100
            inner.block(1, depth + 2)
            self.helpers += (
                inner.helpers
                + [f"@tf.function{self.pick('', '', '(jit_compile=True)')}", f"def {name}(x, s, k, v):"]
                + inner.lines
                + ["    return x, s, k", ""]
            )
            self.put(indent, f"x, s, k = {name}(x, s, k, v)")
        elif kind == "cond":
            self.put(
                indent,
                f"x, s = tf.cond({self.condition()}, lambda: (small({self.vector()}), small({self.scalar()})), lambda: (x, small({self.scalar()})))",
            )
        elif kind == "switch":
            branches = ", ".join(f"lambda: small({self.scalar()})" for _ in range(self.random.randrange(1, 4)))
            self.put(indent, f"s = tf.switch_case({self.pick('k', 'k - 1', 'tf.constant(1)')}, [{branches}])")
        elif kind == "array":
            a, i = self.fresh("a"), self.fresh("i")
            size, dynamic = self.pick(("3", "False"), ("0", "True"), ("tf.math.floormod(k, 3) + 1", "False"))
            turns = "3" if size != "tf.math.floormod(k, 3) + 1" else size
            self.put(indent, f"{a} = tf.TensorArray(tf.float32, size={size}, dynamic_size={dynamic})")
            self.put(indent, f"for {i} in tf.range({turns}):")
            self.put(
                indent + 1, f"{a} = {a}.write({i}, small({self.pick('x', 's', 'x[:1]')} + tf.cast({i}, tf.float32)))"
            )
            if self.random.random() < 0.5:
                self.block(indent + 1, depth + 2)
            self.put(indent, f"s = small(tf.reduce_sum({a}.stack()))")
        elif kind == "while_loop":
            body = self.pick(
                "(x, small(s + x[0]), k)",
                f"(small({self.vector()}), s, k)",
                "(tf.concat([x, x], 0)[:tf.size(x)], s, k)",
            )
            limit = self.pick("", ", maximum_iterations=3")
            self.put(
                indent,
                f"{self.fresh('n')}, (x, s, k) = tf.while_loop(lambda n, t: n < 2, lambda n, t: (n + 1, (lambda x, s, k: {body})(*t)), (tf.constant(0), (x, s, k)){limit})",
            )
        elif kind == "try_shape":
            z = self.fresh("z")
            self.put(
                indent,
                f"{z} = {self.pick('tf.boolean_mask(x, x >= s)', 'tf.range(tf.cast(tf.abs(s), tf.float32))', 'x[:tf.math.floormod(k, 4)]', 'tf.tile(x, [tf.math.floormod(k, 3)])')}",
            )
            self.put(indent, f"s = small(s + tf.reduce_sum({z}) + tf.cast(tf.size({z}), tf.float32))")
        elif kind == "grad":
            t = self.fresh("t")
            self.put(indent, f"with tf.GradientTape() as {t}:")
            self.put(indent + 1, f"{t}.watch(x)")
            self.put(
                indent + 1,
                f"y = {self.pick('tf.reduce_sum(x * x)', 'tf.reduce_sum(tf.where(x > 0., x * s, x))', 'tf.reduce_sum(tf.gather(x, [0, 0]) * s)')}",
            )
            self.put(indent, f"x = small({t}.gradient(y, x))")

    def text(self):
        self.block(1, 0)
        self.statement(1, 0)
        return "\n".join(self.helpers + [f"def f{self.number}(x, s, k, v):"] + self.lines + ["    return x, s, k", ""])


HEAD = """import sys
import numpy as np
import weft as tf

def small(x):
    return tf.clip_by_value(tf.floor(x), -40., 40.)

"""

TAIL = """
if sys.argv[1] == "save":
    for f in FUNCTIONS:
        m = tf.Module()
        m.v = tf.Variable([-1., 0., 1., 2.])
        specs = [tf.TensorSpec([4], tf.float32, name="x"), tf.TensorSpec([], tf.float32, name="s"), tf.TensorSpec([], tf.int32, name="k")]
        try:
            m.f = tf.function(lambda x, s, k: dict(zip("abc", f(x, s, k, m.v))), input_signature=specs)
            tf.saved_model.save(m, f.__name__, signatures=m.f)
        except (tf.errors.OpError, ValueError, TypeError) as e:
            print("not saved:", type(e).__name__, str(e)[:300])
    sys.exit()
for f in FUNCTIONS:
    for n in (4, 1):
        g = tf.function(f, jit_compile=True) if sys.argv[1] == "compiled" else tf.function(f)
        v = tf.Variable(tf.cast(tf.range(n) - 1, tf.float32))
        for turn in range(2):
            x = tf.constant(np.random.RandomState(turn).randint(-4, 5, n).astype(np.float32))
            where = f"{f.__name__} of {n}, call {turn}"
            try:
                values = [t.numpy() for t in g(x, tf.constant(float(turn)), tf.constant(turn + 3), v)] + [v.numpy()]
                print(where, "|", [(str(t.dtype), t.shape, t.tolist()) for t in values])
            except Exception as e:
                print(where, "| error", type(e).__name__, str(e).replace("\\n", " ")[:500])
                v = tf.Variable(tf.cast(tf.range(n) - 1, tf.float32))
            sys.stdout.flush()
"""


def run(path, folder, how):
    env = {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"} if how == "clusters" else {}
    return support.child([sys.executable, path, how], seconds=180, env=env, cwd=folder)


def through_files(random, build, path, folder):
    """As SavedModels, by the command."""
    outcome = run(path, folder, "save")
    if outcome.problem() or outcome.code != 0:
        return f"save: {outcome.problem() or outcome.err.strip()[-1500:]}{SHOW}"
    for i in range(FUNCTIONS):
        model = os.path.join(folder, f"f{i}")
        if not os.path.isdir(model):
            continue
        inputs = ["-i", "x=[1,-2,3,0]", "-i", f"s={random.randrange(-2, 3)}", "-i", f"k={random.randrange(5)}"]
        outs = []
        for command in (
            ["run", model] + inputs,
            ["run", "--jit", model] + inputs,
            ["compile", model, "-o", os.path.join(folder, "out")],
        ):
            outcome = support.child([build.weft] + command, seconds=180, cwd=folder)
            if outcome.problem() or "internal" in outcome.err.lower():
                return f"weft {' '.join(command)}: {outcome.problem() or outcome.err[-600:]}{SHOW}"
            if command[0] == "run":
                outs.append("error" if outcome.code else outcome.out)
        if outs[0] != outs[1]:
            return f"weft run --jit of f{i} with {inputs}: {outs[1]}\n  plain: {outs[0]}{SHOW}"
    return None


def attack(random, build):
    functions = [Writer(random, i).text() for i in range(FUNCTIONS)]
    how = random.choice(["clusters", "compiled", "compiled", "files"])
    text = HEAD + "\n".join(functions) + f"\nFUNCTIONS = [{', '.join(f'f{i}' for i in range(FUNCTIONS))}]\n" + TAIL
    if os.environ.get("WEFT_ATTACK_PRINT"):
        print(text)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "functions.py")
        with open(path, "w") as f:
            f.write(text)
        if how == "files":
            return through_files(random, build, path, folder)
        plain, other = run(path, folder, "plain"), run(path, folder, how)
    for outcome in (plain, other):
        if outcome.problem() or outcome.code != 0:
            return f"{outcome.command[-1]}: {outcome.problem() or outcome.err.strip()[-1500:]}{SHOW}"
    for p, c in zip(plain.out.splitlines(), other.out.splitlines(), strict=True):
        if "| error InternalError" in c or "| error InternalError" in p:
            return f"an internal error, {how}: {c}{SHOW}"
        # The compiler may refuse what the engine runs (a function inside that must be compiled may be refused by itself); clusters leave that to the engine.
        if "must be compiled" in p:
            break
        if p != c and not ("| error" in c and ("| error" in p or how == "compiled")):
            return f"{how}: {c}\n  plain: {p}{SHOW}"
    return None


if __name__ == "__main__":
    support.main(__doc__, attack)
