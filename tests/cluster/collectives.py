"""Collectives and the coordination service between processes.

    collectives.py --weft PYTHON                        groups of weft processes; what TensorFlow's printed is in collectives_*.out
    collectives.py --weft PYTHON --tensorflow PYTHON    groups of both; --record writes the files from TensorFlow alone

PYTHON: an interpreter that has the package (weft: PYTHONPATH says where it is).
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from tasks import LIMIT, free_ports

HERE = pathlib.Path(__file__).resolve().parent
# An error must come this many seconds after the limit of heartbeats; a loaded machine needs some.
SLACK = 10
HEARTBEAT = float(os.environ.setdefault("HEARTBEAT", "2"))


def start(members, what):
    cluster = json.dumps({"worker": [f"localhost:{p}" for p in free_ports(len(members))]})
    for task, (interpreter, on_weft) in enumerate(members):
        script = [*(["-m", "weft"] if on_weft else []), str(HERE / "collective_member.py"), cluster, str(task), what]
        out, errors = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        yield subprocess.Popen([interpreter, *script], stdout=out, stderr=errors), out, errors


def text_of(file):
    file.seek(0)
    return file.read()


def play(members, what, attempts=5):
    """What each member prints; `members` are (interpreter, is it weft)."""
    running = list(start(members, what))
    # The one that fails comes last: it is not waited for.
    waiting = running[: len(running) - (what in ("killed", "stopped"))]
    end = time.time() + LIMIT
    try:
        while any(p.poll() is None for p, _, _ in waiting) and not any(p.poll() for p, _, _ in waiting):
            if time.time() > end:
                raise RuntimeError(
                    f"{what}: a member hangs: {[text_of(o)[-500:] + text_of(e)[-500:] for _, o, e in running]}"
                )
            time.sleep(0.05)
        for task, (p, out, errors) in enumerate(waiting):
            if not p.returncode:
                continue
            # Another program may have taken the port meanwhile.
            if attempts > 1 and "Could not start gRPC server" in text_of(errors):
                return play(members, what, attempts - 1)
            # A check of its mutexes ends a process of TensorFlow at times when collectives are aborted.
            if (
                attempts > 1
                and not members[task][1]
                and p.returncode == -signal.SIGABRT
                and "Mutex corrupt" in text_of(errors)
            ):
                print(f"{what}: TensorFlow's member {task} aborted itself: played again", flush=True)
                return play(members, what, attempts - 1)
            raise RuntimeError(
                f"{what}: member {task} ended with {p.returncode}: {text_of(out)[-2000:]} {text_of(errors)[-4000:]}"
            )
        return [text_of(out) for _, out, _ in waiting]
    finally:
        for p, out, errors in running:
            p.kill()
            p.wait()
            out.close()
            errors.close()


def check_values(members, what, label, record=False):
    file = HERE / f"collectives_{what}_{len(members)}.out"
    printed = play(members, what)
    # The member that fills a barrier or finds an error is another one each time; times differ.
    without_times = [re.sub(r"(Error) [0-9.]+ .*", r"\1", out) for out in printed]
    text = "".join(f"# member {i}\n{out}" for i, out in enumerate(without_times))
    if record:
        file.write_text(text)
    expected = file.read_text()
    same = text == expected
    print(f"{label} {what}: {'agrees' if same else 'DIFFERS'}")
    if not same:
        for a, b in zip(expected.splitlines(), text.splitlines()):
            if a != b:
                print("  expected", a, "\n  printed ", b)
        if len(expected.splitlines()) != len(text.splitlines()):
            print("  the number of lines differs")
    return not same


# What the members that are left must see: the kind of error and its text.
FAULTS = {
    "killed": ("UnavailableError", r"Collective ops is aborted by: .*/task:{last}"),
    "stopped": ("UnavailableError", r"Collective ops is aborted by: .*/job:worker/(replica:0/)?task:{last}"),
    "reported": ("InvalidArgumentError", r"Collective ops is aborted by: .*the task does not feel well"),
    "mismatch": ("InvalidArgumentError", r"Shape mismatch in the collective instance"),
    "late": ("DeadlineExceededError", r"Collective has timed out"),
    "aborted": ("AbortedError", r"Collective ops is aborted by: .*enough"),
}

LATE_MISMATCH = (
    "(InvalidArgument|Unavailable)Error",
    "Shape mismatch in the collective instance|stopped sending heartbeats",
)


def check_fault(members, what, label):
    bad = []
    for task, out in enumerate(play(members, what)):
        kind, text = FAULTS[what]
        limit = HEARTBEAT + SLACK
        # TensorFlow's leader, among TensorFlow's members as well, may wait for the others until they have ended and missed their heartbeats.
        if what == "mismatch" and task == 0 and not members[0][1]:
            kind, text = LATE_MISMATCH
            limit += float(os.environ.get("STAYS", 1)) + HEARTBEAT
        text = text.format(last=len(members) - 1)
        if what == "late" and task == len(members) - 1:
            continue
        lines = out.splitlines()[1:]
        for line in lines:
            name, seconds, message = line.split(" ", 2)
            if not re.fullmatch(kind, name) or not re.search(text, message) or float(seconds) > limit:
                bad.append(f"  member {task}: {line}")
        if len(lines) != 2:
            bad.append(f"  member {task} printed {out!r}")
    print("\n".join([f"{label} {what}: {'wrong' if bad else 'as it must be'}", *bad]))
    return bool(bad)


def check_faults(groups):
    cases = [(members, what, label) for label, members in groups.items() for what in FAULTS]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # they wait most of the time
        return sum(pool.map(lambda case: check_fault(*case), cases))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", required=True, help="interpreter for weft")
    parser.add_argument("--tensorflow", help="interpreter that has TensorFlow")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    w, t = (args.weft, True), (args.tensorflow, False)
    bad = 0
    if args.record:
        for n in (2, 4):
            bad += check_values([t] * n, "values", f"{n} TensorFlow", record=True)
        bad += check_values([t] * 2, "coordination", "2 TensorFlow", record=True)
    if args.tensorflow:
        for label, members in {
            "TensorFlow, weft": [t, w],
            "weft, TensorFlow": [w, t],
            "weft, TensorFlow, TensorFlow, weft": [w, t, t, w],
        }.items():
            bad += check_values(members, "values", label)
            if len(members) == 2:
                bad += check_values(members, "coordination", label)
        # The last one is the one that fails.
        os.environ["STAYS"] = str(2 * HEARTBEAT)
        bad += check_faults({"TensorFlow, weft, weft": [t, w, w], "weft, TensorFlow, TensorFlow": [w, t, t]})
    else:
        for n in (2, 4):
            bad += check_values([w] * n, "values", f"{n} weft")
        bad += check_values([w] * 2, "coordination", "2 weft")
        bad += check_faults({"3 weft": [w] * 3})
    sys.exit(bad)


os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
main()
