#!/usr/bin/env python3
"""Replays the recorded sequences on the installed TensorFlow and compares: check_state_sequences.py [file.bin ...]."""
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import numpy as np

import state_format as sf


def same(want, got):
    if want is None:
        return True
    if got is None or want.dtype != got.dtype or want.shape != got.shape:
        return False
    return want.tolist() == got.tolist() if want.dtype == object else want.tobytes() == got.tobytes()


def replay(steps):
    """The first disagreement, or None."""
    runner = sf.SessionRunner() if steps[0].ref else sf.EagerRunner()
    again = [sf.Step(s.node, s.inputs, s.sequence, s.ref) for s in steps]
    one_run = steps[0].sequence.startswith("one_run/")
    if one_run:
        runner.run_all(again)
    for i, (want, got) in enumerate(zip(steps, again)):
        if not one_run:
            runner.declare(got) if want.ref and not want.inputs else runner.run(got)
        where = f"{steps[0].sequence} step {i} {want.node.op}: "
        if (want.error_code, want.error_message) != (got.error_code, got.error_message if want.error_message else ""):
            return where + f"{want.error_code} {want.error_message!r} became {got.error_code} {got.error_message!r}"
        if len(want.outputs) != len(got.outputs) or not all(map(same, want.outputs, got.outputs)):
            return where + f"{want.outputs} became {got.outputs}"
    return None


def main():
    files = [os.path.abspath(f) for f in sys.argv[1:]] or sorted(glob.glob(os.path.join(HERE, "*.bin")))
    os.chdir(os.path.join(HERE, "..", "..", ".."))
    bad = total = 0
    for path in files:
        sequences = sf.read_file(path)
        for steps in sequences:
            trouble = replay(steps)
            total, bad = total + 1, bad + bool(trouble)
            if trouble:
                print(os.path.basename(path), trouble)
    print(f"sequences: {total - bad} of {total} agree")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
