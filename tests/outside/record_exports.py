"""Writes python/weft/_src/tensorflow/exports.py: which public name each name of TensorFlow's private modules has.

PYTHON_WITH_TENSORFLOW tests/outside/record_exports.py"""

import collections
import pathlib
import sys
import types

import tensorflow as tf
from tensorflow.python.util import tf_export

INTERNAL = ("__internal__", "__operators__")
SKIPPED = ("compat.v2", "raw_ops", "compat.v1.raw_ops", "compat.v1.compat", "estimator", "compat.v1.estimator")
TARGET = pathlib.Path(__file__).parents[2] / "python/weft/_src/tensorflow/exports.py"
HEAD = '''"""The public names of what TensorFlow's private modules define: "module: name=public name ..." (tests/outside/record_exports.py)."""

TEXT = """
'''


def rank(name):
    """The public name of several that is taken: of version 2, not experimental, short."""
    return (
        name.startswith("compat.v1"),
        name.startswith("__internal"),
        "experimental" in name,
        name.count("."),
        len(name),
        name,
    )


def walk(module, prefix, seen, found):
    if id(module) in seen:
        return
    seen.add(id(module))
    for name in dir(module):
        full = f"{prefix}.{name}" if prefix else name
        if (name.startswith("_") and name not in INTERNAL) or full in SKIPPED:
            continue
        value = getattr(module, name)
        if isinstance(value, types.ModuleType):
            if "_api" in str(vars(value).get("__name__")) and "Loader" not in type(value).__name__:
                walk(value, full, seen, found)
        elif callable(value) and (id(value) not in found or rank(full) < rank(found[id(value)][0])):
            found[id(value)] = full, value  # the value is kept, so that no other gets its id


def exports():
    public = {}
    walk(tf, "", set(), public)
    walk(tf.compat.v1, "compat.v1", set(), public)
    table = collections.defaultdict(list)
    for module, loaded in sorted(sys.modules.items()):
        package, _, leaf = module.rpartition(".")
        if not module.startswith("tensorflow.python.") or ".keras" in module:
            continue
        for name, value in sorted(vars(loaded).items()):
            home = getattr(value, "__module__", None)
            if id(value) in public and home in (module, f"{package}.gen_{leaf}"):
                full = (
                    tf_export.get_canonical_name_for_symbol(value, add_prefix_to_v1_names=True) or public[id(value)][0]
                )
                table[module.removeprefix("tensorflow.")].append(name if full == name else f"{name}={full}")
    return table


def main():
    lines = []
    for module, names in exports().items():
        line = module + ":"
        for name in names:
            if len(line) + len(name) > 240:
                lines.append(line)
                line = module + ":"
            line += " " + name
        lines.append(line)
    TARGET.write_text(HEAD + "\n".join(lines) + '\n"""\n')


main()
