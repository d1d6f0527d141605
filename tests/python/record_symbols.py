"""Writes data/tf_symbols.csv: every public symbol of TensorFlow outside of Keras, with how often programs use it.

PYTHON_WITH_TENSORFLOW record_symbols.py [COVERAGE_CSV ...]   (columns symbol, uses)"""

import csv
import pathlib
import sys
import types

import tensorflow as tf

SKIPPED = {
    "tf.keras",
    "tf.compat.v2",
    "tf.estimator",
    "tf.initializers",
    "tf.losses",
    "tf.metrics",
    "tf.optimizers",
    "tf.raw_ops",
    "tf.tpu",
    "tf.xla",
    "tf.mlir",
    "tf.lite",
    "tf.dtensor",  # not of the public interface, which is tf.experimental.dtensor
    "tf.security",
    "tf.tools",
    "tf.feature_column",
    "tf.__internal__",
}
V1 = "tf.compat.v1"


def walk(module, prefix, seen, out):
    for name in sorted(dir(module)):
        full = f"{prefix}.{name}"
        if (
            name.startswith("_")
            or full in SKIPPED
            or any(full.startswith(s + ".") for s in SKIPPED)
            or full.startswith(V1)
        ):
            continue
        try:
            value = getattr(module, name)
        except Exception:
            continue
        if isinstance(value, types.ModuleType):
            if (
                ("tensorflow" in value.__name__ or "_api" in value.__name__)
                and "python" not in value.__name__.split(".")[1:2]
                and id(value) not in seen
            ):
                seen.add(id(value))
                walk(value, full, seen, out)
            continue
        out[full] = "class" if isinstance(value, type) else "function" if callable(value) else "object"


symbols = {}
walk(tf, "tf", set(), symbols)
uses = {}
for path in sys.argv[1:]:
    for row in csv.DictReader(open(path)):
        name = row["symbol"]
        if not name.startswith("tf.") or any(name == s or name.startswith(s + ".") for s in SKIPPED):
            continue
        uses[name] = uses.get(name, 0) + int(row["uses"])
        symbols.setdefault(name, row.get("kind", "function") or "function")
target = pathlib.Path(__file__).parent / "data/tf_symbols.csv"
with open(target, "w") as f:
    f.write("symbol,kind,uses\n")
    for name in sorted(symbols, key=lambda n: (-uses.get(n, 0), n)):
        f.write(f"{name},{symbols[name]},{uses.get(name, 0)}\n")
print(len(symbols), "symbols")
