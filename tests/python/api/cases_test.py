"""The calls of cases_*.py give what TensorFlow gave (data/cases.json, written by record_cases.py), eagerly and in functions."""

import json
import pathlib
import sys

import numpy as np
import pytest

import weft as tf

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
import cases  # noqa: E402

RECORDED = json.loads((FOLDER / "data" / "cases.json").read_text())
# Where the last places of a result are a matter of the order of additions.
TOLERANCE = dict(rtol=2e-4, atol=2e-5)


def same(have, want, path=""):
    if (
        isinstance(want, list)
        and len(want) == 3
        and isinstance(want[0], str)
        and isinstance(want[2], list)
        and want[0] not in ("sparse", "string")
    ):
        assert have[:2] == want[:2], f"{path}: {have[:2]} instead of {want[:2]}"
        wide = dict(rtol=2e-2, atol=2e-2) if want[0] in ("float16", "bfloat16") else TOLERANCE
        for a, b in zip(have[2], want[2]):
            np.testing.assert_allclose(a, b, err_msg=path, **wide)
    elif isinstance(want, list):
        assert isinstance(have, list) and len(have) == len(want), f"{path}: {have} instead of {want}"
        for k, (a, b) in enumerate(zip(have, want)):
            same(a, b, f"{path}[{k}]")
    else:
        assert have == want, f"{path}: {have!r} instead of {want!r}"


def normal(text):
    """Texts without what differs by nature: the kernel library's name, names of classes."""
    return (
        text.replace("____Mkl", "__")
        .replace("_MklMatMul", "MatMul")
        .replace("tensorflow.python.framework.ops.EagerTensor", "EagerTensor")
        .replace("weft._src.framework.tensor.EagerTensor", "EagerTensor")
    )


@pytest.fixture(scope="module", params=cases.AREAS)
def area(request):
    return request.param


def check(area, run):
    _, names = cases.load(area, tf)
    failures = []
    for line, want in RECORDED[area].items():
        have = run(line, names, want)
        if have is None:
            continue
        try:
            assert have.keys() == want.keys(), f"{have} instead of {want}"
            if "error" in want:
                assert have["error"] == want["error"], f"{have} instead of {want}"
                assert normal(have["text"]) == normal(want["text"]), (
                    f"{have['text']!r}\n  instead of\n  {want['text']!r}"
                )
            else:
                same(have["value"], want["value"])
        except (AssertionError, TypeError) as e:
            failures.append(f"{line}\n  {e}")
    assert not failures, f"{len(failures)} calls differ\n" + "\n".join(failures)


def test_eager(area):
    check(area, lambda line, names, want: cases.attempt(line, names, tf))


def test_function(area):
    """The same values from a traced function; errors there are told at other times, in other words."""

    def run(line, names, want):
        if "error" in want or any(word in line for word in GRAPH_ONLY_EAGER):
            return None
        try:
            return {"value": cases.describe(tf.function(lambda: eval(line, dict(names)), autograph=False)())}
        except Exception as e:
            return {"error": type(e).__name__, "text": str(e)[:600]}

    check(area, run)


def test_open_shapes(area):
    """The same values where the function knows the ranks alone."""
    _, names = cases.load(area, tf)
    tensors = {k: v for k, v in names.items() if tf.is_tensor(v)}
    spec = [tf.TensorSpec([None] * v.shape.rank, v.dtype) for v in tensors.values()]

    def run(line, names, want):
        if "error" in want or any(word in line for word in [*GRAPH_ONLY_EAGER, *KNOWN_SHAPES]):
            return None
        traced = tf.function(
            lambda *given: eval(line, {**names, **dict(zip(tensors, given))}), input_signature=spec, autograph=False
        )
        try:
            return {"value": cases.describe(traced(*tensors.values()))}
        except Exception as e:
            return {"error": type(e).__name__, "text": str(e)[:600]}

    if tensors:
        check(area, run)


# Calls that need sizes before the graph runs, in TensorFlow, too.
KNOWN_SHAPES = ["g(", "tf.unstack(", "tf.split(", "fractional"]
# Calls whose value is a matter of eager execution: dtypes and static shapes as values, seeds.
GRAPH_ONLY_EAGER = [
    "set_seed",
    ".shape",
    ".dtype",
    "static_shape",
    "no_op",
    "tf.debugging",
    "tf.assert",
    "D.",
    "seeded",
    ".numpy()",
    "P.assert",
]


def test_version_1():
    """Eagerly alone: functions of version 1 make variables and Python objects."""
    check("version_1", lambda line, names, want: cases.attempt(line, names, tf))
