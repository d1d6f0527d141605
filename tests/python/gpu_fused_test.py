"""Attention by a library, products with what is behind them, and loops with their gradients on a GPU, beside the CPU; tests/gpu/fused.py with a driver and a cuDNN that stand in."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# How many graphs cuDNN ran for one attention with its gradient: some to measure each, then three calls.
COUNTS = """
import ctypes, os, sys
sys.path.insert(0, sys.argv[1])
import fused
import weft as tf
calls = ctypes.CDLL(os.environ["WEFT_CUDA_DRIVER"]).weftStandInCalls
for name, (run, _) in fused.cases(True).items():
    if name not in ("attention", "attention causal packed"):
        continue
    before = calls(b"cudnnBackendExecute")
    run(tf)
    print(name, "by cuDNN:", calls(b"cudnnBackendExecute") > before + 5)
"""


def environment(tmp_path):
    stand_in = os.environ["WEFT_STAND_IN_DRIVER"]
    return {**os.environ, "WEFT_CUDA_DRIVER": stand_in, "WEFT_CUDNN_LIBRARY": stand_in, "WEFT_CACHE_DIR": str(tmp_path)}


def test_values(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests/gpu/fused.py"), "--quick"],
        env=environment(tmp_path), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0 and "all agree" in done.stdout, done.stdout + done.stderr


def test_attention_is_the_librarys(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", COUNTS, str(ROOT / "tests/gpu")],
        env=environment(tmp_path), capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.stdout.count("by cuDNN: True") == 2, done.stdout + done.stderr
    off = subprocess.run(
        [sys.executable, "-c", COUNTS, str(ROOT / "tests/gpu")],
        env={**environment(tmp_path), "WEFT_GPU_WITHOUT": "attention"}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert off.stdout.count("by cuDNN: False") == 2, off.stdout + off.stderr
