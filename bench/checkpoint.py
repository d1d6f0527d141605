"""Saving and restoring variables, weft beside TensorFlow in turn: checkpoint.py --weft LIB --tensorflow LIB [--rounds N].

Each cell is a fresh process; the time is the least of its calls ("first": of one call), the ratio that of medians over the rounds.
Each library restores what the other one saved.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

CASES = [
    ("200 tensors of 64 floats", 200, 64),
    ("100 tensors of 4 KB", 100, 1024),
    ("50 tensors of 2 MB", 50, 1 << 19),
    ("one tensor of 256 MB", 1, 1 << 26),
]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--weft", required=True)
    p.add_argument("--tensorflow", required=True)
    p.add_argument("--rounds", type=int, default=5)
    args = p.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as tmp:
        program = tmp + "/checkpoint"
        subprocess.run(
            ["cc", "-O2", "-I", root / "include", root / "bench/checkpoint.c", "-ldl", "-o", program], check=True
        )
        env = dict(
            os.environ, TF_CPP_MIN_LOG_LEVEL="3", LD_LIBRARY_PATH=os.path.dirname(os.path.abspath(args.tensorflow))
        )

        def run(library, prefix, count, floats, calls, what):
            r = subprocess.run(
                [program, library, prefix, str(count), str(floats), str(calls), what],
                env=env,
                capture_output=True,
                text=True,
                check=True,
            )
            return [float(x) for x in r.stdout.split()]

        libraries = {"weft": os.path.abspath(args.weft), "tensorflow": os.path.abspath(args.tensorflow)}
        print(f"{'':28}{'':16}{'weft':>12}{'tensorflow':>12}{'ratio':>8}   processor time{'ratio':>8}")
        for name, count, floats in CASES:
            calls = 200 if count * floats < 1 << 20 else 5
            for what, n in [("save", calls), ("restore, first", 1), ("restore", calls)]:
                times = {k: [] for k in libraries}
                for _ in range(args.rounds):
                    for k, library in libraries.items():
                        other = k if what == "save" else next(o for o in libraries if o != k)
                        times[k].append(
                            run(library, f"{tmp}/{other}_{count}_{floats}", count, floats, n, what.split(",")[0])
                        )
                (w, t), (wc, tc) = (
                    [statistics.median(x[i] for x in times[k]) for k in ("weft", "tensorflow")] for i in (0, 1)
                )
                print(
                    f"{name:28}{what:16}{w * 1e6:9.0f} us{t * 1e6:9.0f} us{t / w:8.1f}{wc * 1e6:12.0f}{tc * 1e6:9.0f}{tc / wc:8.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
