"""Writes data/signatures.txt: the signatures of TensorFlow's public functions, for signatures_test.py. Run it with TensorFlow's Python:

    python record_signatures.py > data/signatures.txt
    python record_signatures.py classes > data/signatures_of_classes.txt
    python record_signatures.py names > data/names.txt

The last has every public name, with tf.compat.v1, tf.__internal__ and tf.__operators__ (names_test.py): "kind name(parameters)", without those of Keras, which are its own.

Each line is a symbol and its parameters, without annotations; a "raw" line is an op of tf.raw_ops."""

import inspect
import sys
import types

import tensorflow as tf
from signature_text import text

NAMESPACES = """tf tf.math tf.math.special tf.linalg tf.linalg.experimental tf.nn tf.nn.experimental tf.random tf.random.experimental tf.bitwise tf.dtypes tf.debugging
tf.debugging.experimental tf.config tf.config.experimental tf.config.optimizer tf.config.threading tf.quantization tf.sysconfig tf.strings tf.sparse tf.ragged tf.image
tf.signal tf.sets tf.audio tf.io tf.autodiff tf.nest tf.experimental tf.lookup tf.data tf.train tf.saved_model tf.autograph tf.experimental.dtensor""".split()

# Those whose classes are looked into: constructors and methods.
CLASSES = """tf.distribute tf.distribute.cluster_resolver tf.distribute.coordinator tf.distribute.experimental tf.distribute.experimental.coordinator
tf.distribute.experimental.partitioners tf.compat.v1.distribute tf.compat.v1.distribute.experimental""".split()


def parameters(function):
    out = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        out.append(star + p.name + ("" if p.default is p.empty else f"={p.default!r}"))
    return ", ".join(out)


# Modules below these are other packages' or stand for one that is recorded: Keras, absl's flags, the ops.
OTHERS = {
    "keras",
    "layers",
    "rnn_cell",
    "raw_ops",
    "flags",
    "tf_decorator",
    "compat",
    "initializers",
    "losses",
    "metrics",
    "optimizers",
}
# Not public, though they can be seen.
LEAKED = {"tf.dtensor", "tf.security", "tf.tools", "tf.python", "tf.core", "tf.compiler"}


def names(module, prefix):
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        value = getattr(module, name)
        full = f"{prefix}.{name}"
        if isinstance(value, types.ModuleType):
            if full in LEAKED:
                continue
            if name in OTHERS and full not in (
                "tf.compat.v1.losses",
                "tf.compat.v1.metrics",
                "tf.compat.v1.initializers",
            ):
                print("module", full)
            elif getattr(value, "__name__", "").startswith("tensorflow"):
                print("module", full)
                names(value, full)
        elif isinstance(value, type) or callable(value):
            kind = "class" if isinstance(value, type) else "function"
            print(f"{kind} {full}({text(value)})".replace("\n", " "))
        else:
            print("object", full)


def line(name, function):
    try:
        text = f"{name}({parameters(function)})"
    except (TypeError, ValueError):
        return
    if "\n" not in text and " at 0x" not in text and "<object" not in text:
        print(text)


def find(namespace):
    module = tf
    for part in namespace.split(".")[1:]:
        module = getattr(module, part)
    return module


def classes():
    for namespace in CLASSES:
        module = find(namespace)
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, types.ModuleType) or not callable(value):
                continue
            if not isinstance(value, type):
                line(f"{namespace}.{name}", value)
                continue
            if value.__init__ is not object.__init__:
                line(f"{namespace}.{name}.__init__", value.__init__)
            for method in dir(value):
                if not method.startswith("_") and inspect.isroutine(getattr(value, method)):
                    line(f"{namespace}.{name}.{method}", getattr(value, method))


if __name__ == "__main__":
    if sys.argv[1:] == ["classes"]:
        classes()
        sys.exit()
    if sys.argv[1:] == ["names"]:
        for root in ("tf", "tf.compat.v1", "tf.__internal__", "tf.__operators__"):
            names(find(root), root)
        sys.exit()
    for namespace in NAMESPACES:
        module = find(namespace)
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, (types.ModuleType, type)) or not callable(value):
                continue
            line(f"{namespace}.{name}", value)
    for name in dir(tf.raw_ops):
        if not name.startswith("_"):
            line(f"tf.raw_ops.{name}", getattr(tf.raw_ops, name))
