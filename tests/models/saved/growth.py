"""Memory must not grow: many loads of one SavedModel, many runs of one session, and runs that fail.

  python3 growth.py LIBRARY MODELS.tar.xz --work DIR [--loads 1000] [--runs 100000]
"""
import argparse
import pathlib
import sys
import tarfile

import numpy as np

import play


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 1e6


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("library")
    p.add_argument("archive", type=pathlib.Path)
    p.add_argument("--work", type=pathlib.Path, default=pathlib.Path("."))
    p.add_argument("--loads", type=int, default=1000)
    p.add_argument("--runs", type=int, default=100000)
    a = p.parse_args()
    root = a.work / "growth"
    if not root.is_dir():
        with tarfile.open(a.archive) as t:
            t.extractall(root, [m for m in t.getmembers() if m.name.startswith("models/mlp")])
    library, path = play.Library(a.library), root / "models" / "mlp"
    want = np.load(path.with_suffix(".npz"))
    good, bad = {"x": want["x"][:1]}, {"x": want["x"][:1, :5]}

    def load_once():
        model = play.Model(library, path, b"")
        model.run("serving_default", good)
        model.close()

    def fail_once(model):
        try:
            model.run("serving_default", bad)
        except play.Failure:
            return
        sys.exit("a run with a wrong shape did not fail")

    worst = 0
    model = play.Model(library, path, b"")
    for what, warm, count, step in (("loads", a.loads // 5, a.loads, load_once), ("runs", a.runs // 20, a.runs, lambda: model.run("serving_default", good)),
                                    ("failing runs", 500, 5000, lambda: fail_once(model))):
        for _ in range(warm):
            step()
        before = resident()
        for _ in range(count):
            step()
        grown = resident() - before
        print(f"{count} {what}: {before:.1f} MB before, {grown:+.2f} MB after")
        worst = max(worst, grown)
    sys.exit(worst > 4)


if __name__ == "__main__":
    main()
