"""Every public name, those of tf.compat.v1, tf.__internal__ and tf.__operators__ with them, is there and takes TensorFlow's parameters, or refuses and says why. data/names.txt was written by
record_signatures.py."""

import inspect
import pathlib
import re

import pytest
from signature_text import text

import weft as tf

LINES = (pathlib.Path(__file__).parent / "data/names.txt").read_text().splitlines()
# What Python says of classes whose constructors are hidden by a metaclass, are of C, or are not for callers.
HIDDEN = {"?", "", "*args, **kwargs"}
# Not compared, each for the reason.
EXCEPTIONS = {
    "tf.compat.v1.types.experimental.FunctionType": "constructed by functions alone",
    "tf.types.experimental.FunctionType": "constructed by functions alone",
    "tf.__internal__.SymbolicTensor": "constructed by the engine alone",
    "tf.saved_model.LoadOptions": "has `verify` beside TensorFlow's",
    "tf.compat.v1.saved_model.LoadOptions": "has `verify` beside TensorFlow's",
}
# TensorFlow's own getfullargspec is that of a wrapper.
WRAPPED = {
    "tf.compat.v1.xla.experimental.jit_scope",
    "tf.xla.experimental.jit_scope",
    "tf.experimental.dtensor.default_mesh",
    "tf.__internal__.distribute.variable_sync_on_read_context",
    "tf.__internal__.load_context",
}


def find(name):
    value = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def parse(line):
    kind, _, rest = line.partition(" ")
    name, bracket, parameters = rest.partition("(")
    return kind, name, parameters[:-1] if bracket else None


def kind_of(value):
    if inspect.ismodule(value):
        return "module"
    return "class" if isinstance(value, type) else "function" if callable(value) else "object"


def wrong(line):
    """What differs, or None."""
    kind, name, parameters = parse(line)
    try:
        value = find(name)
    except AttributeError:
        return f"{name} is not there"
    if kind_of(value) != kind and (kind, kind_of(value)) not in (("module", "object"), ("class", "function")):
        return f"{name} is of kind {kind_of(value)}, not {kind}"
    if parameters is None or name in EXCEPTIONS or kind == "class" and parameters in HIDDEN:
        return None
    have = text(value)
    if have != parameters:
        return f"{name}\n  has  {have}\n  want {parameters}"
    if kind == "function" and parameters != "?" and inspect.isfunction(value) and name not in WRAPPED:
        spec = inspect.getfullargspec(value)
        listed = [*spec.args, *(["*" + spec.varargs] if spec.varargs else [])]
        listed += [*spec.kwonlyargs, *(["**" + spec.varkw] if spec.varkw else [])]
        own = [
            f"{'*' if p.kind == p.VAR_POSITIONAL else '**' if p.kind == p.VAR_KEYWORD else ''}{p.name}"
            for p in inspect.signature(value).parameters.values()
        ]
        if listed != own:
            return f"getfullargspec of {name}\n  has  {listed}\n  want {own}"
    return None


def group(line):
    return parse(line)[1].rpartition(".")[0]


@pytest.mark.parametrize("namespace", sorted({group(line) for line in LINES}))
def test_names_and_signatures(namespace):
    found = [w for line in LINES if group(line) == namespace and (w := wrong(line))]
    assert not found, "\n".join(found)


def test_all_is_recorded():
    names = [parse(line)[1] for line in LINES]
    assert (
        sum(n.startswith("tf.compat.v1.") for n in names) > 2100
        and sum(n.startswith("tf.__internal__.") for n in names) > 130
    )


REFUSING = [n for n in (parse(line)[1] for line in LINES) if getattr(find(n), "__unsupported__", False)]


@pytest.mark.parametrize("name", REFUSING)
def test_what_is_not_supported_says_so(name):
    """Called with anything for what it requires, it names itself and what is missing."""
    value = find(name)
    given = [
        None
        for p in inspect.signature(value).parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    with pytest.raises(
        tf.errors.UnimplementedError,
        match=re.escape(name.removeprefix("tf.compat.v1.").removeprefix("tf.")) + " is not supported: .",
    ):
        value(*given)


def test_arguments_with_two_names():
    """Of an argument and its former name one may be given."""
    v1 = tf.compat.v1
    assert (
        v1.strings.to_number(["1", "2"]).numpy().tolist()
        == v1.string_to_number(input=["1", "2"]).numpy().tolist()
        == [1.0, 2.0]
    )
    with pytest.raises(ValueError, match="Cannot specify both"):
        v1.string_to_number(["1"], input=["1"])
    assert v1.transpose([[1, 2], [3, 4]], conjugate=False).numpy().tolist() == [[1, 3], [2, 4]]
    assert v1.batch_to_space([[[[1]]], [[[2]]], [[[3]]], [[[4]]]], [[0, 0], [0, 0]], 2).numpy().tolist() == [
        [[[1], [2]], [[3], [4]]]
    ]


def test_flags(monkeypatch):
    """absl's, with former names of arguments; the command line is read when a flag is first looked at."""
    flags = tf.compat.v1.flags
    flags.DEFINE_integer(flag_name="weft_of_names_test", default_value=3, docstring="for this test")
    flags.DEFINE_string("weft_text_of_names_test", "none", "for this test")
    monkeypatch.setattr("sys.argv", ["program", "--weft_text_of_names_test=some"])
    assert flags.FLAGS.weft_of_names_test == 3 and flags.FLAGS.weft_text_of_names_test == "some"
    assert flags.FLAGS.is_parsed() and tf.compat.v1.app.flags.FLAGS["weft_of_names_test"].default == 3
