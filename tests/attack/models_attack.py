"""Damaged SavedModels, graphs and checkpoints through every `weft` command that reads them, the C++ loader (`weft run`) and Python's loaders. Damage: bits,
lengths, cuts, swapped pieces, missing and strange files, asset names that lead out of the folder. With --verify a damaged model must be DataLoss."""

import os
import shutil
import sys
import tempfile

import support

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(HERE, "..", "models")
EXAMPLES = os.path.join(HERE, "..", "..", "examples", "data")

PYTHON = r"""
import sys
import weft as tf

what, path = sys.argv[1:]
try:
    if what == "load":
        m = tf.saved_model.load(path)
        for f in getattr(m, "signatures", {}).values():
            f.structured_outputs
    elif what == "verify":
        tf.saved_model.load(path, options=tf.saved_model.LoadOptions(verify=True))
    elif what == "v1":
        with tf.compat.v1.Session(graph=tf.Graph()) as s:
            tf.compat.v1.saved_model.load(s, ["serve"], path)
    else:
        r = tf.train.load_checkpoint(path + "/variables/variables")
        for key in r.get_variable_to_shape_map():
            r.get_tensor(key)
except (tf.errors.OpError, ValueError, TypeError, KeyError, IndexError, AttributeError, OSError, NotImplementedError, RuntimeError, AssertionError, MemoryError, RecursionError) as e:
    print("error:", type(e).__name__, str(e)[:300])
    sys.exit(3)
"""


def models():
    out = []
    for root in (os.path.join(MODELS, "model_api"), EXAMPLES):
        for where, _, files in os.walk(root):
            if "saved_model.pb" in files:
                out.append(where)
    return sorted(out)


def damage(random, folder):
    """Changes one file; says which and whether its bytes differ in a way that checksums must see."""
    files = sorted(os.path.relpath(os.path.join(w, f), folder) for w, _, fs in os.walk(folder) for f in fs)
    name = random.choice([f for f in files if not f.startswith("assets")])
    path = os.path.join(folder, name)
    with open(path, "rb") as f:
        old = f.read()
    data = bytearray(old)
    for _ in range(random.choice([1, 1, 1, 3, 10])):
        if not data:
            break
        at = random.randrange(len(data))
        kind = random.randrange(6)
        if kind == 0:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at : at + 5] = random.choice([b"\xff" * 5, b"\0" * 5, b"\x80\x80\x80\x80\x7f"])
        elif kind == 3:
            other = random.randrange(len(data))
            data[at:at] = data[other : other + random.randrange(100)]
        elif kind == 4:
            del data[at : at + random.randrange(1, 20)]
        else:  # a name with a path in it, of the same length
            spot = data.find(b"variables")
            data[at : at + 9] = (
                random.choice([b"../../etc", b"/dev/zero", b"\n" * 9]) if spot < 0 else data[spot : spot + 9]
            )
    with open(path, "wb") as f:
        f.write(data)
    return name, bytes(data) != old


def attack(random, build):
    source = random.choice(models())
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        shutil.copytree(source, model)
        script = os.path.join(folder, "load.py")
        with open(script, "w") as f:
            f.write(PYTHON)
        name, changed = damage(random, model)
        what = f"{os.path.basename(source)}, {name}"
        out = os.path.join(folder, "out")
        os.mkdir(out)
        prefix = os.path.join(model, "variables", "variables")
        commands = [
            [build.weft, "show", model],
            [build.weft, "show", model, "--json"],
            [build.weft, "show", prefix],
            [build.weft, "show", prefix, "--verify"],
            [build.weft, "run", model],
            [build.weft, "graph", model, "--svg", out + "/g.svg"],
            [build.weft, "graph", model, "--dot", out + "/g.dot", "--optimized"],
            [build.weft, "freeze", model, "-o", out + "/f.pb"],
            [build.weft, "optimize", model, "-o", out + "/o.pb"],
            [build.weft, "bench", model, "--duration", "0.2"],
            [build.weft, "trace", model, "-o", out + "/t.json"],
            [build.weft, "compile", model, "-o", out + "/net"],
            [sys.executable, script, "load", model],
            [sys.executable, script, "v1", model],
            [sys.executable, script, "checkpoint", model],
        ]
        for command in random.sample(commands, 3):
            outcome = support.child(command, seconds=90, memory=6 << 30)
            problem = outcome.problem()
            if problem:
                return f"{what}: {' '.join(os.path.basename(c) for c in command)}: {problem}"
        if changed and name != "fingerprint.pb" and os.path.exists(os.path.join(model, "fingerprint.pb")):
            for command in ([build.weft, "show", model, "--verify"], [sys.executable, script, "verify", model]):
                outcome = support.child(command, seconds=90, memory=6 << 30)
                problem = outcome.problem()
                if not problem and outcome.code == 0:
                    problem = "a damaged model was found whole"
                if problem:
                    return f"{what}: {' '.join(os.path.basename(c) for c in command)}: {problem}"
    return None


if __name__ == "__main__":
    support.main(__doc__, attack)
