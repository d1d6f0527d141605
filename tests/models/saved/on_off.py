"""Plays what TensorFlow saved twice, with the graph's optimisations and without, and compares the two.

  python3 on_off.py LIBRARY ARCHIVE.tar.xz [--only NAME] [--passes] [--work DIR]

Everything is run several times in both sessions: plans made for the shapes that come again are played too, and variables
must go the same way. With --passes each group of optimisations (a field of RewriterConfig) is also left out alone.
"""
import argparse
import pathlib
import sys
import tarfile

import numpy as np
from play import Failure, Library, Model, difference

RUNS = 4
OFF = bytes.fromhex("52055203980101")  # graph_options { rewrite_options { disable_meta_optimizer: true } }
# RewriterConfig's fields with a toggle that some pass answers to.
FIELDS = {"constant_folding": 3, "arithmetic_optimization": 7, "dependency_optimization": 8, "loop_optimization": 9,
          "function_optimization": 10, "shape_optimization": 13, "remapping": 14, "common_subgraph_elimination": 24}


def without(field):
    key = field << 3
    toggle = (bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])) + b"\x02"
    inner = b"\x52" + bytes([len(toggle)]) + toggle
    return b"\x52" + bytes([len(inner)]) + inner


def feeds_of(want):
    """Signatures in the order in which they are run, with what is fed."""
    if "predict" in want:
        serve, train = ("serving_default", {"x": want["x"]}), ("train", {"x": want["x"], "y": want["y"]})
        return [serve] * RUNS + [train] * RUNS + [serve] * RUNS
    return [("serving_default", {k[3:]: want[k] for k in want if k.startswith("in_")})] * RUNS


def play(library, path, config, steps):
    model = Model(library, path, config)
    results = []
    try:
        for signature, feeds in steps:
            try:
                results.append(model.run(signature, feeds))
            except Failure as e:
                results.append(e.code)
    finally:
        model.close()
    return results


def compare(got, want):
    for i, (a, b) in enumerate(zip(got, want)):
        if isinstance(a, int) or isinstance(b, int):
            if a != b:
                return f"run {i}: {a if isinstance(a, int) else 'no error'} instead of {b if isinstance(b, int) else 'no error'}"
            continue
        for k in b:
            if why := difference(a[k], b[k][1]):
                return f"run {i}, {k}: {why}"
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("library")
    p.add_argument("archive", type=pathlib.Path)
    p.add_argument("--only", default="")
    p.add_argument("--passes", action="store_true")
    p.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."))
    a = p.parse_args()
    root = a.work / a.archive.name.split(".")[0]
    if not root.is_dir():
        with tarfile.open(a.archive) as t:
            t.extractall(a.work)
    library = Library(a.library)
    configs = {"all": b""} | ({f"no {k}": without(v) for k, v in FIELDS.items()} if a.passes else {})
    paths = sorted(q.with_suffix("") for q in root.glob("*.npz") if a.only in q.name)
    bad = 0
    for path in paths:
        try:
            steps = feeds_of(np.load(path.with_name(path.name + ".npz")))
            plain = play(library, path, OFF, steps)
            for name, config in configs.items():
                if why := compare(play(library, path, config, steps), plain):
                    bad += 1
                    print(f"{path.name}, {name}: {why[:300]}", flush=True)
        except Failure as e:
            bad += 1
            print(f"{path.name}: status {e.code}: {e}", flush=True)
    print(f"{len(paths)} programs, {bad} differences")
    sys.exit(bad > 0 or not paths)


if __name__ == "__main__":
    main()
