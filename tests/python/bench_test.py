"""The programs of bench/ that are written in Python still run: every case of the sweep over ops is called, none is timed well."""

import os
import pathlib
import subprocess
import sys

import pytest

import weft as tf

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import op_sweep  # noqa: E402  the folder must be on the path first
from op_cases import CASES  # noqa: E402


@pytest.mark.parametrize("first", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
def test_every_case_of_the_sweep_runs(first):
    for name, make in CASES.items():
        if name[0] == first:
            try:
                make(tf, 64)()
            except Exception as e:
                raise AssertionError(f"case {name}") from e


def test_the_sweep_knows_which_cases_have_gradients():
    grads = op_sweep.with_gradient(tf, "Mul", 64)()
    assert len(grads) == 2 and grads[0].shape == [64]
    with pytest.raises(LookupError):
        op_sweep.with_gradient(tf, "LogicalAnd", 64)


def test_a_sweep_prints_its_rows():
    package = str(pathlib.Path(tf.__file__).resolve().parents[1])
    out = subprocess.run(
        [
            sys.executable,
            str(BENCH / "op_sweep.py"),
            "--weft",
            sys.executable,
            "--quick",
            "--sizes",
            "64",
            "--ops",
            "^(Neg|Atan2)$",
        ],
        env=dict(os.environ, WEFT_PACKAGE=package),
        capture_output=True,
        text=True,
    )
    assert out.returncode == 0, out.stdout + out.stderr
    assert [line.split()[:2] for line in out.stdout.splitlines()] == [["Neg", "64"], ["Atan2", "64"]]


def test_means_and_what_is_slower(capsys):
    op_sweep.summary([("A", 64, 1.0, 4.0), ("B", 64, 2.0, 1.0), ("C", 64, None, None)], 1)
    text = capsys.readouterr().out
    assert "2 cases, geometric mean 1.41, below 1: 1" in text
    assert "0.50  B at 64" in text and "A at" not in text
