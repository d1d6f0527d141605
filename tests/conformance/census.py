#!/usr/bin/env python3
"""Every public op that TensorFlow runs on a CPU has a case recorded from TensorFlow: census.py TESTS_FOLDER

The names stand in data/cpu_ops.txt. A case is a record of conformance/cases, conformance/grads or golden/state, or a graph under golden/ that a
test runs and compares. Ops that only a program shows stand in conformance/census_elsewhere.txt: op, file (from the repository root), and a text
of that file that runs the op; beside the file lies what TensorFlow printed or gave. A line whose file is - tells why TensorFlow itself gives
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
    names = set((tests / "data" / "cpu_ops.txt").read_text().split())
    files = sorted((tests / "conformance").glob("cases/*.bin")) + sorted((tests / "conformance").glob("grads/*.bin")) + sorted((tests / "golden" / "state").glob("*.bin"))
    for folder in ("control_flow", "frame_loops", "function_gradients", "saved", "input"):
        files += sorted((tests / "golden" / folder).rglob("*.pb"))
    recorded = recorded_ops(names, files)
    shown, wrong = elsewhere(tests.parent, tests / "conformance" / "census_elsewhere.txt")
    listed = set().union(*shown.values())
    for op in sorted(listed & recorded):
        print(f"{op} has a record by now: its line in census_elsewhere.txt may go")
    shown = {kind: ops - recorded for kind, ops in shown.items()}
    wrong += [f"{op}: not one of data/cpu_ops.txt" for op in sorted(listed - names)]
    wrong += [f"{op}: no case recorded from TensorFlow" for op in sorted(names - recorded - listed)]
    for line in wrong:
        print(line)
    print(f"{len(recorded | shown['program'])} of {len(names)} CPU ops have cases recorded from TensorFlow ({len(shown['program'])} of them in programs); "
          f"of {len(shown['-'])} TensorFlow gives nothing to compare, {len(shown['?'])} are not recorded yet")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
