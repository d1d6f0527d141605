"""Hostile GraphDefs: libraries of functions that call themselves and each other, cycles, dangling inputs, wrong attributes, constants of absurd sizes, names
twice, chains and nests of great depth, trees of 2^n calls, and damaged files. Each goes through the command (show, graph, run, freeze, optimize, compile,
trace) or through Python (import, run, gradients, functions). Errors are answers; a death, a hang or an error without a word is a failure."""

import glob
import os
import sys
import tempfile

import support

TYPES = [
    "DT_FLOAT",
    "DT_INT32",
    "DT_BOOL",
    "DT_STRING",
    "DT_INT64",
    "DT_VARIANT",
    "DT_RESOURCE",
    "DT_INVALID",
    "DT_FLOAT_REF",
]
GRAPHS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "graphs", "imported", "*.pb")


def attrs(**values):
    return " ".join(f'attr {{ key: "{k}" value {{ {v} }} }}' for k, v in values.items())


def node(name, op, inputs=(), **values):
    return f'name: "{name}" op: "{op}" ' + " ".join(f'input: "{i}"' for i in inputs) + " " + attrs(**values)


def types(n=1, t="DT_FLOAT"):
    return f"list {{ {' '.join(f'type: {t}' for _ in range(n))} }}"


def func(name):
    return f'func {{ name: "{name}" }}'


def const(name, value="float_val: 1", dtype="DT_FLOAT", shape=""):
    return node(
        name, "Const", dtype=f"type: {dtype}", value=f"tensor {{ dtype: {dtype} tensor_shape {{ {shape} }} {value} }}"
    )


def function(name, nodes, result, arg="DT_FLOAT", ret="DT_FLOAT"):
    body = " ".join(f"node_def {{ {n} }}" for n in nodes)
    return (
        f'function {{ signature {{ name: "{name}" input_arg {{ name: "x" type: {arg} }} output_arg {{ name: "y" type: {ret} }} }} {body} '
        f'ret {{ key: "y" value: "{result}" }} }}'
    )


def graph(nodes, functions=()):
    return (
        "\n".join(f"node {{ {n} }}" for n in nodes)
        + "\nlibrary {\n"
        + "\n".join(functions)
        + "\n}\nversions { producer: 1882 }\n"
    )


def placeholder(shape="dim { size: 2 }", dtype="DT_FLOAT"):
    return node("x", "Placeholder", dtype=f"type: {dtype}", shape=f"shape {{ {shape} }}")


TINY = "shape { }"


class Calls:
    """Ways in which a function calls another."""

    def __init__(self, random):
        self.random = random

    def call(self, name, of, source, inside=True):
        """Nodes that call `of`, and the name of the result."""
        kind = self.random.choice(
            [
                "PartitionedCall",
                "StatefulPartitionedCall",
                "If",
                "StatelessIf",
                "Case",
                "While",
                "by_name",
                "SymbolicGradient",
                "RemoteCall",
                "MapDataset",
                "For",
            ]
        )
        out = f"{name}:output:0" if inside else name
        if kind in ("PartitionedCall", "StatefulPartitionedCall"):
            return [node(name, kind, [source], Tin=types(), Tout=types(), f=func(of))], out
        if kind in ("If", "StatelessIf"):
            lower = self.random.choice(["true", "false"])
            cond = f"{name}_c:output:0" if inside else f"{name}_c"
            return [
                const(f"{name}_c", f"bool_val: {self.random.choice(['true', 'false'])}", "DT_BOOL"),
                node(
                    name,
                    kind,
                    [cond, source],
                    Tcond="type: DT_BOOL",
                    Tin=types(),
                    Tout=types(),
                    then_branch=func(of),
                    else_branch=func(self.random.choice([of, "leaf"])),
                    _lower_using_switch_merge=f"b: {lower}",
                ),
            ], out
        if kind == "Case":
            index = f"{name}_i:output:0" if inside else f"{name}_i"
            return [
                const(f"{name}_i", f"int_val: {self.random.randrange(-1, 3)}", "DT_INT32"),
                node(
                    name,
                    kind,
                    [index, source],
                    Tin=types(),
                    Tout=types(),
                    branches=f"list {{ {func(of)} {func('leaf')} }}",
                ),
            ], out
        if kind == "While":
            return [node(name, kind, [source], T=types(), cond=func("positive"), body=func(of))], out
        if kind == "by_name":
            return [node(name, of, [source])], f"{name}:y:0" if inside else name
        if kind == "SymbolicGradient":
            return [node(name, kind, [source, source], Tin=types(2), Tout=types(), f=func(of))], out
        if kind == "RemoteCall":
            target = f"{name}_t:output:0" if inside else f"{name}_t"
            return [
                const(f"{name}_t", 'string_val: "/device:CPU:0"', "DT_STRING"),
                node(name, kind, [target, source], Tin=types(), Tout=types(), f=func(of)),
            ], out
        if kind == "For":
            numbers, nodes = [], []
            for i, n in enumerate((0, 2, 1)):
                nodes.append(const(f"{name}_{i}", f"int_val: {n}", "DT_INT32"))
                numbers.append(f"{name}_{i}:output:0" if inside else f"{name}_{i}")
            return nodes + [
                node(name, kind, numbers + [source], T=types(), body=func(self.random.choice(["turn", of])))
            ], out
        slices, mapped, reduced = (
            (f"{name}_s:handle:0", f"{name}_m:handle:0", f"{name}:components:0")
            if inside
            else (f"{name}_s", f"{name}_m", name)
        )
        shape = f"list {{ {TINY} }}"
        return [
            node(f"{name}_s", "TensorSliceDataset", [source], Toutput_types=types(), output_shapes=shape),
            node(
                f"{name}_m",
                "MapDataset",
                [slices],
                Targuments="list { }",
                output_types=types(),
                output_shapes=shape,
                f=func(of),
            ),
            node(name, "DatasetToSingleElement", [mapped], output_types=types(), output_shapes=shape),
        ], reduced


# `positive` ends every loop: what is put through tanh often enough has a sum below 1.
LIBRARY = [
    function("turn", [node("i", "Tanh", ["v"], T="type: DT_FLOAT")], "i:y:0")
    .replace(
        'input_arg { name: "x" type: DT_FLOAT }',
        'input_arg { name: "i" type: DT_INT32 } input_arg { name: "v" type: DT_FLOAT }',
    )
    .replace('name: "i" op', 'name: "t" op')
    .replace('"i:y:0"', '"t:y:0"'),
    function("leaf", [node("i", "Tanh", ["x"], T="type: DT_FLOAT")], "i:y:0"),
    function(
        "positive",
        [
            const("z"),
            node("s", "Sum", ["x", "a:output:0"], T="type: DT_FLOAT", Tidx="type: DT_INT32"),
            node(
                "a",
                "Const",
                dtype="type: DT_INT32",
                value="tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 0 }",
            ),
            node("g", "Greater", ["s:output:0", "z:output:0"], T="type: DT_FLOAT"),
        ],
        "g:z:0",
        ret="DT_BOOL",
    ),
]


def recursive(random):
    calls = Calls(random)
    names = [f"f{i}" for i in range(random.randrange(1, 6))] + random.choice([[], [], ["Neg"]])
    functions = list(LIBRARY)
    for name in names:
        nodes, source = [], "x"
        for k in range(random.randrange(1, 4)):
            more, source = calls.call(f"n{k}", random.choice(names + ["leaf"]), source)
            nodes += more
        functions.append(function(name, nodes, source))
    nodes, out = calls.call("y", random.choice(names), "x", inside=False)
    return graph([placeholder()] + nodes, functions)


def tree(random):
    """2^n calls, or branches that share functions."""
    depth = random.choice([8, 16, 30, 60])
    functions = list(LIBRARY) + [function("f0", [node("i", "Tanh", ["x"], T="type: DT_FLOAT")], "i:y:0")]
    kind = random.choice(["PartitionedCall", "If", "by_name", "While"])
    if kind == "While":
        depth = min(depth, 16)  # the body is differentiated anew at each level of loops
    for i in range(1, depth + 1):
        below = f"f{i - 1}"
        if kind == "If":
            nodes = [
                const("c", "bool_val: true", "DT_BOOL"),
                node("p", "PlaceholderWithDefault", ["c:output:0"], dtype="type: DT_BOOL", shape="shape { }"),
                node(
                    "a",
                    "If",
                    ["p:output:0", "x"],
                    Tcond="type: DT_BOOL",
                    Tin=types(),
                    Tout=types(),
                    then_branch=func(below),
                    else_branch=func(below),
                ),
            ]
            out = "a:output:0"
        elif kind == "by_name":
            nodes, out = (
                [
                    node("a", below, ["x"]),
                    node("b", below, ["x"]),
                    node("s", "AddV2", ["a:y:0", "b:y:0"], T="type: DT_FLOAT"),
                ],
                "s:z:0",
            )
        elif kind == "While":
            nodes, out = (
                [
                    node("a", "While", ["x"], T=types(), cond=func("never"), body=func(below)),
                    node("b", "PartitionedCall", ["a:output:0"], Tin=types(), Tout=types(), f=func(below)),
                ],
                "b:output:0",
            )
        else:
            nodes, out = (
                [
                    node("a", kind, ["x"], Tin=types(), Tout=types(), f=func(below)),
                    node("b", kind, ["x"], Tin=types(), Tout=types(), f=func(below)),
                    node("s", "AddV2", ["a:output:0", "b:output:0"], T="type: DT_FLOAT"),
                ],
                "s:z:0",
            )
        functions.append(function(f"f{i}", nodes, out))
    functions.append(function("never", [const("c", "bool_val: false", "DT_BOOL")], "c:output:0", ret="DT_BOOL"))
    # A run of 2^30 calls would take its time, here as anywhere: that much is only looked at.
    return graph(
        [placeholder(), node("y", "PartitionedCall", ["x"], Tin=types(), Tout=types(), f=func(f"f{depth}"))], functions
    ), kind in ("If", "While") or depth <= 16


def nest(random):
    """Deep, and yet finite."""
    depth = random.choice([50, 300, 1000])
    calls = Calls(random)
    functions = list(LIBRARY) + [function("f0", [node("i", "Tanh", ["x"], T="type: DT_FLOAT")], "i:y:0")]
    simple = random.choice([True, False])
    for i in range(1, depth + 1):
        if simple:
            nodes, out = (
                [node("a", "PartitionedCall", ["x"], Tin=types(), Tout=types(), f=func(f"f{i - 1}"))],
                "a:output:0",
            )
        else:
            nodes, out = calls.call("a", f"f{i - 1}", "x")
        functions.append(function(f"f{i}", nodes, out))
    return graph(
        [placeholder(), node("y", "PartitionedCall", ["x"], Tin=types(), Tout=types(), f=func(f"f{depth}"))], functions
    )


def chain(random):
    """Long, and wide paths through few nodes."""
    n = random.choice([2_000, 20_000, 100_000])
    kind = random.choice(["unary", "add", "controls", "concat", "shape", "identity", "pack"])
    if kind in ("concat", "shape", "pack"):
        n = min(n, 2_000)
    nodes = [placeholder()]
    last = "x"
    if kind in ("concat", "shape", "pack"):
        nodes += [
            node("s", "Shape", ["x"], T="type: DT_FLOAT", out_type="type: DT_INT32"),
            const("axis", "int_val: 0", "DT_INT32"),
        ]
        last = "s"
    for i in range(n):
        name = f"n{i}"
        if kind == "unary":
            nodes.append(node(name, random.choice(["Neg", "Tanh", "Abs"]), [last], T="type: DT_FLOAT"))
        elif kind == "identity":
            nodes.append(node(name, "Identity", [last], T="type: DT_FLOAT"))
        elif kind == "add":
            nodes.append(node(name, "AddV2", [last, last], T="type: DT_FLOAT"))
        elif kind == "controls":
            nodes.append(node(name, "NoOp", ["^" + last]))
        elif kind == "concat":
            nodes.append(
                node(name, "ConcatV2", [last, last, "axis"], N="i: 2", T="type: DT_INT32", Tidx="type: DT_INT32")
            )
            if i > 18:
                break
        elif kind == "pack":
            nodes.append(node(name, "Maximum", [last, last], T="type: DT_INT32"))
        else:
            nodes.append(
                node(name, "Reshape", ["x", last], T="type: DT_FLOAT", Tshape="type: DT_INT32")
                if i % 2 == 0
                else node(name, "Shape", [last], T="type: DT_FLOAT", out_type="type: DT_INT32")
            )
        last = name
    if kind == "controls":
        nodes.append(node("y", "Identity", ["x", "^" + last], T="type: DT_FLOAT"))
    elif kind in ("concat", "pack"):
        nodes.append(node("y", "Reshape", ["x", last], T="type: DT_FLOAT", Tshape="type: DT_INT32"))
    else:
        nodes.append(
            node("y", "Identity", [last], T="type: DT_INT32" if kind == "shape" and n % 2 == 0 else "type: DT_FLOAT")
        )
    random.random() < 0.3 and nodes.reverse()
    return graph(nodes)


def wrong(random):
    """A small graph with a few mistakes."""
    nodes = [
        placeholder(),
        const("c", "float_val: 2"),
        node("a", "AddV2", ["x", "c"], T="type: DT_FLOAT"),
        node("m", "Neg", ["a"], T="type: DT_FLOAT"),
        node("p", "Pack", ["a", "m"], N="i: 2", T="type: DT_FLOAT", axis="i: 0"),
        node("y", "Sum", ["p", "i"], T="type: DT_FLOAT", Tidx="type: DT_INT32"),
        const("i", "int_val: 0", "DT_INT32"),
    ]
    functions = list(LIBRARY)
    for _ in range(random.randrange(1, 4)):
        size = random.choice([-1, -7, 1 << 40, (1 << 62), (1 << 63) - 1, 1 << 31, 0, 100_000])
        number = random.choice([-1, 0, 1 << 20, 1 << 31, -(1 << 40), (1 << 62)])
        t = random.choice(TYPES)
        nodes.append(
            random.choice(
                [
                    lambda: const(
                        "huge", "float_val: 1", shape=f"dim {{ size: {size} }} dim {{ size: {abs(size) or 1} }}"
                    ),
                    lambda: const("content", 'tensor_content: "abc"', shape=f"dim {{ size: {size} }}"),
                    lambda: const("typed", "float_val: 1", t),
                    lambda: const("a", "float_val: 1"),
                    lambda: node("self", "Neg", ["self"], T="type: DT_FLOAT"),
                    lambda: (
                        node("loop", "Neg", ["loop2"], T="type: DT_FLOAT")
                        + " } node { "
                        + node("loop2", "Neg", ["loop"], T="type: DT_FLOAT")
                    ),
                    lambda: (
                        node("control", "NoOp", ["^control2"]) + " } node { " + node("control2", "NoOp", ["^control"])
                    ),
                    lambda: (
                        node("merge", "Merge", ["x", "next"], N="i: 2", T="type: DT_FLOAT")
                        + " } node { "
                        + node("next", "NextIteration", ["merge"], T="type: DT_FLOAT")
                    ),
                    lambda: (
                        node("merge", "Merge", ["next", "next"], N="i: 2", T="type: DT_FLOAT")
                        + " } node { "
                        + node("next", "NextIteration", ["merge"], T="type: DT_FLOAT")
                    ),
                    lambda: (
                        node("enter", "Enter", ["x"], T="type: DT_FLOAT", frame_name='s: "f"')
                        + " } node { "
                        + node("q", "AddV2", ["enter", "x"], T="type: DT_FLOAT")
                    ),
                    lambda: node("exit", "Exit", ["x"], T="type: DT_FLOAT"),
                    lambda: node("switch", "Switch", ["x", "x"], T="type: DT_FLOAT"),
                    lambda: node(
                        "dangling",
                        "Neg",
                        [
                            random.choice(
                                ["nowhere", "x:7", "x:-1", "x:99999999999", "^", ":0", "", "x:0:0", "^x:1", "x:"]
                            )
                        ],
                        T="type: DT_FLOAT",
                    ),
                    lambda: node("number", "Pack", ["x"], N=f"i: {number}", T="type: DT_FLOAT"),
                    lambda: node(
                        "list",
                        "IdentityN",
                        ["x"],
                        T=f"list {{ {' '.join(f'type: {random.choice(TYPES)}' for _ in range(random.randrange(4)))} }}",
                    ),
                    lambda: node("typed2", "Neg", ["x"], T=f"type: {t}"),
                    lambda: node(
                        "kind",
                        "Neg",
                        ["x"],
                        T=random.choice(
                            [
                                's: "a"',
                                "i: 3",
                                "list { }",
                                "shape { unknown_rank: true }",
                                "b: true",
                                'func { name: "leaf" }',
                                'placeholder: "T"',
                            ]
                        ),
                    ),
                    lambda: node(
                        "unknown",
                        random.choice(
                            [
                                "NoSuchOp",
                                "_Arg",
                                "_Retval",
                                "_Recv",
                                "_Send",
                                "_SwitchN",
                                "leaf",
                                "Placeholder",
                                "",
                                "_If",
                            ]
                        ),
                        ["x"],
                    ),
                    lambda: node("split", "Split", ["i", "x"], num_split=f"i: {number}", T="type: DT_FLOAT"),
                    lambda: node(
                        "shape",
                        "Placeholder",
                        dtype="type: DT_FLOAT",
                        shape=f"shape {{ dim {{ size: {size} }} dim {{ size: {size} }} }}",
                    ),
                    lambda: (
                        node("fill", "Fill", ["dims", "c"], T="type: DT_FLOAT", index_type="type: DT_INT64")
                        + " } node { "
                        + const("dims", f"int64_val: {size}", "DT_INT64", "dim { size: 2 }")
                    ),
                    lambda: node("bad name", "Neg", ["x"], T="type: DT_FLOAT"),
                    lambda: (
                        node("device", "Neg", ["x"], T="type: DT_FLOAT")
                        + f' device: "{random.choice(["/device:GPU:0", "/device:CPU:99", "nonsense", "/job:a/job:b", "///"])}"'
                    ),
                    lambda: node(
                        "class",
                        "Neg",
                        ["x"],
                        T="type: DT_FLOAT",
                        _class=f'list {{ s: "{random.choice(["loc:@class", "loc:@nowhere", "loc:@", "x"])}" }}',
                    ),
                ]
            )()
        )
        if random.random() < 0.5:
            functions.append(
                random.choice(
                    [
                        lambda: function("broken", [node("i", "Neg", ["nowhere:y:0"], T="type: DT_FLOAT")], "i:y:0"),
                        lambda: function("broken", [], "x:0"),
                        lambda: function("broken", [node("i", "Neg", ["i:y:0"], T="type: DT_FLOAT")], "i:y:0"),
                        lambda: function("broken", [node("i", "Neg", ["x:3"], T="type: DT_FLOAT")], "i:y:9"),
                        lambda: function("leaf", [node("i", "Abs", ["x"], T="type: DT_FLOAT")], "i:y:0"),
                        lambda: function("broken", [node("i", "Neg", ["x"], T='placeholder: "T"')], "i:y:0"),
                        lambda: function("broken", [node("x", "Neg", ["x"], T="type: DT_FLOAT")], "x:y:0"),
                        lambda: function("", [node("i", "Neg", ["x"], T="type: DT_FLOAT")], "i:y:0"),
                    ]
                )()
            )
            nodes.append(
                node(
                    "calls",
                    "PartitionedCall",
                    ["x"],
                    Tin=random.choice([types(), types(2), types(0), types(1, "DT_INT32")]),
                    Tout=random.choice([types(), types(3)]),
                    f=func("broken"),
                )
            )
    random.shuffle(nodes)
    return graph(nodes, functions)


def damaged(random):
    with open(random.choice(sorted(glob.glob(GRAPHS))), "rb") as f:
        data = bytearray(f.read())
    for _ in range(random.choice([1, 1, 1, 1, 2, 5])):
        at = random.randrange(len(data))
        kind = random.randrange(5)
        if kind == 0:
            data[at] = random.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 2:
            del data[at : at + random.randrange(1, 20)]
        elif kind == 3:
            data[at:at] = data[random.randrange(len(data)) :][: random.randrange(1, 60)]
        else:
            data[at : at + 1] = bytes([255] * random.randrange(1, 10))
        if not data:
            data = bytearray(b"\n")
    return bytes(data)


PYTHON = """
import sys
import numpy as np
import weft as tf
from weft import proto
path, how = sys.argv[1:]
data = open(path, "rb").read()
v1 = tf.compat.v1
try:
    definition = v1.GraphDef()
    if path.endswith("pbtxt"):
        proto.text_format.Parse(data.decode(), definition)
    else:
        definition.ParseFromString(data)
    x = np.ones([2], np.float32)
    if how == "function":
        @tf.function(jit_compile=None)
        def f(x):
            return tf.import_graph_def(definition, input_map={"x:0": x}, return_elements=["y:0"], name="g")[0]
        print(f(x))
    elif how == "compiled":
        @tf.function(jit_compile=True)
        def f(x):
            return tf.import_graph_def(definition, input_map={"x:0": x}, return_elements=["y:0"], name="g")[0]
        print(f(x))
    elif how == "tape":
        @tf.function
        def f(x):
            return tf.import_graph_def(definition, input_map={"x:0": x}, return_elements=["y:0"], name="g")[0]
        x = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        print(tape.gradient(y, x))
    else:
        with tf.Graph().as_default() as g:
            tf.import_graph_def(definition, name="")
            y = g.get_tensor_by_name("y:0")
            if how == "gradients":
                y = tf.gradients(y, g.get_tensor_by_name("x:0"))[0]
            with v1.Session(graph=g) as session:
                print(session.run(y, {"x:0": x}))
except (tf.errors.OpError, ValueError, TypeError, KeyError, proto.DecodeError, proto.ParseError, LookupError, AttributeError, NotImplementedError) as e:
    print("error:", type(e).__name__, e)
    if not str(e):
        sys.exit("an error without a word")
"""


def command(random, build, path, folder, runs):
    out = os.path.join(folder, "out")
    choices = [
        ["show", path],
        ["graph", path, "--svg", out + ".svg"],
        ["optimize", path, "-o", out + ".pb"],
        ["freeze", path, "-o", out + ".pb", "--inputs", "x:0", "--outputs", "y:0"],
        [
            "compile",
            path,
            "-o",
            out,
            "--feed",
            "x:0",
            "--fetch",
            "y:0",
            "--emit",
            random.choice(["ir", "plan", "llvm"]),
        ],
    ]
    if runs:
        choices += [
            ["run", path, "-i", "x=ones(2)", "--fetch", "y:0"],
            ["run", "--jit", path, "-i", "x=ones(2)", "--fetch", "y:0"],
            ["run", "--devices", "3", path, "-i", "x=ones(2)", "--fetch", "y:0"],
            ["trace", path, "-i", "x=ones(2)", "-o", out + ".json"],
        ]
    return [build.weft] + random.choice(choices)


def attack(random, build):
    kind = random.choice([recursive, recursive, recursive, tree, nest, chain, wrong, wrong, wrong, damaged, damaged])
    made, runs = kind(random), True
    if isinstance(made, tuple):
        made, runs = made
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graph.pbtxt" if isinstance(made, str) else "graph.pb")
        with open(path, "wb") as f:
            f.write(made.encode() if isinstance(made, str) else made)
        keep = os.environ.get("WEFT_ATTACK_KEEP")
        if keep:
            with open(os.path.join(keep, os.path.basename(path)), "wb") as f:
                f.write(made.encode() if isinstance(made, str) else made)
        todo = [command(random, build, path, folder, runs) for _ in range(3)]
        if runs:
            todo.append(
                [
                    sys.executable,
                    "-c",
                    PYTHON,
                    path,
                    random.choice(["run", "gradients", "function", "compiled", "tape"]),
                ]
            )
        for c in todo:
            # No limit on memory: what is not there is refused by the allocator, and a death for want of it would be one.
            outcome = support.child(c, seconds=180, cwd=folder)
            problem = outcome.problem()
            if not problem and outcome.code not in (0, 1, 2) and c[0] == build.weft:
                problem = f"exit status {outcome.code}: {outcome.err[-500:]}"
            if not problem and outcome.code and not outcome.err.strip():
                problem = "an error without a word"
            if not problem and c[0] != build.weft and outcome.code:
                problem = outcome.err.strip()[-600:]
            if problem:
                shown = " ".join(c[:1] + c[-1:] if c[0] != build.weft else c)
                return f"{kind.__name__}: {shown}: {problem}\n  WEFT_ATTACK_KEEP=DIR keeps the graph"
    return None


if __name__ == "__main__":
    support.main(__doc__, attack)
