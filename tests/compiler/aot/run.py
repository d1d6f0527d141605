"""Compiles networks with `weft compile`, links each with play.cc and nothing else, and compares what it gives with TensorFlow's numbers.

    run.py WEFT_COMMAND MODELS WORK_DIR [NAME ...]

MODELS: a folder, or an archive of one (.tar.xz), with NAME.npz beside the SavedModel NAME or the graph NAME.pb. SavedModels are compiled with their rows open and run with as many rows
as recorded and, prediction only, with one; the object must not need more than libc and libm.
"""

import pathlib
import shutil
import subprocess
import sys
import tarfile
import time

import numpy as np

weft, models, work, only = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4:]
here = pathlib.Path(__file__).resolve().parent


if models.suffix == ".xz":
    with tarfile.open(models) as archive:
        shutil.rmtree(work / "models", ignore_errors=True)
        archive.extractall(work / "models")
    models = next((work / "models").rglob("*.npz")).parent


def compile_net(path, out, cpu="x86-64-v3", more=()):
    """Seconds it took; the rest is in the files."""
    command = [weft, "compile", str(path), "-o", str(out / "net"), "--target-cpu", cpu, *more]
    if path.is_dir():
        command += ["-s", "serving_default", "-s", "train"]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("weft compile: " + (done.stderr or done.stdout).strip()[-400:])
    return time.monotonic() - start


def link(path, out, parts=False):
    saved = path.is_dir()
    output = "y" if saved else "predict"
    subprocess.run(
        [
            "g++",
            "-std=c++17",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-include",
            str(out / "net.h"),
            f"-DOUT={output}",
            f"-DOUT_SIZE={output}_size",
            "-DLOSS=loss",
            f"-DROWS_OPEN={int(saved and not parts)}",
            "-DTRAINS=1",
            *(["-DPARTS", "-pthread"] if parts else []),
            str(here / "play.cc"),
            str(out / "net.o"),
            "-o",
            str(out / "play"),
            "-lm",
        ],
        check=True,
    )


def near(got, want, tolerance):
    off = np.abs(got - want).max() / max(np.abs(want).max(), 1e-6)
    return None if off <= tolerance else f"off by {off:.2g} of the largest value"


def compare(predict, out, want):
    """What `play run` wrote."""
    if why := near(predict.reshape(want["predict"].shape), want["predict"], 1e-3):
        raise RuntimeError(f"predict: {why}")
    if why := near(np.fromfile(out / "losses.bin", "float32"), want["losses"].astype("float32"), 1e-3):
        raise RuntimeError(f"losses: {why}")
    after = np.fromfile(out / "predict_after.bin", "float32").reshape(want["predict_after"].shape)
    if why := near(after, want["predict_after"], 2e-2):
        raise RuntimeError(f"predict_after: {why}")


in_parts = ("cnn", "transformer")  # these with fixed shapes and a pool, too


def check(name):
    want = np.load(models / f"{name}.npz")
    path = models / name if (models / name).is_dir() else models / f"{name}.pb"
    out = work / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    seconds = compile_net(path, out)
    link(path, out)
    x = want["x"]
    x.tofile(out / "x.bin")
    want["y"].tofile(out / "y.bin")

    def run(rows):
        subprocess.run([str(out / "play"), "run", str(out), str(rows)], check=True)
        return np.fromfile(out / "predict.bin", "float32")

    if path.is_dir():
        one = run(1)
        if why := near(one.reshape(want["predict"][:1].shape), want["predict"][:1], 1e-3):
            raise RuntimeError(f"one row: {why}")
    compare(run(len(x)), out, want)
    size = (out / "net.o").stat().st_size
    undefined = subprocess.run(["nm", "-u", str(out / "net.o")], capture_output=True, text=True).stdout.split()
    shared = ""
    if name in in_parts:
        compile_net(path, out, more=["--parts", "3", "--shape", "x=" + ",".join(map(str, x.shape))])
        link(path, out, parts=True)
        compare(run(len(x)), out, want)
        shared = "; agrees in three parts on threads"
    return f"agrees; compiled in {seconds:.2f} s, {size / 1000:.0f} kB, needs {' '.join(s for s in undefined if s != 'U') or 'nothing'}{shared}"


if __name__ == "__main__":
    bad = 0
    names = only or sorted(p.stem for p in models.glob("*.npz"))
    for name in names:
        try:
            line = check(name)
        except (RuntimeError, subprocess.CalledProcessError, OSError) as e:
            bad += 1
            line = f"FAILS: {e}"
        print(f"{name:28s} {line}", flush=True)
    print(f"compiled: {len(names) - bad} of {len(names)} agree")
    sys.exit(bool(bad) or not names)
