#!/usr/bin/env python3
"""Records sequences of stateful op calls with TensorFlow's answers: make_state_sequences.py [family ...]. See README.md."""
import collections
import faulthandler
import importlib
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
DEADLY = os.path.join(ROOT, "tests/golden/state/deadly_calls.txt")  # calls that end or block TensorFlow itself, found by running
FAMILIES = ["variables", "optimizers", "tensor_lists", "tables", "tensor_arrays", "rng", "queues", "ref_variables", "misc", "datasets", "dataset_files", "quantized", "dataset_orders", "rarely_called", "media"]
LIMIT_S = 30


def deadly():
    return set(open(DEADLY).read().splitlines()) if os.path.exists(DEADLY) else set()


def make(family):
    sys.path.insert(0, HERE)
    import state_format
    r = state_format.Recorder(ref=family == "ref_variables")
    last = open(os.path.join(tempfile.gettempdir(), f"state_{family}.last"), "w")

    def on_call(call):
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        last.seek(0)
        last.truncate()
        last.write(f"{family}: {call}")
        last.flush()

    r.deadly = {line.split(": ", 1)[1] for line in deadly() if line.startswith(family + ": ")}
    r.on_call = on_call
    path = os.path.join(HERE, family + ".bin")
    part = path + ".part"
    r.done = {s[0].sequence for s in state_format.read_file(part)} if os.path.exists(part) else set()
    r.on_done = lambda sequence: state_format.write_file(part, [sequence], "ab")
    importlib.import_module("families." + family).record(r)
    r.close()
    os.replace(part, path)
    sequences = state_format.read_file(path)
    steps = [s for q in sequences for s in q]
    ops = collections.Counter(s.node.op for s in steps)
    print(f"{family}: {len(sequences)} sequences, {len(steps)} steps, {len(ops)} ops, "
          f"{sum(s.error_code != 0 for s in steps)} errors, {os.path.getsize(path)} bytes", flush=True)
    os._exit(0)  # a resource left in an odd state may crash TensorFlow's own exit


def supervise(family):
    """Runs the family in a process of its own; when a call ends or blocks the process, notes it and starts again."""
    part = os.path.join(HERE, family + ".bin.part")
    if os.path.exists(part):
        os.remove(part)
    for _ in range(60):
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "--here", family], stderr=subprocess.PIPE)
        if done.returncode == 0:
            return
        error = done.stderr.decode(errors="replace")
        if done.returncode > 0 and "Timeout (" not in error:
            sys.exit(error)
        call = open(os.path.join(tempfile.gettempdir(), f"state_{family}.last")).read()
        print("deadly:", call, "|", "blocks" if "Timeout (" in error else ("\n" + error).split("Check failed")[-1][:120].strip(), flush=True)
        with open(DEADLY, "a") as f:
            f.write(call + "\n")


if __name__ == "__main__":
    os.chdir(ROOT)  # recorded file names are relative to the repository
    if sys.argv[1:2] == ["--here"]:
        make(sys.argv[2])
    else:
        for name in sys.argv[1:] or FAMILIES:
            supervise(name)
