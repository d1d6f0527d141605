#!/usr/bin/env python3
"""Every public op that TensorFlow runs on a CPU has a case recorded from TensorFlow: census.py TESTS_FOLDER

The names are in data/cpu_ops.txt. A case is a record of ops/cases, gradients/cases or ops/state, or a graph that TensorFlow wrote and a
test runs and compares. Ops that only a program shows are in census_elsewhere.txt: op, file (from the repository root), and a text
of that file that runs the op; beside the file is what TensorFlow printed or gave. A line whose file is - tells why TensorFlow itself gives
nothing to compare, one with ? that nobody has recorded a case yet. An op without any line or record is a failure.
"""

import pathlib
import sys


def recorded_ops(names, files):
    """The names that occur as the op of a node: field 2 of a NodeDef."""
    patterns = {name: b"\x12" + bytes([len(name)]) + name.encode() for name in names}
    found = set()
    for path in files:
        data = path.read_bytes()
        found |= {name for name in names - found if patterns[name] in data}
    return found


def elsewhere(root, path):
    """The ops of each kind of line ("program", "-", "?"), and the lines that do not hold."""
    found, wrong = {"program": set(), "-": set(), "?": set()}, []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        op, file, text = line.split("\t")
        source = root / file
        if file not in "-?" and (not source.exists() or text not in source.read_text()):
            wrong.append(f"{op}: {file} does not hold {text!r}")
        found[file if file in "-?" else "program"].add(op)
    return found, wrong


def main(tests):
    names = set((tests / "ops" / "data" / "cpu_ops.txt").read_text().split())
    files = sorted(
        f for folder in ("ops/cases", "gradients/cases", "ops/state") for f in (tests / folder).glob("*.bin")
    )
    for folder in ("graphs/control_flow", "graphs/frame_loops", "gradients/functions", "models/saved", "cpp/input"):
        files += sorted((tests / folder).rglob("*.pb"))
    recorded = recorded_ops(names, files)
    shown, wrong = elsewhere(tests.parent, tests / "ops" / "census_elsewhere.txt")
    listed = set().union(*shown.values())
    for op in sorted(listed & recorded):
        print(f"{op} has a record by now: its line in census_elsewhere.txt may go")
    shown = {kind: ops - recorded for kind, ops in shown.items()}
    wrong += [f"{op}: not one of data/cpu_ops.txt" for op in sorted(listed - names)]
    wrong += [f"{op}: no case recorded from TensorFlow" for op in sorted(names - recorded - listed)]
    for line in wrong:
        print(line)
    print(
        f"{len(recorded | shown['program'])} of {len(names)} CPU ops have cases recorded from TensorFlow ({len(shown['program'])} of them in programs); "
        f"of {len(shown['-'])} TensorFlow gives nothing to compare, {len(shown['?'])} are not recorded yet"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
