"""Signatures of the public functions, and of the methods of some classes, are TensorFlow's: names, order and defaults. The files in data/ were written by
record_signatures.py."""

import inspect
import pathlib
import types

import pytest

import weft as tf

DATA = pathlib.Path(__file__).parent / "data"
LINES = [
    line for name in ("signatures.txt", "signatures_of_classes.txt") for line in (DATA / name).read_text().splitlines()
]


def parameters(function):
    out = []
    for p in inspect.signature(function).parameters.values():
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        out.append(star + p.name + ("" if p.default is p.empty else f"={p.default!r}"))
    return ", ".join(out)


# TensorFlow's are contextlib's, too, which getfullargspec does not look through.
ONLY_SIGNATURE = {"tf.experimental.dtensor.default_mesh"}


def by_getfullargspec(function):
    """The same by inspect.getfullargspec, which libraries use, too; it does not follow wrappers."""
    spec = inspect.getfullargspec(function)
    if inspect.ismethod(function):
        return None  # has self, as signature has not
    defaults = dict(zip(spec.args[::-1], (spec.defaults or ())[::-1])) | (spec.kwonlydefaults or {})
    out = [name + (f"={defaults[name]!r}" if name in defaults else "") for name in spec.args]
    out += ["*" + spec.varargs] if spec.varargs else []
    out += [name + (f"={defaults[name]!r}" if name in defaults else "") for name in spec.kwonlyargs]
    return ", ".join(out + (["**" + spec.varkw] if spec.varkw else []))


def find(symbol):
    """The function of that name; None where weft does not have it (or a part that it needs)."""
    found = tf
    for part in symbol.split(".")[1:]:
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            return None
    return found


def differences(lines):
    out = []
    for line in lines:
        symbol, _, expected = line.partition("(")
        function = find(symbol)
        if function is None or isinstance(function, (type, types.ModuleType)):
            continue
        have = parameters(function)
        if have != expected[:-1]:
            out.append(f"{symbol}\n  has  {have}\n  want {expected[:-1]}")
        listed = by_getfullargspec(function)
        if listed is not None and have != listed and symbol not in ONLY_SIGNATURE:
            out.append(f"getfullargspec of {symbol}\n  has  {listed}\n  want {have}")
    return out


@pytest.mark.parametrize("namespace", sorted({line.partition("(")[0].rpartition(".")[0] for line in LINES}))
def test_signatures(namespace):
    lines = [line for line in LINES if line.partition("(")[0].rpartition(".")[0] == namespace]
    found = differences(lines)
    assert not found, "\n".join(found)
