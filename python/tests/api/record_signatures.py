"""Writes data/signatures.txt: the signatures of TensorFlow's public functions, for signatures_test.py. Run it with TensorFlow's Python:

    python record_signatures.py > data/signatures.txt

Each line is a symbol and its parameters, without annotations; a "raw" line is an op of tf.raw_ops."""

import inspect
import types

import tensorflow as tf

NAMESPACES = """tf tf.math tf.math.special tf.linalg tf.linalg.experimental tf.nn tf.nn.experimental tf.random tf.random.experimental tf.bitwise tf.dtypes tf.debugging
tf.debugging.experimental tf.config tf.config.experimental tf.config.optimizer tf.config.threading tf.quantization tf.sysconfig tf.strings tf.sparse tf.ragged tf.image
tf.signal tf.sets tf.audio tf.io tf.autodiff tf.nest tf.experimental tf.lookup tf.data tf.train tf.saved_model tf.autograph""".split()


def parameters(function):
    out = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        out.append(star + p.name + ("" if p.default is p.empty else f"={p.default!r}"))
    return ", ".join(out)


def line(name, function):
    try:
        text = f"{name}({parameters(function)})"
    except (TypeError, ValueError):
        return
    if "\n" not in text and " at 0x" not in text and "<object" not in text:
        print(text)


if __name__ == "__main__":
    for namespace in NAMESPACES:
        module = tf
        for part in namespace.split(".")[1:]:
            module = getattr(module, part)
        for name in dir(module):
            value = getattr(module, name)
            if name.startswith("_") or isinstance(value, (types.ModuleType, type)) or not callable(value):
                continue
            line(f"{namespace}.{name}", value)
    for name in dir(tf.raw_ops):
        if not name.startswith("_"):
            line(f"tf.raw_ops.{name}", getattr(tf.raw_ops, name))
