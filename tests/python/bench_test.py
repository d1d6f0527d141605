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


def run_bench(*arguments):
    package = str(pathlib.Path(tf.__file__).resolve().parents[1])
    command = [sys.executable, str(BENCH / arguments[0]), "--weft", sys.executable, *arguments[1:]]
    out = subprocess.run(command, env=dict(os.environ, WEFT_PACKAGE=package), capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr
    return out.stdout


def test_a_sweep_prints_its_rows():
    text = run_bench("op_sweep.py", "--quick", "--sizes", "64", "--ops", "^(Neg|Atan2)$")
    assert [line.split()[:2] for line in text.splitlines()] == [["Neg", "64"], ["Atan2", "64"]]


@pytest.mark.parametrize("form", ["chain", "wide"])
def test_growth_of_small_graphs(form, tmp_path):
    text = run_bench("growth.py", "--sizes", "10", "200", "--form", form, "--plot", str(tmp_path / "growth.svg"))
    assert [line.split()[:2] for line in text.splitlines()[1:]] == [["10", "weft"], ["200", "weft"]]
    assert (tmp_path / "growth.svg").read_text().count("<polyline") == 4


def test_every_pipeline_runs():
    text = run_bench("pipelines.py", "--scale", "0.01", "--rounds", "1")
    assert len(text.splitlines()) == 10 and all("/s" in line for line in text.splitlines())


def test_means_and_what_is_slower(capsys):
    op_sweep.summary([("A", 64, 1.0, 4.0), ("B", 64, 2.0, 1.0), ("C", 64, None, None)], 1)
    text = capsys.readouterr().out
    assert "2 cases, geometric mean 1.41, below 1: 1" in text
    assert "0.50  B at 64" in text and "A at" not in text
