#!/usr/bin/env python3
"""Every public op that TensorFlow runs on a CPU has a case recorded from TensorFlow: census.py TESTS_FOLDER

The names stand in data/cpu_ops.txt. A case is a record of conformance/cases, conformance/grads or golden/state, or a graph under golden/ that a
test runs and compares. Ops that only a program shows stand in conformance/census_elsewhere.txt: op, file (from the repository root), and a text
of that file that runs the op; beside the file lies what TensorFlow printed or gave. A line whose file is - tells why TensorFlow itself cannot
run the op. An op without any is a failure.
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
    found, wrong = set(), []
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        op, file, text = line.split("\t")
        source = root / file
        if file != "-" and (not source.exists() or text not in source.read_text()):
            wrong.append(f"{op}: {file} does not hold {text!r}")
        found.add(op)
    return found, wrong


def main(tests):
    names = set((tests / "data" / "cpu_ops.txt").read_text().split())
    files = sorted((tests / "conformance").glob("cases/*.bin")) + sorted((tests / "conformance").glob("grads/*.bin")) + sorted((tests / "golden" / "state").glob("*.bin"))
    for folder in ("control_flow", "frame_loops", "function_gradients", "saved", "input"):
        files += sorted((tests / "golden" / folder).rglob("*.pb"))
    recorded = recorded_ops(names, files)
    shown, wrong = elsewhere(tests.parent, tests / "conformance" / "census_elsewhere.txt")
    wrong += [f"{op}: has a record; it needs no line in census_elsewhere.txt" for op in sorted(shown & recorded)]
    wrong += [f"{op}: not one of data/cpu_ops.txt" for op in sorted(shown - names)]
    wrong += [f"{op}: no case recorded from TensorFlow" for op in sorted(names - recorded - shown)]
    print("\n".join(wrong))
    print(f"{len(names & (recorded | shown))} of {len(names)} CPU ops have cases recorded from TensorFlow")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
